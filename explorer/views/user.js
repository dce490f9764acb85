// explorer/views/user.js - a user's permissions, and the tokens that they give.
import { create, listAll, remove } from "../api/resources.js";
import { canWrite, client } from "../state/session.js";
import { t } from "../text/en.js";
import { ask, askTyped, complain, copyText, field, messageOf } from "./dialog.js";
import { button, fill, h, iconButton } from "./dom.js";

/** @param {{ segments: string[] }} parameters */
export function userView({ segments }) {
  const list = h("div.cards");
  const problem = h("p.problem", { role: "alert" });
  const element = h("section.view.user", { "aria-label": t.user.title }, h("div.bar", h("h2", t.user.title), h("span.grow"), canWrite() && button(t.user.new, () => add(), { class: "primary" }, "plus")), problem, h("p.muted.padded", t.user.hint), list);

  async function load() {
    try {
      const permissions = await listAll(client(), [...segments, "permissions"]);
      fill(list, permissions.length ? permissions.map(card) : h("p.empty", t.user.none));
    } catch (error) {
      fill(problem, messageOf(error));
    }
  }

  /** @param {any} permission */
  function card(permission) {
    const place = [...segments, "permissions", permission.id];
    const token = async () => (await client().send("GET", place)).body._token;
    const drop = async () => {
      if (await askTyped(t.tree.deleteTitle(permission.id), t.tree.deleteText.user, permission.id, () => remove(client(), place))) load();
    };
    return h("article.card-row", h("div", h("strong", { dir: "auto" }, permission.id), " ", h("span.tag", permission.permissionMode === "All" ? t.user.all : t.user.read)), h("code", permission.resource),
      permission.resourcePartitionKey && h("code", JSON.stringify(permission.resourcePartitionKey)), h("span.grow"), button(t.user.token, async () => copyText(await token()).catch(complain), {}, "copy"),
      button(t.user.string, async () => copyText(`AccountEndpoint=${location.origin}/;AccountKey=${await token()};`).catch(complain), { title: t.user.copyNote }, "copy"),
      canWrite() && iconButton("trash", t.user.delete(permission.id), drop));
  }

  async function add() {
    const containers = await listAll(client(), [...segments.slice(0, 2), "colls"]).catch(() => []);
    ask({
      title: t.user.new,
      body: [
        field(t.id, { name: "id", required: true, autofocus: true }),
        h("label.field", h("span", t.user.resource), h("select", { name: "resource" }, containers.map((c) => h("option", { value: [...segments.slice(0, 2), "colls", c.id].join("/") }, c.id)))),
        h("label.field", h("span", t.user.mode), h("select", { name: "mode" }, h("option", { value: "Read" }, t.user.read), h("option", { value: "All" }, t.user.all))),
        field(t.user.partitionKey, { name: "key", placeholder: '"oslo"' }),
      ],
      action: t.create,
      check: (values) => values.id.trim() !== "" && Boolean(values.resource),
      submit: async ({ id, resource, mode, key }) => {
        const at = key ? JSON.parse(key) : null;
        await create(client(), [...segments, "permissions"], { id, permissionMode: mode, resource, ...(key ? { resourcePartitionKey: Array.isArray(at) ? at : [at] } : {}) });
        load();
      },
    });
  }

  load();
  return { element };
}
