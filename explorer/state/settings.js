// explorer/state/settings.js - what this browser remembers: the look, queries that ran, queries that were kept. No data, no keys.
import { Store } from "./store.js";

const HISTORY_MAX = 100;

/** @param {string} name @param {any} otherwise */
function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem("orrery-" + name) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @template T @param {string} name @param {T} otherwise @returns {Store<T>} */
function kept(name, otherwise) {
  const store = new Store(read(name, otherwise));
  store.watch((value) => {
    try {
      localStorage.setItem("orrery-" + name, JSON.stringify(value));
    } catch {
      // a browser that keeps nothing still works
    }
  });
  return store;
}

/** "light", "dark", or "" for what the system has. */
export const theme = kept("theme", "");

/** @typedef {{ query: string, place: string, when: number }} PastQuery @typedef {{ name: string, query: string }} SavedQuery */

/** @type {Store<PastQuery[]>} */
export const history = kept("history", /** @type {PastQuery[]} */ ([]));

/** @type {Store<SavedQuery[]>} */
export const saved = kept("saved", /** @type {SavedQuery[]} */ ([]));

/** The newest first; the same text once. @param {string} query @param {string} place */
export function remember(query, place) {
  const others = history.value.filter((past) => past.query !== query);
  history.set([{ query, place, when: Date.now() }, ...others].slice(0, HISTORY_MAX));
}

/** @param {string} name @param {string} query */
export function save(name, query) {
  saved.set([...saved.value.filter((s) => s.name !== name), { name, query }].sort((a, b) => a.name.localeCompare(b.name)));
}

/** @param {string} name */
export const forget = (name) => saved.set(saved.value.filter((s) => s.name !== name));
