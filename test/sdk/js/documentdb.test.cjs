// test/sdk/js/documentdb.test.cjs - the server as documentdb 1.15.3, the SDK before last, sees it. It speaks https only.
const https = require("node:https");
const { Readable } = require("node:stream");
const { promisify } = require("node:util");
const { DocumentClient } = require("documentdb");
const { assert, endpoint, key, legal, main, refusal, test } = require("./harness.cjs");

// It insists on TLS 1.0, which neither the service nor this server speaks any more: its users have to do the same.
const { request } = https;
https.request = (options, ...rest) => request({ ...options, secureProtocol: undefined }, ...rest);

const client = new DocumentClient(endpoint, { masterKey: key });
const name = `documentdb-${process.pid}`;
let made = 0;

/** The SDK's callbacks as promises: call("readDocument", link, options). */
const call = (method, ...args) => promisify(client[method]).apply(client, args);
const all = (iterator) => new Promise((done, failed) => iterator.toArray((problem, items) => (problem ? failed(problem) : done(items))));
const next = (iterator) =>
  new Promise((done, failed) =>
    iterator.executeNext((problem, items, headers) => (problem ? failed(problem) : done({ items, headers }))),
  );

async function container(paths = ["/pk"]) {
  const definition = { id: `c${++made}`, partitionKey: { paths, kind: "Hash" } };
  return call("createCollection", `dbs/${name}`, definition);
}

test("a database is created, read, listed and deleted, by name and by _self", async () => {
  const created = await call("createDatabase", { id: `${name}-life` });
  assert.equal((await call("readDatabase", `dbs/${name}-life`))._rid, created._rid);
  assert.equal((await call("readDatabase", created._self)).id, `${name}-life`);
  assert.ok((await all(client.readDatabases())).some((one) => one.id === `${name}-life`));
  await call("deleteDatabase", created._self);
  assert.equal((await refusal(call("readDatabase", `dbs/${name}-life`))).code, 404);
});

test("the second database of a name is a conflict", async () => {
  assert.equal((await refusal(call("createDatabase", { id: name }))).code, 409);
});

test("a container is read, replaced, listed and deleted, by _self", async () => {
  const created = await container();
  const read = await call("readCollection", created._self);
  assert.equal(read.id, created.id);
  read.defaultTtl = 60;
  assert.equal((await call("replaceCollection", created._self, read)).defaultTtl, 60);
  assert.ok((await all(client.readCollections(`dbs/${name}`))).some((one) => one.id === created.id));
  await call("deleteCollection", created._self);
  assert.equal((await refusal(call("readCollection", `dbs/${name}/colls/${created.id}`))).code, 404);
});

test("an old spelling of the indexing mode is understood", async () => {
  const definition = { id: "modes", partitionKey: { paths: ["/pk"], kind: "Hash" }, indexingPolicy: { indexingMode: "Consistent" } };
  const created = await call("createCollection", `dbs/${name}`, definition);
  assert.equal(created.indexingPolicy.indexingMode, "consistent");
});

test("an item is created, read, replaced, upserted and deleted, by name", async () => {
  const { id } = await container();
  const link = `dbs/${name}/colls/${id}`;
  const created = await call("createDocument", link, { id: "1", pk: "a", n: 1 });
  assert.equal(created.n, 1);
  const read = await call("readDocument", `${link}/docs/1`, { partitionKey: ["a"] });
  assert.deepEqual(read, created);
  assert.equal((await call("replaceDocument", `${link}/docs/1`, { id: "1", pk: "a", n: 2 })).n, 2);
  assert.equal((await call("upsertDocument", link, { id: "1", pk: "a", n: 3 })).n, 3);
  await call("deleteDocument", `${link}/docs/1`, { partitionKey: ["a"] });
  const problem = await refusal(call("readDocument", `${link}/docs/1`, { partitionKey: ["a"] }));
  assert.equal(problem.code, 404);
});

test("an item is created, read, replaced and deleted, by _self", async () => {
  const { _self } = await container();
  const created = await call("createDocument", _self, { id: "1", pk: "a" });
  assert.equal((await call("readDocument", created._self, { partitionKey: ["a"] })).id, "1");
  const replaced = await call("replaceDocument", created._self, { id: "1", pk: "a", n: 1 });
  assert.equal(replaced._rid, created._rid);
  await call("deleteDocument", created._self, { partitionKey: ["a"] });
  assert.equal((await refusal(call("readDocument", created._self, { partitionKey: ["a"] }))).code, 404);
});

test("an existing id is a conflict", async () => {
  const { _self } = await container();
  await call("createDocument", _self, { id: "1", pk: "a" });
  assert.equal((await refusal(call("createDocument", _self, { id: "1", pk: "a" }))).code, 409);
});

test("an etag guards a replacement", async () => {
  const { _self } = await container();
  const created = await call("createDocument", _self, { id: "1", pk: "a" });
  const seen = { accessCondition: { type: "IfMatch", condition: created._etag } };
  await call("replaceDocument", created._self, { id: "1", pk: "a", n: 1 }, seen);
  assert.equal((await refusal(call("replaceDocument", created._self, { id: "1", pk: "a", n: 2 }, seen))).code, 412);
});

test("ids of every legal character", async () => {
  const { id: coll } = await container();
  const link = `dbs/${name}/colls/${coll}`;
  for (const character of legal.filter((one) => one !== "?")) {
    const id = `x${character}y`;
    await call("createDocument", link, { id, pk: "a" });
    assert.equal((await call("readDocument", `${link}/docs/${id}`, { partitionKey: ["a"] })).id, id);
  }
});

test("partition keys of every type", async () => {
  const { id: coll } = await container();
  const link = `dbs/${name}/colls/${coll}`;
  for (const pk of ["", "é日本", 1, 1.5, true, false, null]) {
    await call("createDocument", link, { id: "1", pk });
    assert.equal((await call("readDocument", `${link}/docs/1`, { partitionKey: [pk] })).pk, pk);
  }
  await call("createDocument", link, { id: "1" });
  assert.equal((await call("readDocument", `${link}/docs/1`, { partitionKey: [{}] })).id, "1");
});

test("items are read by pages", async () => {
  const { _self } = await container();
  for (let n = 0; n < 7; n++) await call("createDocument", _self, { id: String(n), pk: `p${n}` });
  const seen = [];
  const iterator = client.readDocuments(_self, { maxItemCount: 3 });
  for (let page = await next(iterator); page.items?.length; page = await next(iterator)) {
    assert.ok(page.items.length <= 3);
    seen.push(...page.items.map((item) => item.id));
    if (!page.headers?.["x-ms-continuation"]) break;
  }
  assert.deepEqual(seen.sort(), ["0", "1", "2", "3", "4", "5", "6"]);
});

/** A stream of these bytes, as uploads want one. */
const stream = (text) => Readable.from([Buffer.from(text)]);

test("attachments: create, upsert, read, replace, list, query and delete", async () => {
  const { _self } = await container();
  const item = await call("createDocument", _self, { id: "1", pk: "p" });
  const at = { partitionKey: ["p"] };
  const made = await call("createAttachment", item._self, { id: "a", contentType: "image/png", media: "http://m/1" }, at);
  assert.equal((await refusal(call("createAttachment", item._self, { ...made }, at))).code, 409);
  assert.equal((await call("readAttachment", made._self, at)).media, "http://m/1");
  const replaced = await call("replaceAttachment", made._self, { ...made, media: "http://m/2" }, at);
  assert.equal(replaced._rid, made._rid);
  const stale = { ...at, accessCondition: { type: "IfMatch", condition: made._etag } };
  assert.equal((await refusal(call("deleteAttachment", made._self, stale))).code, 412);
  await call("upsertAttachment", item._self, { id: "b", contentType: "a/b", media: "http://m/3" }, at);
  assert.deepEqual((await all(client.readAttachments(item._self, at))).map((one) => one.id), ["a", "b"]);
  const found = await all(client.queryAttachments(item._self, "SELECT VALUE a.media FROM root a WHERE a.id = 'b'", at));
  assert.deepEqual(found, ["http://m/3"]);
  await call("deleteAttachment", made._self, at);
  assert.equal((await refusal(call("readAttachment", made._self, at))).code, 404);
});

test("media are uploaded, read, replaced, and go with their item", async () => {
  const { _self } = await container();
  const item = await call("createDocument", _self, { id: "1", pk: "p" });
  const at = { partitionKey: ["p"], slug: "my text", contentType: "text/plain" };
  const made = await call("createAttachmentAndUploadMedia", item._self, stream("first"), at);
  assert.equal(made.id, "my text");
  assert.equal(String(await call("readMedia", made.media)), "first");
  await call("updateMedia", made.media, stream("second"), { contentType: "text/html" });
  assert.equal(String(await call("readMedia", made.media)), "second");
  assert.equal((await call("readAttachment", made._self, { partitionKey: ["p"] })).contentType, "text/html");
  await call("upsertAttachmentAndUploadMedia", item._self, stream("third"), at);
  assert.equal(String(await call("readMedia", made.media)), "third");
  await call("deleteDocument", item._self, { partitionKey: ["p"] });
  assert.equal((await refusal(call("readMedia", made.media))).code, 404);
});

test("a container's ranges cover every key", async () => {
  const { _self } = await container();
  const ranges = await all(client.readPartitionKeyRanges(_self));
  assert.deepEqual(ranges.map((range) => [range.minInclusive, range.maxExclusive]), [["", "FF"]]);
});

(async () => {
  await call("createDatabase", { id: name });
  await main(() => call("deleteDatabase", `dbs/${name}`));
})();
