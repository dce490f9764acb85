// explorer/api/json.js - JSON whose numbers keep all their digits, and its text laid out without changing any of it.
import { t } from "../text/en.js";

/** A number that a double would change: its text is what counts. */
export class ExactNumber {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
  toJSON() {
    const raw = /** @type {any} */ (JSON).rawJSON;
    return raw ? raw(this.text) : Number(this.text);
  }
}

/** Half of a pair of UTF-16, which no request can carry: it would arrive as another character. */
const HALF = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

const MANY_DIGITS = /[0-9]{16}/;

/**
 * Like JSON.parse, but a whole number that a double cannot hold becomes an ExactNumber, where the browser tells its text.
 * @param {string} text
 */
export function parseJson(text) {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text);
  const keep = (/** @type {string} */ key, /** @type {any} */ value, /** @type {any} */ context) =>
    typeof value === "number" && context && context.source !== String(value) && /^-?[0-9]{16,}$/.test(context.source)
      ? new ExactNumber(context.source)
      : value;
  return JSON.parse(text, /** @type {any} */ (keep));
}

/**
 * Sets a member, making the objects on the way to it. A name such as __proto__ is one like any other: assigning to it would change
 * what all objects are. `value` undefined takes the member away.
 * @param {any} object @param {string[]} names @param {any} value
 */
export function putAt(object, names, value) {
  const put = (/** @type {any} */ at, /** @type {string} */ name, /** @type {any} */ v) => Object.defineProperty(at, name, { value: v, writable: true, enumerable: true, configurable: true });
  let at = object;
  for (const name of names.slice(0, -1)) {
    if (!Object.hasOwn(at, name) || kindOf(at[name]) !== "object") put(at, name, {});
    at = at[name];
  }
  const last = names[names.length - 1];
  if (value === undefined) delete at[last];
  else put(at, last, value);
}

/** @param {any} value @param {number} [indent] */
export const printJson = (value, indent = 2) => JSON.stringify(value, null, indent) ?? "";

const TOKEN = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?[0-9][0-9.eE+-]*|true|false|null|[[\]{},:]/g;

/** The properties that the server writes into every resource. */
export const SYSTEM_PROPERTIES = new Set(["_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"]);

/**
 * The text of a JSON value, one member a line. Numbers and strings stay as they were written. Members of the outermost
 * object whose names `omit` has are left out.
 * @param {string} text
 * @param {Set<string>} [omit]
 */
export function layOut(text, omit) {
  /** @type {string[]} */
  const out = [];
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  let fresh = true; // nothing has been written since the last bracket was opened
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === "}" || token === "]") {
      depth--;
      if (!fresh) out.push("\n", "  ".repeat(depth));
      out.push(token);
      fresh = false;
      continue;
    }
    if (token === ",") continue; // written before the member that follows, if one does
    if (token !== ":" && tokens[i - 1] !== ":" && depth > 0) {
      if (omit && depth === 1 && tokens[i + 1] === ":" && omit.has(nameOf(token))) {
        i = endOfValue(tokens, i + 2);
        continue;
      }
      out.push(fresh ? "\n" : ",\n", "  ".repeat(depth));
    }
    fresh = false;
    if (token === ":") out.push(": ");
    else out.push(token);
    if (token === "{" || token === "[") {
      depth++;
      fresh = true;
    }
  }
  return out.join("");
}

/** @param {string} token */
function nameOf(token) {
  try {
    return JSON.parse(token);
  } catch {
    return token;
  }
}

/** The index of the last token of the value that begins at `at`. @param {string[]} tokens @param {number} at */
function endOfValue(tokens, at) {
  let depth = 0;
  for (let i = at; i < tokens.length; i++) {
    if (tokens[i] === "{" || tokens[i] === "[") depth++;
    if (tokens[i] === "}" || tokens[i] === "]") depth--;
    if (depth === 0) return i;
  }
  return tokens.length - 1;
}

/**
 * Where a text stops being JSON, or null if it is JSON.
 * @param {string} text
 * @returns {{ at: number, message: string } | null}
 */
export function jsonProblem(text) {
  try {
    JSON.parse(text);
    const half = text.search(HALF);
    return half < 0 ? null : { at: half, message: t.item.half };
  } catch (error) {
    const message = String(/** @type {Error} */ (error).message);
    const place = /position (\d+)/.exec(message);
    return { at: place ? Number(place[1]) : text.length, message: message.replace(/ in JSON at position.*$| \(line.*$/, "") };
  }
}

/** What a value is, in the query language's words. @param {any} value */
export function kindOf(value) {
  if (value === undefined) return "undefined";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof ExactNumber) return "number";
  return typeof value;
}

/** One line of text for a cell, never longer than `most` characters. @param {any} value @param {number} [most] */
export function brief(value, most = 200) {
  const kind = kindOf(value);
  if (kind === "undefined") return "";
  let text = kind === "string" ? value : kind === "object" || kind === "array" ? briefOfTree(value, most) : String(value);
  if (text.length > most) text = text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "") + "…";
  return text.replace(/[\r\n\t]/g, " ");
}

/** Prints no more of a large value than is shown of it. @param {any} value @param {number} most */
function briefOfTree(value, most) {
  let room = most;
  /** @param {any} v @returns {string} */
  const print = (v) => {
    if (room <= 0) return "…";
    const kind = kindOf(v);
    let text;
    if (kind === "array") text = "[" + someOf(v, (/** @type {any} */ x) => print(x)) + "]";
    else if (kind === "object") text = "{" + someOf(Object.keys(v), (/** @type {string} */ k) => JSON.stringify(k) + ":" + print(v[k])) + "}";
    else text = kind === "string" ? JSON.stringify(v.slice(0, most)) : String(v);
    room -= text.length;
    return text;
  };
  /** @param {any[]} list @param {(x: any) => string} each */
  const someOf = (list, each) => {
    const parts = [];
    for (const x of list) {
      if (room <= 0) {
        parts.push("…");
        break;
      }
      parts.push(each(x));
    }
    return parts.join(",");
  };
  return print(value);
}

/** @param {any} value */
export const numberOf = (value) => (value instanceof ExactNumber ? Number(value.text) : kindOf(value) === "number" ? value : NaN);
