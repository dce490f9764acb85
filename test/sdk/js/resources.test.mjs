// test/sdk/js/resources.test.mjs - users, scripts and the other small resources as @azure/cosmos sees them.
import { CosmosClient } from "@azure/cosmos";
import harness from "./harness.cjs";

const { assert, endpoint, key, main, refusal, test } = harness;
const client = new CosmosClient({ endpoint, key });
const name = `resources-${process.pid}`;
const { database } = await client.databases.create({ id: name });
let made = 0;

/** A container of the test's own. */
async function container(definition = { partitionKey: "/pk" }, options = {}) {
  return (await database.containers.create({ id: `c${++made}`, ...definition }, options)).container;
}

const ids = (resources) => resources.map((one) => one.id).sort();

// Users

test("a user is created, read, renamed, listed, queried and deleted", async () => {
  const created = await database.users.create({ id: "ada" });
  assert.equal(created.statusCode, 201);
  assert.equal(created.resource._permissions, "permissions/");
  assert.equal((await created.user.read()).resource._rid, created.resource._rid);
  assert.equal((await refusal(database.users.create({ id: "ada" }))).code, 409);
  const replaced = await created.user.replace({ id: "grace" });
  assert.equal(replaced.resource.id, "grace");
  assert.equal((await database.users.upsert({ id: "alan" })).statusCode, 201);
  assert.equal((await database.users.upsert({ id: "alan" })).statusCode, 200);
  assert.deepEqual(ids((await database.users.readAll().fetchAll()).resources), ["alan", "grace"]);
  const found = await database.users.query("SELECT * FROM root r WHERE r.id = 'alan'").fetchAll();
  assert.deepEqual(ids(found.resources), ["alan"]);
  for (const id of ["alan", "grace"]) assert.equal((await database.user(id).delete()).statusCode, 204);
  assert.equal((await refusal(database.user("alan").read())).code, 404);
});

test("users come by pages", async () => {
  for (const id of ["p1", "p2", "p3"]) await database.users.create({ id });
  const iterator = database.users.readAll({ maxItemCount: 1 });
  const seen = [];
  while (iterator.hasMoreResults()) {
    const { resources } = await iterator.fetchNext();
    assert.ok(resources.length <= 1);
    seen.push(...ids(resources));
  }
  assert.deepEqual(seen, ["p1", "p2", "p3"]);
  for (const id of seen) await database.user(id).delete();
});

// Permissions, and clients that have no more than a token

/** A permission of a user of its own. */
async function permit(definition) {
  const { user } = await database.users.create({ id: `user${++made}` });
  return { user, ...(await user.permissions.create({ id: "p", ...definition })) };
}

test("a permission is created, read, replaced, listed, queried and deleted", async () => {
  const home = await container();
  const { user, permission, resource } = await permit({ permissionMode: "Read", resource: home.url });
  assert.match(resource._token, /^type=resource&ver=1&sig=/);
  assert.equal((await permission.read()).resource.permissionMode, "Read");
  const replaced = await permission.replace({ id: "p", permissionMode: "All", resource: home.url });
  assert.equal(replaced.resource.permissionMode, "All");
  const twin = { id: "q", permissionMode: "Read", resource: home.url };
  assert.equal((await refusal(user.permissions.create(twin))).code, 409);
  const other = { ...twin, resource: home.item("1", "a").url };
  assert.equal((await user.permissions.upsert(other)).statusCode, 201);
  assert.deepEqual(ids((await user.permissions.readAll().fetchAll()).resources), ["p", "q"]);
  const found = await user.permissions.query("SELECT * FROM root r WHERE r.permissionMode = 'All'").fetchAll();
  assert.deepEqual(ids(found.resources), ["p"]);
  assert.equal((await permission.delete()).statusCode, 204);
  assert.equal((await refusal(permission.read())).code, 404);
});

test("a client with a token to read a container reads it and writes nothing", async () => {
  const home = await container();
  await home.items.create({ id: "1", pk: "a" });
  const { resource } = await permit({ permissionMode: "Read", resource: home.url });
  const guest = new CosmosClient({ endpoint, resourceTokens: { [home.url]: resource._token } });
  const same = guest.database(name).container(home.id);
  assert.equal((await same.item("1", "a").read()).resource.id, "1");
  assert.deepEqual(ids((await same.items.query("SELECT * FROM c").fetchAll()).resources), ["1"]);
  assert.deepEqual(ids((await same.items.readAll().fetchAll()).resources), ["1"]);
  assert.equal((await refusal(same.items.create({ id: "2", pk: "a" }))).code, 403);
  assert.equal((await refusal(same.delete())).code, 403);
});

test("a client with a feed of permissions writes in its own partition key", async () => {
  const home = await container();
  await home.items.create({ id: "1", pk: "b" });
  const { resource } = await permit({ permissionMode: "All", resource: home.url, resourcePartitionKey: ["a"] });
  const guest = new CosmosClient({ endpoint, permissionFeed: [resource] });
  const same = guest.database(name).container(home.id);
  assert.equal((await same.items.create({ id: "1", pk: "a" })).statusCode, 201);
  assert.equal((await same.item("1", "a").replace({ id: "1", pk: "a", n: 2 })).resource.n, 2);
  const own = await same.items.query("SELECT * FROM c", { partitionKey: "a" }).fetchAll();
  assert.deepEqual(ids(own.resources), ["1"]);
  assert.equal((await refusal(same.item("1", "b").read())).code, 403);
  assert.equal((await refusal(same.items.create({ id: "2", pk: "b" }))).code, 403);
});

test("a client with a token for an item reads that item", async () => {
  const home = await container();
  for (const id of ["1", "2"]) await home.items.create({ id, pk: "a" });
  const { resource } = await permit({ permissionMode: "Read", resource: home.item("1", "a").url });
  const guest = new CosmosClient({ endpoint, tokenProvider: async () => resource._token });
  const same = guest.database(name).container(home.id);
  assert.equal((await same.item("1", "a").read()).resource.id, "1");
  assert.equal((await refusal(same.item("2", "a").read())).code, 403);
});

// Scripts

const scripts = {
  storedProcedures: { one: "storedProcedure", definition: { body: "function () { }" } },
  userDefinedFunctions: { one: "userDefinedFunction", definition: { body: "function (x) { return x; }" } },
  triggers: { one: "trigger", definition: { body: "function () { }", triggerType: "Pre", triggerOperation: "All" } },
};

for (const [many, { one, definition }] of Object.entries(scripts)) {
  test(`${many} are created, read, replaced, listed, queried and deleted`, async () => {
    const home = await container();
    const created = await home.scripts[many].create({ id: "a", ...definition });
    assert.equal(created.statusCode, 201);
    assert.equal(created.resource.body, definition.body);
    const again = await refusal(home.scripts[many].create({ id: "a", ...definition }));
    assert.equal(again.code, 409);
    const read = await home.scripts[one]("a").read();
    assert.equal(read.resource._etag, created.resource._etag);
    const replaced = await home.scripts[one]("a").replace({ id: "a", ...definition, body: "function b() { }" });
    assert.equal(replaced.resource.body, "function b() { }");
    await home.scripts[many].create({ id: "z", ...definition });
    assert.deepEqual(ids((await home.scripts[many].readAll().fetchAll()).resources), ["a", "z"]);
    const found = await home.scripts[many].query("SELECT * FROM root r WHERE r.id = 'z'").fetchAll();
    assert.deepEqual(ids(found.resources), ["z"]);
    assert.equal((await home.scripts[one]("a").delete()).statusCode, 204);
    assert.equal((await refusal(home.scripts[one]("a").read())).code, 404);
  });
}

// Throughput

test("a container's throughput is read and replaced", async () => {
  const home = await container({ partitionKey: "/pk" }, {});
  const paid = (await database.containers.create({ id: `c${++made}`, partitionKey: "/pk", throughput: 700 })).container;
  assert.equal((await home.readOffer()).resource.content.offerThroughput, 400);
  const { resource, offer } = await paid.readOffer();
  assert.equal(resource.content.offerThroughput, 700);
  const replaced = await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 900 } });
  assert.equal(replaced.resource.content.offerThroughput, 900);
  assert.equal((await paid.readOffer()).resource.content.offerThroughput, 900);
  const odd = { ...resource, content: { offerThroughput: 950 } };
  assert.equal((await refusal(offer.replace(odd))).code, 400);
});

test("autoscale throughput is read and replaced", async () => {
  const definition = { id: `c${++made}`, partitionKey: "/pk", maxThroughput: 5000 };
  const { container: home } = await database.containers.create(definition);
  const { resource, offer } = await home.readOffer();
  assert.equal(resource.content.offerAutopilotSettings.maxThroughput, 5000);
  resource.content.offerAutopilotSettings.maxThroughput = 8000;
  assert.equal((await offer.replace(resource)).resource.content.offerAutopilotSettings.maxThroughput, 8000);
});

test("a database with throughput shares it with its containers", async () => {
  const { database: shared } = await client.databases.create({ id: `${name}-shared`, throughput: 600 });
  const { container: one } = await shared.containers.create({ id: "one", partitionKey: "/pk" });
  assert.equal((await shared.readOffer()).resource.content.offerThroughput, 600);
  assert.equal((await one.readOffer()).resource, undefined);
  assert.equal((await database.readOffer()).resource, undefined);
  await shared.delete();
});

test("offers are listed, queried and read", async () => {
  const home = await container();
  const { resource } = await home.read();
  const { resources } = await client.offers.readAll().fetchAll();
  const own = resources.find((one) => one.offerResourceId === resource._rid);
  assert.equal(own.resource, resource._self);
  assert.equal((await client.offer(own.id).read()).resource._etag, own._etag);
  const query = { query: "SELECT * FROM root r WHERE r.offerResourceId = @rid", parameters: [{ name: "@rid", value: resource._rid }] };
  assert.deepEqual(ids((await client.offers.query(query).fetchAll()).resources), [own.id]);
});

// Conflicts

test("there are no conflicts", async () => {
  const home = await container();
  assert.deepEqual((await home.conflicts.readAll().fetchAll()).resources, []);
  assert.deepEqual((await home.conflicts.query("SELECT * FROM c").fetchAll()).resources, []);
});

await main(() => database.delete());
