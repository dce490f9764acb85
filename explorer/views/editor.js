// explorer/views/editor.js - the one place that knows CodeMirror: an editor for JSON, queries or JavaScript.
import { jsonProblem } from "../api/json.js";
import { FUNCTIONS, KEYWORDS } from "../text/functions.js";
import { h, load } from "./dom.js";

const FILES = ["lib/codemirror.css", "addon/fold/foldgutter.css", "addon/hint/show-hint.css", "lib/codemirror.js", "mode/javascript/javascript.js", "mode/sql/sql.js",
  "addon/edit/matchbrackets.js", "addon/edit/closebrackets.js", "addon/fold/foldcode.js", "addon/fold/foldgutter.js", "addon/fold/brace-fold.js", "addon/hint/show-hint.js"];

await Promise.all([...FILES.map((file) => load("codemirror/" + file)), load("style/editor.css")]);

/** @type {any} */
const CodeMirror = /** @type {any} */ (window).CodeMirror;

const words = (/** @type {string[]} */ list) => Object.fromEntries(list.map((word) => [word.toLowerCase(), true]));

CodeMirror.defineMIME("text/x-orrery-query", {
  name: "sql",
  keywords: words(KEYWORDS),
  builtin: words(Object.keys(FUNCTIONS)),
  atoms: words(["true", "false", "null", "undefined"]),
  operatorChars: /^[*+\-%<>!=&|^~?:]/,
  support: Object.fromEntries(["doubleQuote"].map((x) => [x, true])),
});

const MODES = { json: { name: "javascript", json: true }, query: "text/x-orrery-query", script: "javascript" };

/**
 * @typedef {{ element: HTMLElement, text(): string, setText(text: string): void, mark(places: { start: number, end: number, message: string }[]): void, focus(): void, refresh(): void, setReadOnly(is: boolean): void,
 *             insert(text: string): void, selection(): string }} Editor
 * @param {{ mode: "json"|"query"|"script", label: string, text?: string, readOnly?: boolean, onChange?: (text: string) => void, keys?: Record<string, () => void>, complete?: (before: string) => string[] }} options
 * @returns {Editor}
 */
export function makeEditor({ mode, label, text = "", readOnly = false, onChange, keys = {}, complete }) {
  const element = h("div.editor");
  const cm = CodeMirror(element, {
    value: text,
    mode: MODES[mode],
    readOnly,
    lineNumbers: true,
    lineWrapping: mode === "query",
    tabSize: 2,
    matchBrackets: true,
    autoCloseBrackets: !readOnly,
    foldGutter: mode === "json",
    gutters: mode === "json" ? ["CodeMirror-linenumbers", "CodeMirror-foldgutter"] : ["CodeMirror-linenumbers"],
    direction: "ltr",
    rtlMoveVisually: true,
    inputStyle: "contenteditable",
    maxHighlightLength: 5000,
    extraKeys: { Tab: false, "Shift-Tab": false, ...keys, ...(complete ? { "Ctrl-Space": () => hint() } : {}) },
  });
  cm.getInputField().setAttribute("aria-label", label);
  cm.getInputField().setAttribute("role", "textbox");
  cm.getInputField().setAttribute("aria-multiline", "true");
  /** @type {any[]} */
  let marks = [];
  const hint = () => cm.showHint({ hint: () => hintsAt(cm, complete ?? (() => [])), completeSingle: false });
  if (complete)
    cm.on("inputRead", (/** @type {any} */ _, /** @type {any} */ change) => {
      if (!cm.state.completionActive && /^[\w.]$/.test(change.text[0] ?? "")) hint();
    });
  const api = /** @type {Editor} */ ({
    element,
    text: () => cm.getValue(),
    setText(next) {
      cm.setValue(next);
      cm.clearHistory();
    },
    mark(places) {
      for (const m of marks) m.clear();
      marks = places.map(({ start, end, message }) =>
        cm.markText(cm.posFromIndex(start), cm.posFromIndex(Math.max(end, start + 1)), { className: "mistake", attributes: { title: message } }));
    },
    focus: () => cm.focus(),
    refresh: () => cm.refresh(),
    setReadOnly: (is) => cm.setOption("readOnly", is),
    insert: (more) => cm.replaceSelection(more),
    selection: () => cm.getSelection(),
  });
  cm.on("change", () => {
    if (mode === "json" && !readOnly) markProblem(api);
    onChange?.(cm.getValue());
  });
  new ResizeObserver(() => cm.refresh()).observe(element);
  return api;
}

const CHECKED_MAX = 500_000; // characters: more than that is checked when it is saved

/** @param {Editor} editor */
function markProblem(editor) {
  const text = editor.text();
  const problem = text.length < CHECKED_MAX && text.trim() ? jsonProblem(text) : null;
  editor.mark(problem ? [{ start: Math.min(problem.at, Math.max(0, text.length - 1)), end: problem.at + 1, message: problem.message }] : []);
}

/** What may stand where the cursor is. @param {any} cm @param {(before: string) => string[]} complete */
function hintsAt(cm, complete) {
  const cursor = cm.getCursor();
  const line = cm.getLine(cursor.line).slice(0, cursor.ch);
  const word = /[\w.$]*$/.exec(line)?.[0] ?? "";
  const list = complete(word)
    .filter((candidate) => candidate.toLowerCase().startsWith(word.toLowerCase()) && candidate !== word)
    .slice(0, 60)
    .map((candidate) => ({ text: candidate, render: (/** @type {Element} */ li) => li.append(candidate, Object.hasOwn(FUNCTIONS, candidate) ? h("small", FUNCTIONS[candidate]) : "") }));
  return { list, from: { line: cursor.line, ch: cursor.ch - word.length }, to: cursor };
}
