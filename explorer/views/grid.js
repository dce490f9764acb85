// explorer/views/grid.js - a table of any length: only the rows that can be seen are elements.
import { brief, kindOf } from "../api/json.js";
import { t } from "../text/en.js";
import { fill, h, icon } from "./dom.js";

const ROW_PX = 29;
const SPARE_ROWS = 6; // above and below what can be seen
const HEAD_PX = 31;
const HEIGHT_MAX_PX = 30_000_000; // browsers draw nothing beyond some 33 million: of a longer list, a step of the bar is more than one row

/**
 * @typedef {{ name: string, title: string, width: number, value: (row: any) => any, sortable?: boolean }} Column
 * @typedef {{ label: string, onOpen?: (index: number) => void, onEnd?: () => void, onSort?: (column: Column) => void, onSelect?: (count: number) => void, empty?: () => any }} GridOptions
 */

/** @typedef {{ element: HTMLElement, box: HTMLInputElement|null, cells: HTMLElement[], kinds: string[], index: number, version: number, top: number }} Slot */

let grids = 0;

/** @param {any} object @param {string} name @param {string} value */
const set = (object, name, value) => object[name] === value || (object[name] = value);

export class Grid {
  /** @param {GridOptions} options */
  constructor(options) {
    this.options = options;
    /** @type {any[]} */
    this.rows = [];
    /** @type {Column[]} */
    this.columns = [];
    this.sort = { name: "", descending: false };
    /** @type {Set<any>} */
    this.selected = new Set();
    this.active = -1;
    this.opened = /** @type {any} */ (null);
    this.id = "grid-" + ++grids;
    this.head = h("div.grid-head", { role: "row" });
    this.body = h("div.grid-body", { role: "rowgroup" });
    this.note = h("div.grid-note");
    this.scroller = h("div.grid-scroll", { role: "grid", "aria-label": options.label, "aria-multiselectable": options.onSelect ? "true" : null, tabindex: 0,
      onscroll: () => this.later(), onkeydown: (/** @type {KeyboardEvent} */ e) => this.onKey(e), onclick: (/** @type {MouseEvent} */ e) => this.onClick(e) },
    h("div", { role: "rowgroup" }, this.head), this.body);
    this.element = h("div.grid", this.scroller, this.note);
    /** @type {Slot[]} */
    this.slots = [];
    this.version = 0; // of what is drawn: a slot of an older one is filled anew
    this.isLate = false;
    new ResizeObserver(() => this.later()).observe(this.scroller);
  }

  /** @param {Column[]} columns */
  setColumns(columns) {
    this.columns = columns;
    const template = columns.map((c) => c.width + "px").join(" ");
    this.scroller.style.setProperty("--columns", (this.options.onSelect ? "30px " : "") + template);
    this.scroller.style.setProperty("--width", columns.reduce((sum, c) => sum + c.width, this.options.onSelect ? 30 : 0) + "px");
    fill(this.head, this.options.onSelect && h("div.cell", { role: "columnheader" }, h("input", { type: "checkbox", tabindex: -1, "aria-label": t.items.selectAll, "data-all": true })),
      columns.map((c) => this.headCell(c)));
    for (const slot of this.slots.splice(0)) slot.element.remove();
    this.redraw();
  }

  /** @param {Column} column */
  headCell(column) {
    const isSorted = this.sort.name === column.name;
    const order = isSorted ? (this.sort.descending ? "descending" : "ascending") : "none";
    if (!column.sortable || !this.options.onSort) return h("div.cell", { role: "columnheader" }, h("span.cell-text", column.title));
    return h("div.cell", { role: "columnheader", "aria-sort": order },
      h("button.sort", { type: "button", title: t.grid.sortBy(column.title), onclick: () => this.options.onSort?.(column) }, h("span.cell-text", { dir: "auto" }, column.title),
        isSorted && h(this.sort.descending ? "span.arrow.down" : "span.arrow", icon("chevron"))));
  }

  /** An element, with its parts at hand. @returns {Slot} */
  newSlot() {
    const box = this.options.onSelect ? h("input", { type: "checkbox", tabindex: -1 }) : null;
    const cells = this.columns.map(() => h("div.cell.cell-text", { role: "gridcell" }, ""));
    return { element: h("div.grid-row", { role: "row" }, box && h("div.cell", { role: "gridcell" }, box), cells), box, cells, kinds: cells.map(() => ""), index: -1, version: -1, top: -1 };
  }

  /** @param {any[]} rows the same array may have grown */
  setRows(rows) {
    const grew = rows === this.rows;
    this.rows = rows;
    if (!grew) {
      this.selected.clear();
      this.active = rows.length ? 0 : -1;
      this.scroller.scrollTop = 0;
      this.options.onSelect?.(0);
    }
    this.scroller.setAttribute("aria-rowcount", String(rows.length + 1));
    this.body.style.height = Math.min(rows.length * ROW_PX, HEIGHT_MAX_PX) + "px";
    fill(this.note, rows.length ? null : this.options.empty?.());
    this.note.hidden = rows.length > 0;
    this.redraw();
  }

  redraw() {
    this.version++;
    this.later();
  }

  later() {
    if (this.isLate) return;
    this.isLate = true;
    requestAnimationFrame(() => {
      this.isLate = false;
      this.draw();
    });
  }

  /** How far the rows move when the bar moves by one. */
  scale() {
    const height = this.rows.length * ROW_PX;
    const room = HEAD_PX - this.scroller.clientHeight;
    return height <= HEIGHT_MAX_PX ? 1 : (height + room) / (HEIGHT_MAX_PX + room);
  }

  /** Row i has slot i modulo their number: whoever scrolls by a row fills one element, and none is made or moved. */
  draw() {
    const { scrollTop, clientHeight } = this.scroller;
    const top = scrollTop * this.scale();
    const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS);
    const last = Math.min(this.rows.length, Math.ceil((top + clientHeight) / ROW_PX) + SPARE_ROWS);
    while (this.slots.length < last - first) this.slots.push(this.newSlot());
    const unused = new Set(this.slots);
    for (let index = first; index < last; index++) {
      const slot = this.slots[index % this.slots.length];
      unused.delete(slot);
      this.place(slot, Math.round(index * ROW_PX + scrollTop - top));
      if (slot.index !== index || slot.version !== this.version) this.fillSlot(slot, index);
      if (!slot.element.isConnected) this.body.append(slot.element);
    }
    for (const slot of unused) {
      if (this.scale() === 1 && slot.index >= 0 && slot.index < this.rows.length && slot.version === this.version) continue; // out of sight, and as it was
      slot.element.remove();
      slot.index = -1;
    }
    if (last >= this.rows.length - SPARE_ROWS && clientHeight > 0) this.options.onEnd?.();
  }

  /** @param {Slot} slot @param {number} top */
  place(slot, top) {
    if (slot.top !== top) slot.element.style.transform = `translateY(${(slot.top = top)}px)`;
  }

  /** What has not changed is not touched: an attribute that is set to what it is costs as much as another. @param {Slot} slot @param {number} index */
  fillSlot(slot, index) {
    const { element, box } = slot;
    const row = this.rows[index];
    if (slot.index !== index) element.ariaRowIndex = String(index + 2);
    slot.index = index;
    slot.version = this.version;
    set(element, "id", index === this.active ? this.idOf(index) : "");
    set(element, "className", "grid-row" + (index === this.active ? " active" : "") + (row !== null && row === this.opened ? " opened" : ""));
    if (box) {
      box.checked = this.selected.has(row);
      box.ariaLabel = t.items.select(brief(row?.id ?? index + 1, 60));
      element.ariaSelected = String(box.checked);
    }
    this.columns.forEach((column, i) => {
      const value = column.value(row);
      const kind = kindOf(value);
      const text = /** @type {Text} */ (slot.cells[i].firstChild);
      if (slot.kinds[i] !== kind) slot.cells[i].dataset.kind = slot.kinds[i] = kind;
      set(text, "data", brief(value, 160));
    });
  }

  /** @param {number} index */
  idOf(index) {
    return this.id + "-" + index;
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.dataset.all !== undefined) return this.selectAll(/** @type {HTMLInputElement} */ (target).checked);
    const index = this.slots.find((slot) => slot.element.contains(target))?.index ?? -1;
    if (index < 0) return;
    if (target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) this.select(index);
    else if (event.shiftKey && this.options.onSelect) this.selectTo(index);
    else this.open(index);
  }

  /** @param {number} index */
  open(index) {
    this.activate(index);
    this.opened = this.rows[index];
    this.options.onOpen?.(index);
    this.redraw();
  }

  /** @param {number} index */
  activate(index) {
    this.active = Math.max(0, Math.min(this.rows.length - 1, index));
    const top = this.active * ROW_PX;
    const { scrollTop, clientHeight } = this.scroller;
    const scale = this.scale();
    if (top < scrollTop * scale) this.scroller.scrollTop = top / scale;
    else if (top + HEAD_PX + ROW_PX > scrollTop * scale + clientHeight) this.scroller.scrollTop = Math.ceil((top + HEAD_PX + ROW_PX - clientHeight) / scale);
    this.scroller.setAttribute("aria-activedescendant", this.idOf(this.active));
    this.redraw();
  }

  /** @param {number} index */
  select(index) {
    if (!this.options.onSelect) return;
    const row = this.rows[index];
    if (!this.selected.delete(row)) this.selected.add(row);
    this.activate(index);
    this.options.onSelect(this.selected.size);
  }

  /** @param {number} index */
  selectTo(index) {
    const from = Math.max(0, this.active);
    for (let i = Math.min(from, index); i <= Math.max(from, index); i++) this.selected.add(this.rows[i]);
    this.activate(index);
    this.options.onSelect?.(this.selected.size);
  }

  /** @param {boolean} all */
  selectAll(all) {
    this.selected = new Set(all ? this.rows : []);
    this.redraw();
    this.options.onSelect?.(this.selected.size);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_PX) - 2);
    const moves = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity });
    if (event.key in moves) this.activate(Math.max(0, Math.min(this.rows.length - 1, this.active + moves[event.key])));
    else if (event.key === "Enter" && this.active >= 0) this.open(this.active);
    else if (event.key === " " && this.active >= 0) this.select(this.active);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey) && this.options.onSelect) this.selectAll(true);
    else return;
    event.preventDefault();
  }
}

/**
 * Columns for what rows have: the names that most of them share, as wide as their values.
 * @param {any[]} rows @param {{ first?: string[], most?: number, hide?: Set<string>, sortable?: boolean }} [options] @returns {Column[]}
 */
export function columnsOf(rows, { first = [], most = 40, hide = new Set(), sortable = false } = {}) {
  const sample = rows.slice(0, 200);
  if (sample.length && sample.every((row) => kindOf(row) !== "object")) return [{ name: "", title: t.grid.value, width: 600, value: (row) => row }];
  /** @type {Map<string, number>} */
  const seen = new Map(first.map((name) => [name, Infinity]));
  for (const row of sample) if (kindOf(row) === "object") for (const name of Object.keys(row)) if (!hide.has(name)) seen.set(name, (seen.get(name) ?? 0) + 1);
  return [...seen.keys()].slice(0, most).map((name) => ({ name, title: name, width: widthOf(name, sample), value: (row) => (kindOf(row) === "object" && Object.hasOwn(row, name) ? row[name] : undefined), sortable }));
}

/** @param {string} name @param {any[]} sample */
function widthOf(name, sample) {
  const longest = sample.reduce((most, row) => Math.max(most, kindOf(row) === "object" && Object.hasOwn(row, name) ? brief(row[name], 60).length : 0), name.length + 2);
  return Math.max(70, Math.min(320, longest * 7.4 + 24));
}
