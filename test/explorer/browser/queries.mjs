// test/explorer/browser/queries.mjs - queries: mistakes, pages, forms of results, plans, memory.
import assert from "node:assert";
import { click, editorText, openExplorer, row, see, seed, setEditor, test, type, until } from "../harness.mjs";

const ROWS = 100_000;

async function run(page, text) {
  await setEditor(page, text, ".view.query:not([hidden])");
  await click(page, "Run");
}

async function open(page, server, database, container) {
  await openExplorer(page, server.http);
  await row(page, database);
  await row(page, container);
  await click(page, "Query");
  await page.waitForSelector(".view.query .CodeMirror");
}

/* The list is about all that was typed, and this stands first: before that, Enter would choose from an older list. */
const offered = (page, first) =>
  until(page, (wanted) => {
    const editor = [...document.querySelectorAll(".view.query .CodeMirror")].find((e) => e.checkVisibility())?.CodeMirror;
    const active = editor?.state.completionActive;
    return active?.widget && active.data.list[0]?.text === wanted && active.data.to.ch === editor.getCursor().ch;
  }, first);

export async function queries(server) {
  const rows = Array.from({ length: 330 }, (_, i) => ({ id: "r" + i, pk: "p" + (i % 4), n: i, place: { type: "Point", coordinates: [i % 50, i % 40] }, v: [i % 7, i % 5, i % 3] }));
  await seed(server, "ask", "rows", rows);

  await test("a query runs, comes page by page as it is scrolled, and tells its charge", async (page) => {
    await open(page, server, "ask", "rows");
    await run(page, "SELECT c.id, c.n FROM c ORDER BY c.n");
    await see(page, "100+ rows", ".query .status");
    await see(page, "RU", ".query .status");
    for (const text of ["200+ rows", "300+ rows"]) {
      await page.$eval(".query .grid-scroll", (e) => (e.scrollTop = e.scrollHeight));
      await see(page, text, ".query .status");
    }
    await page.$eval(".query .grid-scroll", (e) => (e.scrollTop = e.scrollHeight));
    await see(page, "330 rows", ".query .status");
    await page.$eval(".query .grid-scroll", (e) => (e.scrollTop = e.scrollHeight));
    await until(page, () => [...document.querySelectorAll(".query .grid-row .cell-text")].some((e) => e.innerText === "r329"));
  });

  await test("mistakes are underlined where they are", async (page) => {
    await open(page, server, "ask", "rows");
    await run(page, "SELECT FOO(c.x), BAR(2)\nFROM c");
    await see(page, "'FOO' is not a recognized built-in function name.", ".query .problem");
    await until(page, () => document.querySelectorAll(".query .mistake").length === 2);
    assert.deepEqual(await page.$$eval(".query .mistake", (list) => list.map((e) => e.textContent)), ["FOO", "BAR"]);
  });

  await test("rows are a table, JSON, a tree, a chart, a map, a scatter of vectors; the plan is drawn", async (page) => {
    await open(page, server, "ask", "rows");
    await run(page, "SELECT c.id, c.n, c.place, c.v FROM c WHERE c.n < 40 AND (c.pk = 'p1' OR c.pk = 'p2')");
    await see(page, "20 rows", ".query .status");
    await click(page, "JSON");
    await until(page, () => document.querySelector(".results .CodeMirror")?.CodeMirror.getValue().includes('"coordinates"'));
    await click(page, "Tree");
    await (await page.waitForSelector(".value-tree summary")).click();
    await see(page, "place", ".value-tree");
    await click(page, "Chart");
    await page.waitForSelector(".chart canvas");
    await until(page, () => window.Chart && Object.keys(window.Chart.instances).length === 1);
    await click(page, "Map");
    await until(page, () => document.querySelectorAll(".map circle").length === 20);
    await click(page, "Vectors");
    await page.waitForSelector(".chart canvas");
    await click(page, "Plan");
    await see(page, "documents seen", ".plan");
    await until(page, () => document.querySelectorAll(".plan-tree li").length >= 3);
    await see(page, "retrieved document count", ".plan");
  });

  await test("a query is kept, and found in the history", async (page) => {
    await open(page, server, "ask", "rows");
    await run(page, "SELECT VALUE COUNT(1) FROM c");
    await see(page, "330", ".query .grid-row");
    await click(page, "Keep");
    await type(page, "dialog input[name=name]", "how many");
    await click(page, "Save", "dialog button");
    await setEditor(page, "SELECT 1", ".view.query:not([hidden])");
    await click(page, "Kept");
    await (await page.waitForSelector(".menu .entry")).click();
    assert.equal(await editorText(page), "SELECT VALUE COUNT(1) FROM c");
    await click(page, "History");
    await see(page, "SELECT VALUE COUNT(1) FROM c", ".menu");
    await page.keyboard.press("Escape");
    await click(page, "Compare");
    await until(page, () => document.querySelectorAll("dialog .run-of").length === 2);
    await see(page, "Index: without", "dialog");
  });

  await test("paths of the data and functions are offered while one types", async (page) => {
    await open(page, server, "ask", "rows");
    await page.waitForFunction(() => document.querySelector(".view.query .CodeMirror"));
    await setEditor(page, "", ".view.query:not([hidden])");
    await page.focus(".view.query .CodeMirror [role=textbox]");
    await page.keyboard.type("SELECT c.pla");
    await offered(page, "c.place");
    await page.keyboard.press("Enter");
    await page.keyboard.type(", ARRAY_LEN");
    await see(page, "how many elements", ".CodeMirror-hints");
    await offered(page, "ARRAY_LENGTH");
    await page.keyboard.press("Enter");
    assert.equal(await editorText(page), "SELECT c.place, ARRAY_LENGTH");
  });

  await test("a hundred thousand rows are scrolled with few elements, and none is made; of three million all are reached", async (page) => {
    await openExplorer(page, server.http);
    const seen = await page.evaluate(async (count) => {
      const { Grid, columnsOf } = await import("/_explorer/views/grid.js");
      const grid = new Grid({ label: "many" });
      grid.element.style.cssText = "position:fixed;inset:0;height:600px;background:white;z-index:9";
      document.body.append(grid.element);
      const list = Array.from({ length: count }, (_, i) => ({ id: "row-" + i, a: i, b: "text " + i, c: { d: i } }));
      grid.setColumns(columnsOf(list));
      grid.setRows(list);
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      let most = 0;
      let made = 0;
      await frame();
      await frame();
      new MutationObserver((changes) => (made += changes.reduce((sum, change) => sum + change.addedNodes.length, 0))).observe(grid.body, { childList: true, subtree: true });
      const began = performance.now();
      for (let i = 0; i < 120; i++) {
        grid.scroller.scrollTop = (i / 119) * grid.scroller.scrollHeight;
        await frame();
        most = Math.max(most, grid.body.children.length);
      }
      await frame();
      await frame();
      const frames = 120 / ((performance.now() - began) / 1000);
      const last = grid.body.innerText.includes("row-" + (count - 1));
      const scrolled = made;
      const many = Array.from({ length: 3e6 }, (_, i) => i);
      const shows = async (n) => {
        await frame();
        await frame();
        return [...grid.body.querySelectorAll(".grid-row")].some((r) => {
          const box = r.getBoundingClientRect();
          return r.innerText.trim() === String(n) && box.top >= 31 && box.bottom <= 601;
        });
      };
      grid.setColumns(columnsOf(many));
      grid.setRows(many);
      const far = [await shows(0)];
      grid.activate(many.length - 1);
      far.push(await shows(many.length - 1));
      grid.scroller.scrollTop = 0;
      await frame();
      grid.scroller.scrollTop = grid.scroller.scrollHeight;
      far.push(await shows(many.length - 1));
      return { most, made: scrolled, far, frames, last };
    }, ROWS);
    assert.deepEqual(seen.far, [true, true, true], "of three million rows the first, the one of the End key and the last are not all shown");
    assert.ok(seen.most < 60, `${seen.most} rows are elements`);
    assert.ok(seen.made < 20, `scrolling made ${seen.made} elements`); // a page that is longer shows more rows than its beginning
    assert.ok(seen.last, "the last row is not shown");
    console.log(`        ${seen.frames.toFixed(0)} frames a second`);
  });
}
