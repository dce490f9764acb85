// explorer/views/export.js - rows as a file: JSON, one row a line, or CSV for a spreadsheet.
import { kindOf, printJson } from "../api/json.js";
import { t } from "../text/en.js";
import { download } from "./dom.js";

/** Where a spreadsheet would read a text as a formula, an apostrophe before it says that it is none. @param {string} text */
const harmless = (text) => (/^[=+\-@\t\r]/.test(text) ? "'" + text : text);

/** @param {string} text */
const quoted = (text) => (/[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text);

/** @param {any} value */
function cell(value) {
  const kind = kindOf(value);
  if (value === undefined || value === null) return "";
  return kind === "string" ? quoted(harmless(value)) : quoted(kind === "object" || kind === "array" ? printJson(value, 0) : String(value));
}

/** With a column for each name that a row has at its top. @param {any[]} rows */
export function csvOf(rows) {
  if (rows.every((row) => kindOf(row) !== "object")) return [t.grid.value, ...rows.map(cell)].map((line) => line + "\r\n");
  const names = [...new Set(rows.flatMap((row) => (kindOf(row) === "object" ? Object.keys(row) : [])))];
  const lines = rows.map((row) => names.map((name) => cell(kindOf(row) === "object" && Object.hasOwn(row, name) ? row[name] : undefined)).join(","));
  return [names.map((name) => quoted(harmless(name))).join(","), ...lines].map((line) => line + "\r\n");
}

const KINDS = /** @type {Record<"jsonl"|"csv", { type: string, lines: (rows: any[]) => string[] }>} */ ({
  jsonl: { type: "application/x-ndjson", lines: (rows) => rows.map((row) => printJson(row, 0) + "\n") },
  csv: { type: "text/csv;charset=utf-8", lines: (rows) => ["\uFEFF", ...csvOf(rows)] }, // the mark tells spreadsheets that it is UTF-8
});

/**
 * The entries of a menu, one for each kind of file.
 * @param {() => import("../api/items.js").Pages} begin @param {string} name @param {(error: any) => void} onError
 */
export function exportsOf(begin, name, onError) {
  const save = async (/** @type {"jsonl"|"csv"} */ kind) => {
    const all = begin();
    /** @type {any[]} */
    const rows = [];
    while (!all.isDone) for (const row of (await all.next()).rows) rows.push(row);
    download(`${name}.${kind}`, KINDS[kind].lines(rows), KINDS[kind].type);
  };
  return /** @type {("jsonl"|"csv")[]} */ (Object.keys(KINDS)).map((kind) => ({ label: `${t.items.export}: ${t.query.exportAs[kind]}`, icon: "download", run: () => save(kind).catch(onError) }));
}
