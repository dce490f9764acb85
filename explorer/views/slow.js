// explorer/views/slow.js - the queries that took long, with their plans.
import { t } from "../text/en.js";
import { button, count, h } from "./dom.js";
import { shortName } from "./heat.js";
import { openQuery } from "./open.js";
import { planTree } from "./plan.js";

/** @param {import("../state/hour.js").Slow} slow */
function row(slow) {
  const segments = slow.link.split("/");
  const facts = [`${t.now.worst} ${slow.milliseconds.toFixed(0)} ms`, t.now.times(count(slow.count)), `${t.now.average} ${(slow.totalMilliseconds / slow.count).toFixed(0)} ms`, `${slow.charge} RU`, new Date(slow.last).toLocaleTimeString()];
  return h("li", h("details", { "data-key": JSON.stringify([slow.operation, slow.link, slow.query ?? ""]) },
    h("summary", h("b", `${slow.milliseconds.toFixed(0)} ms`), " ", h("span.muted", { dir: "auto" }, slow.operation + (slow.link ? ` · ${shortName(slow.link)}` : "")), slow.query && h("code", { dir: "auto" }, slow.query.replace(/\s+/g, " ").slice(0, 160))),
    h("p.muted", facts.join(" · ")), slow.query && h("pre.code", { tabindex: 0, dir: "auto" }, slow.query), slow.plan && planTree(slow.plan),
    slow.query && segments.length === 4 && h("p", button(t.now.openQuery, () => openQuery(segments, slow.query), {}, "search"))));
}

/** What was open stays open. @param {Element} place @param {import("../state/hour.js").Slow[]} list */
export function drawSlow(place, list) {
  const keyOf = (/** @type {Element} */ e) => /** @type {HTMLElement} */ (e).dataset.key;
  const open = new Set([...place.querySelectorAll("details[open]")].map(keyOf));
  if (place.contains(document.activeElement)) return; // somebody is there
  place.replaceChildren(...(list.length ? [h("ul.slow", list.map(row))] : [h("p.muted", t.now.noSlow)]));
  for (const each of place.querySelectorAll("details")) if (open.has(keyOf(each))) each.open = true;
}
