// test/sdk/js/index.test.mjs - indexing policies, their change, and index metrics, as @azure/cosmos sees them.
import { CosmosClient } from "@azure/cosmos";
import harness from "./harness.cjs";

const { assert, endpoint, key, main, refusal, test } = harness;
const client = new CosmosClient({ endpoint, key });
const name = `index-${process.pid}`;
const { database } = await client.databases.create({ id: name });
const progressHeader = "x-ms-documentdb-collection-index-transformation-progress";
let made = 0;

async function containerOf(count, indexingPolicy) {
  const { container } = await database.containers.create({ id: `c${++made}`, partitionKey: "/pk", indexingPolicy });
  for (let n = 0; n < count; n++) await container.items.create({ id: `${n}`, pk: "a", n, half: n % 2, name: `x${n % 7}` });
  return container;
}

async function rows(container, query, options) {
  return (await container.items.query(query, options).fetchAll()).resources;
}

/** Until every item is indexed by the policy of today; the server says how far it is. */
async function whenIndexed(container) {
  for (;;) {
    const { headers } = await container.read({ populateQuotaInfo: true });
    if (headers[progressHeader] === "100") return;
  }
}

const composite = [[{ path: "/half", order: "ascending" }, { path: "/n", order: "descending" }]];
const all = { indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/*" }] };

test("index metrics tell which paths a query used", async () => {
  const one = await containerOf(50, all);
  const answer = await one.items.query("SELECT * FROM c WHERE c.n = 7", { populateIndexMetrics: true, partitionKey: "a" }).fetchAll();
  assert.equal(answer.resources.length, 1);
  assert.match(answer.indexMetrics, /\/n\/\?/);
});

test("query metrics count what was looked at", async () => {
  const one = await containerOf(50, all);
  const page = await one.items.query("SELECT * FROM c WHERE c.n = 7", { populateQueryMetrics: true, partitionKey: "a" }).fetchNext();
  assert.equal(page.resources.length, 1);
  assert.match(JSON.stringify(page.headers["x-ms-documentdb-query-metrics"]), /"retrievedDocumentCount":1,/);
});

test("a sort by two properties waits for its composite index, and works when the policy has it", async () => {
  const query = "SELECT VALUE c.n FROM c ORDER BY c.half, c.n DESC";
  const one = await containerOf(40, all);
  assert.equal((await refusal(rows(one, query, { partitionKey: "a" }))).code, 400);
  const { resource } = await one.read();
  await one.replace({ ...resource, indexingPolicy: { ...all, compositeIndexes: composite } });
  await whenIndexed(one);
  const sorted = [...Array(40).keys()].sort((x, y) => (x % 2) - (y % 2) || y - x);
  assert.deepEqual(await rows(one, query, { partitionKey: "a" }), sorted);
});

test("a change of the policy changes no answer, while it is made and afterwards", async () => {
  const query = "SELECT VALUE c.id FROM c WHERE c.name = 'x3' AND c.n > 20";
  const one = await containerOf(60, all);
  const before = await rows(one, query);
  const { resource } = await one.read();
  await one.replace({ ...resource, indexingPolicy: { ...all, excludedPaths: [{ path: "/name/?" }] } });
  assert.deepEqual(await rows(one, query), before);
  await whenIndexed(one);
  assert.deepEqual(await rows(one, query), before);
});

await main(() => database.delete());
