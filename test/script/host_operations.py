"""test/script/host_operations.py - the collection's methods: what they send, what their callbacks get, what they refuse."""
from host import ALT, SELF, Store

TWO = ({"id": "a", "n": 1}, {"id": "b", "n": 2})

# Runs c.METHOD(arguments) with a callback that sets the body to what it was called with.
CALLED = """function () {
    var c = getContext().getCollection();
    c.%s(%s, function (error, second, third) {
        getContext().getResponse().setBody({ count: arguments.length, error: error && { number: error.number, body: error.body,
            message: error.message, isError: error instanceof Error }, second: second, third: third });
    });
}"""


def _called(host, method, arguments, *documents):
    store = Store(*documents)
    body = host.body(CALLED % (method, arguments), store=store)
    return body, store.ops


def a_create_sends_link_body_and_options_and_gives_the_document_as_stored(host):
    body, [op] = _called(host, "createDocument", 'c.getSelfLink(), {id: "x"}, {indexAction: "exclude"}')
    assert op == {
        "op": "create",
        "on": "document",
        "link": SELF,
        "body": {"id": "x"},
        "options": {"indexAction": "exclude"},
    }
    assert body["count"] == 3 and "error" not in body
    assert body["second"]["id"] == "x" and body["second"]["_etag"] == '"1"'
    assert body["third"] == {"statusCode": 201, "currentCollectionSizeInMB": "documentsSize=0"}


def the_callback_may_stand_in_the_place_of_the_options(host):
    body, [op] = _called(host, "createDocument", 'c.getAltLink(), {id: "x"}')
    assert op["link"] == ALT and op["options"] == {}
    assert body["second"]["id"] == "x"


def options_may_be_undefined_or_null_before_a_callback(host):
    for options in ("undefined", "null"):
        body, [op] = _called(host, "queryDocuments", 'c.getSelfLink(), "SELECT * FROM c", ' + options, *TWO)
        assert op["options"] == {"pageSize": 100} and len(body["second"]) == 2


def a_missing_id_is_left_to_the_server_unless_the_script_forbids(host):
    _, [op] = _called(host, "createDocument", "c.getSelfLink(), {n: 1}")
    assert op["body"] == {"n": 1} and "disableAutomaticIdGeneration" not in op["options"]
    _, [op] = _called(host, "createDocument", "c.getSelfLink(), {n: 1}, {disableAutomaticIdGeneration: true}")
    assert op["options"] == {"disableAutomaticIdGeneration": True}


def a_body_may_be_given_as_json_text(host):
    _, [op] = _called(host, "createDocument", """c.getSelfLink(), '{"id":"x","n":1}'""")
    assert op["body"] == {"id": "x", "n": 1}
    failure = host.failure("function () { __.createDocument(__.getSelfLink(), '{id:1'); }")
    assert failure["number"] == 400


def a_body_is_sent_as_it_was_when_the_call_was_made(host):
    store = Store()
    host.body(
        """function () { var d = { id: "1" };
        __.createDocument(__.getSelfLink(), d); d.id = "2"; __.createDocument(__.getSelfLink(), d); d.id = "3"; }""",
        store=store,
    )
    assert [op["body"]["id"] for op in store.ops] == ["1", "2"]
    assert len(store.frames) == 1


def bodies_that_are_no_objects_are_refused_at_once(host):
    for body in ("null", "1", "undefined", "true", "function () {}"):
        for method in ("createDocument", "upsertDocument"):
            failure = host.failure("function () { __.%s(__.getSelfLink(), %s); }" % (method, body))
            assert failure["number"] == 400 and failure["from"] == "throw", failure
        failure = host.failure("function () { __.replaceDocument(__.getAltLink() + '/docs/a', %s); }" % body)
        assert failure["number"] == 400


def an_upsert_sends_its_etag(host):
    body, [op] = _called(host, "upsertDocument", 'c.getSelfLink(), {id: "x"}, {etag: "e", indexAction: "include"}')
    assert op["op"] == "upsert" and op["options"] == {"etag": "e", "indexAction": "include"}
    assert body["second"]["id"] == "x" and body["third"]["statusCode"] == 200


def a_read_by_rid_or_by_name_names_the_document(host):
    for link, key, value in (
        ('c.getSelfLink() + "docs/ra==/"', "rid", "ra=="),
        ('c.getSelfLink() + "docs/ra=="', "rid", "ra=="),
        ('c.getAltLink() + "/docs/a"', "id", "a"),
    ):
        body, [op] = _called(host, "readDocument", link, *TWO)
        assert op["op"] == "read" and op[key] == value and body["second"]["n"] == 1, op


def a_read_of_what_has_not_changed_gives_no_document(host):
    body, [op] = _called(host, "readDocument", """c.getAltLink() + "/docs/a", { ifNoneMatch: '"1"' }""", *TWO)
    assert op["options"] == {"ifNoneMatch": '"1"'}
    assert body["count"] == 3 and "second" not in body and body["third"] == {"statusCode": 304, "notModified": True}


def a_replace_sends_body_and_etag(host):
    body, [op] = _called(
        host, "replaceDocument", """c.getAltLink() + "/docs/a", {id: "a", n: 5}, {etag: '"1"'}""", *TWO
    )
    assert op == {
        "op": "replace",
        "on": "document",
        "link": ALT + "/docs/a",
        "id": "a",
        "body": {"id": "a", "n": 5},
        "options": {"etag": '"1"'},
    }
    assert body["second"]["n"] == 5


def an_etag_that_does_not_match_is_412_in_the_callback(host):
    body, _ = _called(host, "replaceDocument", """c.getAltLink() + "/docs/a", {id: "a"}, {etag: "old"}""", *TWO)
    assert body["count"] == 1 and body["error"]["number"] == 412 and body["error"]["isError"]
    assert (
        body["error"]["body"]
        == body["error"]["message"]
        == '{"Errors":["One of the specified pre-condition is not met"]}'
    )


def the_callback_of_a_delete_has_no_resource(host):
    body, [op] = _called(host, "deleteDocument", 'c.getAltLink() + "/docs/a", {}', *TWO)
    assert op["op"] == "delete" and op["id"] == "a" and "body" not in op
    assert body["count"] == 2 and body["second"] == {"statusCode": 204}


def a_feed_has_pages_of_a_hundred_unless_told(host):
    body, [op] = _called(host, "readDocuments", "c.getSelfLink()", *TWO)
    assert op["op"] == "readAll" and op["options"] == {"pageSize": 100}
    assert [row["id"] for row in body["second"]] == ["a", "b"]
    body, [op] = _called(host, "readDocuments", "c.getSelfLink(), {pageSize: 1}", *TWO)
    assert body["third"]["continuation"] == "1" and len(body["second"]) == 1
    body, [op] = _called(host, "readDocuments", 'c.getSelfLink(), {pageSize: -1, continuation: "1"}', *TWO)
    assert op["options"] == {"pageSize": -1, "continuation": "1"} and body["second"][0]["id"] == "b"


def a_query_is_text_or_an_object_with_parameters(host):
    body, [op] = _called(
        host, "queryDocuments", 'c.getSelfLink(), "SELECT * FROM c", {enableScan: true, pageSize: 7}', *TWO
    )
    assert op["query"] == "SELECT * FROM c" and op["options"] == {"enableScan": True, "pageSize": 7}
    query = '{query: "SELECT * FROM c WHERE c.id = @id", parameters: [{name: "@id", value: "b"}]}'
    body, [op] = _called(host, "queryDocuments", "c.getSelfLink(), " + query, *TWO)
    assert [row["id"] for row in body["second"]] == ["b"]
    assert op["query"]["parameters"] == [{"name": "@id", "value": "b"}]


def a_query_of_another_type_is_refused(host):
    for query in ("1", "undefined", "null", "true"):
        assert host.failure("function () { __.queryDocuments(__.getSelfLink(), %s); }" % query)["number"] == 400


def attachments_have_the_same_methods_one_level_deeper(host):
    class Refusing(Store):
        def answer(self, op):
            return {"status": 400, "message": "no attachments"}

    doc, att = 'c.getAltLink() + "/docs/a"', 'c.getAltLink() + "/docs/a/attachments/t"'
    for method, arguments, expected in (
        ("createAttachment", doc + ', {id: "t"}', {"op": "create", "id": "a", "body": {"id": "t"}}),
        ("upsertAttachment", doc + ', {id: "t"}', {"op": "upsert", "id": "a"}),
        ("readAttachments", doc, {"op": "readAll", "id": "a"}),
        ("queryAttachments", doc + ', "SELECT * FROM c"', {"op": "query", "id": "a"}),
        ("readAttachment", att, {"op": "read", "id": "a", "attachment": "t"}),
        ("replaceAttachment", att + ", {}", {"op": "replace", "attachment": "t"}),
        ("deleteAttachment", att, {"op": "delete", "attachment": "t"}),
    ):
        store = Refusing()
        body = host.body(CALLED % (method, arguments), store=store)
        [op] = store.ops
        assert op["on"] == "attachment" and expected.items() <= op.items(), op
        assert body["error"]["number"] == 400 and body["count"] == 1


def every_method_says_whether_it_was_accepted(host):
    assert (
        host.body(
            """function () { var r = [__.createDocument(__.getSelfLink(), {}), __.readDocuments(__.getSelfLink(), function () {})];
        getContext().getResponse().setBody(r); }"""
        )
        == [True, True]
    )


def too_few_arguments_are_refused(host):
    for call in (
        "createDocument(__.getSelfLink())",
        "readDocument()",
        "queryDocuments(__.getSelfLink())",
        "deleteDocument()",
        "replaceDocument(__.getAltLink() + '/docs/a')",
        "upsertDocument()",
        "readDocuments()",
    ):
        failure = host.failure("function () { __.%s; }" % call)
        assert failure["number"] == 400 and "requires at least" in failure["message"], failure


def options_and_callbacks_of_a_wrong_type_are_refused(host):
    for rest in (
        "1",
        '"x"',
        "{}, 1",
        "{}, {}",
        "function () {}, {}",
        "{}, null",
        "{pageSize: 'x'}",
        "{pageSize: 1.5}",
        "{pageSize: -2}",
        "{continuation: 1}",
        "{continuation: {}}",
    ):
        failure = host.failure("function () { __.readDocuments(__.getSelfLink(), %s); }" % rest)
        assert failure["number"] == 400, (rest, failure)


def a_link_out_of_the_collection_is_refused_at_once(host):
    store = Store(*TWO)
    for link in ("dbs/other/colls/orders/docs/a", ALT + "x/docs/a", "dbs/dbrid==/colls/collrid=x/docs/a"):
        failure = host.failure("function (l) { __.readDocument(l); }", link, store=store)
        assert failure["number"] == 400 and "current collection" in failure["message"], failure
    for link in (
        "",
        "a",
        ALT,
        SELF,
        ALT + "/docs",
        ALT + "/docs/a/b",
        ALT + "/sprocs/a",
        "/" + ALT + "/docs/a",
        1,
        None,
        {},
        ALT + "/docs/a//",
    ):
        failure = host.failure("function (l) { __.readDocument(l); }", link, store=store)
        assert failure["number"] == 400 and "Invalid document link" in failure["message"], failure
    for link in (ALT + "/docs/a", "dbs/shop", None):
        failure = host.failure("function (l) { __.createDocument(l, {}); }", link, store=store)
        assert failure["number"] == 400 and "Invalid collection link" in failure["message"], failure
    assert store.ops == []


def what_is_queued_together_is_sent_together_and_answered_in_order(host):
    store = Store()
    body = host.body(
        """function () { var seen = [];
        for (let i = 0; i < 5; i++)
            __.createDocument(__.getSelfLink(), { id: "d" + i }, function (e, d) {
                seen.push(d.id);
                if (i < 2) __.createDocument(__.getSelfLink(), { id: "late" + i }, function (e, d) {
                    seen.push(d.id); getContext().getResponse().setBody(seen); });
            }); }""",
        store=store,
    )
    assert [len(frame) for frame in store.frames] == [5, 2]
    assert body == ["d0", "d1", "d2", "d3", "d4", "late0", "late1"]


def a_refused_operation_returns_false_and_calls_nothing_back(host):
    source = """function () { var accepted = 0;
        function one() {
            var ok = __.createDocument(__.getSelfLink(), {}, function (e) { if (e) throw e; one(); });
            if (ok) accepted++; else getContext().getResponse().setBody(accepted);
        }
        one(); }"""
    assert host.body(source, accept=lambda frames: frames < 4) == 4
    assert host.body(source, quota={"operations": 7}) == 7
    assert host.body(source, quota={"ms": 0}) == 0


def time_that_runs_out_within_a_turn_is_noticed(host):
    count = host.body(
        """function () { var n = 0, t = Date.now();
        while (__.readDocuments(__.getSelfLink())) { n++; if (Date.now() - t > 5000) break; }
        getContext().getResponse().setBody(Date.now() - t); }""",
        quota={"ms": 30},
    )
    assert count < 5000  # the time began a moment before the script did


def big_bodies_pass_both_ways(host):
    store = Store()
    text = 'x\u00e9\u4e2d\U0001f600"\\\n' * 100000
    body = host.body(
        """function (t) { __.createDocument(__.getSelfLink(), { id: "1", t: t }, function (e, d) {
        getContext().getResponse().setBody(d.t); }); }""",
        text,
        store=store,
    )
    assert store.ops[0]["body"]["t"] == text and body == text
