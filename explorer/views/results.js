// explorer/views/results.js - the rows of a query in the form that somebody wants: table, text, tree, pictures.
import { printJson } from "../api/json.js";
import { t } from "../text/en.js";
import { drawChart, drawScatter, hasNumbers, vectorNames } from "./chart.js";
import { count, fill, h } from "./dom.js";
import { makeEditor } from "./editor.js";
import { Grid, columnsOf } from "./grid.js";
import { drawMap, shapesOf } from "./map.js";
import { drawPlan } from "./plan.js";
import { treeOf } from "./value_tree.js";

const TEXT_ROWS_MAX = 1000; // in one text: an editor of a hundred megabytes helps nobody

/** @param {{ onEnd: () => void }} options */
export function resultsView({ onEnd }) {
  /** @type {any[]} */
  let rows = [];
  /** @type {import("../api/client.js").Answer|null} */
  let answer = null;
  let current = "table";
  let isRunning = false;
  const grid = new Grid({ label: t.query.results, onEnd, empty: () => (isRunning ? h("div.skeleton") : answer ? h("p.empty", t.query.empty) : null) });
  /** @type {import("./editor.js").Editor|null} */
  let textual = null;
  const body = h("div.results-body", { role: "tabpanel", "aria-label": t.query.results });
  const strip = h("div.switch", { role: "tablist", "aria-label": t.query.results });
  const drawers = /** @type {Record<string, () => void>} */ ({
    table: () => fill(body, grid.element),
    json: drawText,
    tree: () => fill(body, h("div.scroll.padded", { tabindex: 0 }, note(), treeOf(rows.slice(0, TEXT_ROWS_MAX)))),
    chart: () => drawChart(body, rows),
    map: () => drawMap(body, rows),
    scatter: () => drawScatter(body, rows),
    plan() {
      const place = h("div.scroll.padded.plan", { tabindex: 0 });
      fill(body, place);
      drawPlan(place, answer);
    },
  });

  const note = () => rows.length > TEXT_ROWS_MAX && h("p.muted", t.query.first(count(TEXT_ROWS_MAX)));

  function drawText() {
    textual ??= makeEditor({ mode: "json", label: t.query.results, readOnly: true });
    textual.setText(printJson(rows.slice(0, TEXT_ROWS_MAX)));
    fill(body, note(), textual.element);
    textual.refresh();
  }

  /** Which forms fit what has come so far. */
  function fitting() {
    const fits = ["table", "json", "tree"];
    if (hasNumbers(rows)) fits.push("chart");
    if (shapesOf(rows.slice(0, 200)).length) fits.push("map");
    if (vectorNames(rows).length) fits.push("scatter");
    return [...fits, "plan"];
  }

  function drawStrip() {
    const fits = fitting();
    const views = /** @type {Record<string, string>} */ (t.query.views);
    if (!fits.includes(current)) show("table");
    const onkeydown = (/** @type {KeyboardEvent} */ e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      show(fits[(fits.indexOf(current) + step + fits.length) % fits.length]);
      /** @type {HTMLElement|null} */ (strip.querySelector('[aria-selected="true"]'))?.focus();
    };
    fill(strip, fits.map((name) => h("button", { type: "button", role: "tab", "aria-selected": String(name === current), tabindex: name === current ? 0 : -1, "data-view": name, onclick: () => show(name), onkeydown }, views[name])));
  }

  /** @param {string} name */
  function show(name) {
    current = name;
    drawStrip();
    drawers[name]();
    grid.later();
  }

  drawers.table();
  drawStrip();
  return {
    element: h("div.results", strip, body),
    /** @param {any[]} fresh the array that will grow */
    begin(fresh) {
      rows = fresh;
      answer = null;
      isRunning = true;
      grid.setColumns([]);
      grid.setRows(rows);
      if (current !== "table") drawers[current]();
    },
    /** @param {number} more @param {import("../api/client.js").Answer} from @param {import("../api/items.js").Pages} pages */
    add(more, from, pages) {
      const isFirst = answer === null;
      answer ??= from;
      isRunning = !pages.isDone && rows.length === 0;
      if (isFirst || rows.length === more) grid.setColumns(columnsOf(rows));
      grid.setRows(rows);
      drawStrip();
      if (isFirst && current !== "table") drawers[current]();
    },
    end() {
      isRunning = false;
      grid.setRows(rows);
    },
    refresh() {
      grid.later();
      textual?.refresh();
    },
  };
}
