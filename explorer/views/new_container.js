// explorer/views/new_container.js - asks what a new container is to be like.
import { create } from "../api/resources.js";
import { client } from "../state/session.js";
import { refresh, toggle } from "../state/tree.js";
import { t } from "../text/en.js";
import { ask, field } from "./dialog.js";
import { h } from "./dom.js";
import { open } from "./open.js";

/** Paths of one line each, or with commas between them. @param {string} text */
const pathsOf = (text) => text.split(/[\n,]/).map((path) => path.trim()).filter(Boolean);

/** @param {Record<string, string>} values */
export function definitionOf(values) {
  const paths = pathsOf(values.key);
  const unique = values.unique.split("\n").map(pathsOf).filter((group) => group.length);
  return {
    id: values.id,
    partitionKey: { paths, kind: paths.length > 1 ? "MultiHash" : "Hash", version: 2 },
    ...(unique.length ? { uniqueKeyPolicy: { uniqueKeys: unique.map((group) => ({ paths: group })) } } : {}),
    ...(values.ttl ? { defaultTtl: Number(values.ttl) } : {}),
  };
}

/** @param {Record<string, string>} values @returns {Record<string, string>} */
function throughputOf(values) {
  if (!values.units) return {};
  if (values.mode === "autoscale") return { "x-ms-cosmos-offer-autopilot-settings": JSON.stringify({ maxThroughput: Number(values.units) }) };
  return { "x-ms-offer-throughput": values.units };
}

/** @param {import("../state/tree.js").TreeNode} database */
export function newContainer(database) {
  return ask({
    title: t.container.title(database.label),
    body: [
      field(t.id, { name: "id", required: true, autofocus: true, maxlength: 255 }),
      field(t.container.key, { name: "key", required: true, value: "/", placeholder: "/customerId" }, t.container.keyHint),
      h("div.pair", field(t.container.units, { name: "units", type: "number", min: 400, step: 100, placeholder: "400" }, t.container.unitsHint),
        h("label.field", h("span", t.container.mode), h("select", { name: "mode" }, h("option", { value: "manual" }, t.container.manual), h("option", { value: "autoscale" }, t.container.autoscale)))),
      h("details", h("summary", t.container.more),
        h("label.field", h("span", t.container.unique), h("textarea", { name: "unique", rows: 2, spellcheck: "false", placeholder: "/email" }), h("small", t.container.uniqueHint)),
        field(t.container.ttl, { name: "ttl", type: "number", min: -1 }, t.container.ttlHint)),
    ],
    action: t.create,
    check: (values) => values.id.trim() !== "" && pathsOf(values.key).length > 0 && pathsOf(values.key).every((path) => /^\/./.test(path)),
    submit: async (values) => {
      const made = await create(client(), [...database.segments, "colls"], definitionOf(values), throughputOf(values));
      await refresh(database);
      await toggle(database, true);
      open("items", [...database.segments, "colls", made.id]);
    },
  });
}
