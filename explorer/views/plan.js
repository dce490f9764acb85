// explorer/views/plan.js - how a query was answered: the way, what was expected and seen, the metrics, advice.
import { unescaped } from "../api/items.js";
import { t } from "../text/en.js";
import { count, fill, h } from "./dom.js";

/** @typedef {import("../api/client.js").Answer} Answer */

/** @param {Answer} answer @returns {any} */
export function planOf(answer) {
  const text = answer.headers.get("x-orrery-plan");
  return text ? readOr(null, () => JSON.parse(text)) : null;
}

/** @template T @param {T} otherwise @param {() => T} read @returns {T} */
function readOr(otherwise, read) {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** "a=1;b=2" @param {string|null} text @returns {[string, string][]} */
export const metricsOf = (text) => (text ?? "").split(";").map((part) => /** @type {[string, string]} */ (part.split("="))).filter(([, value]) => value !== undefined);

/** @param {Answer} answer */
function adviceOf(answer) {
  const text = answer.headers.get("x-ms-cosmos-index-utilization");
  if (!text) return null;
  const found = readOr(null, () => JSON.parse(unescaped(text))); // a long one comes cut
  if (!found) return null;
  const specs = (/** @type {any} */ part) => [...(part?.SingleIndexes ?? []), ...(part?.CompositeIndexes ?? [])].map((/** @type {any} */ x) => x.IndexSpec ?? (x.IndexSpecs ?? []).join(", "));
  return { used: specs(found.UtilizedIndexes), wanted: specs(found.PotentialIndexes) };
}

/** The parts of a filter, one level of parentheses at a time. @param {string} filter @returns {{ word: string, parts: string[] }} */
export function partsOf(filter) {
  const inner = filter.startsWith("(") && closes(filter) ? filter.slice(1, -1) : filter;
  for (const word of [" OR ", " AND "]) {
    const parts = splitOutside(inner, word);
    if (parts.length > 1) return { word: word.trim(), parts };
  }
  return { word: "", parts: [] };
}

/** Whether the first parenthesis is closed by the last. @param {string} text */
function closes(text) {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"' && text[i - 1] !== "\\") quoted = !quoted;
    if (quoted) continue;
    if ("([".includes(text[i])) depth++; // of an interval, too: [1, 2)
    if (")]".includes(text[i]) && --depth <= 0) return i === text.length - 1;
  }
  return false;
}

/** @param {string} text @param {string} word */
function splitOutside(text, word) {
  const parts = [];
  let depth = 0;
  let quoted = false;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"' && text[i - 1] !== "\\") quoted = !quoted;
    if (quoted) continue;
    if ("([".includes(text[i])) depth++;
    if (")]".includes(text[i])) depth--;
    if (depth === 0 && text.startsWith(word, i)) {
      parts.push(text.slice(from, i));
      from = i + word.length;
    }
  }
  return [...parts, text.slice(from)];
}

/** @param {string} filter @returns {any} */
function filterTree(filter) {
  const { word, parts } = partsOf(filter);
  return word ? h("li", h("span.plan-node", word), h("ul", parts.map(filterTree))) : h("li", h("code.plan-node", filter));
}

/** The way, with what was expected and seen; below it the filter. @param {any} plan */
export function planTree(plan) {
  const ways = /** @type {Record<string, string>} */ (t.plan.ways);
  const number = (/** @type {string} */ label, /** @type {any} */ n) => n !== undefined && h("span.plan-figure", h("b", typeof n === "number" ? count(n) : n), " ", label);
  return h("ul.plan-tree", h("li", h("span.plan-node.root", h("strong", ways[plan.way] ?? plan.way),
    number(t.plan.expected, plan.expected?.items), number(t.plan.documents, plan.documents), number(t.plan.entries, plan.entries), number(t.plan.rows, plan.rows)),
  plan.filter && plan.filter !== "any" && h("ul", filterTree(plan.filter))));
}

/** @param {Element} place @param {Answer|null} answer */
export function drawPlan(place, answer) {
  if (!answer) return void fill(place, h("p.empty", t.plan.none));
  const plan = planOf(answer);
  const advice = adviceOf(answer);
  fill(place,
    plan && h("section", h("h3", t.plan.title), planTree(plan)),
    advice && h("section", h("h3", t.plan.advice), advice.used.length + advice.wanted.length === 0 ? h("p.muted", t.plan.noAdvice)
      : h("ul.advice", advice.used.map((spec) => h("li", h("span.tag", t.plan.used), " ", h("code", spec))), advice.wanted.map((spec) => h("li", h("span.tag.warm", t.plan.wanted), " ", h("code", spec))))),
    h("section", h("h3", t.plan.metrics), h("table.plain", h("tbody", metricsOf(answer.headers.get("x-ms-documentdb-query-metrics")).map(([name, value]) => h("tr", h("th", { scope: "row" }, words(name)), h("td.number", value)))))));
}

/** totalExecutionTimeInMs -> total execution time in ms @param {string} name */
const words = (name) => name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
