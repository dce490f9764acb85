// test/sdk/js/patch.test.mjs - partial updates, and deleting by partition key, as @azure/cosmos sees them.
import { CosmosClient, PartitionKeyKind } from "@azure/cosmos";
import harness from "./harness.cjs";

const { assert, endpoint, key, main, refusal, test } = harness;
const client = new CosmosClient({ endpoint, key });
const name = `patch-${process.pid}`;
const { database } = await client.databases.create({ id: name });
let made = 0;

/** A container of the test's own, with the item `1` of key `a` in it. */
async function containerWith(item) {
  const { container } = await database.containers.create({ id: `c${++made}`, partitionKey: "/pk" });
  await container.items.create({ id: "1", pk: "a", ...item });
  return container;
}

/** The item's own members, without the server's. */
function own({ _rid, _self, _etag, _attachments, _ts, ...members }) {
  return members;
}

// Partial updates

test("every operation of an item's patch does what it says", async () => {
  const one = await containerWith({ n: 1, name: "old", tags: ["a", "b"], o: { x: 1 }, gone: true });
  const { resource, statusCode, etag } = await one.item("1", "a").patch([
    { op: "add", path: "/tags/0", value: "first" },
    { op: "add", path: "/tags/-", value: "last" },
    { op: "set", path: "/tags/1", value: "A" },
    { op: "replace", path: "/name", value: { text: "new" } },
    { op: "remove", path: "/gone" },
    { op: "incr", path: "/n", value: 2.5 },
    { op: "incr", path: "/count", value: 7 },
    { op: "move", from: "/o/x", path: "/moved" },
    { op: "set", path: "/null", value: null },
  ]);
  assert.equal(statusCode, 200);
  assert.deepEqual(own(resource), {
    id: "1", pk: "a", n: 3.5, name: { text: "new" }, tags: ["first", "A", "b", "last"], o: {}, count: 7, moved: 1, null: null,
  });
  assert.equal(etag, resource._etag);
  assert.deepEqual((await one.item("1", "a").read()).resource, resource);
});

test("a condition decides whether a patch is done", async () => {
  const one = await containerWith({ n: 1 });
  const body = (condition) => ({ condition, operations: [{ op: "incr", path: "/n", value: 1 }] });
  assert.equal((await one.item("1", "a").patch(body("from c where c.n = 1"))).resource.n, 2);
  assert.equal((await refusal(one.item("1", "a").patch(body("from c where c.n = 1")))).code, 412);
  assert.equal((await refusal(one.item("1", "a").patch(body("from c where")))).code, 400);
  assert.equal((await one.item("1", "a").read()).resource.n, 2);
});

test("a patch honours an access condition", async () => {
  const one = await containerWith({ n: 1 });
  const { resource } = await one.item("1", "a").read();
  const seen = { accessCondition: { type: "IfMatch", condition: resource._etag } };
  const raise = [{ op: "incr", path: "/n", value: 1 }];
  assert.equal((await one.item("1", "a").patch(raise, seen)).resource.n, 2);
  assert.equal((await refusal(one.item("1", "a").patch(raise, seen))).code, 412);
});

test("what cannot be patched is refused with the service's words", async () => {
  const one = await containerWith({ n: 1 });
  const item = one.item("1", "a");
  const told = async (...operations) => (await refusal(item.patch(operations))).body.message;
  assert.match(await told({ op: "add", path: "/x/y", value: 1 }), /no path found beyond: 'x'/);
  assert.match(await told({ op: "replace", path: "/x", value: 1 }), /Node\(\/x\) to be replaced is absent/);
  assert.match(await told({ op: "set", path: "/id", value: "2" }), /Cannot patch system property/);
  assert.equal((await refusal(item.patch([{ op: "set", path: "/pk", value: "b" }]))).code, 400);
  assert.equal((await refusal(one.item("none", "a").patch([{ op: "set", path: "/n", value: 1 }]))).code, 404);
  assert.deepEqual(own((await item.read()).resource), { id: "1", pk: "a", n: 1 });
});

test("no increment is lost when many come at once", async () => {
  const one = await containerWith({ n: 0 });
  const raise = () => one.item("1", "a").patch([{ op: "incr", path: "/n", value: 1 }]);
  await Promise.all(Array.from({ length: 25 }, raise));
  assert.equal((await one.item("1", "a").read()).resource.n, 25);
});

// Deleting by partition key

test("all items of a partition key are deleted, and no others", async () => {
  const one = await containerWith({});
  for (let i = 0; i < 120; i++) await one.items.create({ id: `more-${i}`, pk: "a" });
  await one.items.create({ id: "1", pk: "b" });
  const response = await one.deleteAllItemsForPartitionKey("a");
  assert.equal(response.statusCode, 200);
  const { resources } = await one.items.query("SELECT * FROM c").fetchAll();
  assert.deepEqual(resources.map(own), [{ id: "1", pk: "b" }]);
  assert.equal((await one.item("more-7", "a").read()).statusCode, 404);
  assert.equal((await one.items.create({ id: "1", pk: "a" })).statusCode, 201);
});

test("a part of a hierarchical key is not deleted by", async () => {
  const { container } = await database.containers.create({
    id: `c${++made}`, partitionKey: { paths: ["/t", "/u"], kind: PartitionKeyKind.MultiHash, version: 2 },
  });
  for (const u of ["x", "y"]) await container.items.create({ id: "1", t: "a", u });
  assert.equal((await refusal(container.deleteAllItemsForPartitionKey(["a"]))).code, 400);
  assert.equal((await container.deleteAllItemsForPartitionKey(["a", "x"])).statusCode, 200);
  const { resources } = await container.items.query("SELECT VALUE c.u FROM c").fetchAll();
  assert.deepEqual(resources, ["y"]);
});

await main(() => database.delete());
