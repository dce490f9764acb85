// test/sdk/js/batch.test.mjs - transactional batches and bulk, as @azure/cosmos sees them.
import { CosmosClient, PartitionKeyKind } from "@azure/cosmos";
import harness from "./harness.cjs";

const { assert, endpoint, key, main, refusal, test } = harness;
const client = new CosmosClient({ endpoint, key });
const name = `batch-${process.pid}`;
const { database } = await client.databases.create({ id: name });
let made = 0;

async function containerOf(definition = { partitionKey: "/pk" }) {
  const { container } = await database.containers.create({ id: `c${++made}`, ...definition });
  return container;
}

const statuses = (results) => results.map((result) => result.statusCode);
const ids = async (container) => (await container.items.query("SELECT VALUE c.id FROM c ORDER BY c.id").fetchAll()).resources;

// Transactional batches

test("a batch does every kind of operation, each on what the one before it left", async () => {
  const container = await containerOf();
  await container.items.create({ id: "old", pk: "a", n: 1 });
  const { result, code } = await container.items.batch([
    { operationType: "Create", resourceBody: { id: "1", pk: "a", n: 1 } },
    { operationType: "Upsert", resourceBody: { id: "1", pk: "a", n: 2 } },
    { operationType: "Replace", id: "1", resourceBody: { id: "1", pk: "a", n: 3 } },
    { operationType: "Patch", id: "1", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
    { operationType: "Read", id: "1" },
    { operationType: "Delete", id: "old" },
  ], "a");
  assert.equal(code, 200);
  assert.deepEqual(statuses(result), [201, 200, 200, 200, 200, 204]);
  assert.deepEqual(result.slice(0, 5).map((one) => one.resourceBody.n), [1, 2, 3, 4, 4]);
  assert.equal(result[4].eTag, result[3].eTag);
  assert.ok(result.every((one) => one.requestCharge > 0));
  const { resource, etag } = await container.item("1", "a").read();
  assert.deepEqual(resource, result[4].resourceBody);
  assert.equal(etag, result[4].eTag);
  assert.deepEqual(await ids(container), ["1"]);
});

test("a batch of which one operation fails does nothing", async () => {
  const container = await containerOf();
  await container.items.create({ id: "1", pk: "a" });
  const { result, code } = await container.items.batch([
    { operationType: "Create", resourceBody: { id: "2", pk: "a" } },
    { operationType: "Create", resourceBody: { id: "1", pk: "a" } },
    { operationType: "Delete", id: "1" },
  ], "a");
  assert.equal(code, 207);
  assert.deepEqual(statuses(result), [424, 409, 424]);
  assert.deepEqual(await ids(container), ["1"]);
});

test("an operation's ETag decides for the whole batch", async () => {
  const container = await containerOf();
  const { resource } = await container.items.create({ id: "1", pk: "a", n: 1 });
  const replace = (ifMatch) => container.items.batch([
    { operationType: "Create", resourceBody: { id: `${++made}`, pk: "a" } },
    { operationType: "Replace", id: "1", ifMatch, resourceBody: { id: "1", pk: "a", n: 2 } },
  ], "a");
  assert.deepEqual(statuses((await replace(resource._etag)).result), [201, 200]);
  assert.deepEqual(statuses((await replace(resource._etag)).result), [424, 412]);
});

test("a batch stays within its key", async () => {
  const container = await containerOf();
  const { result } = await container.items.batch([{ operationType: "Create", resourceBody: { id: "1", pk: "b" } }], "a");
  assert.deepEqual(statuses(result), [400]);
  const operations = [{ operationType: "Create", partitionKey: "b", resourceBody: { id: "1", pk: "b" } }];
  assert.match((await refusal(container.items.batch(operations, "a"))).message, /different partition key value/);
  assert.deepEqual(await ids(container), []);
});

test("a batch of a hierarchical key", async () => {
  const container = await containerOf({ partitionKey: { paths: ["/t", "/u"], kind: PartitionKeyKind.MultiHash, version: 2 } });
  const create = (id, u) => ({ operationType: "Create", resourceBody: { id, t: "x", u } });
  assert.equal((await container.items.batch([create("1", "y"), create("2", "y")], ["x", "y"])).code, 200);
  assert.deepEqual(statuses((await container.items.batch([create("3", "y"), create("4", "z")], ["x", "y"])).result), [424, 400]);
  assert.deepEqual(await ids(container), ["1", "2"]);
});

test("a batch of a hundred, and the session goes on with it", async () => {
  const container = await containerOf();
  const operations = Array.from({ length: 100 }, (_, i) => ({ operationType: "Create", resourceBody: { id: `${i}`, pk: "a" } }));
  const { result, code } = await container.items.batch(operations, "a");
  assert.equal(code, 200);
  assert.equal(result.length, 100);
  assert.equal((await container.item("99", "a").read()).statusCode, 200);
});

test("many clients change one item and others in batches, and nothing is lost", async () => {
  const container = await containerOf();
  await container.items.create({ id: "n", pk: "a", n: 0 });
  const results = await Promise.all(Array.from({ length: 24 }, (_, i) => container.items.batch([
    { operationType: "Patch", id: "n", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
    { operationType: "Create", resourceBody: { id: `${i}`, pk: "a" } },
  ], "a")));
  assert.ok(results.every(({ code }) => code === 200));
  assert.equal((await container.item("n", "a").read()).resource.n, 24);
  assert.equal((await ids(container)).length, 25);
});

// Bulk

const mixed = (count) => Array.from({ length: count }, (_, i) => (
  { operationType: "Create", partitionKey: `k${i % 13}`, resourceBody: { id: `${i}`, pk: `k${i % 13}` } }));

test("bulk over several ranges does every operation, whatever becomes of the others", async () => {
  const container = await containerOf({ partitionKey: { paths: ["/pk"], version: 2 }, throughput: 18000 });
  const first = await container.items.executeBulkOperations(mixed(500));
  assert.ok(first.every(({ response }) => response.statusCode === 201));
  const second = await container.items.executeBulkOperations([
    { operationType: "Create", partitionKey: "k0", resourceBody: { id: "0", pk: "k0" } },
    { operationType: "Read", partitionKey: "k1", id: "1" },
    { operationType: "Patch", partitionKey: "k2", id: "2", resourceBody: { operations: [{ op: "set", path: "/n", value: 7 }] } },
    { operationType: "Delete", partitionKey: "k3", id: "3" },
    { operationType: "Upsert", partitionKey: "k4", resourceBody: { id: "4", pk: "k4", n: 1 } },
    { operationType: "Replace", partitionKey: "k5", id: "none", resourceBody: { id: "none", pk: "k5" } },
  ]);
  assert.deepEqual(second.map(({ response, error }) => response?.statusCode ?? error.code), [409, 200, 200, 204, 200, 404]);
  assert.equal(second[2].response.resourceBody.n, 7);
  assert.equal((await ids(container)).length, 499);
});

test("the older bulk, which stops after a failure when it is told to", async () => {
  const container = await containerOf();
  const create = (id) => ({ operationType: "Create", partitionKey: "a", resourceBody: { id, pk: "a" } });
  const operations = () => [create("1"), create("1"), create("2")];
  assert.deepEqual(statuses(await container.items.bulk(operations(), { continueOnError: false })), [201, 409, 424]);
  assert.deepEqual(statuses(await container.items.bulk(operations())), [409, 409, 201]);
  assert.deepEqual(await ids(container), ["1", "2"]);
});

await main(() => database.delete());
