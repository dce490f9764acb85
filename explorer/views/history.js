// explorer/views/history.js - what an item was, read from the log of all versions.
import { keyOf, readChanges } from "../api/items.js";
import { SYSTEM_PROPERTIES, layOut, printJson } from "../api/json.js";
import { client } from "../state/session.js";
import { t } from "../text/en.js";
import { ask, messageOf } from "./dialog.js";
import { button, fill, h } from "./dom.js";

/** @typedef {{ operation: string, when: number, item: any }} Version */

/** What a change left, or of a deletion what was there. @param {any} change */
export const versionOf = (change) => (change.current && Object.keys(change.current).length ? change.current : change.previous);

/** The versions of one item, the newest first. @param {string[]} segments @param {any} definition @param {any} item @param {(found: Version[]) => void} tell */
async function readVersions(segments, definition, item, tell) {
  const key = printJson(keyOf(definition, item), 0);
  /** @type {Version[]} */
  const found = [];
  for (let etag = /** @type {string|null} */ ('"0"'), isLast = false; !isLast; ) {
    const page = await readChanges(client(), segments, { etag, all: true });
    for (const change of page.changes) {
      const version = versionOf(change);
      if (version?.id !== item.id || printJson(keyOf(definition, version), 0) !== key) continue;
      found.unshift({ operation: change.metadata.operationType, when: change.metadata.crts, item: version });
      tell(found);
    }
    isLast = page.isLast || page.etag === etag;
    etag = page.etag;
  }
  return found;
}

/** @param {string[]} segments @param {any} definition @param {any} item @param {((text: string) => void)|null} take */
export function showHistory(segments, definition, item, take) {
  const list = h("ol.versions");
  const note = h("p.muted", { role: "status" }, t.history.reading);
  let close = () => {};
  const draw = (/** @type {Version[]} */ found) => fill(list, found.map((v) => {
    const text = layOut(printJson(v.item), SYSTEM_PROPERTIES);
    return h("li", h("details", h("summary", h("strong", /** @type {Record<string, string>} */ (t.history.operation)[v.operation] ?? v.operation), " ", h("time", new Date(v.when * 1000).toLocaleString())),
      h("pre", { dir: "auto", tabindex: 0 }, text), take && button(t.history.restore, () => (take(text), close()))));
  }));
  readVersions(segments, definition, item, draw).then((found) => fill(note, found.length ? t.history.retention : t.history.none), (error) => fill(note, messageOf(error)));
  const shown = ask({ title: t.history.title(item.id), body: [note, h("div.scroll", { tabindex: 0 }, list)], action: t.close, submit: () => {} });
  close = () => /** @type {HTMLDialogElement|null} */ (list.closest("dialog"))?.close();
  return shown;
}
