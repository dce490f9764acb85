// explorer/views/map.js - shapes of GeoJSON on a plain map of degrees, drawn here: no tiles, no other server.
import { brief, kindOf } from "../api/json.js";
import { t } from "../text/en.js";
import { count, fill, h } from "./dom.js";

const TYPES = new Set(["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon"]);
const SHAPES_MAX = 5000;
const WIDTH = 1000;
const HEIGHT = 560;

/** @typedef {{ type: string, coordinates: any, label: string }} Shape */

/** The geometry in a row: itself, or one of its members. @param {any[]} rows @returns {Shape[]} */
export function shapesOf(rows) {
  /** @type {Shape[]} */
  const found = [];
  for (const row of rows) {
    if (kindOf(row) !== "object" || found.length >= SHAPES_MAX) continue;
    for (const value of [row, ...Object.values(row)])
      if (kindOf(value) === "object" && TYPES.has(value.type) && Array.isArray(value.coordinates) && pointsOf(value.coordinates).length) {
        found.push({ type: value.type, coordinates: value.coordinates, label: brief(row.name ?? row.id ?? "", 60) });
        break;
      }
  }
  return found;
}

/** @param {any} coordinates @returns {[number, number][]} */
function pointsOf(coordinates) {
  if (!Array.isArray(coordinates)) return [];
  if (typeof coordinates[0] === "number" && typeof coordinates[1] === "number") return [/** @type {[number, number]} */ ([coordinates[0], coordinates[1]])];
  return coordinates.flatMap(pointsOf);
}

/** @param {string} tag @param {Record<string, string|number>} attributes @param {...any} children */
function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** @param {Element} place @param {any[]} rows */
export function drawMap(place, rows) {
  const shapes = shapesOf(rows);
  const points = shapes.flatMap((shape) => pointsOf(shape.coordinates));
  const box = boxOf(points);
  const scale = Math.min(WIDTH / (box.right - box.left), HEIGHT / (box.top - box.bottom));
  const at = (/** @type {[number, number]} */ [x, y]) => /** @type {[number, number]} */ ([(x - box.left) * scale, (box.top - y) * scale]);
  const drawing = svg("svg", { viewBox: `0 0 ${(box.right - box.left) * scale} ${(box.top - box.bottom) * scale}`, class: "map", role: "img", "aria-label": t.map.label }, ...lattice(box, at));
  for (const shape of shapes) drawing.append(drawn(shape, at));
  fill(place, h("p.muted.padded", `${count(shapes.length)} · ${t.map.hint}`), h("div.map-frame", drawing));
}

/** @param {[number, number][]} points */
function boxOf(points) {
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  const low = (/** @type {number[]} */ list) => list.reduce((a, b) => Math.min(a, b), Infinity);
  const high = (/** @type {number[]} */ list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
  const margin = Math.max((high(xs) - low(xs)) * 0.08, (high(ys) - low(ys)) * 0.08, 0.01);
  return { left: low(xs) - margin, right: high(xs) + margin, bottom: low(ys) - margin, top: high(ys) + margin };
}

const ROUNDS_MAX = 40;

/** The multiples of a step between two numbers; few, whatever the numbers are: far from 0 a step may be too small to be one. @param {number} from @param {number} until @param {number} step */
export function rounds(from, until, step) {
  const first = Math.ceil(from / step) * step;
  const found = Array.from({ length: ROUNDS_MAX }, (_, i) => first + i * step);
  return found.filter((n, i) => n < until && n !== found[i - 1]);
}

/** Lines of round degrees. @param {ReturnType<typeof boxOf>} box @param {(p: [number, number]) => [number, number]} at */
function lattice(box, at) {
  const step = 10 ** Math.floor(Math.log10(Math.max(box.right - box.left, box.top - box.bottom)));
  const wide = (box.right - box.left) / step > 5 ? step : step / 2;
  const lines = [];
  const digits = Math.min(20, Math.max(0, -Math.floor(Math.log10(wide))));
  for (const x of rounds(box.left, box.right, wide)) {
    const [px] = at([x, box.top]);
    lines.push(svg("line", { x1: px, x2: px, y1: 0, y2: HEIGHT * 2, class: "lattice" }), svg("text", { x: px + 4, y: 12, class: "degree" }, x.toFixed(digits) + "°"));
  }
  for (const y of rounds(box.bottom, box.top, wide)) {
    const [, py] = at([box.left, y]);
    lines.push(svg("line", { x1: 0, x2: WIDTH * 2, y1: py, y2: py, class: "lattice" }), svg("text", { x: 4, y: py - 4, class: "degree" }, y.toFixed(digits) + "°"));
  }
  return lines;
}

/** @param {Shape} shape @param {(p: [number, number]) => [number, number]} at */
function drawn(shape, at) {
  const title = svg("title", {}, shape.label);
  const path = (/** @type {any[]} */ line) => "M" + line.map((p) => at(p).map((n) => n.toFixed(1)).join(" ")).join("L");
  const { type, coordinates } = shape;
  if (type === "Point" || type === "MultiPoint") {
    const group = svg("g", { class: "dot" }, title);
    for (const p of pointsOf(coordinates)) {
      const [cx, cy] = at(p);
      group.append(svg("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 5 }));
    }
    return group;
  }
  const lines = type === "LineString" ? [coordinates] : type === "MultiPolygon" ? coordinates.flat() : coordinates;
  const isArea = type.endsWith("Polygon");
  return svg("path", { d: lines.map(pointsOf).filter((/** @type {any[]} */ line) => line.length).map((/** @type {any} */ line) => path(line) + (isArea ? "Z" : "")).join(""), class: isArea ? "area" : "path", "fill-rule": "evenodd" }, title);
}
