// explorer/views/paths.js - the paths that items have, as a query writes them.
import { kindOf } from "../api/json.js";

const DEEP = 4;
const MOST = 300;

/** c.name, c.address.city, c["odd name"]; [0] is left out: an array is joined. @param {any[]} rows @param {string} [root] @returns {string[]} */
export function pathsOf(rows, root = "c") {
  /** @type {Set<string>} */
  const found = new Set();
  /** @param {any} value @param {string} path @param {number} depth */
  const visit = (value, path, depth) => {
    if (kindOf(value) !== "object" || depth > DEEP) return;
    for (const name of Object.keys(value)) {
      if (found.size >= MOST) return;
      const next = /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
      found.add(next);
      visit(value[name], next, depth + 1);
    }
  };
  rows.forEach((row) => visit(row, root, 1));
  return [...found].sort();
}
