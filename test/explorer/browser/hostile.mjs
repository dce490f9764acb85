// test/explorer/browser/hostile.mjs - data that somebody made to be more than data.
import assert from "node:assert";
import { choose, click, editorText, openExplorer, row, see, seed, setEditor, test, type, until } from "../harness.mjs";

const MARKUP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
const AFTER_MARKUP = "&lt;b&gt;${1+1}{{7*7}}";

export async function hostile(server) {
  await test("markup in ids, names and values is text wherever it is shown", async (page) => {
    const id = "<img src=x onerror=alert(1)>";
    const place = await seed(server, "<b>db<b>", "<i>coll<i>", [{ id, pk: MARKUP, [MARKUP]: AFTER_MARKUP, nested: { [MARKUP]: [MARKUP] }, n: 1 }, { id: "..", pk: "dots", n: 2 }]);
    const client = await server.client();
    await client.send("POST", [...place, "sprocs"], { body: { id: "<u>proc<u>", body: "function f() { throw new Error(" + JSON.stringify(MARKUP) + ") }" } });
    await openExplorer(page, server.http);
    await row(page, "<b>db<b>");
    await row(page, "<i>coll<i>");
    await page.waitForSelector(".grid-row");
    await page.evaluate((text) => [...document.querySelectorAll(".grid-row")].find((r) => r.innerText.includes(text)).click(), "<img");
    await until(page, () => document.querySelector(".pane .CodeMirror")?.CodeMirror.getValue().includes("onerror"));
    await click(page, "History");
    await page.waitForSelector(".versions li summary");
    await page.evaluate(() => document.querySelector(".versions summary").click());
    await click(page, "Close");
    await click(page, "Query");
    await click(page, "Run");
    await see(page, "2 rows", ".query .status");
    for (const view of ["JSON", "Tree", "Chart", "Plan"]) await click(page, view);
    await setEditor(page, `SELECT * FROM c WHERE c.x = ${MARKUP}`, ".view.query:not([hidden])");
    await click(page, "Run");
    await page.waitForSelector(".query .problem:not(:empty)");
    await row(page, "Stored procedures");
    await row(page, "<u>proc<u>");
    await until(page, () => document.querySelector(".script .CodeMirror")?.CodeMirror.getValue().includes("throw"));
    await click(page, "Run");
    await see(page, "<img src=x", ".run .problem");
    await row(page, "Changes");
    await choose(page, '.feed select[aria-label="From"]', '"0"');
    await see(page, "<img", ".feed .grid-row");
    assert.equal(await page.evaluate(() => document.querySelectorAll("img:not([src='mark.svg']), script:not([src])").length), 0, "markup became elements");
    assert.doesNotMatch(await page.title(), /owned/);
  });

  await test("shapes that are none, keys named __proto__ and long metrics break no view", async (page) => {
    const shapes = [{ type: "Point", coordinates: [1e16, 1] }, { type: "Point", coordinates: [1e16 + 4, 2] }, { type: "Polygon", coordinates: [1, 2] }, { type: "LineString", coordinates: [[1, 2], null, ["x", {}]] }, { type: "MultiPolygon", coordinates: [[[[1, 2], [3]]], 5] }];
    const place = await seed(server, "odd", "shapes", shapes.map((where, i) => ({ id: "s" + i, pk: "a", where, ["__proto__"]: { polluted: i } })));
    const client = await server.client();
    await client.send("POST", ["dbs", "odd", "colls"], { body: { id: "proto", partitionKey: { paths: ["/__proto__/headers"], kind: "Hash", version: 2 } } });
    await openExplorer(page, server.http);
    await row(page, "odd");
    await row(page, "shapes");
    await click(page, "Query");
    await click(page, "Run");
    await see(page, "5 rows", ".query .status");
    await click(page, "Map");
    await page.waitForSelector(".map");
    await setEditor(page, `SELECT * FROM c WHERE ${Array.from({ length: 400 }, (_, i) => `c["a long name of a property ${i}"] = ${i}`).join(" OR ")}`, ".view.query:not([hidden])");
    await click(page, "Run");
    await see(page, "0 rows", ".query .status");
    await click(page, "Plan");
    await page.waitForSelector(".plan");
    await row(page, "proto");
    await click(page, "New item");
    await until(page, () => [...document.querySelectorAll(".pane .CodeMirror")].some((e) => e.checkVisibility() && e.CodeMirror.getValue().includes("__proto__")));
    assert.equal(await page.evaluate(() => ({}).headers), undefined, "what all objects are was changed");
    assert.equal(place.length, 4);
  });

  await test("an item whose id is two dots is read, saved and deleted, and no other", async (page) => {
    const place = await seed(server, "dots", "all", [{ id: "..", pk: "d", n: 1 }, { id: "plain", pk: "d", n: 2 }]);
    await openExplorer(page, server.http);
    await row(page, "dots");
    await row(page, "all");
    await page.waitForSelector(".grid-row");
    await page.evaluate(() => [...document.querySelectorAll(".grid-row")].find((r) => r.innerText.includes("..")).click());
    await until(page, () => document.querySelector(".pane .CodeMirror")?.CodeMirror.getValue().includes('".."'));
    await setEditor(page, '{"id":"..","pk":"d","n":5}');
    await click(page, "Save");
    await see(page, "Saved.", ".pane");
    await click(page, "Delete", ".pane button");
    await until(page, () => document.querySelectorAll(".grid-row").length === 1);
    const client = await server.client();
    assert.equal((await client.send("GET", [...place, "docs", "plain"], { headers: { "x-ms-documentdb-partitionkey": '["d"]' } })).body.n, 2);
  });

  await test("a container or a database named by dots is told to be out of reach, and nothing else is asked for in its place", async (page) => {
    const client = await server.client();
    await seed(server, "dotted", "safe", [{ id: "1", pk: "a" }]);
    await client.send("POST", ["dbs", "dotted", "colls"], { body: { id: "..", partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } } });
    const asked = [];
    page.on("request", (request) => asked.push(request.method() + " " + new URL(request.url()).pathname));
    await openExplorer(page, server.http);
    await row(page, "dotted");
    await row(page, "..");
    await see(page, "A browser cannot ask for", ".view.items .problem");
    await click(page, "Actions for ..");
    await click(page, "Delete…");
    await type(page, "dialog input[name=typed]", "..");
    await click(page, "Delete", "dialog button");
    await see(page, "A browser cannot ask for", "dialog .problem");
    assert.ok(!asked.some((line) => line.startsWith("DELETE")), asked.join("\n"));
    assert.equal((await client.send("GET", ["dbs", "dotted", "colls"])).body.DocumentCollections.length, 2);
  });

  await test("an item of almost 2 MB is shown and saved, and half a pair of UTF-16 is refused in words", async (page) => {
    await seed(server, "large", "one", [{ id: "big", pk: "a", text: "x".repeat(1_900_000), list: Array.from({ length: 500 }, (_, i) => i) }, { id: "right", pk: "a", text: "שלום עולם abc مرحبا" }]);
    await openExplorer(page, server.http);
    await row(page, "large");
    await row(page, "one");
    await page.waitForSelector(".grid-row");
    await page.evaluate(() => [...document.querySelectorAll(".grid-row")].find((r) => r.innerText.includes("big")).click());
    await until(page, () => document.querySelector(".pane .CodeMirror")?.CodeMirror.getValue().length > 1_900_000);
    await page.evaluate(() => {
      const cm = document.querySelector(".pane .CodeMirror").CodeMirror;
      cm.setValue(cm.getValue().replace('"pk": "a"', '"pk": "a", "more": true'));
    });
    await click(page, "Save");
    await see(page, "Saved.", ".pane");
    await page.evaluate(() => [...document.querySelectorAll(".grid-row")].find((r) => r.innerText.includes("right")).click());
    await until(page, () => document.querySelector(".pane .CodeMirror")?.CodeMirror.getValue().includes("שלום"));
    await setEditor(page, '{"id":"right","pk":"a","text":"\\ud800"}');
    await click(page, "Save");
    await see(page, "lone surrogate", ".pane .problem");
    assert.match(await editorText(page), /ud800/);
    await page.evaluate(() => [...document.querySelectorAll(".pane .CodeMirror")].find((e) => e.checkVisibility()).CodeMirror.setValue('{"id":"right","pk":"a","text":"' + "\ud800" + '"}'));
    await page.waitForSelector(".pane .mistake");
    await click(page, "Save");
    await see(page, "That is not JSON yet.", ".pane");
    await type(page, ".where input", "c.id = 'right'");
  });
}
