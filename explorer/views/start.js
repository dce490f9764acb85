// explorer/views/start.js - how to connect, in seven languages, and samples to try.
import { create } from "../api/resources.js";
import { createItem } from "../api/items.js";
import { WELL_KNOWN_KEY } from "../api/sign.js";
import { canWrite, client, session } from "../state/session.js";
import { loadTree } from "../state/tree.js";
import { SNIPPETS } from "../text/snippets.js";
import { SAMPLES, SAMPLE_QUERIES } from "../text/samples.js";
import { t } from "../text/en.js";
import { complain, copyText, notify } from "./dialog.js";
import { button, fill, h, iconButton } from "./dom.js";
import { openQuery } from "./open.js";

const SAMPLE_DATABASE = "samples";

export function startView() {
  const isKnown = session.value.isWellKnown;
  const endpoint = location.origin + "/";
  const key = isKnown ? WELL_KNOWN_KEY : t.start.keyOwn;
  const copied = (/** @type {string} */ label, /** @type {string} */ value, /** @type {string} */ hint = "") => h("div.copied", h("span.muted", label), h("code", { title: hint }, value), iconButton("copy", `${t.start.copy}: ${label}`, () => copyText(value).catch(complain)));
  return { element: h("section.view.start", { "aria-label": t.start.title }, h("h1", t.start.title), h("p.lead", t.start.text),
    h("div.copies", copied(t.start.endpoint, endpoint), copied(t.start.key, key, isKnown ? t.start.keyKnown : ""), copied(t.start.string, `AccountEndpoint=${endpoint};AccountKey=${key};`)),
    h("p", h("a", { href: "/_explorer/emulator.pem", download: "orrery.pem" }, t.start.certificate)),
    h("h2", t.start.code), snippets(endpoint, key), canWrite() && !session.value.container && samples()) };
}

/** @param {string} endpoint @param {string} key */
function snippets(endpoint, key) {
  const names = Object.keys(SNIPPETS);
  let current = names[0];
  const code = h("pre.code", { tabindex: 0 });
  const strip = h("div.switch", { role: "tablist", "aria-label": t.start.code });
  const text = () => SNIPPETS[current].replaceAll("{endpoint}", endpoint).replaceAll("{key}", key);
  const draw = () => {
    fill(code, text());
    fill(strip, names.map((name) => h("button", { type: "button", role: "tab", "aria-selected": String(name === current), tabindex: name === current ? 0 : -1, onclick: () => ((current = name), draw()),
      onkeydown: (/** @type {KeyboardEvent} */ e) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!step) return;
        current = names[(names.indexOf(current) + step + names.length) % names.length];
        draw();
        /** @type {HTMLElement|null} */ (strip.querySelector('[aria-selected="true"]'))?.focus();
      } }, name)));
  };
  draw();
  return h("div.snippets", strip, h("div.code-frame", code, iconButton("copy", t.start.copy, () => copyText(text()).catch(complain))));
}

function samples() {
  const status = h("span.status", { role: "status" });
  const load = button(t.start.load, async () => {
    load.disabled = true;
    try {
      await loadSamples((n) => fill(status, t.start.loadingSamples(n)));
      fill(status);
      notify(t.start.loaded);
      await loadTree();
      draw();
    } catch (error) {
      complain(error);
    }
    load.disabled = false;
  }, {}, "download");
  const list = h("div");
  const draw = () => fill(list, h("h3", t.start.queries), h("ul.queries", SAMPLE_QUERIES.map(([container, query]) => h("li", h("button.link", { type: "button", onclick: () => openQuery(["dbs", SAMPLE_DATABASE, "colls", container], query) }, h("code", query.replace(/\s+/g, " ")))))));
  return h("div.samples", h("h2", t.start.samples), h("p.muted", t.start.sampleText), h("div.bar.plain", load, status), list);
}

/** Makes what is not there yet. @param {(n: number) => void} tell */
async function loadSamples(tell) {
  const unlessThere = async (/** @type {Promise<any>} */ made) => made.catch((error) => {
    if (error.status !== 409) throw error;
  });
  await unlessThere(create(client(), ["dbs"], { id: SAMPLE_DATABASE }));
  let done = 0;
  for (const { definition, items } of SAMPLES()) {
    const place = ["dbs", SAMPLE_DATABASE, "colls"];
    await unlessThere(create(client(), place, definition));
    for (let i = 0; i < items.length; i += 8) {
      await Promise.all(items.slice(i, i + 8).map((item) => createItem(client(), [...place, definition.id], definition, JSON.stringify(item), true)));
      tell((done += Math.min(8, items.length - i)));
    }
  }
}
