// explorer/views/settings.js - a container's settings: throughput, time to live, policies, ranges.
import { jsonProblem, printJson } from "../api/json.js";
import { readContainer, readOffer, replace, replaceOffer } from "../api/resources.js";
import { canWrite, client, session } from "../state/session.js";
import { t } from "../text/en.js";
import { messageOf, notify } from "./dialog.js";
import { button, count, fill, h, size } from "./dom.js";
import { makeEditor } from "./editor.js";
import { policyProblem } from "./policy.js";
import { rangesView } from "./ranges.js";

/** The members of a definition that are JSON of their own, and what an absent one means. */
const POLICIES = /** @type {[string, string, any][]} */ ([
  ["indexingPolicy", t.settings.indexing, null],
  ["computedProperties", t.settings.computed, []],
  ["vectorEmbeddingPolicy", t.settings.vector, { vectorEmbeddings: [] }],
  ["fullTextPolicy", t.settings.fullText, { defaultLanguage: "en-US", fullTextPaths: [] }],
]);

const PROGRESS_MS = 1000;

/** @param {{ segments: string[] }} parameters */
export function settingsView({ segments }) {
  const writes = canWrite();
  /** @type {any} */
  let definition = null;
  /** @type {any} */
  let offer = null;
  let isClosed = false;
  const body = h("div.form", h("div.skeleton"));
  const problem = h("p.problem", { role: "alert" });
  const progress = h("p.muted", { role: "status" });
  const element = h("section.view.settings", { "aria-label": t.settings.title }, problem, body);
  /** @type {import("./editor.js").Editor[]} */
  let editors = [];

  async function load() {
    try {
      const read = await readContainer(client(), segments);
      definition = read.definition;
      offer = session.value.container ? null : await readOffer(client(), definition._rid).catch(() => null);
      draw(read);
      watchProgress(read.progress);
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  /** @param {Awaited<ReturnType<typeof readContainer>>} read */
  function draw({ usage }) {
    const ttl = ttlFields();
    const units = offerFields();
    editors = [];
    const policies = POLICIES.map(([name, label, absent]) => {
      const wrong = h("p.problem", { role: "status" });
      const check = (/** @type {string} */ text) => name === "indexingPolicy" && !jsonProblem(text) && fill(wrong, policyProblem(JSON.parse(text)));
      const editor = makeEditor({ mode: "json", label, text: printJson(definition[name] ?? absent), readOnly: !writes, onChange: check });
      editors.push(editor);
      return h("details.policy", { open: name === "indexingPolicy", ontoggle: () => editor.refresh() }, h("summary", label), editor.element, wrong);
    });
    const unique = definition.uniqueKeyPolicy?.uniqueKeys ?? [];
    fill(body,
      h("section.facts-row", fact(t.settings.key, (definition.partitionKey?.paths ?? []).join(", ")), fact(t.items.list, count(usage.documentsCount ?? 0)), fact(t.settings.usage, size((usage.collectionSize ?? 0) * 1024)),
        fact("_rid", definition._rid)),
      h("section", h("h2", t.settings.throughput), units.element),
      h("section", h("h2", t.settings.ttl), ttl.element),
      h("section", h("h2", t.settings.policies), progress, policies,
        h("details.policy", h("summary", t.settings.unique), unique.length ? h("ul", unique.map((/** @type {any} */ key) => h("li", h("code", key.paths.join(", "))))) : null, h("p.muted", t.settings.uniqueFixed))),
      writes && h("div.actions.start", button(t.settings.save, () => save(ttl, units), { class: "primary" })),
      rangesView(segments).element);
  }

  const fact = (/** @type {string} */ label, /** @type {string} */ value) => h("div.fact", h("span.muted", label), h("strong", value));

  function ttlFields() {
    const now = definition.defaultTtl;
    const mode = h("select", { "aria-label": t.settings.ttl, disabled: !writes, onchange: () => (seconds.parentElement.hidden = mode.value !== "seconds") },
      [["off", t.settings.ttlOff], ["item", t.settings.ttlItem], ["seconds", t.settings.ttlDefault]].map(([value, label]) => h("option", { value, selected: value === (now === undefined ? "off" : now === -1 ? "item" : "seconds") }, label)));
    const seconds = h("input", { type: "number", min: 1, value: now > 0 ? now : 3600, disabled: !writes });
    const element = h("div.pair.left", mode, h("label.inline", { hidden: !(now > 0) }, t.settings.seconds, " ", seconds));
    return { element, value: () => (mode.value === "off" ? undefined : mode.value === "item" ? -1 : Number(seconds.value)) };
  }

  function offerFields() {
    if (!offer) return { element: h("p.muted", t.settings.none), value: () => null };
    const autoscale = offer.content.offerAutopilotSettings?.maxThroughput;
    const mode = h("select", { "aria-label": t.container.mode, disabled: !writes }, h("option", { value: "manual" }, t.settings.manual), h("option", { value: "autoscale", selected: Boolean(autoscale) }, t.settings.autoscale));
    const units = h("input", { type: "number", min: 400, step: 100, value: autoscale ?? offer.content.offerThroughput, disabled: !writes });
    const value = () => {
      const n = Number(units.value);
      if (mode.value === "autoscale") return n === autoscale ? null : { autoscale: n };
      return !autoscale && n === offer.content.offerThroughput ? null : { manual: n };
    };
    return { element: h("div.pair.left", mode, h("label.inline", units, " ", t.settings.units)), value };
  }

  /** @param {{ value: () => number|undefined }} ttl @param {{ value: () => any }} units */
  async function save(ttl, units) {
    fill(problem);
    const next = { ...definition };
    for (const [i, [name, label, absent]] of POLICIES.entries()) {
      const text = editors[i].text();
      if (jsonProblem(text)) return void fill(problem, t.settings.notJson(label));
      const value = JSON.parse(text);
      if (definition[name] !== undefined || printJson(value, 0) !== printJson(absent, 0)) next[name] = value;
    }
    next.defaultTtl = ttl.value();
    try {
      const change = units.value();
      if (printJson(next, 0) !== printJson(definition, 0)) await replace(client(), segments, next, definition._etag);
      if (change) await replaceOffer(client(), offer, change);
      notify(t.settings.saved);
      load();
    } catch (error) {
      if (/** @type {any} */ (error).status === 412) {
        notify(t.settings.changed, { isError: true });
        return load();
      }
      fill(problem, messageOf(error));
      problem.scrollIntoView({ block: "nearest" });
    }
  }

  /** @param {number} percent */
  async function watchProgress(percent) {
    fill(progress, percent < 100 ? h("span", t.settings.progress(percent), " ", h("progress", { max: 100, value: percent, "aria-label": t.settings.indexing })) : t.settings.indexed);
    if (percent >= 100 || isClosed) return;
    await new Promise((resolve) => setTimeout(resolve, PROGRESS_MS));
    readContainer(client(), segments).then((read) => watchProgress(read.progress), () => {});
  }

  load();
  return { element, refresh: () => editors.forEach((editor) => editor.refresh()), close: () => (isClosed = true) };
}
