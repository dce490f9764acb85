// explorer/state/store.js - a value that tells those who look when it has changed.

/** @template T */
export class Store {
  /** @param {T} value */
  constructor(value) {
    this.value = value;
    /** @type {Set<(value: T) => void>} */
    this.watchers = new Set();
  }

  /** @param {T} value */
  set(value) {
    this.value = value;
    for (const watcher of [...this.watchers]) watcher(value);
  }

  /** @param {Partial<T>} part */
  update(part) {
    this.set({ ...this.value, ...part });
  }

  /** Calls at once, and at every change until the function that it returns is called. @param {(value: T) => void} watcher */
  watch(watcher) {
    this.watchers.add(watcher);
    watcher(this.value);
    return () => {
      this.watchers.delete(watcher);
    };
  }
}
