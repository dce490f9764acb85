// explorer/views/modelling.js - advice on the data model: what is wrong, how it is known, what to do.
import { advise, listAll, sorted } from "../api/resources.js";
import { client } from "../state/session.js";
import { t } from "../text/en.js";
import { messageOf } from "./dialog.js";
import { button, count, fill, h, size } from "./dom.js";
import { shortName } from "./heat.js";
import { open } from "./open.js";
import { treeOf } from "./value_tree.js";

/** @typedef {{ rule: string, severity: "high"|"medium"|"low", title: string, container?: string, type?: string, path?: string, evidence?: any, cost?: any, advice?: string }} Finding */

/** @param {Finding} finding */
function card(finding) {
  const places = [finding.container && shortName(finding.container), finding.type, finding.path].filter(Boolean);
  const hasMembers = (/** @type {any} */ value) => value && typeof value === "object" && Object.keys(value).length > 0;
  return h("li.finding", { "data-severity": finding.severity }, h("h3", h(finding.severity === "high" ? "span.tag.bad" : finding.severity === "medium" ? "span.tag.warm" : "span.tag", t.modelling.severity[finding.severity] ?? finding.severity), " ", finding.title),
    h("p.muted", { dir: "auto" }, places.join(" · "), " ", h("code", finding.rule)), finding.advice && h("p", finding.advice),
    hasMembers(finding.evidence) && h("section", h("h4", t.modelling.evidence), treeOf(finding.evidence)), hasMembers(finding.cost) && h("section", h("h4", t.modelling.cost), treeOf(finding.cost)),
    finding.container && h("p", button(t.modelling.openItems, () => open("items", String(finding.container).split("/")), {}, "items")));
}

/** @param {any[]} containers */
const seenTable = (containers) => h("div.scroll-x", { tabindex: 0, role: "region", "aria-label": t.modelling.seen }, h("table.plain", h("thead", h("tr", t.modelling.columns.map((text) => h("th", { scope: "col" }, text)))),
  h("tbody", containers.map((c) => h("tr", h("th", { scope: "row", dir: "auto" }, shortName(c.container)), [c.items, c.itemsLookedAt, c.keys].map((n) => h("td.number", count(n ?? 0))), h("td.number", size(c.bytes ?? 0)),
    h("td", { dir: "auto" }, (c.types ?? []).map((/** @type {any} */ type) => type.type).join(", ")))))));

export function modellingView() {
  const problem = h("p.problem", { role: "alert" });
  const status = h("span.status", { role: "status" });
  const report = h("div.report", h("p.empty", t.modelling.pick));
  const of = h("select", { "aria-label": t.modelling.of });
  const go = button(t.modelling.look, look, { class: "primary", disabled: true }, "search");
  const element = h("section.view.modelling", { "aria-label": t.modelling.title }, h("div.bar", h("h1", t.modelling.title), h("label.inline", t.modelling.of, " ", of), go, status), h("p.muted.padded", t.modelling.text), problem, report);

  async function list() {
    const before = of.value;
    try {
      const databases = sorted(await listAll(client(), ["dbs"]));
      const groups = await Promise.all(databases.map(async (database) => ({ id: database.id, containers: sorted(await listAll(client(), ["dbs", database.id, "colls"])) })));
      fill(of, groups.flatMap(({ id, containers }) => [h("option", { value: `dbs/${id}` }, id), ...containers.map((c) => h("option", { value: `dbs/${id}/colls/${c.id}` }, `${id} / ${c.id}`))]));
      if ([...of.options].some((option) => option.value === before)) of.value = before;
      go.disabled = !groups.length;
      if (!groups.length) fill(report, h("p.empty", t.modelling.empty));
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  async function look() {
    go.disabled = true;
    fill(problem);
    fill(status, t.modelling.looking);
    try {
      draw(await advise(client(), of.value));
    } catch (error) {
      fill(problem, messageOf(error));
      fill(status);
    }
    go.disabled = false;
  }

  /** @param {{ containers: any[], findings: Finding[], notSeen: string[] }} told */
  function draw({ containers = [], findings = [], notSeen = [] }) {
    fill(status, t.modelling.findings(findings.length));
    fill(report, findings.length ? h("ul.findings", findings.map(card)) : h("p", t.modelling.none), h("h2", t.modelling.seen), seenTable(containers),
      notSeen.length > 0 && [h("h2", t.modelling.notSeen), h("ul", notSeen.map((text) => h("li", text)))]);
  }

  list();
  return { element, refresh: () => void list() };
}
