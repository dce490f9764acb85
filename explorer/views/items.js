// explorer/views/items.js - a container's items: the list, its filter, and what is done with many of them.
import { Pages, createItem, deleteItem, namesOf, valueAt } from "../api/items.js";
import { SYSTEM_PROPERTIES, kindOf, parseJson, printJson } from "../api/json.js";
import { readContainer } from "../api/resources.js";
import { canWrite, client } from "../state/session.js";
import { t } from "../text/en.js";
import { ask, complain, messageOf, notify, openMenu } from "./dialog.js";
import { button, count, fill, h, iconButton } from "./dom.js";
import { exportsOf } from "./export.js";
import { Grid, columnsOf } from "./grid.js";
import { itemPane } from "./item.js";
import { openQuery } from "./open.js";

const PAGE = 200;
const COLUMNS_MAX = 12;
const AT_A_TIME = 8; // requests of an import or a deletion

/** A path's names as the query language reads them: c["a"]["b"]. @param {string[]} names */
export const pathText = (names) => "c" + names.map((name) => `[${JSON.stringify(name)}]`).join("");

/** @param {string} where @param {{ name: string, descending: boolean }} sort */
export function queryOf(where, sort) {
  const filter = where.trim() ? ` WHERE ${where.trim().replace(/^where\s+/i, "")}` : "";
  const order = sort.name ? ` ORDER BY ${pathText([sort.name])} ${sort.descending ? "DESC" : "ASC"}` : "";
  return `SELECT * FROM c${filter}${order}`;
}

/** @param {{ segments: string[] }} parameters */
export function itemsView({ segments }) {
  /** @type {any} */
  let definition = null;
  /** @type {Pages|null} */
  let pages = null;
  /** @type {any[]} */
  let rows = [];
  let total = 0;
  let isLoading = false;
  let where = "";

  const grid = new Grid({
    label: t.items.list,
    onOpen: (index) => pane.show(rows[index]),
    onEnd: () => loadMore(),
    onSort: (column) => {
      grid.sort = { name: column.name, descending: grid.sort.name === column.name && !grid.sort.descending };
      restart();
    },
    onSelect: canWrite() ? (n) => drawSelection(n) : undefined,
    empty: () => (isLoading ? h("div.skeleton") : problem.textContent ? null : h("div.empty", h("p", where.trim() ? t.items.none : t.items.empty), !where.trim() && canWrite() && button(t.items.new, () => pane.create(), {}, "plus"))),
  });
  const filter = h("input.filter", { type: "search", placeholder: t.items.filter, "aria-label": t.items.filter, spellcheck: "false", autocapitalize: "off",
    onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && restart(), onsearch: () => filter.value === "" && where !== "" && restart() });
  const problem = h("p.problem", { role: "alert" });
  const status = h("span.status", { role: "status" });
  const removeButton = button("", () => deleteSelected(), { hidden: true, class: "danger" }, "trash");
  const picker = h("input", { type: "file", accept: ".json,.jsonl,.ndjson", hidden: true, multiple: true, "aria-label": t.items.import, onchange: () => importFiles([...picker.files]) });
  const pane = itemPane({ segments, definition: () => definition, onSaved: changed, onDeleted: gone, neighbours: () => rows });
  const bar = h("div.bar", canWrite() && button(t.items.new, () => pane.create(), { class: "primary" }, "plus"), h("label.where", h("span", { "aria-hidden": "true" }, t.items.filterLabel), filter),
    removeButton, status, iconButton("refresh", t.tree.reload, () => restart()), button(t.items.query, () => openQuery(segments, queryOf(filter.value, grid.sort)), {}, "search"),
    iconButton("more", t.items.more, (e) => openMenu(/** @type {Element} */ (e.currentTarget), [
      ...(canWrite() ? [{ label: t.items.import, icon: "upload", run: () => picker.click() }] : []),
      ...exportsOf(() => new Pages(client(), segments, { query: queryOf(where, grid.sort), pageSize: 1000 }), segments[segments.length - 1], complain),
    ], t.items.more)), picker);
  const element = h("section.view.items", { "aria-label": t.items.list }, bar, problem, h("div.split", grid.element, pane.element));
  acceptDrops(element, importFiles);

  async function start() {
    try {
      const read = await readContainer(client(), segments);
      definition = read.definition;
      total = read.usage.documentsCount ?? 0;
    } catch (error) {
      return void fill(problem, messageOf(error));
    }
    restart();
  }

  function restart() {
    pages?.stop();
    where = filter.value;
    fill(problem);
    pages = new Pages(client(), segments, { query: queryOf(where, grid.sort), pageSize: PAGE });
    rows = [];
    isLoading = false;
    grid.setRows(rows);
    loadMore();
  }

  async function loadMore() {
    const from = pages;
    if (!from || from.isDone || isLoading) return;
    isLoading = true;
    if (!rows.length) grid.setRows(rows);
    try {
      const page = await from.next();
      if (from !== pages) return;
      const isFirst = rows.length === 0;
      for (const row of page.rows) rows.push(row);
      isLoading = false;
      if (isFirst) grid.setColumns(columnsFor(rows));
      grid.setRows(rows);
      drawStatus();
      if (!page.rows.length && !from.isDone) loadMore();
    } catch (error) {
      if (from !== pages) return; // a newer list is being loaded
      isLoading = false;
      if (/** @type {Error} */ (error).name === "AbortError") return;
      fill(problem, messageOf(error));
      from.isDone = true;
      grid.setRows(rows);
    }
  }

  /** @param {any[]} sample */
  function columnsFor(sample) {
    const keys = (definition.partitionKey?.paths ?? []).map((/** @type {string} */ path) => namesOf(path));
    const deep = keys.filter((/** @type {string[]} */ names) => names.length > 1);
    const first = ["id", ...keys.filter((/** @type {string[]} */ names) => names.length === 1).map((/** @type {string[]} */ names) => names[0])];
    const found = columnsOf(sample, { first: [...new Set(first)], most: COLUMNS_MAX, hide: SYSTEM_PROPERTIES, sortable: true });
    const nested = deep.map((/** @type {string[]} */ names) => ({ name: "/" + names.join("/"), title: "/" + names.join("/"), width: 140, value: (/** @type {any} */ row) => valueAt(row, names) }));
    const when = { name: "_ts", title: t.items.changed, width: 150, sortable: true, value: (/** @type {any} */ row) => (row?._ts ? new Date(row._ts * 1000).toLocaleString() : undefined) };
    return [...found.slice(0, 1), ...nested, ...found.slice(1), when];
  }

  function drawStatus() {
    fill(status, where.trim() ? t.items.found(count(rows.length), !pages?.isDone) : t.items.loaded(count(rows.length), count(Math.max(total, rows.length))));
  }

  /** @param {number} n */
  function drawSelection(n) {
    removeButton.hidden = n === 0;
    fill(removeButton.lastElementChild, t.items.delete(n));
  }

  /** @param {any} item @param {any} [was] */
  function changed(item, was) {
    const at = rows.findIndex((row) => row._rid === (was ?? item)._rid);
    if (at >= 0) rows[at] = item;
    else {
      rows.unshift(item);
      total++;
      if (rows.length === 1) grid.setColumns(columnsFor(rows));
    }
    grid.opened = item;
    grid.setRows(rows);
    drawStatus();
  }

  /** @param {any[]} items with the texts that bring them back @param {string[]} texts */
  function gone(items, texts) {
    const rids = new Set(items.map((item) => item._rid));
    rows = rows.filter((row) => !rids.has(row._rid));
    total -= items.length;
    grid.setRows(rows);
    drawStatus();
    notify(t.items.deleted(items.length), { action: t.undo, run: () => bringBack(texts) });
  }

  /** @param {string[]} texts */
  async function bringBack(texts) {
    const failed = await each(texts, async (text) => changed((await createItem(client(), segments, definition, text)).body));
    if (!failed.length) notify(t.items.restored(texts.length));
    failed.slice(0, 3).forEach(complain);
  }

  async function deleteSelected() {
    const chosen = [...grid.selected];
    /** @type {any[]} */
    const done = [];
    await ask({
      title: t.items.deleteMany(chosen.length),
      body: [h("p", t.items.deleteManyText)],
      action: t.items.delete(chosen.length),
      danger: true,
      submit: async () => {
        const failed = await each(chosen.filter((item) => !done.includes(item)), async (item) => {
          await deleteItem(client(), segments, definition, item);
          done.push(item);
        });
        if (failed.length) throw failed[0];
      },
    });
    if (done.length) gone(done, done.map((item) => printJson(item)));
    if (done.some((item) => pane.isShowing(item))) pane.clear();
  }

  /** @param {File[]} files */
  async function importFiles(files) {
    await ready; // a file that comes before the container was read waits for that
    if (!canWrite() || !definition) return;
    let done = 0;
    let failures = 0;
    for (const file of files) {
      try {
        const found = itemsIn(await textOf(file));
        const failed = await each(found, async (item) => {
          if (item.id === undefined) item.id = crypto.randomUUID();
          await createItem(client(), segments, definition, printJson(item, 0), true);
          if (++done % 50 === 0) fill(status, t.items.importing(count(done)));
        });
        failures += failed.length;
        failed.slice(0, 3).forEach(complain);
      } catch (error) {
        complain(error);
      }
    }
    notify(t.items.imported(done, failures));
    ready = start();
  }

  let ready = start();
  return { element, refresh: () => grid.later(), close: () => pages?.stop(), isDirty: () => pane.isDirty() };
}

/** Runs a few at a time; the failures. @template T @param {T[]} list @param {(x: T) => Promise<void>} run @returns {Promise<any[]>} */
async function each(list, run) {
  /** @type {any[]} */
  const failed = [];
  let next = 0;
  const worker = async () => {
    while (next < list.length) {
      const mine = list[next++];
      try {
        await run(mine);
      } catch (error) {
        failed.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, list.length) }, worker));
  return failed;
}

/** Bytes that are no text would become other characters, and nobody would know. @param {File} file */
async function textOf(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(t.items.notUtf8(file.name));
  }
}

/** An array of items, one item, or one item a line. @param {string} text @returns {any[]} */
export function itemsIn(text) {
  const plain = text.replace(/^\uFEFF/, "").trim();
  let found;
  try {
    const whole = parseJson(plain);
    found = Array.isArray(whole) ? whole : [whole];
  } catch {
    try {
      found = plain.split(/\r?\n/).filter((line) => line.trim()).map((line) => parseJson(line));
    } catch {
      throw new Error(t.items.notItems);
    }
  }
  if (!found.every((item) => kindOf(item) === "object")) throw new Error(t.items.notItems);
  return found;
}

/** @param {HTMLElement} element @param {(files: File[]) => void} take */
function acceptDrops(element, take) {
  if (!canWrite()) return;
  element.dataset.drop = t.items.dropHere;
  const over = (/** @type {boolean} */ is) => (/** @type {DragEvent} */ event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    element.classList.toggle("dropping", is);
  };
  element.addEventListener("dragover", over(true));
  element.addEventListener("dragleave", over(false));
  element.addEventListener("drop", (event) => {
    over(false)(event);
    take([...(event.dataTransfer?.files ?? [])]);
  });
}
