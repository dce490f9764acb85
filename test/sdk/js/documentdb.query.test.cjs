// test/sdk/js/documentdb.query.test.cjs - queries as documentdb 1.15.3, the SDK before last, runs them.
const https = require("node:https");
const { promisify } = require("node:util");
const { DocumentClient } = require("documentdb");
const { assert, endpoint, key, main, refusal, test } = require("./harness.cjs");
const { check, checkRefusal, table } = require("./table.cjs");

// It insists on TLS 1.0, which neither the service nor this server speaks any more: its users have to do the same.
const { request } = https;
https.request = (options, ...rest) => request({ ...options, secureProtocol: undefined }, ...rest);

const client = new DocumentClient(endpoint, { masterKey: key });
const name = `documentdb-query-${process.pid}`;
const link = (container) => `dbs/${name}/colls/${container}`;
const call = (method, ...args) => promisify(client[method]).apply(client, args);
const all = (iterator) => new Promise((done, failed) => iterator.toArray((problem, rows) => (problem ? failed(problem) : done(rows))));
const spec = ({ query, parameters }) => ({ query, parameters });

/** Page by page, which is how its users wrote loops. */
async function pages(iterator, largest) {
  const rows = [];
  for (;;) {
    const [page, headers] = await new Promise((done, failed) =>
      iterator.executeNext((problem, items, told) => (problem ? failed(problem) : done([items, told]))),
    );
    if (page === undefined) return rows;
    assert.ok(page.length <= largest, `a page of ${page.length}`);
    rows.push(...page);
    if (!headers?.["x-ms-continuation"] && !iterator.hasMoreResults?.()) return rows;
  }
}

/** It joins ORDER BY and single aggregates alone: of the rest the server gives the whole answer. */
const beyond = (entry) => /OFFSET|DISTINCT|GROUP BY|different|every type|with a name|several aggregates|RANK/.test(entry.name);
const whole = { "x-orrery-whole": "true" };

/** Hierarchical keys came after it. */
const known = table.queries.filter((entry) => !entry.container);

for (const where of ["one", "three"]) {
  for (const entry of known) {
    const options = entry.key ? { partitionKey: entry.key } : { enableCrossPartitionQuery: true };
    if (beyond(entry)) options.initialHeaders = whole;
    test(`${entry.name} of ${where}`, async () => {
      const answer = all(client.queryDocuments(link(where), spec(entry), options));
      if (entry.error) return checkRefusal(entry, await refusal(answer));
      check(entry, await answer);
    });
  }
  test(`pages of four of ${where}`, async () => {
    const entry = known.find((one) => one.name === "ORDER BY");
    const options = { enableCrossPartitionQuery: true, maxItemCount: 4 };
    check(entry, await pages(client.queryDocuments(link(where), entry.query, options), 4));
  });
}

test("databases and containers are found by a query", async () => {
  const databases = await all(client.queryDatabases(`SELECT * FROM root r WHERE r.id = "${name}"`));
  assert.deepEqual(databases.map((one) => one.id), [name]);
  const containers = await all(client.queryCollections(`dbs/${name}`, "SELECT * FROM root r WHERE r.id = 'one'"));
  assert.deepEqual(containers.map((one) => one.id), ["one"]);
});

(async () => {
  await call("createDatabase", { id: name });
  for (const [id, offerThroughput] of [["one", 400], ["three", 18000]]) {
    await call("createCollection", `dbs/${name}`, { id, ...table.definition }, { offerThroughput });
    for (const item of table.items) await call("createDocument", link(id), item);
  }
  await main(() => call("deleteDatabase", `dbs/${name}`));
})();
