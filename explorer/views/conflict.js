// explorer/views/conflict.js - three versions of an item: what it was, what one made of it, what the other did.
import { brief, kindOf, parseJson, printJson, putAt } from "../api/json.js";
import { t } from "../text/en.js";
import { ask } from "./dialog.js";
import { h } from "./dom.js";

/** @typedef {{ path: string[], base: any, mine: any, theirs: any, isConflict: boolean }} Difference */

/** Objects are compared member by member, all else as a whole. @param {any} base @param {any} mine @param {any} theirs @param {string[]} [path] @returns {Difference[]} */
export function differences(base, mine, theirs, path = []) {
  if ([mine, theirs].every((v) => kindOf(v) === "object") && (kindOf(base) === "object" || base === undefined)) {
    const was = base ?? {};
    const names = new Set([...Object.keys(was), ...Object.keys(mine), ...Object.keys(theirs)]);
    return [...names].flatMap((name) => differences(at(was, name), at(mine, name), at(theirs, name), [...path, name]));
  }
  const isMine = !same(base, mine);
  const isTheirs = !same(base, theirs);
  if (!isMine && !isTheirs) return [];
  return [{ path, base, mine, theirs, isConflict: isMine && isTheirs && !same(mine, theirs) }];
}

/** @param {any} object @param {string} name */
const at = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

/** @param {any} a @param {any} b */
const same = (a, b) => (a === undefined || b === undefined ? a === b : printJson(a, 0) === printJson(b, 0));

/** Theirs, with what is mine. `choose` says whose value counts where both changed one. @param {any} theirs @param {Difference[]} found @param {(d: Difference) => "mine"|"theirs"} choose */
export function mergeOf(theirs, found, choose) {
  const merged = parseJson(printJson(theirs));
  for (const d of found) {
    const takesMine = d.isConflict ? choose(d) === "mine" : !same(d.base, d.mine);
    if (takesMine) putAt(merged, d.path, d.mine);
  }
  return merged;
}

/** The merged item, or null when nobody wanted one. @param {any} base @param {any} mine @param {any} theirs @returns {Promise<any>} */
export async function askMerge(base, mine, theirs) {
  const found = differences(base, mine, theirs);
  let merged = null;
  const cell = (/** @type {any} */ value, /** @type {boolean} */ counts) => h(counts ? "td.counts" : "td", h("code", { dir: "auto" }, value === undefined ? t.conflict.none : brief(value, 300)));
  const rows = found.map((d, i) => {
    const choice = (/** @type {string} */ whose, /** @type {any} */ value) => (d.isConflict
      ? h("td", h("label.choice", h("input", { type: "radio", name: "choice" + i, value: whose, checked: whose === "mine" }), h("code", { dir: "auto" }, value === undefined ? t.conflict.none : brief(value, 300))))
      : cell(value, !same(d.base, value)));
    return h(d.isConflict ? "tr.clash" : "tr", h("th", { scope: "row" }, h("code", "/" + d.path.join("/"))), cell(d.base, false), choice("mine", d.mine), choice("theirs", d.theirs));
  });
  const table = h("table.differences", h("thead", h("tr", [t.conflict.path, t.conflict.base, t.conflict.mine, t.conflict.theirs].map((text) => h("th", { scope: "col" }, text)))), h("tbody", rows));
  await ask({
    title: t.conflict.title,
    body: [h("p", t.conflict.text), h("div.scroll", { tabindex: 0 }, table)],
    action: t.conflict.save,
    submit: (values) => {
      merged = mergeOf(theirs, found, (d) => /** @type {"mine"|"theirs"} */ (values["choice" + found.indexOf(d)]));
    },
  });
  return merged;
}
