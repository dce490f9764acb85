// explorer/api/items.js - items and queries over them, page by page.
import { placeOf, placeOfSelf } from "./client.js";
import { parseJson } from "./json.js";

/** @typedef {import("./client.js").Client} Client @typedef {import("./client.js").Answer} Answer */

/** The JSON of the header in ASCII: a header has no other characters. @param {any[]} values */
export const keyHeader = (values) =>
  JSON.stringify(values.map((value) => (value === undefined ? {} : value))).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

/** The values that a document has at the paths of the container's key. @param {any} definition @param {any} document @returns {any[]} */
export function keyOf(definition, document) {
  const paths = definition.partitionKey?.paths ?? [];
  return paths.map((/** @type {string} */ path) => valueAt(document, namesOf(path)));
}

/** The names of a path such as /a/"b c"/d. @param {string} path @returns {string[]} */
export function namesOf(path) {
  return [...path.matchAll(/\/(?:"((?:[^"\\]|\\.)*)"|([^/]*))/g)].map((m) => m[1] ?? m[2]);
}

/** @param {any} value @param {string[]} names */
export function valueAt(value, names) {
  for (const name of names) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Where an item is: by its own link where a path of ids would be folded or spoilt. @param {string[]} container @param {any} item */
function placeOfItem(container, item) {
  const plain = item.id !== "." && item.id !== ".." && !/[\uD800-\uDFFF/\\]/.test(item.id);
  return plain || !item._self ? placeOf([...container, "docs", item.id]) : placeOfSelf(item._self);
}

/** @param {any} definition @param {any} item */
const keyHeaders = (definition, item) => ({ "x-ms-documentdb-partitionkey": keyHeader(keyOf(definition, item)) });

/** @param {Client} client @param {string[]} container @param {any} definition @param {any} item @returns {Promise<Answer>} */
export function readItem(client, container, definition, item) {
  return client.send("GET", placeOfItem(container, item), { headers: keyHeaders(definition, item) });
}

/** @param {Client} client @param {string[]} container @param {any} definition @param {string} text @param {boolean} [upsert] */
export function createItem(client, container, definition, text, upsert) {
  const headers = /** @type {Record<string, string>} */ (keyHeaders(definition, parseJson(text)));
  if (upsert) headers["x-ms-documentdb-is-upsert"] = "true";
  return client.send("POST", [...container, "docs"], { text, headers });
}

/** `item` is what is there, `text` what is to be. @param {Client} client @param {string[]} container @param {any} definition @param {any} item @param {string} text @param {string} [etag] */
export function replaceItem(client, container, definition, item, text, etag) {
  return client.send("PUT", placeOfItem(container, item), { text, headers: { ...keyHeaders(definition, item), ...(etag ? { "if-match": etag } : {}) } });
}

/** @param {Client} client @param {string[]} container @param {any} definition @param {any} item @param {string} [etag] */
export function deleteItem(client, container, definition, item, etag) {
  return client.send("DELETE", placeOfItem(container, item), { headers: { ...keyHeaders(definition, item), ...(etag ? { "if-match": etag } : {}) } });
}

/**
 * A query's pages, one after the other. The server joins the ranges.
 * @typedef {{ query: string, parameters?: any[], pageSize?: number, metrics?: boolean, index?: string, key?: any[], asOf?: string }} Question
 */
export class Pages {
  /** @param {Client} client @param {string[]} container @param {Question} question */
  constructor(client, container, question) {
    this.client = client;
    this.container = container;
    this.question = question;
    /** @type {string|null} */
    this.continuation = null;
    this.isDone = false;
    this.charge = 0;
    this.abort = new AbortController();
  }

  /** The next page's rows; [] when there is none. @returns {Promise<{ rows: any[], answer: Answer }>} */
  async next() {
    const { query, parameters = [], pageSize = 100, metrics, index, key, asOf } = this.question;
    /** @type {Record<string, string>} */
    const headers = {
      "content-type": "application/query+json",
      "x-ms-documentdb-isquery": "true",
      "x-ms-max-item-count": String(pageSize),
      "x-ms-documentdb-query-enablecrosspartition": "true",
      "x-orrery-whole": "true",
    };
    if (metrics)
      Object.assign(headers, { "x-ms-documentdb-populatequerymetrics": "true", "x-ms-cosmos-populateindexmetrics-v2": "true", "x-orrery-explain": "true" });
    if (index) headers["x-orrery-index"] = index;
    if (asOf) headers["x-orrery-as-of"] = asOf;
    if (key) headers["x-ms-documentdb-partitionkey"] = keyHeader(key);
    if (this.continuation) headers["x-ms-continuation"] = this.continuation;
    const answer = await this.client.send("POST", [...this.container, "docs"], { body: { query, parameters }, headers, signal: this.abort.signal });
    this.continuation = answer.continuation;
    this.isDone = !answer.continuation;
    this.charge += answer.charge;
    return { rows: answer.body.Documents, answer };
  }

  stop() {
    this.isDone = true;
    this.abort.abort();
  }
}

const UNITS_MS = /** @type {Record<string, number>} */ ({ s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 });

/**
 * A moment as the server reads it: "-5m" is five minutes ago, a time is one in UTC, a number is an LSN. null: it is none of these.
 * @param {string} text @param {number} [now]
 */
export function momentOf(text, now = Date.now()) {
  const trimmed = text.trim();
  const ago = /^-\s*(\d+)\s*([smhd])$/.exec(trimmed);
  if (trimmed === "" || /^\d{1,19}$/.test(trimmed)) return trimmed;
  const time = ago ? now - Number(ago[1]) * UNITS_MS[ago[2]] : /^\d{4}-\d\d-\d\d[T ]/.test(trimmed) ? Date.parse(trimmed.replace(" ", "T")) : NaN;
  return Number.isFinite(time) ? new Date(time).toISOString() : null;
}

/**
 * A page of the changes since `etag`: latest versions, or all of them. "0" is the beginning, * is now.
 * @param {Client} client @param {string[]} container @param {{ etag?: string|null, all?: boolean }} from
 */
export async function readChanges(client, container, from) {
  /** @type {Record<string, string>} */
  const headers = {
    "a-im": from.all ? "Full-Fidelity Feed" : "Incremental Feed",
    "x-ms-max-item-count": "100",
  };
  if (from.all) headers["x-ms-cosmos-changefeed-wire-format-version"] = "2021-09-15";
  if (from.etag) headers["if-none-match"] = from.etag;
  const answer = await client.send("GET", [...container, "docs"], { headers });
  return { changes: answer.status === 304 ? [] : answer.body.Documents, etag: answer.headers.get("etag"), isLast: answer.status === 304 };
}

/** A header's percent-encoded text, of which a long one ends anywhere. @param {string} text */
export function unescaped(text) {
  const bytes = [...text.matchAll(/%([0-9a-f]{2})|([^%])/gi)].map(([, hex, plain]) => (hex ? parseInt(hex, 16) : plain.charCodeAt(0)));
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/** @param {Client} client @param {string[]} procedure @param {any[]} key @param {any[]} parameters */
export async function runProcedure(client, procedure, key, parameters) {
  const answer = await client.send("POST", procedure, {
    body: parameters,
    headers: { "x-ms-documentdb-partitionkey": keyHeader(key), "x-ms-documentdb-script-enable-logging": "true" },
  });
  const log = answer.headers.get("x-ms-documentdb-script-log-results");
  return { text: answer.text, charge: answer.charge, log: unescaped(log ?? ""), ms: answer.ms };
}
