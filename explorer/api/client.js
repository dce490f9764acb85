// explorer/api/client.js - sends one signed request and reads its answer.
import { t } from "../text/en.js";
import { parseJson } from "./json.js";

const VERSION = "2020-07-15";

/** An answer that says no. `status` is 0 when there was no answer at all. */
export class ApiError extends Error {
  /** @param {number} status @param {number} sub @param {string} code @param {string} message */
  constructor(status, sub, code, message) {
    super(message);
    this.status = status;
    this.sub = sub;
    this.code = code;
    /** @type {{ start: number, end: number, message: string, code: string }[]} places in a query's text */
    this.places = [];
  }
}

/**
 * @typedef {{ body: any, text: string, status: number, headers: Headers, charge: number, continuation: string|null, ms: number }} Answer
 * @typedef {{ type: string, link: string, path: string }} Place what is signed, and where it is sent
 */

/** Ids as they are; a link of names is signed as it is, a link of rids by the last one in lower case. */
/** @param {string[]} segments alternating types and ids: dbs, shop, colls, orders @returns {Place} */
export function placeOf(segments) {
  const isList = segments.length % 2 === 1;
  const link = isList ? segments.slice(0, -1) : segments;
  const type = segments.length ? segments[isList ? segments.length - 1 : segments.length - 2] : "";
  return { type, link: link.join("/"), path: "/" + segments.map(encodeSegment).join("/") };
}

/** @param {string} segment */
function encodeSegment(segment) {
  return encodeURIComponent(wellFormed(segment));
}

/** What a browser folds: /dbs/.. would be asked for as /, which is something else. */
const DOTS = /\/\.\.?(\/|$)/;

/** @param {string} text */
const wellFormed = (text) => text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");

/** A resource's own link of rids reaches it whatever its id is: browsers fold paths with dots. */
/** @param {string} self @returns {Place} */
export function placeOfSelf(self) {
  const segments = self.replace(/\/$/, "").split("/");
  return { type: segments[segments.length - 2], link: segments[segments.length - 1].toLowerCase(), path: "/" + segments.join("/") };
}

export class Client {
  /** @param {import("./sign.js").Credential} credential */
  constructor(credential) {
    this.credential = credential;
    /** Called with whether the server answered at all. @type {(reached: boolean) => void} */
    this.onReach = () => {};
  }

  /**
   * @param {string} method
   * @param {string[]|Place} where
   * @param {{ body?: any, text?: string, headers?: Record<string, string>, signal?: AbortSignal }} [options]
   * @returns {Promise<Answer>}
   */
  async send(method, where, options = {}) {
    const place = Array.isArray(where) ? placeOf(where) : where;
    if (DOTS.test(place.path)) throw new ApiError(400, 0, "", t.dots);
    const date = new Date().toUTCString();
    /** @type {Record<string, string>} */
    const headers = {
      authorization: await this.credential.authorize(method, place.type, place.link, date),
      "x-ms-date": date,
      "x-ms-version": VERSION,
      ...options.headers,
    };
    const body = options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    if (body !== undefined && !headers["content-type"]) headers["content-type"] = "application/json";
    const began = performance.now();
    let response, text;
    try {
      response = await fetch(place.path, { method, headers, body, signal: options.signal, cache: "no-store", credentials: "omit", redirect: "error" });
      text = await response.text();
    } catch (error) {
      if (/** @type {Error} */ (error).name === "AbortError") throw error;
      this.onReach(false);
      throw new ApiError(0, 0, "Unreachable", "");
    }
    this.onReach(true);
    if (!response.ok && response.status !== 304) throw errorOf(response, text);
    return {
      text,
      get body() {
        const value = text ? parseJson(text) : null;
        Object.defineProperty(this, "body", { value });
        return value;
      },
      status: response.status,
      headers: response.headers,
      charge: Number(response.headers.get("x-ms-request-charge") ?? 0),
      continuation: response.headers.get("x-ms-continuation"),
      ms: performance.now() - began,
    };
  }
}

/** @param {Response} response @param {string} text */
function errorOf(response, text) {
  let code = response.statusText || "Error";
  let message = text;
  try {
    const body = JSON.parse(text);
    code = body.code ?? code;
    message = body.message ?? text;
  } catch {
    // what stands between the page and the server has answered
  }
  const error = new ApiError(response.status, Number(response.headers.get("x-ms-substatus") ?? 0), code, "");
  error.places = placesIn(message);
  error.message = error.places.length ? error.places.map((p) => p.message).join("\n") : plainMessage(message);
  return error;
}

/** What the service wraps around its messages says nothing to people. @param {string} message */
function plainMessage(message) {
  const first = message.split(/\r?\nActivityId:/)[0];
  const wrapped = /^Message: (\{.*\})$/s.exec(first.trim());
  if (!wrapped) return first.trim();
  try {
    const inner = JSON.parse(wrapped[1]);
    return (inner.Errors ?? [first]).join("\n");
  } catch {
    return first.trim();
  }
}

/** The mistakes of a query's text, with their places. @param {string} message */
function placesIn(message) {
  const from = message.indexOf('{"errors":');
  if (from < 0) return [];
  const until = message.lastIndexOf("}");
  try {
    const { errors } = JSON.parse(message.slice(from, until + 1));
    return errors.map((/** @type {any} */ e) => ({
      start: e.location?.start ?? 0,
      end: e.location?.end ?? 0,
      message: e.message ?? e.code ?? "",
      code: e.code ?? "",
    }));
  } catch {
    return [];
  }
}
