// explorer/views/dialog.js - windows that ask something, notices that tell something, menus.
import { t } from "../text/en.js";
import { fill, h, icon, iconButton } from "./dom.js";

/**
 * A form in a window. `submit` gets its fields by name; while it runs the window stays, and shows what it throws.
 * @param {{ title: string, body: any[], action: string, danger?: boolean, submit: (values: Record<string, string>) => Promise<void>|void, check?: (values: Record<string, string>) => boolean, isWide?: boolean }} options
 * @returns {Promise<boolean>} whether it was done
 */
export function ask({ title, body, action, danger, submit, check, isWide }) {
  return new Promise((resolve) => {
    let done = false;
    const problem = h("p.problem", { role: "alert" });
    const go = h(danger ? "button.danger" : "button.primary", { type: "submit" }, action);
    const form = h("form", { method: "dialog" }, h("h2", { id: "dialog-title" }, title), ...body, problem,
      h("div.actions", action !== t.close && h("button", { type: "button", onclick: () => dialog.close() }, t.cancel), go));
    const dialog = h(isWide ? "dialog.window.wide" : "dialog.window", { "aria-labelledby": "dialog-title" }, form);
    const values = () => /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)));
    const look = () => (go.disabled = check ? !check(values()) : false);
    form.addEventListener("input", look);
    form.addEventListener("submit", async (/** @type {Event} */ event) => {
      event.preventDefault();
      if (go.disabled) return;
      go.disabled = true;
      try {
        await submit(values());
        done = true;
        dialog.close();
      } catch (error) {
        fill(problem, messageOf(error));
        look();
      }
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(done);
    });
    document.body.append(dialog);
    look();
    dialog.showModal();
  });
}

/** Deleting what cannot come back: the name has to be typed. @param {string} title @param {string} text @param {string} name @param {() => Promise<void>} submit */
export function askTyped(title, text, name, submit) {
  return ask({
    title,
    body: [h("p", text), h("label.field", h("span", t.typeToConfirm(name)), h("input", { name: "typed", autocomplete: "off", spellcheck: "false", autofocus: true }))],
    action: t.remove,
    danger: true,
    check: (values) => values.typed === name,
    submit,
  });
}

/** @param {string} label @param {Record<string, any>} members @param {string} [hint] */
export const field = (label, members, hint) => h("label.field", h("span", label), h("input", { autocomplete: "off", spellcheck: "false", ...members }), hint && h("small", hint));

/** What went wrong, for people. @param {any} error */
export function messageOf(error) {
  if (error?.status === 0) return t.unreachable;
  if (error?.status) return `${error.message || error.code} (${error.status}${error.sub ? "/" + error.sub : ""})`;
  return String(error?.message ?? error);
}

const NOTICE_MS = 4000;
const UNDO_MS = 15000;

/** @param {string} text @param {{ isError?: boolean, action?: string, run?: () => void }} [options] */
export function notify(text, { isError, action, run } = {}) {
  let place = document.getElementById("notices");
  if (!place) {
    place = h("div", { id: "notices", role: "region", "aria-label": t.notices, "aria-live": "polite" });
    document.body.append(/** @type {HTMLElement} */ (place));
  }
  const note = h(isError ? "div.notice.bad" : "div.notice", { role: isError ? "alert" : "status" }, h("span", text),
    action && h("button.link", { type: "button", onclick: () => (note.remove(), run?.()) }, action), iconButton("close", t.dismiss, () => note.remove()));
  place?.append(note);
  if (!isError) setTimeout(() => note.remove(), action ? UNDO_MS : NOTICE_MS);
}

/** @param {any} error */
export const complain = (error) => error?.name !== "AbortError" && notify(messageOf(error), { isError: true });

/**
 * A menu below a button, closed by Escape or a click elsewhere.
 * @param {Element} anchor @param {{ label: string, icon?: string, hint?: string, danger?: boolean, run: () => void }[]} entries @param {string} label
 */
export function openMenu(anchor, entries, label) {
  const close = () => {
    menu.remove();
    document.removeEventListener("pointerdown", outside, true);
    /** @type {HTMLElement} */ (anchor).focus?.();
  };
  const outside = (/** @type {Event} */ event) => menu.contains(/** @type {Node} */ (event.target)) || close();
  const buttons = entries.map((e) =>
    h(e.danger ? "button.entry.bad" : "button.entry", { type: "button", role: "menuitem", tabindex: -1, onclick: () => (close(), e.run()) }, e.icon ? icon(e.icon) : h("span.icon"),
      h("span.entry-label", e.label), e.hint && h("small", e.hint)));
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (step) buttons[(at + step + buttons.length) % buttons.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const menu = h("div.menu", { role: "menu", "aria-label": label, onkeydown }, buttons.length ? buttons : h("p.muted", t.nothingYet));
  document.body.append(menu);
  const box = anchor.getBoundingClientRect();
  const room = menu.getBoundingClientRect();
  menu.style.left = Math.max(8, Math.min(box.left, innerWidth - room.width - 8)) + "px";
  menu.style.top = (box.bottom + room.height > innerHeight - 8 ? Math.max(8, box.top - room.height - 4) : box.bottom + 4) + "px";
  document.addEventListener("pointerdown", outside, true);
  buttons[0]?.focus();
}

/** @param {string} text */
export async function copyText(text) {
  await navigator.clipboard.writeText(text);
  notify(t.copied);
}
