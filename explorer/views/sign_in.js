// explorer/views/sign_in.js - asks for a key or a resource token.
import { readSecret, signIn } from "../state/session.js";
import { t } from "../text/en.js";
import { messageOf } from "./dialog.js";
import { fill, h } from "./dom.js";

export function signInView() {
  const problem = h("p.problem", { role: "alert" });
  const secret = h("textarea", { name: "secret", rows: 3, required: true, autofocus: true, spellcheck: "false", autocomplete: "off", oninput: look });
  const database = h("input", { name: "database", autocomplete: "off" });
  const container = h("input", { name: "container", autocomplete: "off" });
  const forToken = h("div.token-fields", { hidden: true }, h("small", t.signIn.tokenHint), h("div.pair", h("label.field", h("span", t.signIn.database), database), h("label.field", h("span", t.signIn.container), container)));
  const go = h("button.primary", { type: "submit" }, t.signIn.open);

  function look() {
    forToken.hidden = readSecret(secret.value).kind !== "token";
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    fill(problem);
    go.disabled = true;
    const read = readSecret(secret.value);
    try {
      await signIn({ ...read, ...(read.kind === "token" ? { container: ["dbs", database.value.trim(), "colls", container.value.trim()] } : {}) });
    } catch (error) {
      const { status, name } = /** @type {any} */ (error);
      fill(problem, name === "InvalidCharacterError" ? t.signIn.notBase64 : status === 401 || status === 403 ? t.signIn.wrong : messageOf(error));
      go.disabled = false;
    }
  }

  return h("main.door", h("form.card", { onsubmit: submit }, h("img", { src: "mark.svg", alt: "", width: 40, height: 40 }), h("h1", t.signIn.title),
    h("p.muted", location.origin), h("label.field", h("span", t.signIn.secret), secret, h("small", t.signIn.why)), forToken, problem, h("div.actions", go)));
}
