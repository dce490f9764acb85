// test/explorer/harness.mjs - servers, a browser, and tests that end with "N passed, M failed".
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import puppeteer from "puppeteer-core";
import { Client } from "../../explorer/api/client.js";
import { keyHeader } from "../../explorer/api/items.js";
import { WELL_KNOWN_KEY, keyCredential } from "../../explorer/api/sign.js";

const LONGEST_MS = 60_000; // for whatever is waited for: a slow machine passes, a page that hangs does not
const READY = /listening on (http:\/\/\S+)(?: and (https:\/\/\S+))?/;

/** A server with a directory of its own. */
export class Server {
  constructor(options = []) {
    this.options = options;
    this.listen = "127.0.0.1:0";
  }
  async start() {
    this.directory ??= await mkdtemp(path.join(tmpdir(), "orrery-explorer-"));
    const options = typeof this.options === "function" ? await this.options(this.directory) : this.options;
    this.process = spawn(process.env.ORRERY_PROGRAM, ["serve", "--listen", this.listen, "--data", path.join(this.directory, "data"), "--log", "warn", ...options], { stdio: ["ignore", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    let said = "";
    for await (const piece of this.process.stdout) {
      said += piece;
      const ready = READY.exec(said);
      if (ready) {
        [, this.http, this.https] = ready;
        this.listen = new URL(this.http).host; // once more there when it starts again
        break;
      }
    }
    if (!this.http) throw new Error("the server did not start: " + said);
    return this;
  }
  async kill(signal = "SIGKILL") {
    this.process.kill(signal);
    await this.ended;
  }
  async stop() {
    await this.kill("SIGTERM");
    await rm(this.directory, { recursive: true, force: true });
  }
  /** Sends requests as the page does, for what a test needs beforehand. */
  async client(key = WELL_KNOWN_KEY) {
    const made = new Client(await keyCredential(key));
    const send = made.send.bind(made);
    const base = this.http;
    made.send = (method, where, options) => {
      const plain = globalThis.fetch;
      globalThis.fetch = (place, more) => plain(base + place, more);
      const sent = send(method, where, options);
      return sent.finally(() => (globalThis.fetch = plain));
    };
    return made;
  }
}

/** One after the other: the fetch of client() is not shared. */
export async function seed(server, database, container, items = [], more = {}) {
  const client = await server.client();
  const ignore409 = (error) => {
    if (error.status !== 409) throw error;
  };
  await client.send("POST", ["dbs"], { body: { id: database } }).catch(ignore409);
  await client.send("POST", ["dbs", database, "colls"], { body: { id: container, partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 }, ...more } });
  for (const item of items) await client.send("POST", ["dbs", database, "colls", container, "docs"], { body: item, headers: { "x-ms-documentdb-partitionkey": keyHeader([item.pk]) } });
  return ["dbs", database, "colls", container];
}

let browser;
let passed = 0;
let failed = 0;
const filter = process.argv[2] ?? "";

export const isWanted = (name) => name.includes(filter);

export async function startBrowser() {
  browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, acceptInsecureCerts: true, protocolTimeout: 3 * LONGEST_MS, timeout: LONGEST_MS,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-prefers-reduced-motion"] });
}

/** Notices go by themselves after some seconds, and a slow machine would look too late. */
function keepNotices() {
  const plain = window.setTimeout;
  window.setTimeout = (run, ms, ...rest) => (String(run).includes("note.remove") ? 0 : plain(run, ms, ...rest));
}

/** The test gets a page of its own; what a page throws, what its policy forbids and what it asks elsewhere fails it, unless it `attacks`. */
export async function test(name, run, { attacks = false } = {}) {
  if (!isWanted(name)) return;
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const faults = [];
  page.setDefaultTimeout(LONGEST_MS);
  await page.setViewport({ width: 1280, height: 800 });
  page.on("pageerror", (error) => faults.push("the page threw: " + error.message));
  page.on("console", (message) => !attacks && /Content Security Policy|Refused to/.test(message.text()) && faults.push(message.text()));
  page.on("dialog", (dialog) => dialog.accept());
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (/^https?:/.test(url.protocol) && !["127.0.0.1", "localhost"].includes(url.hostname)) faults.push("it asked " + url.href);
  });
  await page.evaluateOnNewDocument(keepNotices);
  try {
    await run(page, context);
    if (faults.length) throw new Error(faults.join("\n"));
    passed++;
    console.log("ok      " + name);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}\n${faults.join("\n")}`);
    await page.screenshot({ path: path.join(tmpdir(), `explorer-${failed}.png`) }).catch(() => {});
    console.log(`repeat: test/explorer/run browser "${name}"`);
  }
  await context.close();
}

export async function finish(servers) {
  await browser.close();
  for (const server of servers) await server.stop();
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

/** What people see, and click by its words. */
export const see = (page, text, within = "body") =>
  page.waitForFunction((words, place) => [...document.querySelectorAll(place)].some((e) => e.checkVisibility() && e.innerText.includes(words)), {}, text, within);

export async function click(page, text, selector = "button") {
  for (let done = false; !done; ) {
    const handle = await page.waitForFunction((words, css) => [...document.querySelectorAll(css)].find((e) => e.checkVisibility() && !e.disabled && (e.innerText.trim() === words || e.getAttribute("aria-label") === words)), {}, text, selector);
    try {
      await handle.click();
      done = true;
    } catch (error) {
      if (await handle.evaluate((e) => e.isConnected)) throw error; // else it was drawn anew meanwhile, and another is in its place
    }
  }
}

/** A row that is open stays so: the only database opens by itself. */
export async function row(page, name) {
  const found = await page.waitForSelector(`.tree-row[aria-label="${CSS_escape(name)}"]`, { visible: true });
  if ((await found.evaluate((e) => e.getAttribute("aria-expanded"))) !== "true") await found.click();
}
const CSS_escape = (text) => text.replace(/["\\]/g, "\\$&");

export async function type(page, selector, text) {
  const input = await page.waitForSelector(selector, { visible: true });
  await input.click({ count: 3 });
  await input.type(text);
}

export async function choose(page, selector, value) {
  await page.waitForSelector(selector, { visible: true });
  await page.select(selector, value);
}

/** What the page would give the browser to keep: its name and its text. */
export async function downloaded(page, run) {
  await page.evaluate(() => {
    window.kept = [];
    const plain = HTMLAnchorElement.prototype.click;
    HTMLAnchorElement.prototype.click = function () {
      if (!this.download) return plain.call(this);
      window.kept.push({ name: this.download, blob: window.lastBlob });
    };
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => ((window.lastBlob = blob), make.call(URL, blob));
  });
  await run();
  await page.waitForFunction(() => window.kept.length > 0);
  return page.evaluate(async () => ({ name: window.kept[0].name, text: await window.kept[0].blob.text() }));
}

/** The text of the editor that can be seen. */
export const setEditor = (page, text, within = ".view:not([hidden])") =>
  page.evaluate((words, place) => [...document.querySelectorAll(`${place} .CodeMirror`)].find((e) => e.checkVisibility()).CodeMirror.setValue(words), text, within);
export const editorText = (page, within = ".view:not([hidden])") =>
  page.evaluate((place) => [...document.querySelectorAll(`${place} .CodeMirror`)].find((e) => e.checkVisibility())?.CodeMirror.getValue() ?? "", within);

export async function openExplorer(page, base) {
  await page.goto(base + "/_explorer/");
  await page.waitForSelector(".shell");
}

export const until = (page, check, ...values) => page.waitForFunction(check, {}, ...values);
export { writeFile, path };
