// test/explorer/browser/hours.mjs - the last hour, advice on the model, queries of an earlier moment.
import assert from "node:assert";
import { choose, click, downloaded, openExplorer, row, see, seed, setEditor, test, type, until } from "../harness.mjs";

const KEY = (key) => ({ "x-ms-documentdb-partitionkey": JSON.stringify([key]) });

async function openQuery(page, server, database, container) {
  await openExplorer(page, server.http);
  await row(page, database);
  await row(page, container);
  await click(page, "Query");
  await page.waitForSelector(".view.query .CodeMirror");
}

export async function hours(server) {
  await test("Now shows what was before it was opened: hot keys, ranges, slow queries with their plans", async (page) => {
    const key = '<img src=x onerror="document.title=1">';
    const place = await seed(server, "busy", "now", Array.from({ length: 30 }, (_, i) => ({ id: String(i), pk: key, n: i })));
    const client = await server.client();
    const slow = `SELECT VALUE COUNT(1) FROM c JOIN a IN (SELECT VALUE [${Array.from({ length: 400 }, (_, i) => i)}]) JOIN b IN a WHERE b >= 0 AND c.n >= 0`;
    const isKept = async () => JSON.parse((await client.send("GET", ["_orrery", "now"])).text).slow.some((one) => one.query?.startsWith("SELECT VALUE COUNT"));
    while (!(await isKept()))
      await client.send("POST", [...place, "docs"], { body: { query: slow }, headers: { ...KEY(key), "content-type": "application/query+json", "x-ms-documentdb-isquery": "true" } });
    await openExplorer(page, server.http);
    await click(page, "Now");
    await see(page, "commits in a group", ".now");
    await see(page, "document_create", ".now");
    await see(page, "busy / now", ".heat");
    await see(page, '["<img src=x', ".heat th");
    await until(page, () => document.querySelectorAll(".heat-strip rect").length >= 2);
    await until(page, () => Object.values(window.Chart?.instances ?? {}).length === 7);
    await until(page, () => Object.values(window.Chart.instances).every((chart) => chart.data.labels.length > 1)); // from the ring, and as time goes by
    assert.equal(await page.$eval(".now .problem", (e) => e.innerText), "");
    await page.evaluate(() => {
      document.querySelector('[aria-label="Hot partition keys"]').focus();
      window.before = document.querySelector(".heat");
    });
    await until(page, () => document.querySelector(".heat") !== window.before);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Hot partition keys", "the place that somebody reads is taken away");
    await page.evaluate(() => [...document.querySelectorAll(".slow summary")].find((e) => e.innerText.includes("SELECT VALUE COUNT")).click());
    await see(page, "documents seen", ".slow .plan-tree");
    await click(page, "Open as a query", ".slow details[open] button");
    await until(page, () => document.querySelector(".view.query .CodeMirror")?.CodeMirror.getValue().startsWith("SELECT VALUE COUNT"));
    assert.equal(await page.evaluate(() => document.querySelectorAll(".now img").length), 0);
  });

  await test("Modelling says what is wrong, with the evidence and what to do", async (page) => {
    const items = Array.from({ length: 40 }, (_, i) => ({ id: "p" + i, pk: "a", type: "publisher", books: Array.from({ length: i === 7 ? 900 : 3 }, (_, b) => "book" + b) }));
    await seed(server, "advice", "shelf", items);
    await openExplorer(page, server.http);
    await click(page, "Modelling");
    await until(page, () => [...document.querySelectorAll(".modelling option")].some((o) => o.value === "dbs/advice/colls/shelf"));
    await choose(page, ".modelling select", "dbs/advice/colls/shelf");
    await click(page, "Look");
    await see(page, "An array grows without bound", ".finding");
    await see(page, "/books", ".finding");
    await page.evaluate(() => document.querySelector(".finding summary").click());
    await see(page, "p7", ".finding .value-tree");
    await see(page, "advice / shelf", ".report table");
    await click(page, "Open the items", ".finding button");
    await until(page, () => document.querySelector(".tab.active")?.innerText.includes("shelf"));
  });

  await test("a query is asked as of an earlier moment, and compared side by side", async (page) => {
    const place = await seed(server, "then", "was", [{ id: "1", pk: "a", v: "first" }]);
    const client = await server.client();
    const lsn = (await client.send("GET", [...place, "docs", "1"], { headers: KEY("a") })).headers.get("lsn");
    await client.send("PUT", [...place, "docs", "1"], { body: { id: "1", pk: "a", v: "second" }, headers: KEY("a") });
    await openQuery(page, server, "then", "was");
    await setEditor(page, "SELECT c.v FROM c", ".view.query:not([hidden])");
    await click(page, "Run");
    await see(page, "second", ".query .grid-row");
    await type(page, ".as-of", lsn);
    await page.keyboard.press("Enter");
    await see(page, "first", ".query .grid-row");
    await see(page, "as of " + lsn, ".query .status");
    await click(page, "Compare");
    await until(page, () => document.querySelectorAll("dialog .run-of").length === 3);
    await see(page, "the same rows", "dialog .run-of:nth-child(2)");
    await see(page, "other rows", "dialog .run-of:nth-child(3)");
    await click(page, "Close", "dialog button");
    await type(page, ".as-of", "the day before yesterday");
    await click(page, "Run");
    await see(page, "A moment is", ".query .problem");
  });

  await test("rows are exported as JSON and as CSV that no spreadsheet computes", async (page) => {
    await seed(server, "exports", "all", [{ id: "=cmd()", pk: "a", n: 9007199254740993n.toString().length }, { id: "plain", pk: "a,b", n: 2 }]);
    await openQuery(page, server, "exports", "all");
    await setEditor(page, "SELECT c.id, c.pk FROM c ORDER BY c.id", ".view.query:not([hidden])");
    await click(page, "Export", ".query button");
    const csv = await downloaded(page, () => click(page, "Export: CSV, for a spreadsheet", ".menu .entry"));
    assert.deepEqual(csv, { name: "query.csv", text: "id,pk\r\n'=cmd(),a\r\nplain,\"a,b\"\r\n" });
    await row(page, "Items");
    await click(page, "More", ".items button");
    const lines = await downloaded(page, () => click(page, "Export: JSON, one row a line", ".menu .entry"));
    assert.equal(lines.name, "all.jsonl");
    assert.deepEqual(lines.text.trim().split("\n").map((line) => JSON.parse(line).id).sort(), ["=cmd()", "plain"]);
  });
}
