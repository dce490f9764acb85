// explorer/views/compare.js - one query as planned and without the index, side by side.
import { Pages } from "../api/items.js";
import { client } from "../state/session.js";
import { t } from "../text/en.js";
import { ask, messageOf } from "./dialog.js";
import { fill, h } from "./dom.js";
import { planOf } from "./plan.js";

/** @param {string[]} segments @param {string} query */
export function showComparison(segments, query) {
  const body = h("tbody", h("tr", h("td", { colspan: 5 }, t.loading)));
  const table = h("table.plain", h("thead", h("tr", ["", "RU", "ms", t.plan.way, t.plan.readAndRows].map((text) => h("th", { scope: "col" }, text)))), body);
  const run = async (/** @type {string} */ index) => {
    const { rows, answer } = await new Pages(client(), segments, { query, metrics: true, index }).next();
    const plan = planOf(answer);
    const label = index ? t.query.indexes.off : t.query.indexes[""];
    return h("tr", h("th", { scope: "row" }, `${t.query.index}: ${label}`), [answer.charge, answer.ms.toFixed(1), plan?.way ?? "", `${plan?.documents ?? 0} → ${rows.length}`].map((v) => h("td", v)));
  };
  (async () => fill(body, await run(""), await run("off")))().catch((error) => fill(body, h("tr", h("td.bad", { colspan: 5 }, messageOf(error)))));
  return ask({ title: t.query.compareTitle, body: [table], action: t.close, submit: () => {} });
}
