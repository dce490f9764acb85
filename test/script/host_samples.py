"""test/script/host_samples.py - whole scripts, as people write them: imports, deletes, swaps, counters, unique names."""
from host import Store

IMPORT = """function importAll(items) {
    var container = getContext().getCollection(), link = container.getSelfLink(), count = 0;
    if (!items) throw new Error("There is nothing to import.");
    if (items.length === 0) { getContext().getResponse().setBody(0); return; }
    create(items[0], created);
    function create(item, callback) {
        if (!container.createDocument(link, item, callback)) getContext().getResponse().setBody(count);
    }
    function created(err, item, options) {
        if (err) throw err;
        if (++count >= items.length) getContext().getResponse().setBody(count); else create(items[count], created);
    }
}"""

DELETE = """function deleteAll(query) {
    var c = getContext().getCollection(), answer = { deleted: 0, more: true };
    find();
    function find(token) {
        var ok = c.queryDocuments(c.getSelfLink(), query, { continuation: token, pageSize: 3 }, function (err, found, options) {
            if (err) throw err;
            if (found.length > 0) remove(found);
            else if (options.continuation) find(options.continuation);
            else { answer.more = false; getContext().getResponse().setBody(answer); }
        });
        if (!ok) getContext().getResponse().setBody(answer);
    }
    function remove(found) {
        if (found.length === 0) return find();
        var ok = c.deleteDocument(found[0]._self, {}, function (err, options) {
            if (err) throw err;
            answer.deleted++; found.shift(); remove(found);
        });
        if (!ok) getContext().getResponse().setBody(answer);
    }
}"""

DELETE_BY_FILTER = """function clear(name, value) {
    const answer = { deleted: 0 };
    function find(token) {
        const done = (err, found, info) => {
            if (err) throw err;
            if (found.length) remove(found); else if (info.continuation) find(info.continuation); else __.response.setBody(answer);
        };
        if (!__.filter(doc => doc[name] === value, { continuation: token }, done).isAccepted) __.response.setBody(answer);
    }
    function remove(found) {
        if (!found.length) return find();
        __.deleteDocument(found[0]._self, function (err) { if (err) throw err; answer.deleted++; found.shift(); remove(found); });
    }
    find();
}"""

INCREMENT = """function increment(id, by) {
    var c = getContext().getCollection();
    var query = { query: "SELECT * FROM c WHERE c.id = @id", parameters: [{ name: "@id", value: id }] };
    var ok = c.queryDocuments(c.getSelfLink(), query, function (err, found) {
        if (err) throw err;
        if (!found.length) throw new Error(404, "There is no " + id + ".");
        var item = found[0]; item.count = (item.count || 0) + by;
        var ok = c.replaceDocument(item._self, item, { etag: item._etag }, function (err, saved) {
            if (err) throw err; getContext().getResponse().setBody(saved.count); });
        if (!ok) throw new Error("out of time");
    });
    if (!ok) throw new Error("out of time");
}"""

SWAP = """function swap(one, other) {
    var c = getContext().getCollection(), a, b;
    read(one, function (item) { a = item; read(other, function (item) { b = item; exchange(); }); });
    function read(id, then) {
        if (!c.readDocument(c.getAltLink() + "/docs/" + id, {}, function (err, item) { if (err) throw err; then(item); })) throw "no time";
    }
    function exchange() {
        var kept = a.team; a.team = b.team; b.team = kept;
        c.replaceDocument(a._self, a, function (err) {
            if (err) throw err;
            c.replaceDocument(b._self, b, function (err) { if (err) throw err; getContext().getResponse().setBody([a.team, b.team]); });
        });
    }
}"""

UNIQUE = """function unique() {
    const item = __.request.getBody();
    const marker = { id: "__unique_name_" + item.name, isMarker: true };
    const accept = ok => { if (!ok) throw new Error(499, "Try again."); };
    switch (__.request.getOperationType()) {
    case "Create":
        accept(__.createDocument(__.getSelfLink(), marker, {}, function (err) {
            if (err && err.number === ErrorCodes.Conflict) throw new Error(err.number, "The name is taken: " + err.message);
            if (err) throw err;
        }));
        break;
    case "Delete":
        accept(__.deleteDocument(__.getAltLink() + "/docs/" + marker.id, {}, err => { if (err) throw err; }));
        break;
    default:
        throw new Error(400, "Unsupported: " + __.request.getOperationType());
    }
}"""

COUNT = """function count() {
    var c = getContext().getCollection(), made = getContext().getResponse().getBody();
    c.readDocument(c.getAltLink() + "/docs/totals", function (err, totals) {
        if (err) throw new Error("There are no totals: " + err.message);
        totals.items++; totals.last = made.id;
        c.replaceDocument(totals._self, totals, function (err) { if (err) throw err; });
    });
}"""

ASYNC = """function raise(percent) {
    const query = (text, options) => new Promise((yes, no) => {
        const ok = __.queryDocuments(__.getSelfLink(), text, options, (err, rows, more) => err ? no(err) : yes({ rows, more }));
        if (!ok) no(new Error(429, "queryDocuments was not accepted"));
    });
    const replace = item => new Promise((yes, no) => {
        const ok = __.replaceDocument(item._self, item, (err, saved) => err ? no(err) : yes(saved));
        if (!ok) no(new Error(429, "replaceDocument was not accepted"));
    });
    async function main() {
        let token, count = 0;
        do {
            const { rows, more } = await query("SELECT * FROM c", { continuation: token, pageSize: 2 });
            for (const item of rows) { item.price += item.price * percent / 100; await replace(item); count++; }
            token = more.continuation;
        } while (token);
        getContext().getResponse().setBody(count);
    }
    main().catch(err => getContext().abort(err));
}"""


def an_import_counts_what_it_made_and_goes_on_where_it_stopped(host):
    items = [{"id": str(i)} for i in range(10)]
    store = Store()
    first = host.body(IMPORT, items, store=store, accept=lambda frames: frames < 4)
    assert first == 4 and len(store.documents) == 4
    assert host.body(IMPORT, items[first:], store=store) == 6 and len(store.documents) == 10
    assert host.body(IMPORT, []) == 0


def an_import_of_what_is_there_fails_with_the_operations_error(host):
    failure = host.failure(IMPORT, [{"id": "1"}, {"id": "1"}])
    assert failure["number"] == 409 and failure["from"] == "operation"
    assert host.failure(IMPORT)["message"] == "There is nothing to import."


def a_delete_by_query_goes_on_until_nothing_is_left(host):
    store = Store(*({"id": str(i)} for i in range(8)))
    assert host.body(DELETE, "SELECT * FROM c", store=store) == {"deleted": 8, "more": False} and not store.documents
    store = Store(*({"id": str(i)} for i in range(8)))
    assert host.body(DELETE, "SELECT * FROM c", store=store, quota={"operations": 5}) == {"deleted": 3, "more": True}


def a_delete_by_filter_finds_what_it_must(host):
    store = Store(*({"id": str(i), "type": "odd" if i % 2 else "even"} for i in range(9)))
    assert host.body(DELETE_BY_FILTER, "type", "even", store=store) == {"deleted": 5}
    assert {document["type"] for document in store.documents.values()} == {"odd"}


def a_counter_is_replaced_under_its_etag(host):
    store = Store({"id": "a"})
    assert [host.body(INCREMENT, "a", 2, store=store) for _ in range(3)] == [2, 4, 6]
    assert store.ops[1]["options"] == {"etag": '"1"'}
    failure = host.failure(INCREMENT, "b", 1, store=store)
    assert failure["number"] == 404 and failure["from"] == "throw"


def a_swap_reads_two_and_writes_two(host):
    store = Store({"id": "a", "team": "red"}, {"id": "b", "team": "blue"})
    assert host.body(SWAP, "a", "b", store=store) == ["blue", "red"]
    assert store.documents["a"]["team"] == "blue"
    assert host.failure(SWAP, "a", "z", store=store)["number"] == 404


def a_pre_trigger_keeps_names_unique(host):
    store = Store()
    request = {"body": {"id": "1", "name": "n"}, "operation": "Create", "writable": True}
    assert host.run(UNIQUE, store=store, request=request, response=None) == ("D", {})
    failure = host.failure(UNIQUE, store=store, request=request, response=None)
    assert failure["number"] == 409 and failure["message"].startswith("The name is taken: {")
    assert host.run(UNIQUE, store=store, request={**request, "operation": "Delete"}, response=None) == ("D", {})
    assert not store.documents
    assert host.failure(UNIQUE, request={**request, "operation": "Replace"}, response=None)["number"] == 400


def a_post_trigger_keeps_a_count(host):
    store = Store({"id": "totals", "items": 4})
    more = {"request": {"body": {"id": "x"}, "operation": "Create"}, "response": {"body": {"id": "x", "_etag": "e"}}}
    assert host.run(COUNT, store=store, **more) == ("D", {})
    assert store.documents["totals"]["items"] == 5 and store.documents["totals"]["last"] == "x"
    assert host.failure(COUNT, **more)["message"].startswith("There are no totals: ")


def promises_around_the_callbacks_page_and_replace(host):
    store = Store(*({"id": str(i), "price": 100} for i in range(5)))
    assert host.body(ASYNC, 10, store=store) == 5
    assert {document["price"] for document in store.documents.values()} == {110}
    failure = host.failure(ASYNC, 10, store=store, quota={"operations": 2})
    assert failure["number"] == 429 and failure["from"] == "abort"
