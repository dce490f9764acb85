// test/sdk/js/query.test.mjs - queries as @azure/cosmos runs them: the table of ../queries.json, then pages, metrics and lists.
import { CosmosClient } from "@azure/cosmos";
import harness from "./harness.cjs";
import shared from "./table.cjs";

const { assert, endpoint, key, main, refusal, test } = harness;
const { check, checkRefusal, plain, table } = shared;
const client = new CosmosClient({ endpoint, key });
const name = `query-${process.pid}`;
const { database } = await client.databases.create({ id: name });

async function filled(id, definition, throughput) {
  const { container } = await database.containers.create({ id, ...definition, throughput });
  await Promise.all(table.items.map((item) => container.items.create(item)));
  return container;
}

const containers = {
  one: await filled("one", table.definition),
  three: await filled("three", table.definition, 18000),
  levels: await filled("levels", table.levels, 18000),
};

/** Every row, page by page; a page may be empty. */
async function collect(iterator, largest = Infinity) {
  const rows = [];
  while (iterator.hasMoreResults()) {
    const { resources = [] } = await iterator.fetchNext();
    assert.ok(resources.length <= largest, `a page of ${resources.length}`);
    rows.push(...resources);
  }
  return rows;
}

const spec = ({ query, parameters }) => ({ query, parameters });
const keyOf = (entry) => (entry.container ? entry.key : entry.key?.[0]);

// The table, in every way that the SDK has

const modes = {
  "as it comes": {},
  "by pages of two": { maxItemCount: 2 },
  "by its plan": { forceQueryPlan: true },
  "by its plan, by pages of two": { forceQueryPlan: true, maxItemCount: 2 },
  "by its plan, all ranges at once": { forceQueryPlan: true, maxDegreeOfParallelism: -1, bufferItems: true },
  "by its plan, page by page": { forceQueryPlan: true, enableQueryControl: true, maxItemCount: 3 },
};

/**
 * By a plan the SDK asks each range and leaves the key out, so it has the rows of all keys there, here as on the
 * service. It says itself that it cannot count distinct values, and refuses to order null, arrays and objects.
 */
const beyond = ["how many are different", "ORDER BY of every type", "ORDER BY DESC of every type"];
const applies = (entry, options) => !options.forceQueryPlan || !(entry.key || beyond.includes(entry.name));

/** Over several ranges the gateway sends a plan, and the SDK joins. This has the server join, as far as the SDK cannot. */
const whole = { initialHeaders: { "x-orrery-whole": "true" } };
const joined = (entry, options) => (beyond.includes(entry.name) ? { ...whole, ...options } : options);

for (const [mode, options] of Object.entries(modes)) {
  for (const entry of table.queries.filter((one) => applies(one, options))) {
    for (const where of entry.container ? [entry.container] : ["one", "three"]) {
      test(`${entry.name} of ${where}, ${mode}`, async () => {
        const iterator = containers[where].items.query(spec(entry), { partitionKey: keyOf(entry), ...joined(entry, options) });
        if (entry.error) return checkRefusal(entry, await refusal(collect(iterator)));
        check(entry, await collect(iterator, options.maxItemCount));
      });
    }
  }
}

test("fetchAll and the asynchronous iterator have the rows of the pages", async () => {
  const entry = table.queries.find((one) => one.name === "ORDER BY");
  check(entry, (await containers.three.items.query(entry.query).fetchAll()).resources);
  const rows = [];
  for await (const { resources } of containers.three.items.query(entry.query, { maxItemCount: 5 }).getAsyncIterator()) {
    rows.push(...resources);
  }
  check(entry, rows);
});

// Pages: each from a client of its own, which knows nothing but the token

async function resumed(where, query, options) {
  const rows = [];
  let continuationToken;
  let pages = 0;
  do {
    const stranger = new CosmosClient({ endpoint, key });
    const iterator = stranger.database(name).container(where).items.query(query, { ...options, continuationToken });
    const page = await iterator.fetchNext();
    assert.ok((page.resources?.length ?? 0) <= options.maxItemCount);
    rows.push(...(page.resources ?? []));
    continuationToken = page.continuationToken;
    assert.ok(++pages < 100, "the pages have no end");
  } while (continuationToken);
  assert.ok(pages > 1, "all of it came in one page");
  return rows;
}

/**
 * By its plan the SDK goes on with less than the server does: it has no token for groups and for DISTINCT, asks for
 * the rows after ("b", 5) by a >= "b" AND b >= 5, goes on past a TOP, and gives no token while it passes an OFFSET over.
 */
const resumableByPlan = ["everything", "values", "ORDER BY", "ORDER BY DESC", "JOIN"];
const resumable = [...resumableByPlan, "ORDER BY of two", "OFFSET LIMIT", "TOP of an order", "ORDER BY over a JOIN", "ORDER BY of every type",
  "DISTINCT values", "DISTINCT in an order", "GROUP BY with every aggregate", "everything of a key", "a filter and an order of a key"];

for (const where of ["one", "three"]) {
  for (const entry of table.queries.filter((one) => resumable.includes(one.name))) {
    test(`${entry.name} of ${where} goes on in another client`, async () => {
      check(entry, await resumed(where, spec(entry), { partitionKey: keyOf(entry), maxItemCount: 3, ...whole }));
    });
  }
  for (const entry of table.queries.filter((one) => resumableByPlan.includes(one.name))) {
    test(`${entry.name} of ${where} goes on in another client, by its plan`, async () => {
      check(entry, await resumed(where, spec(entry), { maxItemCount: 3, forceQueryPlan: true, enableQueryControl: true }));
    });
  }
}

test("a continuation of another query is refused", async () => {
  const page = await containers.one.items.query("SELECT * FROM c ORDER BY c.radius", { maxItemCount: 3 }).fetchNext();
  const options = { continuationToken: page.continuationToken, maxItemCount: 3 };
  assert.equal((await refusal(containers.one.items.query("SELECT * FROM c ORDER BY c.id", options).fetchNext())).code, 400);
});

// What else an answer tells

test("metrics are told when they are asked for", async () => {
  const page = await containers.one.items.query("SELECT * FROM c WHERE c.radius > 1000", { populateQueryMetrics: true }).fetchNext();
  const metrics = page.queryMetrics["0"] ?? Object.values(page.queryMetrics)[0];
  assert.equal(metrics.outputDocumentCount, page.resources.length);
  assert.ok(metrics.retrievedDocumentCount >= page.resources.length);
  assert.ok(metrics.totalQueryExecutionTime.totalMilliseconds() > 0);
});

test("a query costs something, and more than nothing is said about the session", async () => {
  const page = await containers.three.items.query("SELECT * FROM c").fetchNext();
  assert.ok(page.requestCharge >= 1);
  assert.match(page.headers["x-ms-session-token"], /^[012]:-1#\d+$/);
});

test("an item that was just written is found by the session that wrote it", async () => {
  const { container } = await database.containers.create({ id: "session", ...table.definition, throughput: 18000 });
  for (let n = 0; n < 10; n++) {
    await container.items.create({ id: String(n), planet: `p${n}` });
    const { resources } = await container.items.query("SELECT VALUE COUNT(1) FROM c").fetchAll();
    assert.deepEqual(resources, [n + 1]);
  }
});

// Lists

test("readAll has every item", async () => {
  check({ rows: "items" }, await collect(containers.three.items.readAll({ maxItemCount: 5 }), 5));
});

test("databases are found by a query", async () => {
  const query = { query: "SELECT * FROM root r WHERE r.id = @id", parameters: [{ name: "@id", value: name }] };
  const { resources } = await client.databases.query(query).fetchAll();
  assert.deepEqual(resources.map((one) => one.id), [name]);
});

test("containers are found by a query", async () => {
  const { resources } = await database.containers.query("SELECT VALUE c.id FROM c WHERE c.id IN ('one', 'three')").fetchAll();
  assert.deepEqual(resources.sort(), ["one", "three"]);
});

test("items of three ranges lie in each of them", async () => {
  const { resources } = await containers.three.readPartitionKeyRanges().fetchAll();
  assert.deepEqual(resources.map((range) => range.id), ["0", "1", "2"]);
  const ranges = new Set();
  for (const item of table.items) {
    const read = await containers.three.item(item.id, item.planet).read();
    assert.deepEqual(plain(read.resource), item);
    ranges.add(read.headers["x-ms-documentdb-partitionkeyrangeid"]);
  }
  assert.deepEqual([...ranges].sort(), ["0", "1", "2"]);
});

await main(() => database.delete());
