"""test/script/host_chain.py - filter, map, pluck, flatten, sortBy, unwind and chain, alone and one after the other."""
import json

from host import Store

PEOPLE = [
    {"id": "1", "name": "Cy", "age": 31, "tags": ["a", ["b", ["c"]]], "kids": [{"n": "x"}, {"n": "y"}]},
    {"id": "2", "name": "Al", "age": 25, "tags": ["d"], "kids": []},
    {"id": "3", "name": "Bo", "age": 40},
]


def _rows(host, call, documents=PEOPLE, **more):
    """What the call's callback gets: rows."""
    store = Store(*documents)
    body = host.body(
        "function () { var r = %s; if (!r.isAccepted) throw new Error('not accepted');"
        "function done(e, rows, o) { if (e) throw e; __.response.setBody({ rows: rows, options: o }); } }" % call,
        store=store,
        **more
    )
    return body["rows"]


def a_filter_gives_the_documents_that_match(host):
    assert [row["id"] for row in _rows(host, "__.filter(function (d) { return d.age > 30; }, done)")] == ["1", "3"]


def the_collection_itself_has_the_same_functions_and_may_be_named(host):
    for call in (
        "getContext().getCollection().filter(d => d.age > 30, done)",
        "__.filter(__, d => d.age > 30, done)",
        "__.filter(getContext().getCollection(), d => d.age > 30, {}, done)",
        "__.filter(undefined, d => d.age > 30, done)",
        "__.filter(d => d.age > 30, undefined, done)",
    ):
        assert len(_rows(host, call)) == 2, call


def a_map_transforms_and_leaves_out_what_is_undefined(host):
    assert _rows(host, "__.map(d => d.tags && d.name, done)") == ["Cy", "Al"]


def what_a_document_lacks_is_undefined_and_not_an_exception(host):
    assert [row["id"] for row in _rows(host, "__.filter(d => d.kids[0].n === 'x', done)")] == ["1"]
    assert _rows(host, "__.map(d => d.kids.length, done)") == [2, 0]


def pluck_takes_one_property(host):
    assert _rows(host, "__.pluck('name', done)") == ["Cy", "Al", "Bo"]
    assert _rows(host, "__.pluck('age', {pageSize: 2}, done)") == [31, 25]


def flatten_goes_all_the_way_or_one_level(host):
    assert _rows(host, "__.chain().map(d => d.tags).flatten().value(done)") == ["a", "b", "c", "d"]
    assert _rows(host, "__.chain().map(d => d.tags).flatten(true).value(done)") == ["a", ["b", ["c"]], "d"]
    assert len(_rows(host, "__.flatten(done)")) == 3


def sorting_is_by_the_key_and_keeps_the_order_of_equals(host):
    assert [row["id"] for row in _rows(host, "__.sortBy(d => d.age, done)")] == ["2", "1", "3"]
    assert [row["id"] for row in _rows(host, "__.sortByDescending(d => d.age, done)")] == ["3", "1", "2"]
    assert [row["id"] for row in _rows(host, "__.sortBy(d => 1, done)")] == ["1", "2", "3"]


def keys_of_different_types_sort_as_in_a_query(host):
    mixed = [
        {"id": str(i), **({"k": k} if k != "none" else {})}
        for i, k in enumerate(["s", 5, None, True, "none", False, 1, "a"])
    ]
    assert [row["id"] for row in _rows(host, "__.sortBy(d => d.k, done)", mixed)] == [
        "4",
        "2",
        "5",
        "3",
        "6",
        "1",
        "7",
        "0",
    ]


def unwind_joins_with_what_is_inside(host):
    assert _rows(host, "__.unwind(d => d.kids, {}, done)") == [{"n": "x"}, {"n": "y"}]
    assert _rows(host, "__.unwind(d => d.kids, (d, k) => d.name + k.n, done)") == ["Cyx", "Cyy"]
    assert _rows(
        host, "__.chain().unwind(d => d.kids, (d, k) => ({ a: d.name, b: k.n })).filter(r => r.b === 'y').value(done)"
    ) == [{"a": "Cy", "b": "y"}]


def the_second_function_of_unwind_is_its_result_selector_even_when_it_is_alone(host):
    assert json.loads(host.body("function () { __.unwind(d => d.kids, (d, k) => k.n); }", store=Store(*PEOPLE))) == [
        "x",
        "y",
    ]


def a_chain_applies_its_parts_in_order(host):
    assert _rows(
        host,
        "__.chain().filter(d => d.age > 26).sortByDescending(d => d.age).map(d => ({ n: d.name })).pluck('n').value(done)",
    ) == ["Bo", "Cy"]


def a_chain_may_be_kept_and_used_twice(host):
    assert _rows(
        host,
        "(function () { var c = __.chain().filter(d => d.age > 26); c.pluck('age'); return c.pluck('id').value(done); })()",
    ) == ["1", "3"]


def without_a_callback_the_rows_are_appended_to_the_body(host):
    body = host.body("function () { __.chain().filter(d => d.age > 30).pluck('id').value(); }", store=Store(*PEOPLE))
    assert json.loads(body) == ["1", "3"]
    assert (
        host.body("function () { __.pluck('id'); __.pluck('age'); }", store=Store(*PEOPLE)) == '["1","2","3"][31,25,40]'
    )


def without_a_response_a_callback_is_needed(host):
    failure = host.failure(
        "function () { __.filter(d => true); }",
        response=None,
        request={"body": {}, "operation": "Create", "writable": True},
    )
    assert failure["number"] == 400


def in_a_chain_only_value_takes_options_and_callbacks(host):
    for call in (
        "filter(d => 1, {})",
        "map(d => 1, function () {})",
        "pluck('a', {})",
        "flatten({})",
        "sortBy(d => 1, {pageSize: 1})",
        "unwind(d => d, {})",
    ):
        assert host.failure("function () { __.chain().%s; }" % call)["number"] == 400, call


def arguments_of_a_wrong_kind_are_refused(host):
    for call in (
        "filter()",
        "filter(1)",
        "map('x')",
        "pluck()",
        "pluck('')",
        "pluck(1)",
        "sortBy()",
        "unwind()",
        "unwind(1)",
        "unwind(() => 1)",
        "unwind(d => d, (a) => 1)",
        "filter(d => 1, 5)",
        "filter(d => 1, {pageSize: 'x'})",
        "chain().value({continuation: 1})",
        "sortBy(d => 1, {continuation: 'x'}, function () {})",
    ):
        assert host.failure("function () { __.%s; }" % call)["number"] == 400, call


def an_exception_in_a_predicate_is_told_to_the_callback(host):
    for call in ("filter", "map", "sortBy"):
        body = host.body(
            "function () { __.%s(d => { throw new Error(418, 'tea'); }, function (e, rows) { __.response.setBody([e.number, typeof rows]); }); }"
            % call,
            store=Store(*PEOPLE),
        )
        assert body == [418, "undefined"]
    failure = host.failure("function () { __.filter(d => { throw new Error(418, 'tea'); }); }", store=Store(*PEOPLE))
    assert failure["number"] == 418


def an_exception_of_the_callback_ends_the_script_and_is_called_once(host):
    failure = host.failure(
        "function () { __.filter(d => 1, function (e) { console.log('once'); throw e || new Error('mine'); }); }",
        log=True,
        store=Store(*PEOPLE),
    )
    assert failure["log"] == "once" and failure["message"] == "mine"


def a_filter_reads_on_until_its_page_is_full(host):
    many = [{"id": str(i), "n": i} for i in range(5000)]
    store = Store(*many)
    rows = host.body(
        "function () { __.filter(d => d.n % 1000 === 999, function (e, rows, o) { __.response.setBody([rows.map(d => d.n), o]); }); }",
        store=store,
    )
    assert rows[0] == [999, 1999, 2999, 3999, 4999] and "continuation" not in rows[1]


def pages_of_a_chain_follow_each_other_without_gap_or_repetition(host):
    many = [{"id": str(i), "n": (i * 7) % 2500} for i in range(2500)]
    for chain, expected in (
        ("filter(d => d.n % 3 === 0)", [d["n"] for d in many if d["n"] % 3 == 0]),
        ("map(d => d)", [d["n"] for d in many]),
        ("sortBy(d => d.n)", list(range(2500))),
    ):
        body = host.body(
            """function () { var seen = [], sizes = [];
            function next(token) { __.chain().%s.value({ pageSize: 150, continuation: token }, function (e, rows, o) {
                if (e) throw e;
                rows.forEach(d => seen.push(d.n)); sizes.push(rows.length);
                if (o.continuation) next(o.continuation); else __.response.setBody([seen, sizes]); }); }
            next(); }""" % chain,
            store=Store(*many),
        )
        assert body[0] == expected, chain
        assert all(size == 150 for size in body[1][:-1]) and body[1][-1] <= 150, body[1]


def a_page_size_of_minus_one_is_all(host):
    many = [{"id": str(i)} for i in range(2500)]
    assert len(_rows(host, "__.filter(d => true, {pageSize: -1}, done)", many)) == 2500
    assert len(_rows(host, "__.filter(d => true, done)", many)) == 100


def a_chain_that_is_not_accepted_says_so(host):
    assert host.body(
        "function () { var r = __.filter(d => 1), c = __.chain().map(d => d).value(); __.response.setBody([r.isAccepted, c.isAccepted]); }",
        quota={"operations": 0},
    ) == [False, False]


def a_filter_that_is_cut_off_gives_what_it_has_and_where_it_stopped(host):
    many = [{"id": str(i)} for i in range(3000)]
    body = host.body(
        "function () { __.filter(d => d.id === '5', function (e, rows, o) { __.response.setBody([rows.length, o.continuation]); }); }",
        store=Store(*many),
        quota={"operations": 1},
    )
    assert body == [1, "1000"]


def an_error_of_the_scan_is_told_to_the_callback(host):
    class Broken(Store):
        def answer(self, op):
            return {"status": 404, "message": "gone"}

    for call in ("filter", "sortBy"):
        assert (
            host.body(
                "function () { __.%s(d => 1, function (e) { __.response.setBody(e.number); }); }" % call, store=Broken()
            )
            == 404
        )


def a_spatial_helper_is_refused_and_not_taken_for_undefined(host):
    failure = host.failure("function () { __.filter((d) => __.spatial.distance(d.a, d.b) < 1); }", store=Store({"id": "1"}))
    assert failure["number"] == 400 and "spatial" in failure["exception"], failure
