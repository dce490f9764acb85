// explorer/views/value_tree.js - a value as a tree that opens branch by branch: what is closed has no elements.
import { brief, kindOf } from "../api/json.js";
import { h } from "./dom.js";

const AT_ONCE = 200; // children of one branch; the rest follows on demand

/** @param {any} value @returns {any} */
export function treeOf(value) {
  return h("div.value-tree", branchesOf(value));
}

/** @param {any} value */
function branchesOf(value) {
  const names = kindOf(value) === "array" ? value.map((/** @type {any} */ _, /** @type {number} */ i) => i) : Object.keys(value);
  const list = h("ul");
  let from = 0;
  const more = () => {
    for (const name of names.slice(from, from + AT_ONCE)) list.append(leaf(name, value[name]));
    from += AT_ONCE;
    if (from < names.length) list.append(h("li", h("button.link", { type: "button", onclick: (/** @type {Event} */ e) => (/** @type {Element} */ (e.target).closest("li")?.remove(), more()) }, `… ${names.length - from}`)));
  };
  more();
  return list;
}

/** @param {string|number} name @param {any} value */
function leaf(name, value) {
  const kind = kindOf(value);
  const label = [h("span.tree-name", { dir: "auto" }, String(name)), ": "];
  if (kind !== "object" && kind !== "array") return h("li", label, h("span.tree-value", { "data-kind": kind, dir: "auto" }, kind === "string" ? JSON.stringify(value) : String(value)));
  const details = h("details", h("summary", label, h("span.muted", brief(value, 80))));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(branchesOf(value));
  });
  return h("li", details);
}
