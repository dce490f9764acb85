// test/explorer/unit/parts.test.mjs - signing, keys, paths, plans, metrics, ranges, pictures, imports.
import assert from "node:assert";
import { createHmac } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { placeOf, placeOfSelf } from "../../../explorer/api/client.js";
import { keyHeader, keyOf, namesOf } from "../../../explorer/api/items.js";
import { WELL_KNOWN_KEY, credentialOf, readSecret } from "../../../explorer/api/sign.js";
import { twoDimensions } from "../../../explorer/views/chart.js";
import { shapesOf } from "../../../explorer/views/map.js";
import { percentile, samplesOf } from "../../../explorer/views/now.js";
import { pathsOf } from "../../../explorer/views/paths.js";
import { partsOf } from "../../../explorer/views/plan.js";
import { sharesOf } from "../../../explorer/views/ranges.js";
import { SNIPPETS } from "../../../explorer/text/snippets.js";

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

test("percentiles come from the difference of buckets", () => {
  assert.equal(percentile(new Map([[1, 50], [2, 100], [Infinity, 100]]), 0.5), 1);
  assert.equal(percentile(new Map([[1, 0], [2, 100], [Infinity, 100]]), 0.5), 1.5);
  assert.equal(percentile(new Map([[Infinity, 0]]), 0.5), null);
});

test("metrics are read with labels that have quotes in them", () => {
  assert.deepEqual(samplesOf('# TYPE a counter\na{x="1\\"2",y="z"} 3.5\nb 1'), [{ name: "a", labels: { x: '1"2', y: "z" }, value: 3.5 }, { name: "b", labels: {}, value: 1 }]);
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

test("the page names every module, so that a browser asks for all of them at once", () => {
  const folder = new URL("../../../explorer/", import.meta.url);
  const modules = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.includes("/") && name.endsWith(".js")).sort();
  const named = [...readFileSync(new URL("index.html", folder), "utf8").matchAll(/modulepreload" href="([^"]+)"/g)].map((m) => m[1]);
  assert.deepEqual(named, modules);
});

test("no module reads a string as markup or code", () => {
  const folder = new URL("../../../explorer/", import.meta.url);
  for (const name of readdirSync(folder, { recursive: true }).map(String).filter((n) => n.endsWith(".js")))
    assert.doesNotMatch(readFileSync(new URL(name, folder), "utf8"), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, name);
});
