// explorer/views/dom.js - makes elements. Text is only ever text: nothing here reads a string as markup.
import { t } from "../text/en.js";

/** A node, a text, a number, nothing, or a list of these. @typedef {any} Child */

/**
 * h("button.quiet", { onclick, "aria-label": "Close" }, "×"). Members that are functions become listeners, `style` is an
 * object of CSS properties, true and false are attributes that are there or not.
 * @param {string} spec
 * @param {...(Child|Record<string, any>)} rest
 * @returns {any}
 */
export function h(spec, ...rest) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const part of rest) {
    if (isChild(part)) append(element, part);
    else setAll(element, /** @type {Record<string, any>} */ (part));
  }
  return element;
}

/** @param {any} part */
const isChild = (part) => part === null || part === undefined || part === false || typeof part !== "object" || part instanceof Node || Array.isArray(part);

/** @param {Element} element @param {any} child */
function append(element, child) {
  if (Array.isArray(child)) child.forEach((each) => append(element, each));
  else if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : document.createTextNode(String(child)));
}

/** @param {any} element @param {Record<string, any>} members */
function setAll(element, members) {
  for (const [name, value] of Object.entries(members)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [property, v] of Object.entries(value)) element.style.setProperty(property, v);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "textContent") element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

/** @param {Element} element @param {...Child} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

const SHAPES = /** @type {Record<string, string>} */ ({
  database: "M3 4.5C3 3.1 5.2 2 8 2s5 1.1 5 2.5v7C13 12.9 10.8 14 8 14s-5-1.1-5-2.5zM3 4.5C3 5.9 5.2 7 8 7s5-1.1 5-2.5M3 8c0 1.4 2.2 2.5 5 2.5S13 9.4 13 8",
  container: "M2.5 4.5h11v9h-11zM2.5 4.5l2-2h7l2 2M6 7.5h4",
  items: "M3 3.5h10M3 8h10M3 12.5h10",
  settings: "M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 3v3M6 10v3",
  feed: "M2 8h3l2-5 3 10 2-5h2",
  code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5",
  users: "M8 7.5a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM3 13.5c0-2.5 2.2-4 5-4s5 1.5 5 4",
  plus: "M8 3v10M3 8h10",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  chevron: "M6 4l4 4-4 4",
  close: "M4 4l8 8M12 4l-8 8",
  play: "M5 3.5v9l7-4.5z",
  stop: "M4.5 4.5h7v7h-7z",
  refresh: "M13 8a5 5 0 11-1.5-3.5M13 2.5v3h-3",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  search: "M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.5 10.5L14 14",
  clock: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 4.5V8l2.5 1.5",
  star: "M8 2.5l1.7 3.5 3.8.5-2.8 2.6.7 3.9L8 11.2 4.6 13l.7-3.9L2.5 6.5 6.3 6z",
  download: "M8 2.5v8M4.5 7.5L8 11l3.5-3.5M3 13.5h10",
  upload: "M8 11V3M4.5 6L8 2.5 11.5 6M3 13.5h10",
  sun: "M8 11a3 3 0 100-6 3 3 0 000 6zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.5 3.5l1 1M11.5 11.5l1 1M12.5 3.5l-1 1M4.5 11.5l-1 1",
  key: "M10 9a3 3 0 100-6 3 3 0 000 6zM8 8l-5.5 5.5M4 12l1.5 1.5",
  chart: "M3 13V8M8 13V3M13 13V6",
  home: "M2.5 7.5L8 3l5.5 4.5M4.5 6.5v7h7v-7",
});

/** A small drawing that says nothing to a screen reader. @param {string} name */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[name] ?? "");
  svg.append(path);
  return svg;
}

/** @param {string} shape @param {string} label @param {(event: Event) => void} onclick @param {Record<string, any>} [more] */
export const iconButton = (shape, label, onclick, more = {}) => h("button.icon-button", { type: "button", "aria-label": label, title: label, onclick, ...more }, icon(shape));

/** @param {string} label @param {(event: Event) => void} onclick @param {Record<string, any>} [more] @param {string} [shape] */
export const button = (label, onclick, more = {}, shape = "") => h("button", { type: "button", onclick, ...more }, shape && icon(shape), h("span", label));

/** A script or a style of the page's own that is not wanted at once. Scripts run in the order in which they were asked for. @param {string} place @returns {Promise<void>} */
export function load(place) {
  const element = place.endsWith(".css") ? h("link", { rel: "stylesheet", href: place }) : h("script", { src: place });
  element.async = false;
  return new Promise((resolve, reject) => {
    element.addEventListener("load", () => resolve());
    element.addEventListener("error", () => {
      element.remove();
      reject(new Error(t.unreachable));
    });
    document.head.append(element);
  });
}

/** Gives the browser a file to keep. @param {string} name @param {BlobPart[]} parts @param {string} type */
export function download(name, parts, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** @param {number} n */
export const count = (n) => n.toLocaleString("en");

/** @param {number} bytes */
export function size(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  for (; bytes >= 1024 && at < units.length - 1; at++) bytes /= 1024;
  return `${at && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${units[at]}`;
}
