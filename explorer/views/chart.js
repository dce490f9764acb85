// explorer/views/chart.js - pictures of rows by Chart.js, which is loaded when the first one is drawn.
import { kindOf, numberOf } from "../api/json.js";
import { t } from "../text/en.js";
import { fill, h, load } from "./dom.js";

const POINTS_MAX = 500;

/** @type {Promise<any>|null} */
let loading = null;

/** @returns {Promise<any>} */
export function loadChart() {
  loading ??= load("chart/chart.min.js").then(() => /** @type {any} */ (window).Chart, (error) => {
    loading = null; // the next who asks tries again
    throw error;
  });
  return loading;
}

/** The colours of the page as it looks now. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return { ink: of("--muted"), line: of("--line"), series: [1, 2, 3, 4, 5, 6].map((i) => of("--series-" + i)) };
}

/** @param {any[]} rows @param {(kind: string) => boolean} fits */
const namesWhere = (rows, fits) => {
  const first = rows.find((row) => kindOf(row) === "object");
  return first ? Object.keys(first).filter((name) => rows.slice(0, 50).some((row) => kindOf(row) === "object" && fits(kindOf(row[name]))) && !/^_(ts|lsn)$/.test(name)) : [];
};

/** @param {any[]} rows */
export const hasNumbers = (rows) => namesWhere(rows, (kind) => kind === "number").length > 0 && rows.length > 1;

/** Properties that hold arrays of numbers, all of one length. @param {any[]} rows @returns {string[]} */
export function vectorNames(rows) {
  return namesWhere(rows, (kind) => kind === "array").filter((name) => {
    const vectors = rows.slice(0, 50).map((row) => row?.[name]).filter((v) => kindOf(v) === "array");
    return vectors.length > 2 && vectors.every((v) => v.length > 2 && v.length === vectors[0].length && v.every((/** @type {any} */ n) => kindOf(n) === "number"));
  });
}

/** @param {Element} place @param {any[]} rows */
export async function drawChart(place, rows) {
  const numbers = namesWhere(rows, (kind) => kind === "number");
  const labels = namesWhere(rows, (kind) => kind === "string" || kind === "number" || kind === "boolean");
  if (!numbers.length) return void fill(place, h("p.empty", t.chart.none));
  const pick = (/** @type {string} */ label, /** @type {string[]} */ values, /** @type {string} */ value, /** @type {string[]} */ shown = values) =>
    h("label.inline", label, " ", h("select", { onchange: draw }, values.map((v, i) => h("option", { value: v, selected: v === value }, shown[i]))));
  const valueName = numbers[numbers.length - 1];
  const type = pick(t.chart.type, ["bar", "line", "pie"], "bar", [t.chart.bar, t.chart.line, t.chart.pie]);
  const label = pick(t.chart.label, labels, labels.find((name) => name !== valueName) ?? valueName);
  const value = pick(t.chart.value, numbers, valueName);
  const canvas = h("canvas", { role: "img", "aria-label": t.query.views.chart });
  fill(place, h("div.bar.low", type, label, value, rows.length > POINTS_MAX && h("span.muted", t.chart.most)), h("div.chart", canvas));
  const Chart = await loadChart();
  /** @type {any} */
  let chart = null;
  function draw() {
    chart?.destroy();
    const colours = palette();
    const shown = rows.slice(0, POINTS_MAX);
    const kind = type.querySelector("select").value;
    chart = new Chart(canvas, {
      type: kind,
      data: {
        labels: shown.map((row) => String(row?.[label.querySelector("select").value] ?? "")),
        datasets: [{ label: value.querySelector("select").value, data: shown.map((row) => numberOf(row?.[value.querySelector("select").value])), backgroundColor: kind === "pie" ? colours.series : colours.series[0], borderColor: colours.series[0], borderWidth: kind === "pie" ? 0 : 1.5, pointRadius: 2 }],
      },
      options: chartOptions(colours, kind === "pie"),
    });
  }
  if (canvas.isConnected) draw();
}

/** @param {ReturnType<typeof palette>} colours @param {boolean} [legend] */
export const chartOptions = (colours, legend = false) => ({
  animation: false,
  maintainAspectRatio: false,
  plugins: { legend: { display: legend, position: "bottom", labels: { color: colours.ink, boxWidth: 10, boxHeight: 10 } } },
  scales: legend === true ? {} : { x: { ticks: { color: colours.ink, maxRotation: 0, autoSkip: true }, grid: { display: false } }, y: { ticks: { color: colours.ink }, grid: { color: colours.line }, beginAtZero: true } },
});

/** @param {Element} place @param {any[]} rows */
export async function drawScatter(place, rows) {
  const name = vectorNames(rows)[0];
  const shown = rows.filter((row) => kindOf(row?.[name]) === "array").slice(0, 2000);
  const points = twoDimensions(shown.map((row) => row[name].map(numberOf)));
  const canvas = h("canvas", { role: "img", "aria-label": t.scatter.label });
  fill(place, h("p.muted.padded", `${name}. ${t.scatter.hint}`), h("div.chart", canvas));
  const Chart = await loadChart();
  const colours = palette();
  if (!canvas.isConnected) return;
  new Chart(canvas, {
    type: "scatter",
    data: { datasets: [{ label: name, data: points.map(([x, y]) => ({ x, y })), backgroundColor: colours.series[0], pointRadius: 4 }] },
    options: { ...chartOptions(colours), plugins: { legend: { display: false }, tooltip: { callbacks: { label: (/** @type {any} */ at) => String(shown[at.dataIndex].id ?? at.dataIndex) } } } },
  });
}

/** The two directions in which vectors differ most, found by repeated multiplication. @param {number[][]} vectors @returns {[number, number][]} */
export function twoDimensions(vectors) {
  const size = vectors[0]?.length ?? 0;
  const mean = Array.from({ length: size }, (_, i) => vectors.reduce((sum, v) => sum + v[i], 0) / vectors.length);
  const centred = vectors.map((v) => v.map((x, i) => x - mean[i]));
  const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  /** @type {number[][]} */
  const axes = [];
  let strongest = 0;
  for (let a = 0; a < 2; a++) {
    /** @type {number[]} */
    let axis = Array.from({ length: size }, (_, i) => (i % 2 === a ? 1 : 0.5));
    for (let round = 0; round < 30; round++) {
      for (const other of axes) {
        const along = dot(axis, other);
        axis = axis.map((x, i) => x - along * other[i]);
      }
      const next = new Array(size).fill(0);
      for (const v of centred) {
        const along = dot(v, axis);
        for (let i = 0; i < size; i++) next[i] += along * v[i];
      }
      for (const other of axes) {
        const along = dot(next, other);
        for (let i = 0; i < size; i++) next[i] -= along * other[i];
      }
      const length = Math.sqrt(dot(next, next));
      strongest = Math.max(strongest, length);
      axis = next.map((x) => (length > strongest * 1e-9 ? x / length : 0)); // what is left of one line is noise
    }
    axes.push(axis);
  }
  return centred.map((v) => [dot(v, axes[0]), dot(v, axes[1])]);
}
