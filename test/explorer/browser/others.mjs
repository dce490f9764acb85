// test/explorer/browser/others.mjs - scripts, users, changes, the start page, figures, looks, and what screen readers need.
import assert from "node:assert";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { choose, click, openExplorer, row, see, seed, setEditor, test, type, until } from "../harness.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe calls serious or critical, in a page that the policy lets run no foreign script: it comes by the debugger. */
async function accessible(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
    .filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 140)).slice(0, 3).join(" | ")}`));
  assert.equal(found.length, 0, `${what}\n${found.join("\n")}`);
}

export async function others(server) {
  await test("a stored procedure is written, saved and run, with its console", async (page) => {
    await seed(server, "scripts", "run", [{ id: "1", pk: "key" }]);
    await openExplorer(page, server.http);
    await row(page, "scripts");
    await row(page, "run");
    await click(page, "Actions for Stored procedures");
    await click(page, "New stored procedure");
    await type(page, '.script input[aria-label="Id"]', "hello");
    await setEditor(page, "function hello(name) { console.log('said ü'); console.log('ü'.repeat(9000)); getContext().getResponse().setBody({ hello: name }); }");
    await click(page, "Save");
    await page.waitForSelector('.tree-row[aria-label="hello"], .tab.active');
    await until(page, () => document.querySelector(".tab.active")?.innerText.includes("hello"));
    await click(page, "Run");
    await see(page, '"hello": "world"', ".output");
    await see(page, "said ü", ".output.log");
    await type(page, '.script input[aria-label^="Arguments"]', "5");
    await click(page, "Run");
    await see(page, "Arguments are a JSON array", ".run .problem");
  });

  await test("a user gets a permission, whose token is copied", async (page, context) => {
    await seed(server, "people", "theirs");
    await context.overridePermissions(server.http, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
    await openExplorer(page, server.http);
    await row(page, "people");
    await click(page, "Actions for Users");
    await click(page, "New user");
    await type(page, "dialog input[name=id]", "ann");
    await click(page, "Create");
    await click(page, "New permission");
    await type(page, "dialog input[name=id]", "reads");
    await click(page, "Create", "dialog button");
    await see(page, "dbs/people/colls/theirs", ".user");
    await click(page, "Copy connection string");
    await see(page, "Copied");
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /^AccountEndpoint=http:\/\/127\.0\.0\.1:\d+\/;AccountKey=type=resource&ver=1&sig=/);
  });

  await test("changes appear as they are committed, deletes too where all versions are wanted", async (page) => {
    const place = await seed(server, "feeds", "live", [{ id: "old", pk: "a" }]);
    const client = await server.client();
    const key = { "x-ms-documentdb-partitionkey": '["a"]' };
    await openExplorer(page, server.http);
    await row(page, "feeds");
    await row(page, "live");
    await row(page, "Changes");
    await see(page, "No changes yet", ".feed");
    await choose(page, '.feed select[aria-label="From"]', '"0"');
    await see(page, "old", ".feed .grid-row");
    await choose(page, '.feed select[aria-label="Changes"]', "all");
    await see(page, "create", ".feed .grid-row");
    await client.send("DELETE", [...place, "docs", "old"], { headers: key });
    await see(page, "delete", ".feed .grid-row");
  });

  await test("the samples are loaded with one click, and their queries run", async (page) => {
    await openExplorer(page, server.http);
    await click(page, "Load samples");
    await (await page.waitForSelector(".queries button")).click();
    await click(page, "Run");
    await see(page, "12 rows", ".query .status");
    for (const name of ["Python", "C#", "Java", "Go", "Rust", "C"]) {
      await click(page, "Start", ".tab-title");
      await click(page, name, ".snippets button");
      await see(page, server.http, ".code");
    }
  });

  await test("nothing serious stands between the page and a screen reader, light and dark", async (page) => {
    await seed(server, "axe", "all", [{ id: "1", pk: "a", n: 1 }, { id: "2", pk: "b", n: 2 }]);
    await openExplorer(page, server.http);
    await row(page, "axe");
    await accessible(page, "start");
    for (const look of ["light", "dark"]) {
      await row(page, look === "light" ? "all" : "Items");
      await (await page.waitForSelector(".grid-row")).click();
      await until(page, () => document.querySelector(".pane .CodeMirror")?.CodeMirror.getValue().includes('"n"'));
      await accessible(page, "items, " + look);
      await click(page, "Query");
      await click(page, "Run");
      await see(page, "2 rows", ".query:not([hidden]) .status");
      await accessible(page, "query, " + look);
      await page.evaluate(() => [...document.querySelectorAll(".query:not([hidden]) [data-view=plan]")].at(-1).click());
      await accessible(page, "plan, " + look);
      await row(page, "Settings");
      await page.waitForSelector(".settings .CodeMirror");
      await accessible(page, "settings, " + look);
      await click(page, "Now");
      await see(page, "document_create", ".now");
      await accessible(page, "now, " + look);
      await click(page, "Modelling");
      await until(page, () => document.querySelectorAll(".modelling option").length > 0);
      await click(page, "Look");
      await see(page, "What was looked at", ".modelling");
      await accessible(page, "modelling, " + look);
      await click(page, "Light or dark");
    }
    await click(page, "New database");
    await accessible(page, "a window");
  });

  await test("everything is done without a pointer: a container opened, an item made, sorted, asked for, a tab closed", async (page) => {
    await seed(server, "keys", "only", [{ id: "b", pk: "a", n: 1 }, { id: "a", pk: "a", n: 2 }]);
    await openExplorer(page, server.http);
    const press = (...names) => names.reduce((before, name) => before.then(() => page.keyboard.press(name)), Promise.resolve());
    const reach = async (label, key = "Tab") => {
      const isThere = () => page.evaluate((words) => [document.activeElement?.innerText?.trim(), document.activeElement?.getAttribute("aria-label")].includes(words), label);
      for (let i = 0; i < 80 && !(await isThere()); i++) await page.keyboard.press(key);
      assert.ok(await isThere(), label + " is not reached by " + key);
    };
    await page.waitForSelector('.tree-row[aria-label="keys"]');
    await page.focus(".tree .filter");
    await page.keyboard.type("keys");
    await until(page, () => document.querySelectorAll('.tree-row[aria-level="1"]').length === 1);
    await reach("keys");
    await press("ArrowRight");
    await page.waitForSelector('.tree-row[aria-label="only"]');
    await reach("only", "ArrowDown");
    await press("Enter");
    await page.waitForSelector(".view.items .grid-row");
    await reach("New item");
    await press("Enter");
    await until(page, () => document.activeElement?.closest(".CodeMirror"));
    await page.keyboard.down("Control");
    await press("a");
    await page.keyboard.up("Control");
    await page.keyboard.type('{"id":"c","pk":"a","n":3');
    await page.keyboard.down("Control");
    await press("s");
    await page.keyboard.up("Control");
    await see(page, "Saved.", ".pane");
    await page.focus(".view.items .filter");
    await reach("n");
    await press("Enter");
    await until(page, () => document.querySelector(".grid-row .cell-text")?.innerText === "b");
    await page.focus(".view.items .grid-scroll");
    await press("End", "Enter");
    await see(page, "c", ".pane h2");
    await press(" ");
    await see(page, "Delete item", ".bar");
    await page.focus(".tab.active .tab-title");
    await press("Delete");
    await until(page, () => !document.querySelector(".view.items"));
    await page.focus('.tree-row[aria-label="only"]');
    await page.keyboard.down("Shift");
    await press("F10");
    await page.keyboard.up("Shift");
    await page.waitForSelector(".menu .entry");
    await press("Enter");
    await page.waitForSelector(".view.query .CodeMirror");
    await page.focus(".view.query .CodeMirror [role=textbox]");
    await page.keyboard.down("Control");
    await press("Enter");
    await page.keyboard.up("Control");
    await see(page, "3 rows", ".query .status");
  });

  await test("text that is written from the right begins there, and stays within its place", async (page) => {
    const text = "שלום עולם — مرحبا بالعالم";
    await seed(server, "right", "מיכל", [{ id: text, pk: text, text }, { id: "left", pk: "a", text: "plain" }]);
    await openExplorer(page, server.http);
    await row(page, "right");
    await row(page, "מיכל");
    await page.waitForSelector(".grid-row");
    const sides = await page.evaluate(() => [...document.querySelectorAll(".grid-row")].map((r) => {
      const cell = r.querySelector(".cell-text");
      const range = document.createRange();
      range.selectNodeContents(cell);
      const [inner, outer] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
      return { text: cell.innerText, isLeft: inner.left - outer.left < outer.right - inner.right, fits: cell.clientWidth <= outer.width + 1 };
    }));
    assert.deepEqual(sides.map((s) => [s.text.startsWith("left"), s.isLeft]).sort(), [[false, false], [true, true]]);
    await page.evaluate(() => [...document.querySelectorAll(".grid-row")].find((r) => r.innerText.includes("שלום")).click());
    await until(page, () => document.querySelector(".pane h2")?.innerText.includes("שלום"));
    assert.equal(await page.$eval(".pane h2", (e) => e.dir), "auto");
  });

  await test("a narrow window has no sideways scrolling, and the look is kept", async (page) => {
    await seed(server, "slim", "one", [{ id: "1", pk: "a" }]);
    await page.setViewport({ width: 400, height: 760 });
    await openExplorer(page, server.http);
    await click(page, "Light or dark");
    await row(page, "slim");
    await row(page, "one");
    await (await page.waitForSelector(".grid-row")).click();
    await see(page, "1", ".pane h2");
    const fits = async (what) => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector(".content").scrollWidth <= innerWidth), what + " is wider than the window");
    await fits("an item");
    for (const [tab, seen] of [["Now", ".now .heat"], ["Modelling", ".modelling select"], ["Start", ".snippets"]]) {
      await click(page, tab, ".top button");
      await page.waitForSelector(seen);
      await fits(tab);
    }
    await row(page, "Settings");
    await page.waitForSelector(".settings .CodeMirror");
    await fits("Settings");
    await row(page, "Items");
    await click(page, "Query");
    await page.waitForSelector(".view.query .CodeMirror");
    await fits("Query");
    await page.reload();
    await until(page, () => document.documentElement.dataset.theme === "dark");
  });
}
