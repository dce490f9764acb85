// test/sdk/js/table.cjs - the table of queries that all SDKs share: read, and compared with what came.
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const table = JSON.parse(readFileSync(join(__dirname, "..", "queries.json"), "utf8"));
const system = new Set(["_rid", "_self", "_etag", "_attachments", "_ts"]);

/** An item as it was before the server added to it; other rows as they are. */
function plain(row) {
  if (row === null || typeof row !== "object" || Array.isArray(row)) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !system.has(name)));
}

/** Text that is the same for values that are: members sorted, numbers to twelve digits. */
function canonical(value) {
  if (typeof value === "number") return String(Number(value.toPrecision(12)));
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}

/** The rows are those that the table's entry names. */
function check(entry, rows) {
  if (entry.count !== undefined) return assert.equal(rows.length, entry.count);
  const expected = (entry.rows === "items" ? table.items : entry.rows).map(canonical);
  const found = rows.map((row) => canonical(plain(row)));
  if (!entry.ordered) [expected, found].forEach((list) => list.sort());
  assert.deepEqual(found, expected);
}

/** The refusal is the one that the table's entry names; SDKs put the server's words in different places. */
function checkRefusal(entry, problem) {
  const text = [problem.message, JSON.stringify(problem.body)].join();
  assert.equal(problem.code, entry.error.status, problem.stack);
  assert.ok(text.includes(entry.error.message), text);
}

module.exports = { check, checkRefusal, plain, table };
