// explorer/views/compare.js - one query as planned, without the index, and as of an earlier moment, side by side.
import { Pages } from "../api/items.js";
import { printJson } from "../api/json.js";
import { client } from "../state/session.js";
import { t } from "../text/en.js";
import { ask, messageOf } from "./dialog.js";
import { count, fill, h } from "./dom.js";
import { planOf, planTree } from "./plan.js";

/** @typedef {{ label: string, rows: any[], charge: number, ms: number, plan: any }} Run */

/** Whatever their order. @param {any[]} a @param {any[]} b */
export function sameRows(a, b) {
  const texts = (/** @type {any[]} */ rows) => rows.map((row) => printJson(row, 0)).sort();
  const [first, second] = [texts(a), texts(b)];
  return first.length === second.length && first.every((text, i) => text === second[i]);
}

/** @param {Run} run @param {Run} first */
function column(run, first) {
  const facts = /** @type {[string, string][]} */ ([["RU", String(run.charge)], ["ms", run.ms.toFixed(1)], [t.plan.documents, count(run.plan?.documents ?? 0)], [t.plan.entries, count(run.plan?.entries ?? 0)], [t.plan.rows, count(run.rows.length)]]);
  return h("section.run-of", { "aria-label": run.label }, h("h3", { dir: "auto" }, run.label), h("table.plain", h("tbody", facts.map(([name, value]) => h("tr", h("th", { scope: "row" }, name), h("td.number", value))))),
    run === first ? null : h("p", sameRows(first.rows, run.rows) ? h("span.tag", t.query.sameRows) : h("span.tag.warm", t.query.otherRows)), run.plan && planTree(run.plan));
}

/** Of each the first page is compared. @param {string[]} segments @param {string} query @param {string} moment empty: none */
export function showComparison(segments, query, moment) {
  const body = h("div.runs", h("p", t.loading));
  const run = async (/** @type {string} */ label, /** @type {{ index?: string, asOf?: string }} */ how) => {
    const { rows, answer } = await new Pages(client(), segments, { query, metrics: true, pageSize: 1000, ...how }).next();
    return { label, rows, charge: answer.charge, ms: answer.ms, plan: planOf(answer) };
  };
  const all = async () => {
    const runs = [await run(`${t.query.index}: ${t.query.indexes[""]}`, {}), await run(`${t.query.index}: ${t.query.indexes.off}`, { index: "off" })];
    if (moment) runs.push(await run(t.query.then(moment), { asOf: moment }));
    fill(body, runs.map((each) => column(each, runs[0])));
  };
  all().catch((error) => fill(body, h("p.problem", { role: "alert" }, messageOf(error))));
  return ask({ title: t.query.compareTitle, body: [body], action: t.close, submit: () => {}, isWide: true });
}
