// test/explorer/unit/json.test.mjs - JSON that is shown and edited without being changed.
import assert from "node:assert";
import { test } from "node:test";
import { ExactNumber, SYSTEM_PROPERTIES, brief, jsonProblem, layOut, parseJson } from "../../../explorer/api/json.js";

test("laying a text out changes no number and no string", () => {
  const text = '{"a":9007199254740993,"b":1.0e+2,"c":"\\u0000\\"{,:}","d":[],"e":{},"f":[1,[2],{"g":null}]}';
  const laid = layOut(text);
  assert.equal(laid.replace(/\n */g, "").replaceAll(": ", ":"), text);
  assert.match(laid, /^\{\n {2}"a": 9007199254740993,\n/);
});

test("system properties are left out of the outermost object only", () => {
  const laid = layOut('{"_rid":"x","id":"1","in":{"_rid":"y"},"_ts":5,"_self":{"a":[1,{}]}}', SYSTEM_PROPERTIES);
  assert.deepEqual(JSON.parse(laid), { id: "1", in: { _rid: "y" } });
});

test("an object that has nothing but system properties is empty", () => {
  assert.equal(layOut('{"_rid":"x","_ts":1}', SYSTEM_PROPERTIES), "{}");
});

test("a whole number beyond doubles keeps its digits where the engine tells its text", () => {
  const read = parseJson('{"n":9007199254740993,"m":12}');
  assert.equal(read.m, 12);
  if (read.n instanceof ExactNumber) assert.equal(String(read.n), "9007199254740993");
});

test("a problem has its place, and JSON has none", () => {
  assert.equal(jsonProblem('{"a":1}'), null);
  const problem = jsonProblem('{"a":}');
  assert.ok(problem && problem.at >= 0 && problem.at <= 6);
});

test("a cell's text is short, whatever the value", () => {
  const large = { list: Array.from({ length: 100000 }, (_, i) => "x".repeat(i % 50)) };
  assert.ok(brief(large, 100).length <= 101);
  assert.equal(brief(undefined), "");
  assert.equal(brief("a\nb"), "a b");
  assert.equal(brief([1, { a: null }]), '[1,{"a":null}]');
});
