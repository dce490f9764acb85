// explorer/state/tabs.js - what is open at the right of the page.
import { Store } from "./store.js";

/**
 * `parameters` is whatever the view of the kind needs.
 * @typedef {{ key: string, kind: string, title: string, hint: string, parameters: any }} Tab
 */

/** @type {Store<{ list: Tab[], active: string }>} */
export const tabs = new Store({ list: /** @type {Tab[]} */ ([]), active: "" });

/** Shows a tab; one that is open already comes to the front. @param {Tab} tab */
export function openTab(tab) {
  const { list } = tabs.value;
  const isOpen = list.some((t) => t.key === tab.key);
  tabs.set({ list: isOpen ? list : [...list, tab], active: tab.key });
}

/** @param {string} key */
export function closeTab(key) {
  const { list, active } = tabs.value;
  const at = list.findIndex((t) => t.key === key);
  if (at < 0) return;
  const rest = list.filter((t) => t.key !== key);
  tabs.set({ list: rest, active: active === key ? (rest[Math.min(at, rest.length - 1)]?.key ?? "") : active });
}

/** Of what was deleted nothing stays open. @param {string[]} segments */
export function closeBelow(segments) {
  const prefix = segments.join("/");
  for (const tab of tabs.value.list) {
    const place = (tab.parameters?.segments ?? []).join("/");
    if (place === prefix || place.startsWith(prefix + "/")) closeTab(tab.key);
  }
}
