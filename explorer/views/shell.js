// explorer/views/shell.js - the frame: the line at the top, the tree, the tabs.
import { canWrite, session, signOut } from "../state/session.js";
import { theme } from "../state/settings.js";
import { closeTab, openTab, tabs } from "../state/tabs.js";
import { loadTree, tree } from "../state/tree.js";
import { t } from "../text/en.js";
import { messageOf, notify } from "./dialog.js";
import { button, fill, h, icon, iconButton } from "./dom.js";
import { openPage } from "./open.js";
import { startView } from "./start.js";
import { treeView } from "./tree.js";

/** @typedef {{ element: HTMLElement, refresh?: () => void, close?: () => void, isDirty?: () => boolean }} View */

/** What the first view does not need comes when it is wanted, or when there is nothing else to do. */
const VIEWS = /** @type {Record<string, () => Promise<(parameters: any, key: string) => View>>} */ ({
  start: async () => startView,
  now: async () => (await import("./now.js")).nowView,
  modelling: async () => (await import("./modelling.js")).modellingView,
  items: async () => (await import("./items.js")).itemsView,
  query: async () => (await import("./query.js")).queryView,
  settings: async () => (await import("./settings.js")).settingsView,
  feed: async () => (await import("./feed.js")).feedView,
  script: async () => (await import("./script.js")).scriptView,
  user: async () => (await import("./user.js")).userView,
});

/** So that a tab opens at once, even when the server has gone away. */
async function loadOthers() {
  for (const load of Object.values(VIEWS)) await load().catch(() => {});
  document.documentElement.dataset.loaded = "all";
}

export function shellView() {
  tree.set({ roots: null, error: "" });
  tabs.set({ list: [], active: "" });
  const shell = h("div.shell", topLine(), treeView(), resizer(), tabsView());
  openPage("start");
  loadTree().then(() => requestIdleCallback(loadOthers, { timeout: 2000 }));
  return shell;
}

function topLine() {
  const state = h("span.reach", { role: "status" });
  let wasReached = true;
  session.watch(({ reached }) => {
    fill(state, reached ? "" : t.lost);
    state.classList.toggle("bad", !reached);
    if (reached && !wasReached) {
      notify(t.back);
      loadTree();
    }
    wasReached = reached;
  });
  const toggleTree = () => document.querySelector(".shell")?.classList.toggle("no-tree");
  const nextTheme = () => {
    const isDark = theme.value ? theme.value === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    theme.set(isDark ? "light" : "dark");
  };
  const page = (/** @type {"start"|"now"|"modelling"} */ kind, /** @type {string} */ shape) => button(t.shell[kind], () => openPage(kind), { class: "quiet", "aria-label": t.shell[kind] }, shape);
  return h("header.top", h("a.skip", { href: "#content" }, t.shell.skip), iconButton("items", t.shell.menu, toggleTree), h("img", { src: "mark.svg", alt: "", width: 22, height: 22 }), h("span.brand", t.title),
    h("span.origin", location.host), !canWrite() && h("span.tag.warm", { title: t.readOnlyHint }, t.readOnly), state, h("span.grow"),
    page("start", "home"), !session.value.container && page("now", "chart"), canWrite() && !session.value.container && page("modelling", "star"),
    iconButton("sun", t.shell.theme, nextTheme), !session.value.isWellKnown && iconButton("key", t.signIn.loggedOut, signOut));
}

/** The edge between the tree and the tabs, for the pointer and for arrows. */
function resizer() {
  const bar = h("div.resizer", { role: "separator", "aria-orientation": "vertical", "aria-label": t.shell.resize, tabindex: 0, "aria-valuemin": 180, "aria-valuemax": 560, "aria-valuenow": 268 });
  const set = (/** @type {number} */ px) => {
    const width = Math.round(Math.max(180, Math.min(560, px)));
    bar.parentElement?.style.setProperty("--tree-width", width + "px");
    bar.setAttribute("aria-valuenow", String(width));
  };
  bar.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    bar.setPointerCapture(e.pointerId);
    const move = (/** @type {PointerEvent} */ m) => set(m.clientX);
    bar.addEventListener("pointermove", move);
    bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), { once: true });
  });
  bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowLeft: -20, ArrowRight: 20 }[e.key];
    if (step) set(Number(bar.getAttribute("aria-valuenow")) + step);
  });
  return bar;
}

function tabsView() {
  /** @type {Map<string, View>} */
  const views = new Map();
  const strip = h("div.tabs", { role: "tablist", "aria-label": t.shell.tabs });
  const content = h("main.content", { id: "content", tabindex: -1 });
  tabs.watch(({ list, active }) => {
    for (const [key, view] of views)
      if (!list.some((tab) => tab.key === key)) {
        view.close?.();
        view.element.remove();
        views.delete(key);
      }
    fill(strip, list.map((tab) => tabButton(tab, tab.key === active, list)));
    const tab = list.find((each) => each.key === active);
    if (!tab) return void (list.length || fill(content, h("p.empty", t.items.pick)));
    if (!views.has(active)) {
      const waiting = { element: h("section.view.waiting", { "aria-busy": "true" }, h("div.skeleton")) };
      views.set(active, waiting);
      content.append(waiting.element);
      make(tab, waiting);
    }
    showActive();
    document.title = `${tab.title} · ${t.title}`;
  });

  function showActive() {
    const shown = views.get(tabs.value.active);
    for (const child of [...content.children]) child.hidden = child !== shown?.element;
    for (const child of [...content.querySelectorAll(":scope > p.empty")]) child.remove();
    shown?.refresh?.();
  }

  /** Puts the view in the place of the one that waits for it, unless the tab was closed meanwhile. @param {import("../state/tabs.js").Tab} tab @param {View} waiting */
  async function make(tab, waiting) {
    try {
      const create = await VIEWS[tab.kind]();
      if (views.get(tab.key) !== waiting) return;
      const view = create(tab.parameters, tab.key);
      views.set(tab.key, view);
      waiting.element.replaceWith(view.element);
      showActive();
    } catch (error) {
      fill(waiting.element, h("p.problem", { role: "alert" }, messageOf(error)), button(t.shell.again, () => location.reload(), {}, "refresh"));
    }
  }

  addEventListener("beforeunload", (event) => {
    if ([...views.values()].some((view) => view.isDirty?.())) event.preventDefault();
  });
  /** @param {import("../state/tabs.js").Tab} tab @param {boolean} isActive @param {import("../state/tabs.js").Tab[]} list */
  function tabButton(tab, isActive, list) {
    const close = () => {
      if (!views.get(tab.key)?.isDirty?.() || confirm(t.item.leave(tab.title))) closeTab(tab.key);
    };
    const onkeydown = (/** @type {KeyboardEvent} */ e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (step) openTab(list[(list.indexOf(tab) + step + list.length) % list.length]);
      else if (e.key === "Delete") close();
      else return;
      /** @type {HTMLElement|null} */ (strip.querySelector('[aria-selected="true"]'))?.focus();
    };
    return h(isActive ? "div.tab.active" : "div.tab", { role: "presentation", onauxclick: (/** @type {MouseEvent} */ e) => e.button === 1 && close() },
      h("button.tab-title", { type: "button", role: "tab", "aria-selected": String(isActive), tabindex: isActive ? 0 : -1, title: tab.hint, onclick: () => openTab(tab), onkeydown }, h("span", { dir: "auto" }, tab.title)),
      h("button.icon-button.tab-close", { type: "button", tabindex: -1, "aria-hidden": "true", title: t.close, onclick: close } /* a list of tabs has nothing but tabs: Delete closes */, icon("close")));
  }
  return h("div.work", strip, content);
}
