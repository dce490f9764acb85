// explorer/views/heat.js - hot keys and ranges: a row each, with a strip of the minutes of the last hour.
import { t } from "../text/en.js";
import { count, h } from "./dom.js";

const CELL = 8;
const HEIGHT = 18;
const MINUTES = 61;

/** @param {string} link dbs/shop/colls/orders */
export const shortName = (link) => (link ? link.split("/").filter((_, i) => i % 2 === 1).join(" / ") : t.now.gone);

/** @param {(number|null)[]} cells @param {number} most @param {number[]} times */
function strip(cells, most, times) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", `0 0 ${MINUTES * CELL} ${HEIGHT}`);
  svg.setAttribute("class", "heat-strip");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  cells.forEach((units, i) => {
    if (!units) return;
    const cell = document.createElementNS(ns, "rect");
    const members = { x: (MINUTES - cells.length + i) * CELL, y: 0, width: CELL - 1, height: HEIGHT, "fill-opacity": (0.12 + 0.88 * Math.sqrt(units / most)).toFixed(2) };
    for (const [name, value] of Object.entries(members)) cell.setAttribute(name, String(value));
    const title = document.createElementNS(ns, "title");
    title.textContent = `${new Date(times[i]).toLocaleTimeString()} · ${count(Math.round(units))} RU`;
    cell.append(title);
    svg.append(cell);
  });
  return svg;
}

/**
 * A table, so that those who do not see the colours have the sums.
 * @param {import("../state/hour.js").HeatRow[]} rows @param {number[]} times of the minutes @param {string} what
 */
export function heatTable(rows, times, what) {
  if (!rows.length) return h("p.muted", t.now.cold);
  const most = Math.max(...rows.flatMap((row) => row.cells.map((units) => units ?? 0)));
  return h("table.plain.heat", h("thead", h("tr", [t.now.container, what, t.now.hour, t.now.sum].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", rows.map((row) => h("tr", h("td", { dir: "auto" }, shortName(row.container)), h("th", { scope: "row", dir: "auto" }, h("code", row.label + (row.isCut ? "…" : ""))),
      h("td.heat-cell", strip(row.cells, most, times)), h("td.number", count(Math.round(row.total)))))));
}
