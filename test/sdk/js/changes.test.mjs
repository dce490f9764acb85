// test/sdk/js/changes.test.mjs - the change feed, as @azure/cosmos reads it.
import { ChangeFeedMode, ChangeFeedPolicy, ChangeFeedRetentionTimeSpan, ChangeFeedStartFrom, CosmosClient, PartitionKeyKind } from "@azure/cosmos";
import harness from "./harness.cjs";

const { assert, endpoint, key, main, refusal, test } = harness;
const client = new CosmosClient({ endpoint, key });
const name = `changes-${process.pid}`;
const { database } = await client.databases.create({ id: name });
let made = 0;

async function containerOf(definition = { partitionKey: "/pk" }, options = {}) {
  const { container } = await database.containers.create({ id: `c${++made}`, ...definition }, options);
  return container;
}

async function create(container, count, from = 0) {
  for (let i = from; i < from + count; i++) await container.items.create({ id: `${i}`, pk: `${i % 5}`, n: i });
}

const ids = (items) => items.map((item) => item.id);
const sorted = (list) => [...list].sort();

/** What an iterator gives until nothing is new; its pages must say so with 304. */
async function drain(iterator) {
  const items = [];
  for (;;) {
    const page = await iterator.readNext();
    if (page.statusCode === 304) return { items, token: page.continuationToken };
    assert.equal(page.statusCode, 200);
    assert.equal(page.count, page.result.length);
    items.push(...page.result);
  }
}

const read = (container, options = {}) => drain(container.items.getChangeFeedIterator(options));

test("the feed from the beginning has every item at its last change, by pages", async () => {
  const container = await containerOf();
  await create(container, 25);
  await container.item("3", "3").replace({ id: "3", pk: "3", n: 300 });
  await container.item("4", "4").delete();
  const { items } = await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 7 });
  assert.equal(items.length, 24);
  assert.equal(items[23].n, 300);
  assert.ok(items.every((item, i) => i === 0 || item._lsn > items[i - 1]._lsn));
});

test("an iterator begins now unless it is told otherwise, and goes on after 304", async () => {
  const container = await containerOf();
  await create(container, 3);
  const iterator = container.items.getChangeFeedIterator();
  assert.deepEqual((await drain(iterator)).items, []);
  await create(container, 2, 3);
  assert.deepEqual(ids((await drain(iterator)).items), ["3", "4"]);
  assert.deepEqual((await drain(iterator)).items, []);
});

test("a continuation goes on in another client", async () => {
  const container = await containerOf();
  await create(container, 5);
  const { token } = await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning() });
  await create(container, 3, 5);
  const other = new CosmosClient({ endpoint, key }).database(name).container(container.id);
  const { items } = await read(other, { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(token) });
  assert.deepEqual(sorted(ids(items)), ["5", "6", "7"]);
});

test("a time begins behind it", async () => {
  const container = await containerOf();
  await create(container, 3);
  const past = await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Time(new Date(Date.now() - 3600e3)) });
  assert.equal(past.items.length, 3);
  const future = await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Time(new Date(Date.now() + 3600e3)) });
  assert.equal(future.items.length, 0);
});

test("a partition key has a feed of its own", async () => {
  const container = await containerOf();
  await create(container, 20);
  const { items } = await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning("2"), maxItemCount: 3 });
  assert.deepEqual(ids(items), ["2", "7", "12", "17"]);
});

test("the first levels of a hierarchical key have one", async () => {
  const container = await containerOf({ partitionKey: { paths: ["/a", "/b"], kind: PartitionKeyKind.MultiHash, version: 2 } });
  for (let i = 0; i < 12; i++) await container.items.create({ id: `${i}`, a: `a${i % 3}`, b: `b${i}` });
  const { items } = await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(["a1", "b4"]) });
  assert.deepEqual(ids(items), ["4"]);
});

test("the ranges of a container have feeds that are together its own", async () => {
  const container = await containerOf({ partitionKey: "/pk" }, { offerThroughput: 18000 });
  for (let i = 0; i < 40; i++) await container.items.create({ id: `${i}`, pk: `key-${i}` });
  const ranges = await container.getFeedRanges();
  assert.equal(ranges.length, 3);
  const parts = [];
  for (const range of ranges) parts.push((await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(range) })).items);
  assert.ok(parts.every((part) => part.length > 0 && part.length < 40));
  const all = (await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 4 })).items;
  assert.equal(all.length, 40);
  assert.deepEqual(sorted(ids(parts.flat())), sorted(ids(all)));
});

test("a batch is never divided between two pages", async () => {
  const container = await containerOf();
  const operations = Array.from({ length: 9 }, (_, i) => ({ operationType: "Create", resourceBody: { id: `${i}`, pk: "a" } }));
  await container.items.batch(operations, "a");
  const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 2 });
  assert.equal((await iterator.readNext()).count, 9);
});

test("the older iterator of a partition key reads the feed too", async () => {
  const container = await containerOf();
  await create(container, 10);
  const { result } = await container.items.changeFeed("3", { startFromBeginning: true }).fetchNext();
  assert.deepEqual(ids(result), ["3", "8"]);
});

test("all versions and deletes: each change, with what was before and what it was", async () => {
  const container = await containerOf({ partitionKey: "/pk", changeFeedPolicy: new ChangeFeedPolicy(ChangeFeedRetentionTimeSpan.fromMinutes(5)) });
  const iterator = container.items.getChangeFeedIterator({
    changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes, changeFeedStartFrom: ChangeFeedStartFrom.Now(),
  });
  assert.deepEqual((await drain(iterator)).items, []);
  await container.items.create({ id: "1", pk: "a", n: 1 });
  await container.item("1", "a").replace({ id: "1", pk: "a", n: 2 });
  await container.item("1", "a").patch([{ op: "incr", path: "/n", value: 1 }]);
  await container.item("1", "a").delete();
  const { items } = await drain(iterator);
  assert.deepEqual(items.map((item) => item.metadata.operationType), ["create", "replace", "replace", "delete"]);
  assert.deepEqual(items.map((item) => item.current?.n), [1, 2, 3, undefined]);
  assert.deepEqual(items.map((item) => item.previous?.n), [undefined, undefined, undefined, 3]);
  assert.equal(items[3].metadata.id, "1");
  assert.deepEqual(items[3].metadata.partitionKey, { pk: "a" });
});

test("all versions and deletes do not begin at the beginning", async () => {
  const container = await containerOf();
  const options = { changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes, changeFeedStartFrom: ChangeFeedStartFrom.Beginning() };
  const problem = await refusal((async () => container.items.getChangeFeedIterator(options).readNext())());
  assert.ok(problem);
});

await main(() => database.delete());
