"""test/script/host_forms.py - the forms a source may have, and promises around callbacks."""
from host import Store

SET = "getContext().getResponse().setBody"

READ = """function read(id) { return new Promise((yes, no) => {
    const accepted = __.readDocument(__.getAltLink() + "/docs/" + id, (e, d) => e ? no(e) : yes(d));
    if (!accepted) no(new Error(429, "not accepted")); }); }"""


def a_source_may_be_any_function(host):
    for source in (
        "function f(a) { %s(a); }",
        "function (a) { %s(a); }",
        "(a) => { %s(a); }",
        "a => %s(a)",
        "async function f(a) { %s(a); }",
        "async (a) => { await null; %s(a); }",
        "  function f(a) { %s(a); }  ;; ",
        "(function (a) { %s(a); })",
        "// says\n/* what */ function f(a) { %s(a); } // it does",
        "\ufefffunction f(a) { %s(a); }",
        '"use strict"; function f(a) { %s(a); }',
        "function f(a) { g(a); } function g(a) { %s(a); }",
        "function f(a) { g(a); }\nvar g = function (a) { %s(a); };",
        "const f = (a) => { %s(a); };",
        "const f = (a) => { function g() { %s(a); } g(); };",
        "var x = 1; f = function (a) { %s(a); }",
        "/* function no() {} */ function f(a) { %s(a); };",
        "class T { static m(a) { %s(a); } }\nfunction f(a) { T.m(a); }",
        "function f(a) { %s(a); }\r\n",
    ):
        assert host.body(source % SET, 5) == 5, source


def modern_syntax_runs(host):
    assert (
        host.body(
            """async ({ a, ...rest }, [b = 2] = []) => { class C { #p = a ?? 0; get p() { return this.#p; } }
        const list = []; for await (const x of [1, 2n].map(async v => v)) list.push(`${x}`);
        %s([new C().p, rest?.z?.y, b, list, 2 ** 10, [3, 1].toSorted(), Object.groupBy([1, 2], n => n %% 2)]); }"""
            % SET,
            {"a": 0, "q": 1},
        )
        == [0, None, 2, ["1", "2"], 1024, [1, 3], {"1": [1], "0": [2]}]
    )


def promises_around_callbacks_are_awaited(host):
    store = Store({"id": "a", "n": 1}, {"id": "b", "n": 2})
    assert (
        host.body(
            "async function main() { "
            + READ
            + " const a = await read('a'); const b = await read('b'); %s(a.n + b.n); }" % SET,
            store=store,
        )
        == 3
    )
    assert [len(frame) for frame in store.frames] == [1, 1]


def promises_that_are_awaited_together_are_sent_together(host):
    store = Store({"id": "a", "n": 1}, {"id": "b", "n": 2})
    assert host.body(
        "async function main() { "
        + READ
        + " const l = await Promise.all(['a', 'b'].map(read)); %s(l.map(d => d.n)); }" % SET,
        store=store,
    ) == [1, 2]
    assert [len(frame) for frame in store.frames] == [2]


def errors_of_operations_are_caught_by_try_around_await(host):
    assert host.body(
        "async function main() { "
        + READ
        + " try { await read('x'); } catch (e) { %s([e.number, e instanceof Error]); } }" % SET
    ) == [404, True]


def a_function_that_catches_its_promise_itself_ends_well(host):
    store = Store({"id": "a", "n": 1})
    assert (
        host.body(
            "function f() { "
            + READ
            + " async function main() { %s((await read('a')).n); } main().catch(e => getContext().abort(e)); }" % SET,
            store=store,
        )
        == 1
    )


def promise_jobs_run_between_the_callbacks(host):
    assert (
        host.body(
            """function () { var seen = []; for (let i = 0; i < 2; i++)
        __.readDocuments(__.getSelfLink(), () => { seen.push("c" + i); Promise.resolve().then(() => { seen.push("p" + i); %s(seen); }); }); }"""
            % SET
        )
        == ["c0", "p0", "c1", "p1"]
    )


def a_promise_that_never_ends_does_not_keep_the_script(host):
    assert host.body("async function f() { %s(1); await new Promise(() => {}); }" % SET) == 1


def a_generator_and_a_bound_function_are_functions(host):
    assert host.run("function* f() { throw 1; }") == ("D", {})
    assert host.body("(function (a, b) { %s(a + b); }).bind(null, 1)" % SET, 2) == 3


def the_name_of_a_script_may_be_anything(host):
    failure = host.failure("function f() { throw new Error('x'); }", name="a b:1@c(d)")
    assert failure["message"] == "x" and failure["stack"].startswith("Error: x\n   at f (")
