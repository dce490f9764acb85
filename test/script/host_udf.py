"""test/script/host_udf.py - functions for queries: batches, values of every type, errors, and calls in the middle of a run."""
from host import Store


def a_batch_gives_a_value_for_each_call_in_order(host):
    assert host.call("function (a, b) { return a + b; }", [1, 2], ["a", "b"], [None, 1]) == [
        {"value": 3},
        {"value": "ab"},
        {"value": 1},
    ]


def an_empty_batch_has_no_values(host):
    assert host.call("function () {}") == []


def values_of_every_type_come_back(host):
    for value in (None, True, 0, -0.5, "", "\u00e9\U0001f600", [], {}, [1, {"a": [None]}]):
        assert host.call("v => v", [value]) == [{"value": value}]


def undefined_is_no_value_and_not_null(host):
    assert host.call("function f(x) { return x; }", [], [None], {"args": [1], "undefined": [0]}) == [
        {},
        {"value": None},
        {},
    ]
    assert host.call("(a, b, c) => [typeof a, typeof b, typeof c]", {"args": [1, None, 3], "undefined": [1]}) == [
        {"value": ["number", "undefined", "number"]}
    ]
    assert host.call("() => function () {}", []) == [{}]


def an_error_does_not_stop_the_others(host):
    first, second, third = host.call(
        "function f(x) { if (x === 2) throw new Error(404, 'two'); return x; }", [1], [2], [3]
    )
    assert (first, third) == ({"value": 1}, {"value": 3})
    assert second == {
        "error": "Error: two",
        "number": 404,
        "from": "throw",
        "stack": "Error: two\n   at f (script.js:1:45)",
    }, second


def a_value_that_is_no_json_is_an_error_of_its_own(host):
    answers = host.call("x => x ? 1n : { get a() { throw new Error('got'); } }", [1], [0])
    assert answers[0]["error"].startswith("TypeError") and answers[1]["error"] == "Error: got"


def a_source_that_does_not_compile_is_an_error_for_each_call(host):
    for _ in range(2):
        answers = host.call("function f( {", [1], [2])
        assert len(answers) == 2 and all(
            answer["from"] == "compile" and "SyntaxError" in answer["error"] for answer in answers
        )


def a_udf_has_no_context_and_no_collection(host):
    assert host.value("() => [typeof getContext, typeof __, typeof console.log]") == [
        "undefined",
        "undefined",
        "function",
    ]
    assert host.call("() => console.log('x')", []) == [{}]


def globals_of_one_udf_are_not_seen_by_another(host):
    host.call("() => { shared = 1; Array.prototype.shared = 1; }", [])
    assert host.value("() => [typeof shared, typeof [].shared]") == ["undefined", "undefined"]


def globals_of_a_udf_end_with_its_query(host):
    key = host.load("x => { const before = globalThis.last ?? 'none'; globalThis.last = x; return before; }", "udf")
    for _ in range(3):
        host.send("U", {"key": key, "calls": [[1], [2]]})
        assert host.receive() == ("V", [{"value": "none"}, {"value": 1}])
        host.send("U", {"key": key, "calls": [[3]]})
        assert host.receive() == ("V", [{"value": 2}])
        host.send("G", {})


def a_query_that_ends_while_a_run_waits_leaves_the_run_alone(host):
    key = host.load("x => x * 2", "udf")
    host.begin(
        "function () { kept = 7; __.queryDocuments(__.getSelfLink(), 'SELECT 1', function (e, r) { __.response.setBody(kept); }); }"
    )
    assert host.receive()[0] == "O"
    for _ in range(2):
        host.send("U", {"key": key, "calls": [[4]]})
        assert host.receive() == ("V", [{"value": 8}])
        host.send("G", {})
    host.send("A", {"answers": [{"status": 200, "body": []}]})
    assert host.receive() == ("D", {"body": 7})


def a_udf_is_called_while_a_run_waits_for_its_answers(host):
    key = host.load("x => x * 2", "udf")
    host.begin(
        "function () { __.queryDocuments(__.getSelfLink(), 'SELECT VALUE udf.f(c.n) FROM c', function (e, r) { __.response.setBody(r); }); }"
    )
    kind, payload = host.receive()
    assert kind == "O" and payload["ops"][0]["op"] == "query"
    for _ in range(3):
        host.send("U", {"key": key, "calls": [[4], [5]]})
        assert host.receive() == ("V", [{"value": 8}, {"value": 10}])
    host.send("A", {"answers": [{"status": 200, "body": [8, 10]}]})
    assert host.receive() == ("D", {"body": [8, 10]})


def a_key_that_is_not_loaded_is_said_to_be_unknown(host):
    context = {"collection": {"self": "", "alt": ""}, "request": None, "response": {}, "log": False}
    host.send("U", {"key": "nobody", "calls": [[1]]})
    assert host.receive() == ("N", {"key": "nobody"})
    host.send("R", {"key": "no-body_2", "args": [], "context": context})
    assert host.receive() == ("N", {"key": "no-body_2"})


def the_least_recently_used_source_is_forgotten_first(host):
    kept = host.load("() => 'kept'", "udf")
    gone = host.load("() => 'gone'", "udf")
    for i in range(254):
        host.load("() => %d" % i, "udf")
    host.send("U", {"key": kept, "calls": [[]]})
    assert host.receive() == ("V", [{"value": "kept"}])
    host.load("() => 'one more'", "udf")
    host.send("U", {"key": gone, "calls": [[]]})
    assert host.receive() == ("N", {"key": gone})
    host.send("U", {"key": kept, "calls": [[]]})
    assert host.receive() == ("V", [{"value": "kept"}])


def large_sources_are_forgotten_before_they_fill_the_child(host):
    first = host.load("() => 'first' /* %s */" % ("x" * 2000000), "udf")
    for i in range(20):
        last = host.load("() => %d /* %s */" % (i, "x" * 2000000), "udf")
    host.send("U", {"key": first, "calls": [[]]})
    assert host.receive() == ("N", {"key": first})
    host.send("U", {"key": last, "calls": [[]]})
    assert host.receive() == ("V", [{"value": 19}])


def loading_again_changes_nothing(host):
    host.send("L", {"key": "same", "kind": "udf", "source": "() => 1"})
    host.send("L", {"key": "same", "kind": "udf", "source": "() => 2"})
    host.send("U", {"key": "same", "calls": [[]]})
    assert host.receive() == ("V", [{"value": 1}])


def a_large_batch_passes(host):
    answers = host.call("s => s.length", *[["x" * 100]] * 20000)
    assert len(answers) == 20000 and all(answer == {"value": 100} for answer in answers)


def a_udf_that_breaks_its_context_does_not_end_the_child(host):
    key = host.load("() => { Array.prototype.map = null; Array.prototype.join = null; return 1; }", "udf")
    for _ in range(2):
        host.send("U", {"key": key, "calls": [[]]})
        assert host.receive()[0] in "VF"
    assert host.value("() => 5") == 5


def a_udf_is_the_same_function_for_a_procedure(host):
    assert host.body("function (x) { __.response.setBody(x); }", 3, store=Store()) == 3
