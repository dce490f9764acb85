// explorer/views/item.js - one item: its JSON, saved only if nobody changed it meanwhile.
import { createItem, deleteItem, namesOf, readItem, replaceItem, valueAt } from "../api/items.js";
import { SYSTEM_PROPERTIES, jsonProblem, layOut, parseJson, printJson, putAt } from "../api/json.js";
import { canWrite, client } from "../state/session.js";
import { t } from "../text/en.js";
import { askMerge } from "./conflict.js";
import { complain, messageOf } from "./dialog.js";
import { button, fill, h, size } from "./dom.js";
import { makeEditor } from "./editor.js";
import { showHistory } from "./history.js";

/**
 * @param {{ segments: string[], definition: () => any, onSaved: (item: any, was?: any) => void, onDeleted: (items: any[], texts: string[]) => void, neighbours: () => any[] }} options
 */
export function itemPane({ segments, definition, onSaved, onDeleted, neighbours }) {
  /** What the server has, and its text as it was laid out; null for a new one. @type {{ item: any, text: string }|null} */
  let base = null;
  let isShown = false;
  const writes = canWrite();
  const editor = makeEditor({ mode: "json", label: t.item.label, readOnly: !writes, onChange: draw, keys: { "Ctrl-S": () => save(), "Cmd-S": () => save() }, complete: names });
  const title = h("h2", { dir: "auto" });
  const state = h("span.status", { role: "status" });
  const facts = h("div.facts");
  const problem = h("p.problem", { role: "alert" });
  const saveButton = button(t.item.save, () => save(), { class: "primary", title: "Ctrl+S" });
  const discard = button(t.item.discard, () => editor.setText(base?.text ?? ""));
  const onlyOld = h("span.group", writes && button(t.item.duplicate, duplicate, {}, "copy"), button(t.item.history, () => base && showHistory(segments, definition(), base.item, writes ? take : null), {}, "clock"),
    writes && button(t.item.delete, () => remove().catch(complain), { class: "danger" }, "trash"));
  const whole = h("div.item-whole", h("div.bar", title, state, writes && discard, writes && saveButton), problem, editor.element, h("div.bar.low", facts, onlyOld));
  const element = h("div.pane", { role: "region", "aria-label": t.item.label }, h("p.empty", t.items.pick), whole);
  whole.hidden = true;

  const isDirty = () => isShown && writes && editor.text() !== (base?.text ?? "");

  /** @param {boolean} is */
  function reveal(is) {
    isShown = is;
    whole.hidden = !is;
    element.firstElementChild.hidden = is;
    element.parentElement?.classList.toggle("has-item", is);
    if (is) editor.refresh();
  }

  function draw() {
    const dirty = isDirty();
    fill(state, dirty ? t.item.unsaved : "");
    saveButton.disabled = base !== null && !dirty;
    discard.hidden = base === null || !dirty;
  }

  /** @param {any} item @param {string} raw the server's text of it */
  function setBase(item, raw) {
    base = { item, text: layOut(raw, SYSTEM_PROPERTIES) };
    editor.setText(base.text);
    fill(title, item.id);
    fill(facts, h("span", t.item.changed, " ", new Date(item._ts * 1000).toLocaleString()), h("span", t.item.size, " ", size(new Blob([raw]).size)), h("span.mono", { title: `${t.item.etag} ${item._etag}` }, item._etag.replace(/"/g, "").slice(0, 8)));
    onlyOld.hidden = false;
    fill(problem);
    draw();
  }

  /** @param {any} item */
  async function show(item) {
    if (isDirty() && base?.item._rid !== item._rid && !confirm(t.item.leave(base?.item.id ?? t.item.new))) return;
    reveal(true);
    fill(title, item.id ?? "");
    try {
      const answer = await readItem(client(), segments, definition(), item);
      setBase(answer.body, answer.text);
      fill(state, t.item.charge(answer.charge, answer.ms));
    } catch (error) {
      fill(problem, /** @type {any} */ (error).status === 404 ? t.item.gone : messageOf(error));
    }
  }

  /** @param {string} text */
  function startNew(text) {
    base = null;
    reveal(true);
    fill(title, t.item.new);
    fill(facts);
    fill(problem);
    onlyOld.hidden = true;
    editor.setText(text);
    editor.focus();
    draw();
  }

  /** A new item begins with its id and its key. */
  function create() {
    /** @type {any} */
    const item = { id: crypto.randomUUID() };
    for (const path of definition()?.partitionKey?.paths ?? []) if (valueAt(item, namesOf(path)) === undefined) putAt(item, namesOf(path), "");
    startNew(printJson(item));
  }

  function duplicate() {
    if (!base) return;
    const copy = parseJson(editor.text());
    copy.id = crypto.randomUUID();
    startNew(printJson(copy));
  }

  /** @param {string} text */
  function take(text) {
    editor.setText(text);
    draw();
  }

  async function save() {
    if (!writes || saveButton.disabled) return;
    const text = editor.text();
    const wrong = jsonProblem(text);
    if (wrong) return void fill(problem, `${t.item.invalid} ${wrong.message}`);
    fill(problem);
    saveButton.disabled = true;
    try {
      const was = base;
      const answer = was ? await replaceItem(client(), segments, definition(), was.item, text, was.item._etag) : await createItem(client(), segments, definition(), text);
      setBase(answer.body, answer.text);
      fill(state, t.item.saved, " ", t.item.charge(answer.charge, answer.ms));
      onSaved(answer.body, was?.item);
    } catch (error) {
      saveButton.disabled = false;
      if (/** @type {any} */ (error).status === 412 && base) return merge(text);
      fill(problem, messageOf(error));
    }
  }

  /** Somebody else was first. @param {string} mine */
  async function merge(mine) {
    if (!base) return;
    try {
      const theirs = await readItem(client(), segments, definition(), base.item);
      const merged = await askMerge(parseJson(base.text), parseJson(mine), parseJson(layOut(theirs.text, SYSTEM_PROPERTIES)));
      if (merged === null) return;
      setBase(theirs.body, theirs.text);
      editor.setText(printJson(merged));
      draw();
      if (isDirty()) await save();
      else onSaved(theirs.body);
    } catch (error) {
      fill(problem, /** @type {any} */ (error).status === 404 ? t.item.gone : messageOf(error));
    }
  }

  async function remove() {
    if (!base) return;
    const { item, text } = base;
    await deleteItem(client(), segments, definition(), item);
    clear();
    onDeleted([item], [text]);
  }

  function clear() {
    base = null;
    reveal(false);
  }

  /** Names that the neighbours have, as schema hints. */
  function names() {
    /** @type {Set<string>} */
    const seen = new Set();
    for (const row of neighbours().slice(0, 100)) for (const name of Object.keys(row)) if (!SYSTEM_PROPERTIES.has(name)) seen.add(name);
    return [...seen];
  }

  return { element, show, create, clear, isDirty, isShowing: (/** @type {any} */ item) => base?.item._rid === item._rid };
}
