"""test/script/host_messages.py - request, response, console and arguments: what goes in and what comes out."""
from host import ALT, SELF, Store

BODY = "getContext().getResponse().setBody"


def arguments_of_every_type_come_back_as_they_went_in(host):
    for value in (
        None,
        True,
        0,
        -1.5,
        1e300,
        "",
        "text",
        "\u00e9\u4e2d\U0001f600\u2028",
        [],
        {},
        [1, [2, [3, {"a": None}]]],
        {"a": {"b": {"c": [{"d": ""}]}}},
        {"__proto__x": 1, "": 2},
        9007199254740991,
        "\x00\x01",
    ):
        assert host.body("function (v) { %s(v); }" % BODY, value) == value


def an_argument_that_is_not_given_is_undefined_and_null_is_null(host):
    assert host.body("function (a, b) { %s([typeof a, a === null, typeof b, arguments.length]); }" % BODY, None) == [
        "object",
        True,
        "undefined",
        1,
    ]


def a_deeply_nested_argument_passes(host):
    value = 1
    for _ in range(200):
        value = [value]
    assert host.body("function (v) { %s(v); }" % BODY, value) == value


def bodies_of_every_type_are_told_apart(host):
    for source, body in (
        ("null", None),
        ("0", 0),
        ('""', ""),
        ("false", False),
        ("[undefined]", [None]),
        ("{ a: undefined }", {}),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        ('"a\\ud800b\\\\ud800\\ud83d\\ude00"', "a\ufffdb\\ud800\U0001f600"),
        ("NaN", None),
        ("[,1]", [None, 1]),
    ):
        kind, payload = host.run("function () { %s(%s); }" % (BODY, source))
        assert kind == "D" and payload == {"body": body}, payload


def a_body_that_is_undefined_or_never_set_is_absent(host):
    for call in ("", BODY + "()", BODY + "(undefined)", BODY + "(function () {})"):
        assert host.run("function () { %s; }" % call) == ("D", {})


def a_body_that_is_no_json_fails_the_script(host):
    for value in ("(function () { var a = {}; a.a = a; return a; })()", "10n"):
        failure = host.failure("function () { %s(%s); }" % (BODY, value))
        assert "number" not in failure and failure["exception"].startswith("TypeError"), failure


def what_the_function_returns_is_no_body(host):
    assert host.run("function () { return 5; }") == ("D", {})


def appending_makes_longer_text_sums_and_json(host):
    assert (
        host.body(
            "function () { var r = getContext().getResponse(); r.appendBody('a'); r.appendBody('b'); r.appendBody(1); }"
        )
        == "ab1"
    )
    assert host.body("function () { var r = getContext().getResponse(); r.appendBody(1); r.appendBody(2); }") == 3
    assert (
        host.body("function () { var r = getContext().getResponse(); r.setBody({a: 1}); r.appendBody({b: 2}); }")
        == '{"a":1}{"b":2}'
    )


def the_body_can_be_read_back(host):
    assert host.body(
        "function () { var r = __.response; r.setBody([1]); r.setBody(r.getBody().concat(r.getValue('Body'))); }"
    ) == [1, 1]


def values_of_the_response_are_got_set_and_sent_back(host):
    response = {
        "values": {"x-ms-a": "1", "MaxResourceQuota": "documentSize=10", "ResourceQuotaCurrentUsage": "documentSize=1"}
    }
    source = """function () { var r = getContext().getResponse();
        r.setValue("x-ms-a", r.getValue("x-ms-a") + "2"); r.appendValue("x-ms-a", "3");
        r.setBody([r.getMaxResourceQuota(), r.getResourceQuotaCurrentUsage(), typeof r.getValue("none")]); }"""
    kind, payload = host.run(source, response=response)
    assert payload == {"body": ["documentSize=10", "documentSize=1", "undefined"], "values": {"x-ms-a": "123"}}, payload


def what_the_container_has_left_cannot_be_set(host):
    response = {"values": {"MaxResourceQuota": "a=1", "ResourceQuotaCurrentUsage": "a=0"}}
    for call in ('setValue("MaxResourceQuota", "a=2")', 'appendValue("ResourceQuotaCurrentUsage", "9")'):
        failure = host.failure("function () { __.response.%s; }" % call, response=response)
        assert failure["number"] == 403, failure
    assert host.body("function () { %s(typeof __.response.setMaxResourceQuota); }" % BODY, response=response) == "undefined"


def appending_to_an_empty_text_makes_text_of_numbers_too(host):
    source = "function () { for (var i = 0; i < 4; i++) getContext().getResponse().appendValue('Body', i); }"
    assert host.body(source, response={"body": ""}) == "0123"


def half_a_character_is_shown_as_one_that_cannot_be_shown(host):
    kind, payload = host.run("function () { console.log('a\\ud800'); throw new Error('b\\udc00'); }", log=True)
    assert (kind, payload["log"], payload["message"]) == ("F", "a\ufffd", "b\ufffd"), payload


def half_a_character_is_not_stored(host):
    source = "function () { try { %s; } catch (e) { __.response.setBody([e.number, e.message]); } }"
    for call in ("__.createDocument(__.getSelfLink(), { id: '\\ud800' })", "__.readDocument(__.getAltLink() + '/docs/\\ud800')"):
        assert host.body(source % call) == [400, "A lone surrogate is no character that can be stored."]
    request = {"body": {"id": "1"}, "operation": "Create", "writable": True}
    kind, payload = host.run("function () { __.request.setBody({ id: '\\ud800' }); }", request=request, response=None)
    assert kind == "F" and payload["number"] == 400, payload


def a_value_that_is_not_there_cannot_be_set(host):
    for call in ('setValue("new", 1)', 'appendValue("new", 1)', 'setValue("constructor", 1)'):
        assert host.failure("function () { getContext().getResponse().%s; }" % call)["number"] == 400


def a_pre_trigger_changes_the_body_of_its_request_and_has_no_response(host):
    request = {"body": {"id": "1", "n": 1}, "operation": "Create", "writable": True, "values": {"x-ms-a": "b"}}
    source = """function () { var q = getContext().getRequest(), b = q.getBody(); b.n++;
        b.seen = [q.getOperationType(), q.getValue("x-ms-a"), typeof getContext().getResponse, typeof __.response, __.request === q];
        q.setBody(b); }"""
    kind, payload = host.run(source, request=request, response=None)
    assert (kind, payload) == (
        "D",
        {"request": {"id": "1", "n": 2, "seen": ["Create", "b", "undefined", "undefined", True]}},
    )


def a_request_that_nobody_set_is_not_sent_back(host):
    request = {"body": {"id": "1"}, "operation": "Create", "writable": True}
    assert host.run("function () { getContext().getRequest().getBody().id = 2; }", request=request, response=None) == (
        "D",
        {},
    )


def a_request_that_is_not_writable_refuses_with_403(host):
    request = {"body": {"id": "1"}, "operation": "Delete", "writable": False}
    for call in ('setValue("Body", {})', 'setValue("OperationType", "Create")', 'appendValue("Body", 1)'):
        assert host.failure("function () { getContext().getRequest().%s; }" % call, request=request)["number"] == 403
    assert host.failure("function () { getContext().getRequest().setBody({}); }", request=request)[
        "exception"
    ].startswith("TypeError")


def a_post_trigger_sees_request_and_response_and_may_change_the_answer(host):
    more = {
        "request": {"body": {"id": "1"}, "operation": "Replace", "writable": False},
        "response": {"body": {"id": "1", "_etag": "e"}},
    }
    read = "function () { if (__.request.getBody().id + __.response.getBody()._etag !== '1e') throw 1; }"
    assert host.run(read, **more) == ("D", {})
    assert (
        host.body("function () { var b = __.response.getBody(); b.x = 1; __.response.setBody(b); }", **more)["x"] == 1
    )


def a_stored_procedure_without_a_request_has_no_getRequest(host):
    assert host.body("function () { %s([typeof getContext().getRequest, typeof __.request]); }" % BODY) == [
        "undefined",
        "undefined",
    ]


def a_response_that_grows_too_large_is_413_at_the_call(host):
    limit = {"quota": {"response_bytes": 100}}
    assert host.body("function () { %s('x'.repeat(100)); }" % BODY, **limit) == "x" * 100
    failure = host.failure("function () { %s('x'.repeat(101)); }" % BODY, **limit)
    assert (failure["number"], failure["from"]) == (413, "size"), failure
    assert host.failure("function () { %s({ a: 'x'.repeat(99) }); }" % BODY, **limit)["number"] == 413
    caught = """function () { var r = getContext().getResponse();
        try { for (;;) r.appendBody("0123456789"); } catch (e) { if (e.number !== ErrorCodes.RequestEntityTooLarge) throw e; } }"""
    assert host.body(caught, **limit) == "0123456789" * 10


def console_log_is_kept_only_when_it_is_wanted(host):
    source = """function () { console.log("a"); console.log("%s and %s, 100%%", 1, { x: 2 }); console.log(3); }"""
    assert host.run(source, log=True) == ("D", {"log": 'a1 and {"x":2}, 100%3'})
    assert host.run(source) == ("D", {})


def console_log_refuses_what_it_cannot_format(host):
    assert host.failure("function () { console.log(); }", log=True)["number"] == 400
    assert host.failure("function () { console.log(1, 2); }", log=True)["number"] == 400


def a_log_that_grows_too_large_is_413(host):
    failure = host.failure("function () { for (;;) console.log('0123456789'); }", log=True, quota={"log_bytes": 45})
    assert failure["number"] == 413 and failure["log"] == "0123456789" * 4


def a_failed_script_keeps_its_log(host):
    assert host.failure("function () { console.log('before'); throw 1; }", log=True)["log"] == "before"


def the_collection_tells_its_links(host):
    assert host.body(
        "function () { var c = getContext().getCollection(); %s([c.getSelfLink(), c.getAltLink(), __.getSelfLink()]); }"
        % BODY
    ) == [SELF, ALT, SELF]


def the_error_codes_are_there_and_cannot_be_changed(host):
    body = host.body("function () { ErrorCodes.NotFound = 1; %s(ErrorCodes); }" % BODY)
    assert body == {
        "BadRequest": 400,
        "Forbidden": 403,
        "NotFound": 404,
        "Conflict": 409,
        "PreconditionFailed": 412,
        "RequestEntityTooLarge": 413,
        "RetryWith": 449,
        "InternalServerError": 500,
    }


def nothing_of_one_run_is_seen_by_the_next(host):
    dirty = """function () { leaked = 1; Array.prototype.leaked = 1; JSON.parse = null; Object.prototype.toJSON = function () { return 7; };
        getContext = null; __.leaked = 1; Error.prototype.leaked = 1; }"""
    host.run(dirty)
    clean = (
        "function () { %s([typeof leaked, typeof [].leaked, typeof JSON.parse, typeof __.leaked, typeof new Error().leaked]); }"
        % BODY
    )
    assert host.body(clean) == ["undefined", "undefined", "function", "undefined", "undefined"]


def there_is_no_way_out_of_the_language(host):
    names = [
        "setTimeout",
        "setInterval",
        "require",
        "process",
        "fetch",
        "XMLHttpRequest",
        "WebAssembly",
        "load",
        "read",
        "print",
        "readFile",
        "importScripts",
        "window",
        "Worker",
        "quit",
        "$vm",
        "gc",
        "prelude",
        "evaluate",
    ]
    assert (
        host.body("function (names) { %s(names.filter(n => typeof globalThis[n] !== 'undefined')); }" % BODY, names)
        == []
    )


def the_time_zone_is_utc_and_locales_are_known(host):
    body = host.body(
        """function () { %s([new Date(0).getHours(), new Date(0).toLocaleString("de-DE", { timeZone: "Asia/Tokyo" }),
        ["z", "\\u00e4"].sort((a, b) => a.localeCompare(b, "sv")), "\\u00e9".normalize("NFD").length,
        new Intl.DateTimeFormat("ja-JP", { dateStyle: "full", timeZone: "America/New_York" }).format(new Date(0))]); }"""
        % BODY
    )
    assert body[:4] == [0, "1.1.1970, 09:00:00", ["z", "\u00e4"], 2] and "1969" in body[4], body


def operations_run_in_pre_triggers_too(host):
    store = Store({"id": "a"})
    kind, payload = host.run(
        """function () { __.queryDocuments(__.getSelfLink(), "SELECT * FROM c", function (e, rows) {
        var b = __.request.getBody(); b.count = rows.length; __.request.setBody(b); }); }""",
        store=store,
        request={"body": {}, "operation": "Create", "writable": True},
        response=None,
    )
    assert payload == {"request": {"count": 1}}


def text_of_any_length_and_alphabet_comes_back_as_it_was_sent(host):
    echo = "function (text) { getContext().getResponse().setBody(text); }"
    for length in range(40):
        plain = "abcdefghijklmnopqrstuvwxyz0123456789ABCD"[:length]
        assert host.body(echo, plain) == plain
        for odd in ("\u00e9", "\u4e2d", "\U0001f600"):
            assert host.body(echo, plain + odd) == plain + odd
            assert host.body(echo, odd + plain) == odd + plain
    for large in ("x" * 3000000, "\u00e9" * 1000000, "small again"):
        assert host.body(echo, large) == large
