// explorer/views/script.js - a stored procedure, a trigger or a function: its source, and a run of it.
import { runProcedure } from "../api/items.js";
import { layOut } from "../api/json.js";
import { create, replace } from "../api/resources.js";
import { canWrite, client } from "../state/session.js";
import { closeTab } from "../state/tabs.js";
import { findNode, refresh } from "../state/tree.js";
import { t } from "../text/en.js";
import { messageOf } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { makeEditor } from "./editor.js";
import { openScript } from "./open.js";

const TEMPLATES = /** @type {Record<string, string>} */ ({
  sprocs: 'function hello(name) {\n  const container = getContext().getCollection();\n  container.queryDocuments(container.getSelfLink(), "SELECT * FROM c", (error, items) => {\n    if (error) throw error;\n    console.log(items.length + " items");\n    getContext().getResponse().setBody({ hello: name, items: items.length });\n  });\n}\n',
  triggers: 'function stamp() {\n  const request = getContext().getRequest();\n  const item = request.getBody();\n  item.stampedAt = new Date().toISOString();\n  request.setBody(item);\n}\n',
  udfs: "function tax(price) {\n  return price * 0.25;\n}\n",
});

/** @param {{ segments: string[], isNew: boolean }} parameters @param {string} key */
export function scriptView({ segments, isNew }, key) {
  const list = isNew ? segments : segments.slice(0, -1);
  const kind = list[list.length - 1];
  const writes = canWrite();
  /** @type {any} */
  let definition = null;
  const problem = h("p.problem", { role: "alert" });
  const status = h("span.status", { role: "status" });
  const id = h("input", { "aria-label": t.script.id, placeholder: t.script.id, disabled: !isNew, value: isNew ? "" : segments[segments.length - 1], maxlength: 255 });
  const editor = makeEditor({ mode: "script", label: t.script.body, text: isNew ? TEMPLATES[kind] : "", readOnly: !writes, keys: { "Ctrl-S": save, "Cmd-S": save } });
  const choice = (/** @type {string} */ label, /** @type {string[]} */ values) => h("label.inline", label, " ", h("select", { disabled: !writes }, values.map((v) => h("option", { value: v }, v))));
  const when = choice(t.script.when, ["Pre", "Post"]);
  const on = choice(t.script.on, ["All", "Create", "Replace", "Delete", "Upsert"]);
  const runner = kind === "sprocs" ? runPane() : null;
  const hint = kind === "udfs" ? t.script.udfHint(isNew ? "name" : segments[segments.length - 1]) : kind === "triggers" ? t.script.triggerHint : "";
  const element = h("section.view.script", { "aria-label": t.script.body }, h("div.bar", id, kind === "triggers" && when, kind === "triggers" && on, status, h("span.grow"), writes && button(t.script.save, save, { class: "primary", title: "Ctrl+S" })),
    problem, hint && h("p.muted.padded", hint), editor.element, runner?.element);

  async function load() {
    if (isNew) return;
    try {
      definition = (await client().send("GET", segments)).body;
      editor.setText(definition.body);
      when.querySelector("select").value = definition.triggerType ?? "Pre";
      on.querySelector("select").value = definition.triggerOperation ?? "All";
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  async function save() {
    if (!writes) return;
    fill(problem);
    const next = { id: id.value.trim(), body: editor.text(), ...(kind === "triggers" ? { triggerType: when.querySelector("select").value, triggerOperation: on.querySelector("select").value } : {}) };
    try {
      if (isNew) {
        await create(client(), list, next);
        const node = findNode(list, /** @type {any} */ (kind));
        if (node) await refresh(node);
        closeTab(key);
        return openScript([...list, next.id]);
      }
      definition = await replace(client(), segments, next, definition._etag);
      fill(status, t.script.saved);
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  function runPane() {
    const args = h("input.mono", { value: '["world"]', "aria-label": t.script.arguments, spellcheck: "false" });
    const partition = h("input.mono", { value: '"key"', "aria-label": t.script.key, spellcheck: "false" });
    const output = h("pre.output", { tabindex: 0, "aria-label": t.script.result, role: "region" });
    const log = h("pre.output.log", { tabindex: 0, "aria-label": t.script.log, role: "region" });
    const figures = h("span.status", { role: "status" });
    const bad = h("p.problem", { role: "alert" });
    const read = (/** @type {string} */ text, /** @type {string} */ otherwise) => {
      try {
        return JSON.parse(text);
      } catch {
        throw new Error(otherwise);
      }
    };
    const run = async () => {
      fill(bad);
      fill(output);
      fill(log);
      try {
        const values = read(args.value, t.script.notArray);
        if (!Array.isArray(values)) throw new Error(t.script.notArray);
        const at = read(partition.value, t.script.notKey);
        const result = await runProcedure(client(), segments, Array.isArray(at) ? at : [at], values);
        fill(output, layOut(result.text) || result.text);
        fill(log, result.log);
        fill(figures, t.item.charge(result.charge, result.ms));
      } catch (error) {
        fill(bad, messageOf(error));
        fill(figures);
      }
    };
    return { element: h("div.run", h("div.bar", h("label.field", h("span", t.script.arguments), args), h("label.field", h("span", t.script.key), partition), button(t.script.run, run, { disabled: isNew || !writes }, "play"), figures), bad,
      h("div.outputs", h("div", h("h3", t.script.result), output), h("div", h("h3", t.script.log), log))) };
  }

  load();
  return { element, refresh: () => editor.refresh() };
}
