// explorer/views/tree.js - the tree at the left: a list of rows that arrows walk, as screen readers know trees.
import { create, remove, replace } from "../api/resources.js";
import { canWrite, client } from "../state/session.js";
import { closeBelow } from "../state/tabs.js";
import { findNode, loadTree, refresh, toggle, tree, visibleNodes } from "../state/tree.js";
import { t } from "../text/en.js";
import { ask, askTyped, complain, field, messageOf, openMenu } from "./dialog.js";
import { fill, h, icon, iconButton } from "./dom.js";
import { newContainer } from "./new_container.js";
import { open, openQuery, openScript } from "./open.js";

/** @typedef {import("../state/tree.js").TreeNode} TreeNode */

const ICONS = /** @type {Record<string, string>} */ ({ database: "database", container: "container", items: "items", settings: "settings", feed: "feed", sprocs: "code",
  triggers: "code", udfs: "code", script: "code", users: "users", user: "users" });

let focused = "";
let wanted = "";

/** @param {TreeNode} n */
const labelOf = (n) => /** @type {Record<string, string>} */ (t.tree.kinds)[n.kind] ?? n.label;

export function treeView() {
  const list = h("div.tree-rows", { role: "tree", "aria-label": t.tree.title, onkeydown: onKey });
  const filter = h("input.filter", { type: "search", placeholder: t.tree.filter, "aria-label": t.tree.filter, spellcheck: "false",
    oninput: () => { wanted = filter.value.toLowerCase(); draw(); } });
  const bar = h("div.tree-bar", filter, iconButton("refresh", t.tree.reload, () => loadTree()), canWrite() && iconButton("plus", t.tree.newDatabase, newDatabase));
  const draw = () => drawRows(list);
  tree.watch(draw);
  return h("nav.tree", { "aria-label": t.tree.title }, bar, list);
}

/** A node is shown when it, something above it or something below it has the text. @param {TreeNode[]} nodes @returns {Set<TreeNode>} */
function matching(nodes) {
  /** @type {Set<TreeNode>} */
  const shown = new Set();
  /** @param {TreeNode} n @param {boolean} above @returns {boolean} */
  const visit = (n, above) => {
    const self = above || n.label.toLowerCase().includes(wanted);
    const below = (n.isOpen ? (n.children ?? []) : []).map((child) => visit(child, self)).some(Boolean);
    if (self || below) shown.add(n);
    return self || below;
  };
  nodes.forEach((n) => visit(n, false));
  return shown;
}

/** @param {Element} list */
function drawRows(list) {
  const { roots, error } = tree.value;
  if (!roots) return void fill(list, error ? h("p.empty", error) : h("div.skeleton", { "aria-hidden": "true" }));
  if (!roots.length) return void fill(list, h("div.empty", h("p", t.tree.empty), canWrite() && h("button", { type: "button", onclick: newDatabase }, t.tree.newDatabase)));
  const shown = wanted ? matching(roots) : null;
  const nodes = visibleNodes().filter((n) => !shown || shown.has(n));
  if (!nodes.some((n) => n.key === focused)) focused = nodes[0]?.key ?? "";
  const hadFocus = list.contains(document.activeElement);
  fill(list, nodes.map(row));
  if (hadFocus) /** @type {HTMLElement|null} */ (list.querySelector('[tabindex="0"]'))?.focus();
}

/** @param {TreeNode} n */
function row(n) {
  const more = actionsOf(n);
  return h("div.tree-row", {
    role: "treeitem", "aria-level": n.level, "aria-expanded": n.hasChildren ? String(n.isOpen) : null, "aria-label": labelOf(n), tabindex: n.key === focused ? 0 : -1, "data-key": n.key,
    style: { "--level": String(n.level - 1) }, title: n.error || n.label, onclick: () => activate(n), onfocus: () => (focused = n.key),
    oncontextmenu: (/** @type {Event} */ e) => { if (more.length) { e.preventDefault(); openMenu(/** @type {Element} */ (e.currentTarget), more, labelOf(n)); } },
  }, n.hasChildren ? h(n.isOpen ? "span.twist.open" : "span.twist", icon("chevron")) : h("span.twist"), icon(ICONS[n.kind]),
  h(n.kind === "database" || n.kind === "container" || n.kind === "script" || n.kind === "user" ? "span.name" : "span.name.fixed", { dir: "auto" }, labelOf(n)),
  n.isBusy && h("span.spinner"), n.error && h("span.bad", "!"),
  more.length > 0 && h("button.icon-button.row-more", { type: "button", tabindex: -1, "aria-label": t.tree.actions(labelOf(n)), title: t.tree.actions(labelOf(n)),
    onclick: (/** @type {Event} */ e) => { e.stopPropagation(); openMenu(/** @type {Element} */ (e.currentTarget), more, labelOf(n)); } }, icon("more")));
}

/** @param {TreeNode} n */
function activate(n) {
  focused = n.key;
  if (n.hasChildren) {
    if (n.kind === "container" && !n.isOpen) open("items", n.segments);
    toggle(n).catch(complain);
  } else if (n.kind === "script") openScript(n.segments);
  else open(n.kind, n.segments);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const rows = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (event.currentTarget).children]);
  const at = rows.findIndex((r) => r.dataset.key === focused);
  const n = visibleNodes().find((each) => each.key === focused);
  if (!n || at < 0) return;
  const go = (/** @type {number} */ to) => rows[Math.max(0, Math.min(rows.length - 1, to))]?.focus();
  const keys = /** @type {Record<string, () => void>} */ ({
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    ArrowRight: () => (n.hasChildren && !n.isOpen ? toggle(n, true) : go(at + 1)),
    ArrowLeft: () => (n.isOpen ? toggle(n, false) : go(rows.findLastIndex((r, i) => i < at && Number(r.getAttribute("aria-level")) < n.level))),
    Enter: () => activate(n),
    " ": () => activate(n),
    ContextMenu: () => openMenu(rows[at], actionsOf(n), labelOf(n)),
    Delete: () => actionsOf(n).find((a) => a.danger)?.run(),
  });
  const act = keys[event.key];
  if (!act || event.target instanceof HTMLButtonElement) return;
  event.preventDefault();
  act();
  for (const r of rows) r.tabIndex = r.dataset.key === focused ? 0 : -1;
}

/** @param {TreeNode} n @returns {{ label: string, icon?: string, danger?: boolean, run: () => void }[]} */
function actionsOf(n) {
  const writes = canWrite();
  const drop = { label: t.tree.delete, icon: "trash", danger: true, run: () => deleteNode(n) };
  const again = { label: t.tree.reload, icon: "refresh", run: () => refresh(n) };
  if (n.kind === "database") return [...(writes ? [{ label: t.tree.newContainer, icon: "plus", run: () => newContainer(n) }] : []), again, ...(writes ? [drop] : [])];
  if (n.kind === "container") return [{ label: t.tree.newQuery, icon: "search", run: () => openQuery(n.segments) }, ...(writes ? [drop] : [])];
  if (n.kind === "sprocs" || n.kind === "triggers" || n.kind === "udfs")
    return [...(writes ? [{ label: t.tree.newScript[n.kind], icon: "plus", run: () => openScript(n.segments, true) }] : []), again];
  if (n.kind === "users") return [...(writes ? [{ label: t.tree.newUser, icon: "plus", run: () => newUser(n) }] : []), again];
  if ((n.kind === "script" || n.kind === "user") && writes) return [{ label: t.tree.rename, icon: "settings", run: () => renameNode(n) }, drop];
  return [];
}

function newDatabase() {
  return ask({
    title: t.tree.newDatabase,
    body: [field(t.id, { name: "id", required: true, autofocus: true, maxlength: 255 }), field(t.settings.sharedThroughput, { name: "units", type: "number", min: 400, step: 100 }, t.settings.sharedHint)],
    action: t.create,
    check: (values) => values.id.trim() !== "",
    submit: async ({ id, units }) => {
      await create(client(), ["dbs"], { id }, units ? { "x-ms-offer-throughput": units } : {});
      await loadTree();
      const made = findNode(["dbs", id], "database");
      if (made) await toggle(made, true);
    },
  });
}

/** @param {TreeNode} n */
function newUser(n) {
  return ask({
    title: t.tree.newUser,
    body: [field(t.id, { name: "id", required: true, autofocus: true, maxlength: 255 })],
    action: t.create,
    check: (values) => values.id.trim() !== "",
    submit: async ({ id }) => {
      await create(client(), n.segments, { id });
      await refresh(n);
      open("user", [...n.segments, id]);
    },
  });
}

/** Scripts and users keep their rids; databases and containers cannot be renamed. @param {TreeNode} n */
async function renameNode(n) {
  const list = n.segments.slice(0, -1);
  await ask({
    title: t.tree.renameTitle(n.label),
    body: [h("p", t.tree.renameNote[/** @type {"script"|"user"} */ (n.kind)]), field(t.id, { name: "id", required: true, autofocus: true, maxlength: 255, value: n.label })],
    action: t.save,
    check: (values) => values.id.trim() !== "" && values.id !== n.label,
    submit: async ({ id }) => {
      const { body } = await client().send("GET", n.segments);
      await replace(client(), n.segments, { ...body, id }, body._etag);
      closeBelow(n.segments);
      await loadTree();
      if (n.kind === "script") openScript([...list, id]);
      else open("user", [...list, id]);
    },
  });
}

/** @param {TreeNode} n */
async function deleteNode(n) {
  const done = await askTyped(t.tree.deleteTitle(n.label), t.tree.deleteText[/** @type {"database"|"container"|"script"|"user"} */ (n.kind)], n.label, () => remove(client(), n.segments));
  if (!done) return;
  closeBelow(n.segments);
  await loadTree().catch((error) => complain(messageOf(error)));
}
