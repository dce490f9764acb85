"""test/script/host_errors.py - what ends a script before its time, and in which words."""
from host import ALT, Store

LOG = "getContext().getResponse().setBody"


def an_exception_has_its_words_its_stack_and_400(host):
    failure = host.failure(
        """function outer() {
    function inner() { throw new Error("no luck"); }
    inner();
}""",
        name="luck",
    )
    assert failure == {
        "message": "no luck",
        "exception": "Error: no luck",
        "from": "throw",
        "stack": "Error: no luck\n   at inner (luck.js:2:39)\n   at outer (luck.js:3:10)",
    }, failure


def columns_of_the_first_line_are_the_scripts_own(host):
    failure = host.failure("function f() { null.x; }", name="n")
    assert failure["stack"].endswith("   at f (n.js:1:20)"), failure
    failure = host.failure("var a = 1; function f() { null.x; }", name="n")
    assert failure["stack"].endswith("   at f (n.js:1:31)"), failure


def an_error_has_two_arguments_one_or_none(host):
    body = host.body("""function () {
        var a = new Error(404, "gone"), b = new Error("plain"), c = Error(409, "called"), d = new Error(), e = new Error("why", { cause: 1 }), f = new Error(7);
        %s([a.number, a.message, b.number === undefined, b.message, c.number, c.message, d.message, e.cause, f.message, String(a),
            a instanceof Error, new TypeError("t") instanceof Error, b.constructor === Error]); }""" % LOG)
    assert body == [404, "gone", True, "plain", 409, "called", "", 1, "7", "Error: gone", True, True, True], body


def an_error_can_be_extended(host):
    failure = host.failure(
        """function () { class Mine extends Error { constructor(m) { super(m); this.name = "Mine"; this.number = 418; } }
        var e = new Mine("m"); if (!(e instanceof Mine) || !(e instanceof Error)) throw 1; throw e; }"""
    )
    assert failure["exception"] == "Mine: m" and failure["number"] == 418


def the_number_of_a_thrown_error_is_told_when_it_can_be_a_sub_status(host):
    assert host.failure("function () { throw new Error(429, 'later'); }")["number"] == 429
    for number in ("0", "-7", "65536", "404.5", "'404'", "NaN"):
        assert host.failure("function () { var e = new Error('x'); e.number = %s; throw e; }" % number).get("number") is None


def anything_can_be_thrown(host):
    for thrown, words in (
        ("'text'", "text"),
        ("5", "5"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("{ a: 1 }", '{"a":1}'),
        ("[1]", "[1]"),
        ("{ message: 'm', number: 404 }", "Error: m"),
        ("Symbol('s')", "Symbol(s)"),
        ("10n", "10"),
        ("{ get message() { throw 1; } }", "an exception that cannot be shown"),
        ("Object.assign(new Error('x'), { toString() { throw 1; } })", "an exception that cannot be shown"),
    ):
        failure = host.failure("function () { throw %s; }" % thrown)
        assert failure["exception"] == words, (thrown, failure)
    assert host.failure("function () { throw { message: 'm', number: 404 }; }")["number"] == 404


def an_error_of_an_operation_without_a_callback_ends_the_script(host):
    failure = host.failure(
        "function () { __.createDocument(__.getSelfLink(), { id: 'a' }); }", store=Store({"id": "a"})
    )
    assert failure["number"] == 409 and failure["from"] == "operation"
    assert failure["exception"] == 'Error: {"Errors":["Resource with specified id or name already exists"]}'


def an_error_of_an_operation_that_is_thrown_on_is_still_the_operations(host):
    failure = host.failure("function () { __.readDocument(__.getAltLink() + '/docs/x', function (e) { throw e; }); }")
    assert failure["number"] == 404 and failure["from"] == "operation"
    failure = host.failure(
        "function () { __.readDocument(__.getAltLink() + '/docs/x', function (e) { throw new Error('Error: ' + e.message); }); }"
    )
    assert "number" not in failure and failure["from"] == "throw" and "Resource Not Found" in failure["message"]


def an_answer_may_have_a_number_of_its_own(host):
    class Odd(Store):
        def answer(self, op):
            return {"status": 400, "number": 449, "message": "m"}

    assert (
        host.body(
            "function () { __.readDocuments(__.getSelfLink(), function (e) { %s(e.number); }); }" % LOG, store=Odd()
        )
        == 449
    )


def after_a_failure_no_other_callback_runs(host):
    failure = host.failure(
        """function () { for (var i = 0; i < 3; i++)
        __.createDocument(__.getSelfLink(), {}, function () { console.log("called "); throw new Error("first"); }); }""",
        log=True,
    )
    assert failure["log"] == "called " and failure["message"] == "first"


def abort_ends_the_script_even_when_it_is_caught(host):
    for source in (
        "function () { getContext().abort(new Error(410, 'enough')); }",
        "function () { try { getContext().abort(new Error(410, 'enough')); } catch (e) {} }",
        "function () { (async () => { throw new Error(410, 'enough'); })().catch(e => getContext().abort(e)); }",
        "function () { __.readDocuments(__.getSelfLink(), () => getContext().abort(new Error(410, 'enough'))); }",
    ):
        failure = host.failure(source)
        assert failure["from"] == "abort" and failure["number"] == 410 and failure["message"] == "enough", failure


def abort_without_a_reason_ends_it_as_well(host):
    assert host.failure("function () { getContext().abort(); }")["from"] == "abort"


def nothing_is_accepted_after_an_abort(host):
    store = Store()
    failure = host.failure(
        """function () { try { getContext().abort("x"); } catch (e) {}
        console.log(String(__.createDocument(__.getSelfLink(), {}))); }""",
        store=store,
        log=True,
    )
    assert failure["log"] == "false" and store.ops == []


def a_script_that_does_not_compile_says_where(host):
    failure = host.failure("function f( { return 1; }", name="f")
    assert (
        failure["from"] == "compile" and "number" not in failure and failure["exception"].startswith("SyntaxError: ")
    ), failure


def a_source_without_a_function_is_refused(host):
    for source in ("", "1", "var a = 1;", "{ }", "'text'", "// nothing", "undefined"):
        failure = host.failure(source)
        assert failure["from"] == "compile", (source, failure)


def deep_recursion_is_an_error_that_can_be_caught(host):
    failure = host.failure("function f() { return f() + 1; }")
    assert failure["exception"].startswith("RangeError"), failure["exception"]
    assert (
        host.body("function () { function f() { return f() + 1; } try { f(); } catch (e) { %s(e.name); } }" % LOG)
        == "RangeError"
    )
    assert host.body("function () { %s(1); }" % LOG) == 1


def deep_json_does_not_end_the_child(host):
    failure = host.failure("function () { var a = []; for (var i = 0; i < 1000000; i++) a = [a]; %s(a); }" % LOG)
    assert "number" not in failure
    assert host.body("function () { %s(1); }" % LOG) == 1


def a_script_that_breaks_its_own_context_fails_and_the_next_runs(host):
    for harm in (
        "JSON.stringify = null; Array.prototype.push = null; Array.prototype.shift = null; Array.prototype.splice = null;",
        "Object.defineProperty(Object.prototype, 'toJSON', { get() { throw 1; } });",
        "String.prototype.startsWith = function () { throw 2; }; RegExp.prototype.exec = null; Map = Set = null;",
    ):
        kind, _ = host.run(
            "function () { %s __.createDocument(__.getSelfLink(), {}); __.response.setBody({}); }" % harm
        )
        assert kind in ("D", "F")
    assert host.body("function () { %s(1); }" % LOG) == 1


def a_promise_of_the_script_that_fails_fails_the_script(host):
    failure = host.failure("async function f() { await null; throw new Error(412, 'late'); }")
    assert failure["number"] == 412 and failure["from"] == "throw"
    failure = host.failure("""async function f() { await new Promise((yes, no) =>
        __.readDocument(__.getAltLink() + '/docs/x', (e, d) => e ? no(e) : yes(d))); }""")
    assert failure["number"] == 404 and failure["from"] == "operation"


def an_error_that_a_link_causes_names_the_link(host):
    assert (
        ALT.replace("shop", "else")
        in host.failure("function (l) { __.readDocument(l); }", ALT.replace("shop", "else") + "/docs/a")["message"]
    )
