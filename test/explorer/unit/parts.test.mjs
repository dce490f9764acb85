// test/explorer/unit/parts.test.mjs - signing, keys, paths, plans, moments, ranges, pictures, files.
import assert from "node:assert";
import { createHmac } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { placeOf, placeOfSelf } from "../../../explorer/api/client.js";
import { putAt } from "../../../explorer/api/json.js";
import { keyHeader, keyOf, momentOf, namesOf, unescaped } from "../../../explorer/api/items.js";
import { WELL_KNOWN_KEY, credentialOf, readSecret } from "../../../explorer/api/sign.js";
import { twoDimensions } from "../../../explorer/views/chart.js";
import { csvOf } from "../../../explorer/views/export.js";
import { rounds, shapesOf } from "../../../explorer/views/map.js";
import { pathsOf } from "../../../explorer/views/paths.js";
import { partsOf } from "../../../explorer/views/plan.js";
import { policyProblem } from "../../../explorer/views/policy.js";
import { sharesOf } from "../../../explorer/views/ranges.js";
import { SNIPPETS } from "../../../explorer/text/snippets.js";

const putAtAll = (object, list) => {
  for (const [names, value] of list) putAt(object, names, value);
  return object;
};

test("a signature is HMAC-SHA256 of verb, type, link and date", async () => {
  const credential = await credentialOf({ kind: "key", secret: WELL_KNOWN_KEY });
  const date = "Tue, 17 Nov 2026 02:00:00 GMT";
  const expected = createHmac("sha256", Buffer.from(WELL_KNOWN_KEY, "base64")).update(`get\ndbs\ndbs/Å\n${date.toLowerCase()}\n\n`).digest("base64");
  assert.equal(decodeURIComponent(await credential.authorize("GET", "dbs", "dbs/Å", date)), `type=master&ver=1.0&sig=${expected}`);
});

test("a connection string, a key and a token are told apart", () => {
  assert.deepEqual(readSecret(" AccountEndpoint=https://x/;AccountKey=abc==; "), { kind: "key", secret: "abc==" });
  assert.equal(readSecret("type=resource&ver=1&sig=x;y;").kind, "token");
  assert.equal(readSecret("type%3Dresource%26ver%3D1").kind, "token");
});

test("a list is signed by its owner, a link of rids by its last in lower case", () => {
  assert.deepEqual(placeOf(["dbs", "a b", "colls"]), { type: "colls", link: "dbs/a b", path: "/dbs/a%20b/colls" });
  assert.deepEqual(placeOfSelf("dbs/AAAA/colls/BBBB=/docs/CcCc==/"), { type: "docs", link: "cccc==", path: "/dbs/AAAA/colls/BBBB=/docs/CcCc==" });
});

test("a partition key is read at its paths, and its header is ASCII", () => {
  const definition = { partitionKey: { paths: ["/a/b", '/"odd name"', "/none"] } };
  const key = keyOf(definition, { a: { b: "ü😀" }, "odd name": null });
  assert.deepEqual(key, ["ü😀", null, undefined]);
  assert.equal(keyHeader(key), '["\\u00fc\\ud83d\\ude00",null,{}]');
  assert.deepEqual(namesOf("/a/b"), ["a", "b"]);
});

test("paths are spelt as a query spells them", () => {
  assert.deepEqual(pathsOf([{ a: { b: 1 }, "x y": 2, list: [{ z: 1 }] }]), ["c.a", "c.a.b", "c.list", 'c["x y"]'].sort());
});

test("a filter is divided outside parentheses and quotes", () => {
  assert.deepEqual(partsOf('(/n [1, 2) AND /s = " AND " AND (/a = 1 OR /b = 2))').parts.length > 1, true);
  assert.deepEqual(partsOf('/s = " AND "'), { word: "", parts: [] });
});

test("ranges have their share of the key space", () => {
  const shares = sharesOf([{ id: "1", minInclusive: "20", maxExclusive: "FF" }, { id: "0", minInclusive: "", maxExclusive: "20" }]);
  assert.deepEqual(shares.map((s) => [s.range.id, s.share]), [["0", 0.5], ["1", 0.5]]);
});

test("vectors that differ in one direction lie on one line", () => {
  const points = twoDimensions([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]);
  for (const [, y] of points) assert.ok(Math.abs(y) < 1e-6);
  assert.ok(Math.abs(points[3][0] - points[0][0]) > 5);
});

test("shapes are found in rows, and what only looks like one is not", () => {
  const found = shapesOf([{ id: "1", where: { type: "Point", coordinates: [1, 2] } }, { type: "Point", coordinates: "x" }, { type: "Polygon" }, null, 5]);
  assert.deepEqual(found.map((s) => s.label), ["1"]);
});

test("there is a first program in seven languages, with places for endpoint and key", () => {
  assert.equal(Object.keys(SNIPPETS).length, 7);
  for (const text of Object.values(SNIPPETS)) assert.ok(text.includes("{endpoint}") && text.includes("{key}"));
});

test("the page names every module that its first view needs, so that a browser asks for all of them at once", () => {
  const folder = new URL("../../../explorer/", import.meta.url);
  const needed = new Set();
  const visit = (name) => {
    if (needed.has(name)) return;
    needed.add(name);
    for (const [, from] of readFileSync(new URL(name, folder), "utf8").matchAll(/^(?:import|export) [^;]*? from "(\.[^"]+)"/gm)) visit(path.posix.join(path.posix.dirname(name), from));
  };
  visit("main.js");
  needed.delete("main.js");
  const named = [...readFileSync(new URL("index.html", folder), "utf8").matchAll(/modulepreload" href="([^"]+)"/g)].map((m) => m[1]);
  assert.deepEqual(named, [...needed].sort());
  assert.ok(named.length < 25, "the first view waits for " + named.length + " modules");
});

test("a moment is a time ago, a time, or a number, and nothing else", () => {
  const now = Date.parse("2026-11-17T12:00:00Z");
  assert.deepEqual(["", " 17 ", "-5m", "- 2 h", "2026-11-17T02:42Z", "2026-11-17 02:42:01Z"].map((text) => momentOf(text, now)),
    ["", "17", "2026-11-17T11:55:00.000Z", "2026-11-17T10:00:00.000Z", "2026-11-17T02:42:00.000Z", "2026-11-17T02:42:01.000Z"]);
  for (const text of ["yesterday", "-5", "-5x", "2026-99-99T00:00Z", "1e3", "-1.5h", "17\r\nx: y"]) assert.equal(momentOf(text, now), null, text);
});

test("a spreadsheet reads no cell of a file as a formula", () => {
  const rows = [{ id: "=1+1", n: -5, "@name": "a,b" }, { id: '-2"x', n: { deep: "=1" }, more: null }, { id: "\tx", text: "line\nnext" }];
  assert.equal(csvOf(rows).join(""), [
    "id,n,'@name,more,text",
    "'=1+1,-5,\"a,b\",,",
    "\"'-2\"\"x\",\"{\"\"deep\"\":\"\"=1\"\"}\",,,",
    "'\tx,,,,\"line\nnext\"",
    ""].join("\r\n"));
  assert.equal(csvOf(["=x", 2]).join(""), "value\r\n'=x\r\n2\r\n");
});

test("a member named __proto__ is a member, and changes nothing else", () => {
  const item = putAtAll({}, [[["__proto__", "polluted"], 1], [["__proto__", "constructor"], "x"], [["a", "b"], 2], [["gone"], 3], [["gone"], undefined]]);
  assert.equal(JSON.stringify(item), '{"__proto__":{"polluted":1,"constructor":"x"},"a":{"b":2}}');
  assert.equal({}.polluted, undefined);
});

test("a header that was cut within a character is read up to there", () => {
  assert.equal(unescaped("a%20%C3%BC"), "a ü");
  for (const cut of ["a%C3%BC%C3", "a%C3%BC%C", "a%C3%BC%"]) assert.match(unescaped(cut), /^aü/, cut);
});

test("lines of round degrees are few, wherever the shapes lie", () => {
  assert.deepEqual(rounds(0.5, 3, 1), [1, 2]);
  for (const [from, until, step] of [[1e16, 1e16 + 2, 0.5], [0, 1e308, 1e-300], [5, 5, 0], [NaN, NaN, NaN], [-Infinity, Infinity, 1]]) assert.ok(rounds(from, until, step).length <= 40);
});

test("what is wrong with an indexing policy is told in words", () => {
  const good = { indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/*" }], excludedPaths: [{ path: '/"_etag"/?' }], compositeIndexes: [[{ path: "/a", order: "ascending" }, { path: "/b" }]], spatialIndexes: [{ path: "/p/*", types: ["Point"] }], vectorIndexes: [{ path: "/v", type: "diskANN" }], fullTextIndexes: [{ path: "/text" }] };
  assert.equal(policyProblem(good), "");
  assert.equal(policyProblem({ indexingMode: "none" }), "");
  for (const bad of [[], null, { ...good, indexingMode: "always" }, { ...good, automatic: 1 }, { ...good, includedPaths: [{ path: "a/?" }] }, { ...good, includedPaths: [{ path: "/a" }] }, { ...good, includedPaths: [5] }, { ...good, excludedPaths: {} },
    { ...good, compositeIndexes: [[{ path: "/a" }]] }, { ...good, compositeIndexes: [[{ path: "/a/?" }, { path: "/b" }]] }, { ...good, compositeIndexes: [[{ path: "/a", order: "up" }, { path: "/b" }]] }, { ...good, vectorIndexes: [{ path: "/v", type: "hnsw" }] },
    { ...good, includePaths: [] }, { includedPaths: [{ path: "/a/?" }] }]) assert.notEqual(policyProblem(bad), "", JSON.stringify(bad));
});

test("no module reads a string as markup or code", () => {
  const folder = new URL("../../../explorer/", import.meta.url);
  for (const name of readdirSync(folder, { recursive: true }).map(String).filter((n) => n.endsWith(".js")))
    assert.doesNotMatch(readFileSync(new URL(name, folder), "utf8"), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, name);
});
