// test/sdk/js/cosmos.test.mjs - the server as @azure/cosmos sees it.
import { CosmosClient, PartitionKeyBuilder, PartitionKeyDefinitionVersion, PartitionKeyKind } from "@azure/cosmos";
import harness from "./harness.cjs";

const { assert, endpoint, key, legal, main, raw, refusal, test } = harness;
const client = new CosmosClient({ endpoint, key });
const name = `cosmos-${process.pid}`;
const { database } = await client.databases.create({ id: name });
let made = 0;

/** A container of the test's own. */
async function container(definition = { partitionKey: "/pk" }) {
  return (await database.containers.create({ id: `c${++made}`, ...definition })).container;
}

async function collect(iterator) {
  const pages = [];
  while (iterator.hasMoreResults()) {
    const { resources } = await iterator.fetchNext();
    if (resources?.length) pages.push(resources);
  }
  return pages;
}

// The account

test("the account names an endpoint that the client can go on with", async () => {
  const { resource } = await client.getDatabaseAccount();
  assert.equal(resource.consistencyPolicy, "Session");
  assert.equal(resource.writableLocations.length, 1);
  assert.equal(new URL(resource.writableLocations[0].databaseAccountEndpoint).host, new URL(endpoint).host);
});

test("a wrong key is refused with 401", async () => {
  const stranger = new CosmosClient({ endpoint, key: Buffer.alloc(64).toString("base64") });
  const problem = await refusal(stranger.databases.readAll().fetchAll());
  assert.equal(problem.code, 401);
});

test("a key for reading reads and queries, and is 401 to what writes", async () => {
  const reader = new CosmosClient({ endpoint, key: process.env.ORRERY_READONLY_KEY });
  const written = await container();
  await written.items.create({ id: "1", pk: "a" });
  const read = reader.database(name).container(written.id);
  assert.equal((await read.item("1", "a").read()).resource.id, "1");
  assert.deepEqual((await read.items.query("SELECT VALUE COUNT(1) FROM c").fetchAll()).resources, [1]);
  for (const write of [
    () => read.items.create({ id: "2", pk: "a" }),
    () => read.items.upsert({ id: "1", pk: "a" }),
    () => read.item("1", "a").delete(),
    () => reader.databases.create({ id: `${name}-2` }),
  ])
    assert.equal((await refusal(write())).code, 401);
  assert.equal((await written.items.readAll().fetchAll()).resources.length, 1);
});

// Databases

test("a database is created, read, listed and deleted", async () => {
  const id = `${name}-life`;
  const created = await client.databases.create({ id });
  assert.equal(created.statusCode, 201);
  assert.equal(created.resource.id, id);
  assert.match(created.resource._rid, /^.{6}==$/);
  const read = await client.database(id).read();
  assert.equal(read.statusCode, 200);
  assert.equal(read.resource._etag, created.resource._etag);
  const { resources } = await client.databases.readAll().fetchAll();
  assert.ok(resources.some((one) => one.id === id));
  assert.equal((await client.database(id).delete()).statusCode, 204);
  assert.equal((await refusal(client.database(id).read())).code, 404);
});

test("createIfNotExists makes a database once", async () => {
  const id = `${name}-once`;
  assert.equal((await client.databases.createIfNotExists({ id })).statusCode, 201);
  assert.equal((await client.databases.createIfNotExists({ id })).statusCode, 200);
  await client.database(id).delete();
});

test("the second database of a name is a conflict", async () => {
  const problem = await refusal(client.databases.create({ id: name }));
  assert.equal(problem.code, 409);
  assert.equal(problem.body.code, "Conflict");
});

test("databases are listed by pages", async () => {
  const ids = [1, 2, 3].map((n) => `${name}-page-${n}`);
  for (const id of ids) await client.databases.create({ id });
  const pages = await collect(client.databases.readAll({ maxItemCount: 1 }));
  assert.ok(pages.every((page) => page.length === 1));
  const seen = pages.flat().map((one) => one.id);
  assert.ok(ids.every((id) => seen.filter((one) => one === id).length === 1));
  for (const id of ids) await client.database(id).delete();
});

test("an absent database is 404", async () => {
  const problem = await refusal(client.database(`${name}-none`).read());
  assert.equal(problem.code, 404);
  assert.equal(problem.body.code, "NotFound");
});

test("a database's id is in any script", async () => {
  const id = `${name} база 数据 & + = @ : ' "`;
  await client.databases.create({ id });
  assert.equal((await client.database(id).read()).resource.id, id);
  await client.database(id).containers.create({ id: "日 本+%", partitionKey: "/pk" });
  const read = await client.database(id).container("日 本+%").read();
  assert.equal(read.resource.id, "日 本+%");
  await client.database(id).delete();
});

// Containers

test("a container gets the service's defaults", async () => {
  const { resource, statusCode } = await database.containers.create({ id: "defaults", partitionKey: "/pk" });
  assert.equal(statusCode, 201);
  assert.deepEqual(resource.partitionKey.paths, ["/pk"]);
  assert.equal(resource.partitionKey.kind, "Hash");
  assert.deepEqual(resource.indexingPolicy, {
    indexingMode: "consistent",
    automatic: true,
    includedPaths: [{ path: "/*" }],
    excludedPaths: [{ path: '/"_etag"/?' }],
  });
  assert.deepEqual(resource.geospatialConfig, { type: "Geography" });
  assert.equal(resource.conflictResolutionPolicy.mode, "LastWriterWins");
});

test("a container is read, replaced, listed and deleted", async () => {
  const one = await container({ partitionKey: { paths: ["/pk"], version: PartitionKeyDefinitionVersion.V2 } });
  const { resource } = await one.read();
  assert.equal(resource.partitionKey.version, 2);
  resource.defaultTtl = 600;
  resource.indexingPolicy.excludedPaths.push({ path: "/big/*" });
  const replaced = await one.replace(resource);
  assert.equal(replaced.statusCode, 200);
  assert.equal(replaced.resource.defaultTtl, 600);
  assert.equal(replaced.resource._rid, resource._rid);
  assert.notEqual(replaced.resource._etag, resource._etag);
  assert.ok((await one.read()).resource.indexingPolicy.excludedPaths.some((path) => path.path === "/big/*"));
  const { resources } = await database.containers.readAll().fetchAll();
  assert.ok(resources.some((other) => other.id === one.id));
  assert.equal((await one.delete()).statusCode, 204);
  assert.equal((await refusal(one.read())).code, 404);
});

test("containers are listed by pages", async () => {
  const parent = (await client.databases.create({ id: `${name}-lists` })).database;
  for (const id of ["a", "b", "c", "d", "e"]) await parent.containers.create({ id, partitionKey: "/pk" });
  const pages = await collect(parent.containers.readAll({ maxItemCount: 2 }));
  assert.deepEqual(pages.map((page) => page.length), [2, 2, 1]);
  assert.deepEqual(pages.flat().map((one) => one.id).sort(), ["a", "b", "c", "d", "e"]);
  await parent.delete();
});

test("createIfNotExists makes a container once", async () => {
  const definition = { id: "once", partitionKey: "/pk" };
  assert.equal((await database.containers.createIfNotExists(definition)).statusCode, 201);
  assert.equal((await database.containers.createIfNotExists(definition)).statusCode, 200);
});

test("every policy of a container comes back as it was sent", async () => {
  const definition = {
    partitionKey: { paths: ["/pk"], kind: PartitionKeyKind.Hash, version: 2 },
    defaultTtl: -1,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/mail"] }] },
    computedProperties: [{ name: "cp", query: "SELECT VALUE LOWER(c.name) FROM c" }],
    geospatialConfig: { type: "Geometry" },
    vectorEmbeddingPolicy: {
      vectorEmbeddings: [{ path: "/v", dataType: "float32", dimensions: 4, distanceFunction: "cosine" }],
    },
    fullTextPolicy: { defaultLanguage: "en-US", fullTextPaths: [{ path: "/text", language: "en-US" }] },
    indexingPolicy: {
      indexingMode: "consistent",
      automatic: true,
      includedPaths: [{ path: "/*" }],
      excludedPaths: [{ path: '/"_etag"/?' }, { path: "/v/*" }],
      compositeIndexes: [[{ path: "/a", order: "ascending" }, { path: "/b", order: "descending" }]],
      vectorIndexes: [{ path: "/v", type: "flat" }],
      fullTextIndexes: [{ path: "/text" }],
    },
  };
  const { resource } = await (await container(definition)).read();
  for (const [member, value] of Object.entries(definition)) {
    if (member !== "indexingPolicy") assert.deepEqual(resource[member], value, member);
  }
  assert.deepEqual(resource.indexingPolicy.compositeIndexes, definition.indexingPolicy.compositeIndexes);
  assert.deepEqual(resource.indexingPolicy.vectorIndexes[0].path, "/v");
});

test("a unique value that is taken is 409 for create, upsert and replace", async () => {
  const uniqueKeyPolicy = { uniqueKeys: [{ paths: ["/mail"] }, { paths: ["/name/first", "/name/last"] }] };
  const one = await container({ partitionKey: "/pk", uniqueKeyPolicy });
  const taken = (error) => error.code === 409 && /Unique index constraint violation/.test(error.body.message);
  await one.items.create({ id: "1", pk: "a", mail: "x", name: { first: "A", last: "B" } });
  await one.items.create({ id: "2", pk: "a", mail: "y", name: { first: "A", last: "C" } });
  await assert.rejects(one.items.create({ id: "3", pk: "a", mail: "x" }), taken);
  await assert.rejects(one.items.upsert({ id: "3", pk: "a", mail: "z", name: { first: "A", last: "B" } }), taken);
  await assert.rejects(one.item("2", "a").replace({ id: "2", pk: "a", mail: "x" }), taken);
  await one.items.create({ id: "1", pk: "b", mail: "x" });
  await one.item("1", "a").delete();
  assert.equal((await one.item("2", "a").replace({ id: "2", pk: "a", mail: "x" })).statusCode, 200);
});

test("of fifty items with the same unique value one is created", async () => {
  const one = await container({ partitionKey: "/pk", uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/mail"] }] } });
  const attempts = Array.from({ length: 50 }, (_, n) => one.items.create({ id: `${n}`, pk: "a", mail: "x" }));
  const outcomes = await Promise.allSettled(attempts);
  assert.equal(outcomes.filter((one) => one.status === "fulfilled").length, 1);
  assert.ok(outcomes.every((one) => one.status === "fulfilled" || one.reason.code === 409));
});

test("an item's time to live comes back, and one that is none is 400", async () => {
  const one = await container({ partitionKey: "/pk", defaultTtl: 3600 });
  assert.equal((await one.items.create({ id: "1", pk: "a", ttl: 600 })).resource.ttl, 600);
  assert.equal((await one.item("1", "a").read()).resource.ttl, 600);
  await assert.rejects(one.items.create({ id: "2", pk: "a", ttl: 0 }), (error) => error.code === 400);
});

test("a definition that cannot be followed is 400", async () => {
  const bad = { id: "bad", partitionKey: "/pk", indexingPolicy: { indexingMode: "consistent", includedPaths: [{ path: "x" }] } };
  const problem = await refusal(database.containers.create(bad));
  assert.equal(problem.code, 400);
  assert.equal(problem.body.code, "BadRequest");
});

test("a container's partition key cannot change", async () => {
  const one = await container();
  const { resource } = await one.read();
  resource.partitionKey = { paths: ["/other"], kind: "Hash" };
  assert.equal((await refusal(one.replace(resource))).code, 400);
});

test("a container's ranges cover every key", async () => {
  const { resources } = await (await container()).readPartitionKeyRanges().fetchAll();
  assert.equal(resources.length, 1);
  assert.equal(resources[0].minInclusive, "");
  assert.equal(resources[0].maxExclusive, "FF");
});

// Items

test("an item is created, read, replaced, upserted and deleted", async () => {
  const one = await container();
  const created = await one.items.create({ id: "1", pk: "a", n: 1 });
  assert.equal(created.statusCode, 201);
  assert.equal(created.resource.n, 1);
  assert.ok(created.requestCharge > 0);
  assert.ok(created.activityId);
  const read = await one.item("1", "a").read();
  assert.equal(read.statusCode, 200);
  assert.deepEqual(read.resource, created.resource);
  assert.equal(read.etag, created.resource._etag);
  const replaced = await one.item("1", "a").replace({ id: "1", pk: "a", n: 2 });
  assert.equal(replaced.statusCode, 200);
  assert.equal(replaced.resource._rid, created.resource._rid);
  const upserted = await one.items.upsert({ id: "1", pk: "a", n: 3 });
  assert.equal(upserted.statusCode, 200);
  assert.equal((await one.items.upsert({ id: "2", pk: "a" })).statusCode, 201);
  assert.equal((await one.item("1", "a").read()).resource.n, 3);
  assert.equal((await one.item("1", "a").delete()).statusCode, 204);
  assert.equal((await one.item("1", "a").read()).statusCode, 404);
});

test("an item without an id gets one from the SDK", async () => {
  const one = await container();
  const { resource } = await one.items.create({ pk: "a" });
  assert.match(resource.id, /^[0-9a-f-]{36}$/);
});

test("an absent item reads as 404 without a resource", async () => {
  const response = await (await container()).item("none", "a").read();
  assert.equal(response.statusCode, 404);
  assert.equal(response.resource, undefined);
});

test("replacing or deleting an absent item is 404", async () => {
  const one = await container();
  assert.equal((await refusal(one.item("1", "a").replace({ id: "1", pk: "a" }))).code, 404);
  assert.equal((await refusal(one.item("1", "a").delete())).code, 404);
});

test("an existing id is a conflict, and the same id under another key is not", async () => {
  const one = await container();
  await one.items.create({ id: "1", pk: "a" });
  const problem = await refusal(one.items.create({ id: "1", pk: "a" }));
  assert.equal(problem.code, 409);
  assert.match(problem.message, /already exists/);
  assert.equal((await one.items.create({ id: "1", pk: "b" })).statusCode, 201);
});

test("an item of an absent container is 404 without a sub-status", async () => {
  const problem = await refusal(database.container("none").item("1", "a").delete());
  assert.equal(problem.code, 404);
  assert.equal(problem.substatus ?? 0, 0);
  assert.equal((await refusal(database.container("none").items.create({ id: "1", pk: "a" }))).code, 404);
});

test("another key than the item's own is 400 with sub-status 1001", async () => {
  const one = await container();
  const link = `dbs/${database.id}/colls/${one.id}`;
  const answer = await raw("POST", `/${link}/docs`, "docs", link, { "x-ms-documentdb-partitionkey": '["b"]' }, '{"id":"1","pk":"a"}');
  assert.equal(answer.status, 400);
  assert.equal(answer.headers.get("x-ms-substatus"), "1001");
});

test("ids of every legal character are created, read, replaced and deleted", async () => {
  const one = await container();
  for (const character of legal) {
    const id = `x${character}y`;
    await one.items.create({ id, pk: "a" });
    assert.equal((await one.item(id, "a").read()).resource?.id, id);
    assert.equal((await one.item(id, "a").replace({ id, pk: "a", n: 1 })).statusCode, 200, id);
    assert.equal((await one.item(id, "a").delete()).statusCode, 204, id);
  }
});

test("an id that has every legal character at once", async () => {
  const one = await container();
  const id = `${legal.join("")}é日本😀x`;
  await one.items.create({ id, pk: "a" });
  assert.equal((await one.item(id, "a").read()).resource?.id, id);
});

test("an id of 255 wide characters", async () => {
  const one = await container();
  const id = "日".repeat(255);
  await one.items.create({ id, pk: "a" });
  assert.equal((await one.item(id, "a").read()).resource?.id, id);
});

test("partition keys of every type are each their own", async () => {
  const one = await container();
  const keys = ["", "a", "1", 1, 1.5, -1, 0, 1e300, true, false, null, "é日本😀", 'quote" and \\', "k".repeat(2000)];
  for (const pk of keys) await one.items.create({ id: "1", pk });
  await one.items.create({ id: "1" });
  for (const pk of keys) assert.equal((await one.item("1", pk).read()).resource?.pk, pk, String(pk));
  const missing = await one.item("1", undefined).read();
  assert.equal(missing.statusCode, 200);
  assert.ok(!("pk" in missing.resource));
  const { resources } = await one.items.readAll().fetchAll();
  assert.equal(resources.length, keys.length + 1);
});

test("an item without its key's property is deleted by an undefined key", async () => {
  const one = await container();
  await one.items.create({ id: "1", other: 1 });
  assert.equal((await one.item("1", undefined).delete()).statusCode, 204);
});

test("a nested partition key", async () => {
  const one = await container({ partitionKey: "/address/city" });
  await one.items.create({ id: "1", address: { city: "Oslo" } });
  assert.equal((await one.item("1", "Oslo").read()).statusCode, 200);
  assert.equal((await one.item("1", "Rome").read()).statusCode, 404);
});

test("a hierarchical partition key of three levels", async () => {
  const paths = ["/tenant", "/user", "/session"];
  const one = await container({ partitionKey: { paths, kind: PartitionKeyKind.MultiHash, version: 2 } });
  const item = { id: "1", tenant: "t", user: 5, session: true };
  assert.equal((await one.items.create(item)).statusCode, 201);
  const full = new PartitionKeyBuilder().addValue("t").addValue(5).addValue(true).build();
  assert.equal((await one.item("1", full).read()).resource.tenant, "t");
  assert.equal((await one.item("1", ["t", 5, false]).read()).statusCode, 404);
  assert.equal((await one.item("1", full).replace({ ...item, n: 1 })).statusCode, 200);
  assert.equal((await one.items.upsert({ ...item, n: 2 })).statusCode, 200);
  assert.equal((await refusal(one.item("1", ["t", 5]).read())).code, 400);
  assert.equal((await one.item("1", full).delete()).statusCode, 204);
});

test("a hierarchical key with a level that the item lacks", async () => {
  const one = await container({ partitionKey: { paths: ["/a", "/b"], kind: PartitionKeyKind.MultiHash, version: 2 } });
  await one.items.create({ id: "1", a: "x" });
  const partial = new PartitionKeyBuilder().addValue("x").addNoneValue().build();
  assert.equal((await one.item("1", partial).read()).statusCode, 200);
  const nulls = new PartitionKeyBuilder().addValue("x").addNullValue().build();
  assert.equal((await one.item("1", nulls).read()).statusCode, 404);
});

test("an etag guards a replacement and a delete", async () => {
  const one = await container();
  const { resource } = await one.items.create({ id: "1", pk: "a" });
  const seen = { accessCondition: { type: "IfMatch", condition: resource._etag } };
  assert.equal((await one.item("1", "a").replace({ id: "1", pk: "a", n: 1 }, seen)).statusCode, 200);
  assert.equal((await refusal(one.item("1", "a").replace({ id: "1", pk: "a", n: 2 }, seen))).code, 412);
  assert.equal((await refusal(one.items.upsert({ id: "1", pk: "a", n: 2 }, seen))).code, 412);
  assert.equal((await refusal(one.item("1", "a").delete(seen))).code, 412);
  assert.equal((await one.item("1", "a").read()).resource.n, 1);
});

test("a read of what the client already has is 304", async () => {
  const one = await container();
  const { resource } = await one.items.create({ id: "1", pk: "a" });
  const seen = { accessCondition: { type: "IfNoneMatch", condition: resource._etag } };
  assert.equal((await one.item("1", "a").read(seen)).statusCode, 304);
  await one.item("1", "a").replace({ id: "1", pk: "a", n: 1 });
  assert.equal((await one.item("1", "a").read(seen)).statusCode, 200);
});

test("all items are read, whatever the size of a page", async () => {
  const one = await container();
  for (let n = 0; n < 25; n++) await one.items.create({ id: String(n), pk: `p${n % 7}` });
  for (const maxItemCount of [1, 10, 25, 100, -1]) {
    const seen = (await collect(one.items.readAll({ maxItemCount }))).flat().map((item) => item.id);
    assert.equal(new Set(seen).size, 25, `pages of ${maxItemCount}`);
    assert.equal(seen.length, 25, `pages of ${maxItemCount}`);
  }
});

test("reading goes on from a continuation", async () => {
  const one = await container();
  for (let n = 0; n < 7; n++) await one.items.create({ id: String(n), pk: "a" });
  const first = await one.items.readAll({ maxItemCount: 3, partitionKey: "a" }).fetchNext();
  assert.equal(first.resources.length, 3);
  const { continuationToken } = first;
  assert.ok(continuationToken);
  const rest = await collect(one.items.readAll({ maxItemCount: 3, partitionKey: "a", continuationToken }));
  const seen = [...first.resources, ...rest.flat()].map((item) => item.id).sort();
  assert.deepEqual(seen, ["0", "1", "2", "3", "4", "5", "6"]);
});

test("items of one partition key", async () => {
  const one = await container();
  for (let n = 0; n < 6; n++) await one.items.create({ id: String(n), pk: n % 2 ? "odd" : "even" });
  const { resources } = await one.items.readAll({ partitionKey: "odd" }).fetchAll();
  assert.deepEqual(resources.map((item) => item.id).sort(), ["1", "3", "5"]);
});

test("more items than a page holds by default", async () => {
  const one = await container();
  const ids = Array.from({ length: 250 }, (_, n) => String(n));
  await Promise.all(ids.map((id) => one.items.create({ id, pk: id })));
  const { resources } = await one.items.readAll().fetchAll();
  assert.equal(new Set(resources.map((item) => item.id)).size, 250);
});

test("text in any script comes back as it was", async () => {
  const one = await container();
  const text = "é 日本 😀 👨‍👩‍👧 שלום \u0000\u0001\u007f\u2028 \\ \" / ";
  await one.items.create({ id: "1", pk: "a", text, [text]: 1 });
  const { resource } = await one.item("1", "a").read();
  assert.equal(resource.text, text);
  assert.equal(resource[text], 1);
});

test("integers beyond 2^53 keep every digit", async () => {
  const one = await container();
  const link = `dbs/${database.id}/colls/${one.id}`;
  const body = '{"id":"1","pk":"a","n":[9223372036854775807,-9223372036854775808,9007199254740993]}';
  const headers = { "x-ms-documentdb-partitionkey": '["a"]' };
  assert.equal((await raw("POST", `/${link}/docs`, "docs", link, headers, body)).status, 201);
  const read = await raw("GET", `/${link}/docs/1`, "docs", `${link}/docs/1`, headers);
  assert.match(read.text, /\[9223372036854775807,-9223372036854775808,9007199254740993\]/);
});

test("doubles come back as the same doubles", async () => {
  const one = await container();
  const numbers = [0.1, 1e-7, 5e-324, Number.MAX_VALUE, -2.5, 1 / 3, 2 ** 53, 1e21, 123456789.123456789];
  await one.items.create({ id: "1", pk: "a", numbers });
  assert.deepEqual((await one.item("1", "a").read()).resource.numbers, numbers);
});

test("an item of 1.9 MB comes and goes", async () => {
  const one = await container();
  const text = "0123456789".repeat(190_000);
  assert.equal((await one.items.create({ id: "1", pk: "a", text })).statusCode, 201);
  assert.equal((await one.item("1", "a").read()).resource.text, text);
});

test("an item of more than 2 MB is 413", async () => {
  const one = await container();
  const problem = await refusal(one.items.create({ id: "1", pk: "a", text: "x".repeat(2_200_000) }));
  assert.equal(problem.code, 413);
});

test("a session reads its own writes", async () => {
  const one = await container();
  const session = new CosmosClient({ endpoint, key, consistencyLevel: "Session" }).database(database.id).container(one.id);
  for (let n = 0; n < 20; n++) {
    await session.items.upsert({ id: "1", pk: "a", n });
    assert.equal((await session.item("1", "a").read()).resource.n, n);
  }
  const { headers } = await one.items.upsert({ id: "1", pk: "a", n: 99 });
  const token = headers["x-ms-session-token"];
  assert.match(token, /^0:-1#\d+$/);
  assert.equal((await one.item("1", "a").read({ sessionToken: token })).resource.n, 99);
});

test("a session ahead of the server is told so; the SDK then forgets its token and reads again", async () => {
  const one = await container();
  await one.items.create({ id: "1", pk: "a" });
  const ahead = { sessionToken: "0:-1#999999999999" };
  const patient = new CosmosClient({ endpoint, key, connectionPolicy: { enableEndpointDiscovery: false } });
  const told = await patient.database(database.id).container(one.id).item("1", "a").read(ahead);
  assert.equal(told.statusCode, 404);
  assert.equal(told.substatus, 1002);
  assert.equal((await one.item("1", "a").read(ahead)).statusCode, 200);
});

test("a container made anew is not taken for the old one", async () => {
  const definition = { id: "again", partitionKey: "/pk" };
  const { container: one } = await database.containers.create(definition);
  await one.items.create({ id: "1", pk: "a" });
  await one.delete();
  await database.containers.create({ id: "again", partitionKey: "/other" });
  assert.equal((await one.items.create({ id: "1", other: "b" }, { partitionKey: "b" })).statusCode, 201);
  const { resources } = await one.items.readAll().fetchAll();
  assert.deepEqual(resources.map((item) => item.other), ["b"]);
});

test("fifty clients at once", async () => {
  const one = await container();
  const life = async (n) => {
    const mine = new CosmosClient({ endpoint, key }).database(database.id).container(one.id);
    for (let i = 0; i < 5; i++) {
      const id = `${n}-${i}`;
      const pk = `p${n % 10}`;
      const { resource } = await mine.items.create({ id, pk, n: 0 });
      const condition = { accessCondition: { type: "IfMatch", condition: resource._etag } };
      await mine.item(id, pk).replace({ id, pk, n: 1 }, condition);
      assert.equal((await mine.item(id, pk).read()).resource.n, 1);
      if (i % 2) await mine.item(id, pk).delete();
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, n) => life(n)));
  const { resources } = await one.items.readAll().fetchAll();
  assert.equal(resources.length, 50 * 3);
});

test("of fifty replacements that saw the same etag one succeeds", async () => {
  const one = await container();
  const { resource } = await one.items.create({ id: "1", pk: "a" });
  const seen = { accessCondition: { type: "IfMatch", condition: resource._etag } };
  const attempts = Array.from({ length: 50 }, (_, n) => one.item("1", "a").replace({ id: "1", pk: "a", n }, seen));
  const outcomes = await Promise.allSettled(attempts);
  assert.equal(outcomes.filter((one) => one.status === "fulfilled").length, 1);
  assert.ok(outcomes.every((one) => one.status === "fulfilled" || one.reason.code === 412));
});

await main(() => database.delete());
