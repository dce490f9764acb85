// explorer/views/now.js - what the server does, and did in the last hour: it samples its counters, the page draws them.
import { readNow } from "../api/resources.js";
import { Hour } from "../state/hour.js";
import { client } from "../state/session.js";
import { t } from "../text/en.js";
import { chartOptions, loadChart, palette } from "./chart.js";
import { messageOf } from "./dialog.js";
import { count, fill, h, size } from "./dom.js";
import { heatTable, shortName } from "./heat.js";
import { drawSlow } from "./slow.js";

const EVERY_MS = 2000;
const LINES_MAX = 6;
const HOT_MAX = 15;
const MB = 1024 * 1024;

/** @typedef {import("../state/hour.js").Point} Point */

/** A point without neighbours is no line: it is drawn by itself. @param {any} at */
const isAlone = ({ dataset: { data }, dataIndex }) => ((data[dataIndex - 1] ?? null) === null && (data[dataIndex + 1] ?? null) === null ? 2 : 0);

/** The pictures: a title, the names of the lines, and their values at a point. */
const PICTURES = /** @type {{ title: string, lines: string[], values: (p: Point) => (number|null)[] }[]} */ ([
  { title: t.now.requests, lines: [t.now.all, t.now.failed], values: (p) => [p.requests, p.failed] },
  { title: t.now.latency, lines: ["p50", "p95", "p99"], values: (p) => p.times },
  { title: t.now.commits, lines: [t.now.perSecond, t.now.group], values: (p) => [p.commits, p.group] },
  { title: t.now.cache, lines: [t.now.hits], values: (p) => [p.hits] },
  { title: t.now.storage, lines: [t.now.disk, t.now.index, t.now.memory], values: (p) => [p.figures.store_disk_bytes / MB, p.figures.index_memory_bytes / MB, p.memory / MB] },
  { title: t.now.people, lines: [t.now.connections, t.now.children, t.now.queued], values: (p) => [p.figures.connections_open, p.figures.script_children, p.figures.pool_queued] },
]);

/** The containers that spent most in the hour have a line each. @param {Point[]} points */
function spenders(points) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const point of points) for (const [name, units] of point.units) sums.set(name, (sums.get(name) ?? 0) + units);
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, LINES_MAX).map(([name]) => name);
}

export function nowView() {
  const hour = new Hour();
  let isClosed = false;
  const problem = h("p.problem", { role: "alert" });
  const panel = (/** @type {string} */ title) => {
    const canvas = h("canvas", { role: "img", "aria-label": title });
    return { canvas, element: h("section.panel", h("h2", title), h("div.chart.small", canvas)) };
  };
  const panels = PICTURES.map((picture) => panel(picture.title));
  const units = panel(t.now.units);
  const figures = h("div.facts-row");
  const region = (/** @type {string} */ label) => h("div.scroll-x", { tabindex: 0, role: "region", "aria-label": label }); // it stays, so that who is there stays
  const hotKeys = region(t.now.hotKeys);
  const hotRanges = region(t.now.hotRanges);
  const slow = h("div", h("p.muted", t.loading));
  const operations = h("tbody", h("tr", h("td", { colspan: 5 }, t.loading)));
  const element = h("section.view.now", { "aria-label": t.now.title }, h("div.bar", h("h1", t.now.title), h("span.muted", t.now.text)), problem, figures,
    h("div.panels", panels.slice(0, 2).map((p) => p.element), units.element, panels.slice(2).map((p) => p.element)),
    h("section.panel.wide", h("h2", t.now.hotKeys), h("p.muted", t.now.hotHint), hotKeys), h("section.panel.wide", h("h2", t.now.hotRanges), hotRanges),
    h("section.panel.wide", h("h2", t.now.slow), slow),
    h("section.panel.wide", h("h2", t.now.operations), h("div.scroll-x", { tabindex: 0, role: "region", "aria-label": t.now.operations },
      h("table.plain", h("thead", h("tr", [t.now.operation, t.now.perSecond, t.now.mean, t.now.failed, t.now.total].map((text) => h("th", { scope: "col" }, text)))), operations))));
  /** @type {any} */
  let Chart = null;
  /** @type {any[]} */
  let charts = [];
  /** @type {any} */
  let unitsChart = null;
  let colours = palette();
  const line = (/** @type {string} */ label, /** @type {number} */ i) => ({ label, data: [], borderColor: colours.series[i % 6], backgroundColor: colours.series[i % 6], borderWidth: 1.5, pointRadius: isAlone, tension: 0.2 });

  /** In the colours of the page as it looks now. */
  function makeCharts() {
    for (const chart of [...charts, unitsChart]) chart?.destroy();
    colours = palette();
    const make = (/** @type {any} */ canvas, /** @type {string[]} */ lines) => {
      const options = chartOptions(colours);
      options.plugins.legend.display = lines.length !== 1;
      return new Chart(canvas, { type: "line", data: { labels: [], datasets: lines.map(line) }, options });
    };
    charts = PICTURES.map((picture, i) => make(panels[i].canvas, picture.lines));
    unitsChart = make(units.canvas, []);
  }

  async function begin() {
    Chart = await loadChart();
    makeCharts();
    while (!isClosed) {
      if (element.isConnected && !element.hidden && !document.hidden) await look();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    for (const chart of [...charts, unitsChart]) chart.destroy();
  }

  async function look() {
    try {
      if (!hour.add(await readNow(client(), hour.next))) hour.add(await readNow(client(), 0));
      draw();
      fill(problem);
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  function draw() {
    if (palette().ink !== colours.ink) makeCharts(); // somebody has turned the light on, or off
    const points = hour.points();
    const labels = points.map((p) => new Date(p.at).toLocaleTimeString());
    PICTURES.forEach((picture, i) => {
      const values = points.map(picture.values);
      show(charts[i], labels, picture.lines.map((_, at) => values.map((v) => v[at] ?? null)));
    });
    const names = spenders(points);
    unitsChart.data.datasets = names.map((name, i) => line(shortName(name), i));
    show(unitsChart, labels, names.map((name) => points.map((p) => p.units.get(name) ?? 0)));
    drawFigures(points[points.length - 1]);
    const times = hour.told?.minutes.map((minute) => minute.at) ?? [];
    fill(hotKeys, heatTable(hour.heat("keys", HOT_MAX), times, t.now.key));
    fill(hotRanges, heatTable(hour.heat("ranges", HOT_MAX), times, t.now.range));
    drawSlow(slow, hour.told?.slow ?? []);
    fill(operations, hour.operations().slice(0, 20).map((o) =>
      h("tr", h("th", { scope: "row" }, o.name), [o.perSecond.toFixed(1), o.mean === null ? "–" : o.mean.toFixed(2), count(o.failed), count(o.requests)].map((v) => h("td.number", v)))));
  }

  /** @param {any} chart @param {string[]} labels @param {(number|null)[][]} values */
  function show(chart, labels, values) {
    chart.data.labels = labels;
    values.forEach((data, i) => (chart.data.datasets[i].data = data));
    chart.update("none");
  }

  /** @param {Point|undefined} point */
  function drawFigures(point) {
    const live = hour.live;
    const of = (/** @type {string} */ name) => live?.figures[hour.told?.figures.indexOf(name) ?? -1] ?? 0;
    const shown = /** @type {[string, string][]} */ ([
      [t.now.connections, count(of("connections_open"))],
      [t.now.databases, count(of("databases"))],
      [t.now.containers, count(of("containers"))],
      [t.now.commitCount, count(of("store_commits_total"))],
      [t.now.group, point?.group ? point.group.toFixed(1) : "–"],
      [t.now.hits, point?.hits === null || point?.hits === undefined ? "–" : point.hits.toFixed(0) + " %"],
      [t.now.disk, size(of("store_disk_bytes"))],
      [t.now.index, size(of("index_memory_bytes"))],
      [t.now.memory, size(live?.memory ?? 0)],
      [t.now.children, count(of("script_children"))],
      [t.now.throttled, count(live?.retries[0] ?? 0)],
    ]);
    fill(figures, shown.map(([label, value]) => h("div.fact", h("span.muted", label), h("strong", value))));
  }

  begin().catch((error) => fill(problem, messageOf(error)));
  return { element, close: () => (isClosed = true) };
}
