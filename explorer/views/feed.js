// explorer/views/feed.js - changes as they are committed.
import { readChanges } from "../api/items.js";
import { SYSTEM_PROPERTIES, kindOf } from "../api/json.js";
import { client } from "../state/session.js";
import { t } from "../text/en.js";
import { messageOf } from "./dialog.js";
import { button, count, fill, h } from "./dom.js";
import { Grid, columnsOf } from "./grid.js";
import { versionOf } from "./history.js";

const WAIT_MS = 1000;
const KEPT_MAX = 5000;

/** @typedef {{ when: number, operation: string, item: any }} Change */

/** @param {{ segments: string[] }} parameters */
export function feedView({ segments }) {
  /** @type {Change[]} */
  let changes = [];
  let total = 0;
  let run = 0; // whoever reads for an older run stops
  let isPaused = false;
  const grid = new Grid({ label: t.feed.title, empty: () => h("p.empty", t.feed.none) });
  const problem = h("p.problem", { role: "alert" });
  const status = h("span.status", { role: "status" });
  const mode = h("select", { "aria-label": t.feed.title, onchange: restart }, h("option", { value: "latest" }, t.feed.latest), h("option", { value: "all" }, t.feed.all));
  const from = h("select", { "aria-label": t.feed.from, onchange: restart }, h("option", { value: "*" }, `${t.feed.from} ${t.feed.now}`), h("option", { value: '"0"' }, `${t.feed.from} ${t.feed.beginning}`));
  const pause = button(t.feed.pause, () => {
    isPaused = !isPaused;
    fill(pause.lastElementChild, isPaused ? t.feed.resume : t.feed.pause);
    live.classList.toggle("paused", isPaused);
  });
  const live = h("span.live", h("span.pulse"), t.feed.live);
  const element = h("section.view.feed", { "aria-label": t.feed.title }, h("div.bar", live, mode, from, pause, status), problem, grid.element);

  /** @param {any} change @returns {Change} */
  const shaped = (change) => (mode.value === "all" ? { when: change.metadata.crts, operation: change.metadata.operationType, item: versionOf(change) ?? {} } : { when: change._ts, operation: "", item: change });

  function restart() {
    changes = [];
    total = 0;
    grid.setRows(changes);
    follow(++run).catch((error) => fill(problem, messageOf(error)));
  }

  /** @param {number} mine */
  async function follow(mine) {
    fill(problem);
    for (let etag = /** @type {string|null} */ (from.value); mine === run; ) {
      if (!isPaused) {
        try {
          const page = await readChanges(client(), segments, { etag, all: mode.value === "all" });
          if (mine !== run) return;
          etag = page.etag ?? etag;
          fill(problem);
          if (page.changes.length) {
            add(page.changes.map(shaped));
            continue;
          }
        } catch (error) {
          fill(problem, messageOf(error));
          if (/** @type {any} */ (error).status !== 0) return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }

  /** @param {Change[]} more */
  function add(more) {
    total += more.length;
    changes = [...more.reverse(), ...changes].slice(0, KEPT_MAX);
    const items = columnsOf(changes.map((c) => c.item), { first: ["id"], most: 10, hide: SYSTEM_PROPERTIES }).map((c) => ({ ...c, value: (/** @type {Change} */ row) => (kindOf(row.item) === "object" ? c.value(row.item) : undefined) }));
    const first = [{ name: "when", title: t.feed.time, width: 150, value: (/** @type {Change} */ c) => new Date(c.when * 1000).toLocaleTimeString() }];
    if (mode.value === "all") first.push({ name: "operation", title: t.feed.operation, width: 90, value: (/** @type {Change} */ c) => c.operation });
    grid.setColumns([...first, ...items]);
    grid.setRows(changes);
    fill(status, t.feed.count(count(total)));
  }

  restart();
  return { element, refresh: () => grid.later(), close: () => void run++ };
}
