// explorer/views/ranges.js - the partition key ranges as a bar of the key space, with split and merge.
import { changeRanges, listAll } from "../api/resources.js";
import { canWrite, client } from "../state/session.js";
import { t } from "../text/en.js";
import { messageOf, notify } from "./dialog.js";
import { button, fill, h } from "./dom.js";

/** @typedef {{ id: string, minInclusive: string, maxExclusive: string }} Range */

/** Where an EPK lies between the first and the last. Hashes of version 2 begin with two bits of 0. @param {string} epk @param {number} last */
function fraction(epk, last) {
  if (epk === "") return 0;
  if (epk === "FF") return 1;
  return Math.min(1, parseInt(epk.slice(0, 8).padEnd(8, "0"), 16) / last);
}

/** @param {Range[]} ranges @returns {{ range: Range, share: number }[]} */
export function sharesOf(ranges) {
  const ordered = [...ranges].sort((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
  const isSecond = ordered.every((r) => r.maxExclusive === "FF" || r.maxExclusive <= "40");
  const last = isSecond ? 0x40000000 : 0x05c1e000;
  return ordered.map((range) => ({ range, share: Math.max(0, fraction(range.maxExclusive, last) - fraction(range.minInclusive, last)) }));
}

/** @param {string[]} segments */
export function rangesView(segments) {
  /** @type {Range[]} */
  let ranges = [];
  /** @type {Set<string>} */
  const chosen = new Set();
  const bar = h("div.ranges", { role: "group", "aria-label": t.ranges.title });
  const problem = h("p.problem", { role: "alert" });
  const facts = h("p.muted", { role: "status" });
  const split = button(t.ranges.split, () => change("split", { range: [...chosen][0] }), { disabled: true });
  const merge = button(t.ranges.merge, () => change("merge", { ranges: ranges.filter((r) => chosen.has(r.id)).map((r) => r.id) }), { disabled: true });

  function draw() {
    const shares = sharesOf(ranges);
    ranges = shares.map((s) => s.range);
    fill(bar, shares.map(({ range, share }) => h("button.range", { type: "button", "aria-pressed": String(chosen.has(range.id)), title: `${t.ranges.range(range.id)} · ${t.ranges.from} ${range.minInclusive || "00"} ${t.ranges.until} ${range.maxExclusive}`,
      style: { "flex-grow": String(Math.max(0.01, share)) }, onclick: () => toggle(range.id) }, range.id)));
    const places = ranges.map((r, i) => (chosen.has(r.id) ? i : -1)).filter((i) => i >= 0);
    split.disabled = !canWrite() || chosen.size !== 1;
    merge.disabled = !canWrite() || chosen.size < 2 || places[places.length - 1] - places[0] !== places.length - 1;
    const only = shares.find((s) => chosen.size === 1 && chosen.has(s.range.id));
    fill(facts, only ? `${t.ranges.range(only.range.id)}: ${t.ranges.from} ${only.range.minInclusive || "00"} ${t.ranges.until} ${only.range.maxExclusive}, ${t.ranges.share} ${(only.share * 100).toFixed(1)}%` : t.ranges.hint);
  }

  /** @param {string} id */
  function toggle(id) {
    if (!chosen.delete(id)) chosen.add(id);
    draw();
    /** @type {HTMLElement|undefined} */ (bar.children[ranges.findIndex((r) => r.id === id)])?.focus();
  }

  async function load() {
    try {
      ranges = await listAll(client(), [...segments, "pkranges"]);
      draw();
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  /** @param {"split"|"merge"} what @param {any} body */
  async function change(what, body) {
    fill(problem);
    try {
      ranges = await changeRanges(client(), what, { container: segments.join("/"), ...body });
      chosen.clear();
      notify(t.ranges.done(ranges.length));
      draw();
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  load();
  return { element: h("section", h("h2", t.ranges.title), bar, facts, problem, canWrite() && h("div.actions.start", split, merge)) };
}
