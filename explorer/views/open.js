// explorer/views/open.js - opens tabs: what a thing is called, and which view shows it.
import { openTab } from "../state/tabs.js";
import { t } from "../text/en.js";

/** @param {string[]} segments */
const nameOf = (segments) => segments[segments.length - 1];

/** The ids of a place: shop / orders. @param {string[]} segments */
export const placeName = (segments) => segments.filter((_, i) => i % 2 === 1).join(" / ");

/** @param {string} kind @param {string[]} segments */
export function open(kind, segments) {
  const title = kind === "items" || kind === "user" ? nameOf(segments) : t.tabs[/** @type {"settings"} */ (kind)](nameOf(segments));
  openTab({ key: kind + ":" + segments.join("/"), kind, title, hint: placeName(segments), parameters: { segments } });
}

let queries = 0;

/** @param {string[]} segments @param {string} [text] */
export function openQuery(segments, text) {
  queries++;
  openTab({ key: "query:" + queries, kind: "query", title: t.tabs.query(nameOf(segments)), hint: placeName(segments), parameters: { segments, text } });
}

/** @param {string[]} segments of the script, or with `isNew` of the list @param {boolean} [isNew] */
export function openScript(segments, isNew = false) {
  const key = isNew ? "script:new:" + ++queries : "script:" + segments.join("/");
  openTab({ key, kind: "script", title: isNew ? t.tabs.newScript : nameOf(segments), hint: placeName(segments), parameters: { segments, isNew } });
}

/** @param {"start"|"now"|"modelling"} kind */
export const openPage = (kind) => openTab({ key: kind, kind, title: t.tabs[kind], hint: "", parameters: {} });
