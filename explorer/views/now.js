// explorer/views/now.js - what the server does at the moment, from its metrics: the page reads and subtracts, the server only counts.
import { readMetrics } from "../api/resources.js";
import { client } from "../state/session.js";
import { t } from "../text/en.js";
import { chartOptions, loadChart, palette } from "./chart.js";
import { messageOf } from "./dialog.js";
import { count, fill, h, size } from "./dom.js";

const EVERY_MS = 2000;
const KEPT = 1800; // an hour

/** @typedef {{ name: string, labels: Record<string, string>, value: number }} Sample */

/** Prometheus's text. @param {string} text @returns {Sample[]} */
export function samplesOf(text) {
  const found = [];
  for (const line of text.split("\n")) {
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match || line.startsWith("#")) continue;
    const labels = Object.fromEntries([...(match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((m) => [m[1], m[2].replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c))]));
    found.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return found;
}

/** The time below which a part of the answers stayed, in seconds. @param {Map<number, number>} buckets upper bound to how many, cumulative @param {number} part */
export function percentile(buckets, part) {
  const bounds = [...buckets.keys()].sort((a, b) => a - b);
  const all = buckets.get(Infinity) ?? 0;
  if (!all) return null;
  let below = 0;
  let from = 0;
  for (const bound of bounds) {
    const here = buckets.get(bound) ?? 0;
    if (here >= all * part) return bound === Infinity ? from : from + ((bound - from) * (all * part - below)) / Math.max(1, here - below);
    below = here;
    from = bound;
  }
  return from;
}

/** @param {Sample[]} samples @param {string} name @param {Record<string, string>} [labels] */
const sum = (samples, name, labels = {}) => samples.filter((s) => s.name === name && Object.entries(labels).every(([k, v]) => s.labels[k] === v)).reduce((total, s) => total + s.value, 0);

/** @param {Sample[]} before @param {Sample[]} now @param {string} name @param {(s: Sample) => string} by @returns {Map<string, number>} */
function growth(before, now, name, by) {
  /** @type {Map<string, number>} */
  const grown = new Map();
  for (const [list, sign] of /** @type {[Sample[], number][]} */ ([[now, 1], [before, -1]])) for (const s of list) if (s.name === name) grown.set(by(s), (grown.get(by(s)) ?? 0) + sign * s.value);
  return grown;
}

export function nowView() {
  /** @type {{ at: number, samples: Sample[] }|null} */
  let last = null;
  let isClosed = false;
  const problem = h("p.problem", { role: "alert" });
  const panel = (/** @type {string} */ title) => {
    const canvas = h("canvas", { role: "img", "aria-label": title });
    return { canvas, element: h("section.panel", h("h2", title), h("div.chart.small", canvas)) };
  };
  const requests = panel(t.now.requests);
  const latency = panel(t.now.latency);
  const units = panel(t.now.units);
  const figures = h("div.facts-row");
  const operations = h("tbody", h("tr", h("td", { colspan: 5 }, t.now.wait)));
  const element = h("section.view.now", { "aria-label": t.now.title }, h("div.bar", h("h1", t.now.title), h("span.muted", t.now.text)), problem, figures, h("div.panels", requests.element, latency.element, units.element),
    h("section.panel.wide", h("h2", t.now.slow), h("table.plain", h("thead", h("tr", [t.now.operation, t.now.perSecond, t.now.mean, t.now.failed, t.now.total].map((text) => h("th", { scope: "col" }, text)))), operations)));
  /** @type {Record<string, any>} */
  const charts = {};
  /** @type {Map<string, any>} */
  const unitLines = new Map();

  async function begin() {
    const Chart = await loadChart();
    const colours = palette();
    const line = (/** @type {string} */ label, /** @type {number} */ i) => ({ label, data: [], borderColor: colours.series[i % 6], backgroundColor: colours.series[i % 6], borderWidth: 1.5, pointRadius: 0, tension: 0.2 });
    const make = (/** @type {any} */ canvas, /** @type {any[]} */ datasets, /** @type {boolean} */ legend) => {
      const options = chartOptions(colours);
      options.plugins.legend.display = legend;
      return new Chart(canvas, { type: "line", data: { labels: [], datasets }, options });
    };
    charts.requests = make(requests.canvas, [line(t.now.requests, 0)], false);
    charts.latency = make(latency.canvas, [line("p50", 0), line("p95", 1), line("p99", 2)], true);
    charts.units = make(units.canvas, [], true);
    charts.line = line;
    while (!isClosed) {
      if (element.isConnected && !element.hidden && !document.hidden) await look();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async function look() {
    try {
      const samples = samplesOf(await readMetrics(client()));
      const now = { at: performance.now(), samples };
      if (last) draw(last, now);
      drawFigures(samples);
      last = now;
      fill(problem);
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  /** @param {{ at: number, samples: Sample[] }} before @param {{ at: number, samples: Sample[] }} now */
  function draw(before, now) {
    const seconds = (now.at - before.at) / 1000;
    const perOperation = growth(before.samples, now.samples, "orrery_request_seconds_count", (s) => s.labels.operation);
    const times = growth(before.samples, now.samples, "orrery_request_seconds_sum", (s) => s.labels.operation);
    const failures = growth([], now.samples.filter((s) => /^[45]/.test(s.labels.code ?? s.labels.class ?? s.labels.status ?? "")), "orrery_requests_total", (s) => s.labels.operation);
    const all = [...perOperation.values()].reduce((a, b) => a + b, 0);
    const buckets = new Map([...growth(before.samples, now.samples, "orrery_request_seconds_bucket", (s) => s.labels.le)].map(([le, n]) => /** @type {[number, number]} */ ([le === "+Inf" ? Infinity : Number(le), n])));
    push(charts.requests, [all / seconds]);
    push(charts.latency, [0.5, 0.95, 0.99].map((part) => scaled(percentile(buckets, part))));
    drawUnits(growth(before.samples, now.samples, "orrery_request_units_total", (s) => `${s.labels.database} / ${s.labels.container}`), seconds);
    const totals = growth([], now.samples, "orrery_request_seconds_count", (s) => s.labels.operation);
    fill(operations, [...totals].sort((a, b) => (perOperation.get(b[0]) ?? 0) - (perOperation.get(a[0]) ?? 0) || b[1] - a[1]).slice(0, 20).map(([name, total]) => {
      const n = perOperation.get(name) ?? 0;
      return h("tr", h("th", { scope: "row" }, name), [(n / seconds).toFixed(1), n ? (((times.get(name) ?? 0) / n) * 1000).toFixed(2) : "–", count(failures.get(name) ?? 0), count(total)].map((v) => h("td.number", v)));
    }));
  }

  const scaled = (/** @type {number|null} */ seconds) => (seconds === null ? null : seconds * 1000);

  /** @param {any} chart @param {(number|null)[]} values */
  function push(chart, values) {
    chart.data.labels.push(new Date().toLocaleTimeString());
    values.forEach((value, i) => chart.data.datasets[i].data.push(value));
    trim(chart);
  }

  /** @param {any} chart */
  function trim(chart) {
    if (chart.data.labels.length > KEPT) {
      chart.data.labels.shift();
      for (const set of chart.data.datasets) set.data.shift();
    }
    chart.update("none");
  }

  /** The containers that spend most have a line each. @param {Map<string, number>} grown @param {number} seconds */
  function drawUnits(grown, seconds) {
    for (const [name] of [...grown].sort((a, b) => b[1] - a[1]).slice(0, 6)) {
      if (unitLines.has(name) || unitLines.size >= 6) continue;
      const set = charts.line(name, unitLines.size);
      set.data = charts.units.data.labels.map(() => 0);
      unitLines.set(name, set);
      charts.units.data.datasets.push(set);
    }
    charts.units.data.labels.push(new Date().toLocaleTimeString());
    for (const [name, set] of unitLines) set.data.push((grown.get(name) ?? 0) / seconds);
    trim(charts.units);
  }

  /** @param {Sample[]} samples */
  function drawFigures(samples) {
    const groups = sum(samples, "orrery_store_groups_total");
    const shown = /** @type {[string, string][]} */ ([
      [t.now.figures.connections, count(sum(samples, "orrery_connections"))],
      [t.now.figures.databases, count(sum(samples, "orrery_databases"))],
      [t.now.figures.containers, count(sum(samples, "orrery_containers"))],
      [t.now.figures.commits, count(sum(samples, "orrery_store_commits_total"))],
      [t.now.figures.group, groups ? (sum(samples, "orrery_store_commits_total") / groups).toFixed(1) : "–"],
      [t.now.figures.disk, size(sum(samples, "orrery_store_disk_bytes"))],
      [t.now.figures.index, size(sum(samples, "orrery_index_memory_bytes"))],
      [t.now.figures.memory, size(sum(samples, "orrery_memory_bytes"))],
      [t.now.figures.children, count(sum(samples, "orrery_script_children"))],
      [t.now.figures.throttled, count(sum(samples, "orrery_requests_throttled_total"))],
    ]);
    fill(figures, shown.map(([label, value]) => h("div.fact", h("span.muted", label), h("strong", value))));
  }

  begin().catch((error) => fill(problem, messageOf(error)));
  return { element, close: () => (isClosed = true) };
}
