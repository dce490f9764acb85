// explorer/state/tree.js - databases, containers and what is below them, read when somebody opens them.
import { listAll, sorted } from "../api/resources.js";
import { client, session } from "./session.js";
import { Store } from "./store.js";

/**
 * @typedef {"database"|"container"|"items"|"settings"|"feed"|"sprocs"|"triggers"|"udfs"|"script"|"users"|"user"} NodeKind
 * @typedef {{ key: string, kind: NodeKind, label: string, segments: string[], level: number, isOpen: boolean, isBusy: boolean, hasChildren: boolean,
 *             children: TreeNode[]|null, error: string, definition?: any }} TreeNode
 */

/** @type {Store<{ roots: TreeNode[]|null, error: string }>} */
export const tree = new Store({ roots: /** @type {TreeNode[]|null} */ (null), error: "" });

/** @param {NodeKind} kind @param {string} label @param {string[]} segments @param {number} level @param {any} [definition] @returns {TreeNode} */
function node(kind, label, segments, level, definition) {
  const hasChildren = ["database", "container", "sprocs", "triggers", "udfs", "users"].includes(kind);
  return { key: kind + ":" + segments.join("/"), kind, label, segments, level, isOpen: false, isBusy: false, hasChildren, children: null, error: "", definition };
}

/** @param {TreeNode} parent @returns {Promise<TreeNode[]>} */
async function childrenOf(parent) {
  const { kind, segments, level } = parent;
  const below = level + 1;
  if (kind === "database") {
    const containers = sorted(await listAll(client(), [...segments, "colls"]));
    const nodes = containers.map((c) => node("container", c.id, [...segments, "colls", c.id], below, c));
    return [...nodes, node("users", "users", [...segments, "users"], below)];
  }
  if (kind === "container")
    return /** @type {NodeKind[]} */ (["items", "settings", "feed", "sprocs", "triggers", "udfs"]).map((k) =>
      node(k, k, k === "sprocs" || k === "triggers" || k === "udfs" ? [...segments, k] : segments, below, parent.definition));
  const kinds = { sprocs: "script", triggers: "script", udfs: "script", users: "user" };
  const each = /** @type {NodeKind} */ (/** @type {any} */ (kinds)[kind]);
  return sorted(await listAll(client(), segments)).map((r) => node(each, r.id, [...segments, r.id], below, r));
}

const changed = () => tree.set({ ...tree.value });

/** Reads the databases anew; what was open stays open. */
export async function loadTree() {
  const wasOpen = new Set(openKeys(tree.value.roots ?? []));
  try {
    const one = session.value.container;
    let roots;
    if (one) {
      const definition = (await client().send("GET", one)).body;
      roots = [node("container", definition.id, one, 1, definition)];
      wasOpen.add(roots[0].key);
    } else roots = sorted(await listAll(client(), ["dbs"])).map((d) => node("database", d.id, ["dbs", d.id], 1, d));
    if (!tree.value.roots && roots.length === 1) wasOpen.add(roots[0].key);
    await Promise.all(roots.map((root) => reopen(root, wasOpen)));
    for (let more = openedSince(wasOpen); more.length; more = openedSince(wasOpen)) {
      more.forEach((key) => wasOpen.add(key)); // while this was being read
      await Promise.all(roots.map((root) => reopen(root, wasOpen)));
    }
    tree.set({ roots, error: "" });
  } catch (error) {
    tree.set({ roots: tree.value.roots, error: /** @type {Error} */ (error).message || "unreachable" });
  }
}

/** @param {TreeNode[]} nodes @returns {string[]} */
const openKeys = (nodes) => nodes.flatMap((n) => (n.isOpen ? [n.key, ...openKeys(n.children ?? [])] : []));

/** @param {Set<string>} wasOpen */
const openedSince = (wasOpen) => openKeys(tree.value.roots ?? []).filter((key) => !wasOpen.has(key));

/** @param {TreeNode} n @param {Set<string>} wasOpen */
async function reopen(n, wasOpen) {
  if (!wasOpen.has(n.key)) return;
  n.isOpen = true;
  n.children ??= await childrenOf(n);
  await Promise.all(n.children.map((child) => reopen(child, wasOpen)));
}

/** @param {TreeNode} n @param {boolean} [open] */
export async function toggle(n, open = !n.isOpen) {
  if (!n.hasChildren) return;
  n.isOpen = open;
  if (!open || n.children) return changed();
  await refresh(n);
}

/** @param {TreeNode} n */
export async function refresh(n) {
  n.isBusy = true;
  changed();
  try {
    n.children = await childrenOf(n);
    n.error = "";
  } catch (error) {
    n.children = [];
    n.error = /** @type {Error} */ (error).message;
  }
  n.isBusy = false;
  changed();
}

/** Every node that can be seen, from top to bottom. @param {TreeNode[]} [nodes] @returns {TreeNode[]} */
export function visibleNodes(nodes = tree.value.roots ?? []) {
  return nodes.flatMap((n) => [n, ...(n.isOpen ? visibleNodes(n.children ?? []) : [])]);
}

/** The node of a place, if it has been read. @param {string[]} segments @param {NodeKind} kind */
export const findNode = (segments, kind) => allNodes(tree.value.roots ?? []).find((n) => n.key === kind + ":" + segments.join("/"));

/** @param {TreeNode[]} nodes @returns {TreeNode[]} */
const allNodes = (nodes) => nodes.flatMap((n) => [n, ...allNodes(n.children ?? [])]);
