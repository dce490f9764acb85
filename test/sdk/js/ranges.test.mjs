// test/sdk/js/ranges.test.mjs - ranges that split and merge while @azure/cosmos reads: it finds its way by itself.
import { ChangeFeedMode, ChangeFeedStartFrom, CosmosClient, PartitionKeyKind } from "@azure/cosmos";
import harness from "./harness.cjs";

const { assert, endpoint, key, main, raw, test } = harness;
const client = new CosmosClient({ endpoint, key });
const name = `ranges-${process.pid}`;
const { database } = await client.databases.create({ id: name });
const items = 60;
let made = 0;

async function change(command, container, wanted) {
  const body = JSON.stringify({ container: `dbs/${name}/colls/${container.id}`, ...wanted });
  const answer = await raw("POST", `/_orrery/${command}`, "_orrery", `_orrery/${command}`, {}, body);
  assert.equal(answer.status, 200, answer.text);
  return JSON.parse(answer.text).ranges;
}

async function containerOf(throughput) {
  const { container } = await database.containers.create({ id: `c${++made}`, partitionKey: "/pk", throughput });
  for (let n = 0; n < items; n++) await container.items.create({ id: `${n}`, pk: `p${n % 20}`, n });
  return container;
}

/** Every row, with something done between the first pages. */
async function rowsAround(iterator, between) {
  const rows = [];
  for (let page = 0; iterator.hasMoreResults(); page++) {
    const { resources } = await iterator.fetchNext();
    rows.push(...(resources ?? []));
    if (page < between.length) await between[page]();
  }
  return rows;
}

const everything = [...Array(items).keys()];
const sorted = (rows) => [...rows].sort((x, y) => x - y);

test("a query goes on over a split, without losing or repeating", async () => {
  const container = await containerOf(12000);
  const split = () => change("split", container, {});
  const iterator = container.items.query("SELECT VALUE c.n FROM c", { maxItemCount: 5 });
  assert.deepEqual(sorted(await rowsAround(iterator, [split, split, split])), everything);
});

/** @azure/cosmos 4.9.3 asks a range that is gone again and again while it joins ORDER BY, so the server joins here. */
test("a sorted query goes on over a split, in order", async () => {
  const container = await containerOf(12000);
  const split = () => change("split", container, {});
  const whole = { "x-orrery-whole": "true" };
  const iterator = container.items.query("SELECT VALUE c.n FROM c ORDER BY c.n", { maxItemCount: 7, initialHeaders: whole });
  assert.deepEqual(await rowsAround(iterator, [split, split]), everything);
});

test("a query that begins after splits and merges asks the ranges of today", async () => {
  const container = await containerOf(12000);
  assert.equal((await container.items.query("SELECT VALUE c.n FROM c").fetchAll()).resources.length, items);
  const ranges = await change("split", container, { parts: 4 });
  await change("merge", container, { ranges: ranges.slice(1, 3).map((range) => range.id) });
  assert.deepEqual(sorted((await container.items.query("SELECT VALUE c.n FROM c").fetchAll()).resources), everything);
  const counts = (await container.items.query("SELECT VALUE COUNT(1) FROM c").fetchAll()).resources;
  assert.deepEqual(counts, [items]);
});

test("an iteration over all items goes on over a split", async () => {
  const container = await containerOf(400);
  const split = () => change("split", container, {});
  const rows = await rowsAround(container.items.readAll({ maxItemCount: 10 }), [split, split]);
  assert.deepEqual(sorted(rows.map((row) => row.n)), everything);
});

test("bulk goes on over a split", async () => {
  const container = await containerOf(12000);
  const write = (from) =>
    everything.map((n) => ({ operationType: "Upsert", partitionKey: `p${n % 20}`, resourceBody: { id: `${n}`, pk: `p${n % 20}`, n: n + from } }));
  await container.items.executeBulkOperations(write(0));
  await change("split", container, { parts: 3 });
  const answers = await container.items.executeBulkOperations(write(1000));
  assert.ok(answers.every((answer) => answer.response?.statusCode === 200));
  const rows = (await container.items.query("SELECT VALUE c.n FROM c").fetchAll()).resources;
  assert.deepEqual(sorted(rows), everything.map((n) => n + 1000));
});

test("point reads and writes with a session go on over splits and merges", async () => {
  const session = new CosmosClient({ endpoint, key, consistencyLevel: "Session" });
  const container = session.database(name).container((await containerOf(400)).id);
  for (let round = 0; round < 5; round++) {
    await container.items.upsert({ id: "s", pk: "p1", round });
    const ranges = await change("split", container, {});
    assert.equal((await container.item("s", "p1").read()).resource.round, round);
    if (round % 2) await change("merge", container, { ranges: ranges.slice(0, 2).map((range) => range.id) });
  }
});

test("the list of ranges names what a split took the place of", async () => {
  const container = await containerOf(12000);
  const ranges = (await container.readPartitionKeyRanges().fetchAll()).resources;
  assert.equal(ranges.length, 2);
  await change("split", container, { range: "0" });
  const after = (await container.readPartitionKeyRanges().fetchAll()).resources;
  assert.equal(after.length, 3);
  assert.deepEqual(after.filter((range) => range.parents.length).map((range) => range.parents), [["0"], ["0"]]);
});

test("more throughput gives more ranges", async () => {
  const container = await containerOf(400);
  const { resource, offer } = await container.readOffer();
  await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 50000 } });
  assert.equal((await container.readPartitionKeyRanges().fetchAll()).resources.length, 5);
  assert.deepEqual(sorted((await container.items.query("SELECT VALUE c.n FROM c").fetchAll()).resources), everything);
});

// ---- the change feed ----

const split = (container) => () => change("split", container, {});

async function mergeAll(container) {
  const live = (await container.readPartitionKeyRanges().fetchAll()).resources;
  if (live.length > 1) await change("merge", container, { ranges: live.map((range) => range.id) });
}

/** What an iterator gives until nothing is new, with something done behind its first pages. */
async function changesAround(iterator, between = []) {
  const rows = [];
  for (let page = 0; ; page++) {
    const answer = await iterator.readNext();
    rows.push(...(answer.result ?? []));
    if (page < between.length) await between[page]();
    else if (answer.statusCode === 304) return { rows, token: answer.continuationToken };
  }
}

const numbers = (rows) => sorted(rows.map((row) => (row.current ?? row).n));

for (const [what, start] of [
  ["the beginning", () => ChangeFeedStartFrom.Beginning()],
  ["a time", () => ChangeFeedStartFrom.Time(new Date(Date.now() - 3600e3))],
]) {
  test(`the change feed from ${what} goes on over splits and merges, and so does its token`, async () => {
    const container = await containerOf(12000);
    const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: start(), maxItemCount: 4 });
    const { rows, token } = await changesAround(iterator, [split(container), () => mergeAll(container), split(container)]);
    assert.deepEqual(numbers(rows), everything);
    await mergeAll(container);
    await container.items.create({ id: "new", pk: "p1", n: items });
    assert.deepEqual(numbers((await changesAround(iterator)).rows), [items]);
    const other = new CosmosClient({ endpoint, key }).database(name).container(container.id);
    const later = other.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Continuation(token) });
    assert.deepEqual(numbers((await changesAround(later)).rows), [items]);
  });
}

for (const mode of [ChangeFeedMode.LatestVersion, ChangeFeedMode.AllVersionsAndDeletes]) {
  test(`the change feed from now goes on over a split and a merge: ${mode}`, async () => {
    const container = await containerOf(12000);
    const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Now(), changeFeedMode: mode, maxItemCount: 3 });
    assert.deepEqual((await changesAround(iterator)).rows, []);
    for (let n = 0; n < 10; n++) await container.items.upsert({ id: `${n}`, pk: `p${n % 20}`, n });
    await split(container)();
    for (let n = 10; n < 20; n++) await container.items.upsert({ id: `${n}`, pk: `p${n % 20}`, n });
    const { rows } = await changesAround(iterator, [split(container), () => mergeAll(container)]);
    assert.deepEqual(numbers(rows), everything.slice(0, 20));
  });
}

test("feed ranges of before have all changes after splits and merges, and a partition key its own", async () => {
  const container = await containerOf(12000);
  const before = await container.getFeedRanges();
  for (const step of [split(container), () => mergeAll(container), split(container)]) {
    await step();
    const rows = [];
    for (const range of before) {
      const options = { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(range), maxItemCount: 5 };
      rows.push(...(await changesAround(container.items.getChangeFeedIterator(options))).rows);
    }
    assert.deepEqual(numbers(rows), everything);
  }
  const options = { changeFeedStartFrom: ChangeFeedStartFrom.Beginning("p3"), maxItemCount: 1 };
  const one = await changesAround(container.items.getChangeFeedIterator(options), [split(container), () => mergeAll(container)]);
  assert.deepEqual(numbers(one.rows), [3, 23, 43]);
});

test("the first level of a hierarchical key has its changes and its order over splits inside it", async () => {
  const partitionKey = { paths: ["/a", "/b"], kind: PartitionKeyKind.MultiHash, version: 2 };
  const { container } = await database.containers.create({ id: "levels", partitionKey, throughput: 400 });
  for (const n of everything) await container.items.create({ id: `${n}`, a: "one", b: `b${n}`, n });
  const inside = (range) => () => change("split", container, { range, at: "median" });
  const options = { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(["one"]), maxItemCount: 4 };
  const { rows } = await changesAround(container.items.getChangeFeedIterator(options), [inside("0"), inside("1")]);
  assert.deepEqual(numbers(rows), everything);
  const iterator = container.items.query("SELECT VALUE c.n FROM c ORDER BY c.n", { partitionKey: ["one"], maxItemCount: 7 });
  assert.deepEqual(await rowsAround(iterator, [inside("2"), () => mergeAll(container)]), everything);
});

await main(() => database.delete());
