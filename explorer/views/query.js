// explorer/views/query.js - a query: its text, its pages, its results.
import { Pages, momentOf } from "../api/items.js";
import { client } from "../state/session.js";
import { forget, history, remember, save, saved } from "../state/settings.js";
import { FUNCTIONS, KEYWORDS } from "../text/functions.js";
import { t } from "../text/en.js";
import { ask, field, messageOf, openMenu } from "./dialog.js";
import { button, count, fill, h, iconButton } from "./dom.js";
import { makeEditor } from "./editor.js";
import { placeName } from "./open.js";
import { showComparison } from "./compare.js";
import { exportsOf } from "./export.js";
import { pathsOf } from "./paths.js";
import { resultsView } from "./results.js";

const PAGE = 100;

/** @param {{ segments: string[], text?: string }} parameters */
export function queryView({ segments, text = "SELECT * FROM c" }) {
  /** @type {Pages|null} */
  let pages = null;
  /** @type {any[]} */
  let rows = [];
  let isLoading = false;
  /** The LSN of the moment that was asked for. @type {string|null} */
  let seen = null;
  /** @type {string[]} */
  let paths = [];
  const editor = makeEditor({ mode: "query", label: t.query.label, text, keys: { "Ctrl-Enter": run, "Cmd-Enter": run, F5: run }, complete: () => [...paths, ...Object.keys(FUNCTIONS), ...KEYWORDS], onChange: () => editor.mark([]) });
  const problem = h("p.problem", { role: "alert" });
  const status = h("span.status", { role: "status" }, t.query.ready);
  const runButton = button(t.query.run, run, { class: "primary", title: "Ctrl+Enter" }, "play");
  const stopButton = button(t.query.stop, stop, { hidden: true }, "stop");
  const index = h("select", { "aria-label": t.query.index, title: t.query.index }, Object.entries(t.query.indexes).map(([value, label]) => h("option", { value }, `${t.query.index}: ${label}`)));
  const asOf = h("input.as-of", { type: "text", "aria-label": t.query.asOf, title: t.query.asOfHint, placeholder: t.query.asOf, autocomplete: "off", spellcheck: "false", size: 12,
    onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && run() });
  const results = resultsView({ onEnd: loadMore });
  const bar = h("div.bar", runButton, stopButton, index, asOf, button(t.query.compare, compare, { title: t.query.compareHint }),
    h("span.grow"), button(t.query.save, keep, {}, "star"),
    button(t.query.saved, (e) => openMenu(/** @type {Element} */ (e.currentTarget), savedEntries(), t.query.saved)),
    button(t.query.history, (e) => openMenu(/** @type {Element} */ (e.currentTarget), historyEntries(), t.query.history), {}, "clock"),
    iconButton("download", t.query.export, (e) => openMenu(/** @type {Element} */ (e.currentTarget), exportEntries(), t.query.export)));
  const element = h("section.view.query", { "aria-label": t.query.label }, bar, editor.element, problem, h("div.bar.low", status), results.element);

  new Pages(client(), segments, { query: "SELECT TOP 50 * FROM c", pageSize: 50 }).next().then((page) => (paths = pathsOf(page.rows)), () => {});

  function run() {
    pages?.stop();
    const query = editor.selection().trim() || editor.text();
    fill(problem);
    editor.mark([]);
    remember(query, placeName(segments));
    const moment = momentOf(asOf.value);
    if (moment === null) return void fill(problem, t.query.asOfWrong);
    pages = new Pages(client(), segments, { query, pageSize: PAGE, metrics: true, index: index.value, asOf: moment });
    seen = null;
    rows = [];
    results.begin(rows);
    isLoading = false;
    loadMore();
  }

  function stop() {
    pages?.stop();
    drawStatus(0);
  }

  async function loadMore() {
    const from = pages;
    if (!from || from.isDone || isLoading) return;
    isLoading = true;
    stopButton.hidden = false;
    try {
      const page = await from.next();
      if (from !== pages) return;
      isLoading = false;
      for (const row of page.rows) rows.push(row);
      seen ??= page.answer.headers.get("x-orrery-as-of");
      results.add(page.rows.length, page.answer, from);
      drawStatus(page.answer.ms);
      if (!page.rows.length && !from.isDone) loadMore();
    } catch (error) {
      if (from !== pages) return;
      isLoading = false;
      if (/** @type {Error} */ (error).name !== "AbortError") fail(error);
    } finally {
      if (!isLoading) stopButton.hidden = true;
    }
  }

  /** @param {any} error */
  function fail(error) {
    if (pages) pages.isDone = true;
    const selected = editor.selection().trim();
    const shift = selected ? Math.max(0, editor.text().indexOf(selected)) : 0;
    editor.mark((error.places ?? []).map((/** @type {any} */ p) => ({ ...p, start: p.start + shift, end: p.end + shift })));
    fill(problem, messageOf(error));
    fill(status);
    results.end();
  }

  /** @param {number} ms */
  function drawStatus(ms) {
    fill(status, h("span", t.query.rows(count(rows.length), !pages?.isDone)), h("span", `${Math.round((pages?.charge ?? 0) * 100) / 100} RU`), ms > 0 && h("span", `${ms.toFixed(0)} ms`), seen !== null && h("span", t.query.asOfShown(seen)));
  }

  function keep() {
    ask({
      title: t.query.saveTitle,
      body: [field(t.query.name, { name: "name", required: true, autofocus: true })],
      action: t.save,
      check: (values) => values.name.trim() !== "",
      submit: ({ name }) => save(name.trim(), editor.text()),
    });
  }

  function savedEntries() {
    const list = saved.value.map((s) => ({ label: s.name, hint: s.query.slice(0, 60), run: () => editor.setText(s.query) }));
    if (!list.length) return [];
    return [...list, { label: t.query.forget, icon: "trash", hint: "", run: () => askForget() }];
  }

  function askForget() {
    ask({
      title: t.query.forgetTitle,
      body: [h("label.field", h("span", t.query.name), h("select", { name: "name" }, saved.value.map((s) => h("option", { value: s.name }, s.name))))],
      action: t.remove,
      danger: true,
      submit: ({ name }) => forget(name),
    });
  }

  const historyEntries = () => history.value.slice(0, 20).map((past) => ({ label: past.query.replace(/\s+/g, " ").slice(0, 80), hint: past.place, run: () => editor.setText(past.query) }));

  function compare() {
    const moment = momentOf(asOf.value);
    if (moment === null) return void fill(problem, t.query.asOfWrong);
    showComparison(segments, editor.selection().trim() || editor.text(), moment);
  }

  /** All of it, not only what has been seen. */
  const exportEntries = () => exportsOf(() => new Pages(client(), segments, { query: editor.text(), pageSize: 1000, index: index.value, asOf: momentOf(asOf.value) ?? "" }), "query", (error) => fill(problem, messageOf(error)));

  return { element, refresh: () => (editor.refresh(), results.refresh()), close: () => pages?.stop(), focus: () => editor.focus() };
}
