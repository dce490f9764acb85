// explorer/main.js - begins: signs in as it can, else asks.
import { session, signInQuietly } from "./state/session.js";
import { theme } from "./state/settings.js";
import { t } from "./text/en.js";
import { fill, h } from "./views/dom.js";
import { shellView } from "./views/shell.js";
import { signInView } from "./views/sign_in.js";

theme.watch((value) => {
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
});

/** @type {any} */
let shown = null;

session.watch(({ client }) => {
  if (client === shown) return;
  shown = client;
  fill(document.body, client ? shellView() : signInView());
  performance.mark("first-view");
});

async function begin() {
  if (!globalThis.crypto?.subtle) return void fill(document.body, h("main.door", h("div.card", h("h1", t.title), h("p", t.signIn.insecure))));
  try {
    if (!(await signInQuietly())) fill(document.body, signInView());
  } catch {
    fill(document.body, h("main.door", h("div.card", h("h1", t.title), h("p", { role: "alert" }, t.unreachable))));
  }
}

begin();
