// test/explorer/unit/merge.test.mjs - three versions of an item become one.
import assert from "node:assert";
import { test } from "node:test";
import { differences, mergeOf } from "../../../explorer/views/conflict.js";

const base = { a: 1, b: { c: 1, d: 2 }, list: [1, 2], gone: true };

test("what only one of both changed is taken, nested and deleted too", () => {
  const mine = { a: 2, b: { c: 1, d: 2 }, list: [1, 2] };
  const theirs = { a: 1, b: { c: 1, d: 3, e: 4 }, list: [1, 2], gone: true };
  const found = differences(base, mine, theirs);
  assert.ok(found.every((d) => !d.isConflict));
  assert.deepEqual(mergeOf(theirs, found, () => "mine"), { a: 2, b: { c: 1, d: 3, e: 4 }, list: [1, 2] });
});

test("where both changed one value, the choice decides", () => {
  const found = differences(base, { ...base, list: [1, 3] }, { ...base, list: [9] });
  assert.deepEqual(found.map((d) => [d.path.join("/"), d.isConflict]), [["list", true]]);
  assert.deepEqual(mergeOf({ ...base, list: [9] }, found, () => "mine").list, [1, 3]);
  assert.deepEqual(mergeOf({ ...base, list: [9] }, found, () => "theirs").list, [9]);
});

test("the same change of both is no conflict", () => {
  assert.equal(differences(base, { ...base, a: 5 }, { ...base, a: 5 }).some((d) => d.isConflict), false);
});
