// explorer/views/policy.js - what is wrong with an indexing policy, told while it is typed. The server decides when it is saved.
import { kindOf } from "../api/json.js";
import { t } from "../text/en.js";

const p = t.settings.policy;

const isPath = (/** @type {any} */ path, /** @type {RegExp} */ end) => typeof path === "string" && path.startsWith("/") && end.test(path);
const SCALAR = /\/(\?|\*)$/;
const PLAIN = /^\/(?!.*\/?[?*]$)/;

/** @param {any} list @param {string} name @param {(entry: any) => string} check @returns {string} */
function each(list, name, check) {
  if (list === undefined) return "";
  if (!Array.isArray(list)) return p.notArray(name);
  for (const entry of list) {
    const wrong = kindOf(entry) === "object" || Array.isArray(entry) ? check(entry) : p.noPath(name);
    if (wrong) return wrong;
  }
  return "";
}

/** @param {string} name */
const scalarPath = (name) => (/** @type {any} */ entry) => (isPath(entry.path, SCALAR) ? "" : p.path(name, String(entry.path)));

/** @param {string} name */
const plainPath = (name) => (/** @type {any} */ entry) => (isPath(entry.path, PLAIN) ? "" : p.plainPath(name, String(entry.path)));

/** @param {any} group */
function composite(group) {
  if (!Array.isArray(group) || group.length < 2) return p.composite;
  for (const entry of group) {
    const wrong = plainPath("compositeIndexes")(entry);
    if (wrong) return wrong;
    if (entry.order !== undefined && entry.order !== "ascending" && entry.order !== "descending") return p.order(String(entry.order));
  }
  return "";
}

/** A member's value is looked at by its name. */
const MEMBERS = /** @type {Record<string, (value: any) => string>} */ ({
  indexingMode: (value) => (["consistent", "none", "lazy"].includes(String(value).toLowerCase()) ? "" : p.mode(String(value))),
  automatic: (value) => (typeof value === "boolean" ? "" : p.automatic),
  includedPaths: (value) => each(value, "includedPaths", scalarPath("includedPaths")),
  excludedPaths: (value) => each(value, "excludedPaths", scalarPath("excludedPaths")),
  compositeIndexes: (value) => each(value, "compositeIndexes", composite),
  spatialIndexes: (value) => each(value, "spatialIndexes", (entry) => (typeof entry.path === "string" && entry.path.startsWith("/") ? "" : p.noPath("spatialIndexes"))),
  vectorIndexes: (value) => each(value, "vectorIndexes", (entry) => plainPath("vectorIndexes")(entry) || (["flat", "quantizedFlat", "diskANN"].includes(entry.type) ? "" : p.vectorType(String(entry.type)))),
  fullTextIndexes: (value) => each(value, "fullTextIndexes", plainPath("fullTextIndexes")),
});

/** The first thing that is wrong, in words; "" when nothing is. @param {any} policy */
export function policyProblem(policy) {
  if (kindOf(policy) !== "object") return p.notObject;
  for (const [name, value] of Object.entries(policy)) {
    const wrong = MEMBERS[name] ? MEMBERS[name](value) : p.unknown(name);
    if (wrong) return wrong;
  }
  const mode = String(policy.indexingMode ?? "consistent").toLowerCase();
  const paths = [...(policy.includedPaths ?? []), ...(policy.excludedPaths ?? [])].map((/** @type {any} */ entry) => entry.path);
  return mode === "none" || !paths.length || paths.includes("/*") || paths.includes("/") ? "" : p.root;
}
