// test/explorer/browser/items.mjs - items are made, changed, merged, deleted, brought back, imported.
import assert from "node:assert";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { click, editorText, openExplorer, path, row, see, seed, setEditor, test, type, until, writeFile } from "../harness.mjs";

const many = (n) => Array.from({ length: n }, (_, i) => ({ id: "item-" + String(i).padStart(4, "0"), pk: "p" + (i % 3), n: i, nested: { deep: [i] } }));

async function open(page, server, database, container) {
  await openExplorer(page, server.http);
  await row(page, database);
  await row(page, container);
  await page.waitForSelector(".view.items .grid");
}

export async function items(server) {
  await test("an item is made, changed, duplicated, deleted and brought back", async (page) => {
    const place = await seed(server, "life", "of");
    const client = await server.client();
    const read = async (id) => (await client.send("GET", [...place, "docs", id], { headers: { "x-ms-documentdb-partitionkey": '["k"]' } })).body;
    await open(page, server, "life", "of");
    await click(page, "New item");
    await setEditor(page, '{"id":"one","pk":"k","big":9007199254740993}');
    await click(page, "Save");
    await see(page, "Saved.", ".pane");
    assert.match(await editorText(page), /9007199254740993/, "digits were lost");
    await setEditor(page, (await editorText(page)).replace("9007199254740993", "9007199254740995"));
    await page.focus(".pane .CodeMirror [role=textbox]");
    await page.keyboard.down("Control");
    await page.keyboard.press("s");
    await page.keyboard.up("Control");
    await until(page, () => document.querySelector(".pane .status").innerText.includes("Saved."));
    assert.match((await client.send("GET", [...place, "docs", "one"], { headers: { "x-ms-documentdb-partitionkey": '["k"]' } })).text, /9007199254740995/);
    await click(page, "Duplicate");
    await until(page, () => document.querySelector(".pane h2").innerText === "New item");
    await setEditor(page, '{"id":"two","pk":"k"}');
    await click(page, "Save");
    await until(page, () => document.querySelectorAll(".grid-row").length === 2);
    await click(page, "Delete", ".pane button");
    await until(page, () => document.querySelectorAll(".grid-row").length === 1);
    await click(page, "Undo");
    await until(page, () => document.querySelectorAll(".grid-row").length === 2);
    assert.equal((await read("two")).id, "two");
  });

  await test("what is no JSON is marked where it is, and not saved", async (page) => {
    await seed(server, "marks", "bad");
    await open(page, server, "marks", "bad");
    await click(page, "New item");
    await setEditor(page, '{"id": "x",, }');
    await page.waitForSelector(".pane .mistake");
    await click(page, "Save");
    await see(page, "That is not JSON yet.", ".pane");
  });

  await test("a change that somebody else made meanwhile is merged, and a conflict is decided", async (page) => {
    const place = await seed(server, "merge", "all", [{ id: "1", pk: "a", mine: 1, theirs: 1, both: 1 }]);
    await open(page, server, "merge", "all");
    await (await page.waitForSelector(".grid-row")).click();
    await until(page, () => document.querySelector(".pane .CodeMirror")?.CodeMirror.getValue().includes("both"));
    const client = await server.client();
    await client.send("PUT", [...place, "docs", "1"], { body: { id: "1", pk: "a", mine: 1, theirs: 2, both: 2 }, headers: { "x-ms-documentdb-partitionkey": '["a"]' } });
    await setEditor(page, '{"id":"1","pk":"a","mine":3,"theirs":1,"both":3}');
    await click(page, "Save");
    await see(page, "Somebody changed this item meanwhile", "dialog");
    assert.equal(await page.$$eval("dialog tr.clash", (list) => list.length), 1);
    await page.click('dialog tr.clash input[value="theirs"]');
    await click(page, "Save merged");
    await see(page, "Saved.", ".pane");
    const now = (await client.send("GET", [...place, "docs", "1"], { headers: { "x-ms-documentdb-partitionkey": '["a"]' } })).body;
    assert.deepEqual([now.mine, now.theirs, now.both], [3, 2, 2]);
  });

  await test("the list is filtered, sorted, loaded as it is scrolled, and many are deleted", async (page) => {
    await seed(server, "lists", "long", many(450));
    await open(page, server, "lists", "long");
    await see(page, "200 of 450 items", ".items .status");
    await page.$eval(".grid-scroll", (e) => (e.scrollTop = e.scrollHeight));
    await see(page, "400 of 450 items", ".items .status");
    await page.$eval(".grid-scroll", (e) => (e.scrollTop = e.scrollHeight));
    await see(page, "450 of 450 items", ".items .status");
    await type(page, ".where input", "c.n < 5");
    await page.keyboard.press("Enter");
    await see(page, "5 found", ".items .status");
    await page.evaluate(() => [...document.querySelectorAll(".sort")].find((b) => b.innerText === "n").click());
    await page.evaluate(() => [...document.querySelectorAll(".sort")].find((b) => b.innerText === "n").click());
    await until(page, () => document.querySelector(".grid-row .cell-text")?.innerText === "item-0004");
    await page.click(".grid-head input[type=checkbox]");
    await click(page, "Delete 5 items");
    await click(page, "Delete 5 items", "dialog button");
    await see(page, "Nothing matches the filter.");
    await click(page, "Undo");
    await until(page, () => document.querySelectorAll(".grid-row").length === 5);
    await type(page, ".where input", "c.n <");
    await page.keyboard.press("Enter");
    await see(page, "Syntax error", ".problem");
  });

  await test("the history of an item comes from the log", async (page) => {
    const place = await seed(server, "past", "tense", [{ id: "1", pk: "a", v: "first" }]);
    const client = await server.client();
    await client.send("PUT", [...place, "docs", "1"], { body: { id: "1", pk: "a", v: "second" }, headers: { "x-ms-documentdb-partitionkey": '["a"]' } });
    await open(page, server, "past", "tense");
    await (await page.waitForSelector(".grid-row")).click();
    await until(page, () => document.querySelector(".pane .CodeMirror")?.CodeMirror.getValue().includes("second"));
    await click(page, "History");
    await until(page, () => document.querySelectorAll(".versions li").length === 2);
    await page.evaluate(() => document.querySelectorAll(".versions summary")[1].click());
    await see(page, "first", ".versions pre");
    await click(page, "Take into the editor");
    await until(page, () => document.querySelector(".pane .CodeMirror").CodeMirror.getValue().includes("first"));
  });

  await test("a file of items is imported, and one that is none is refused", async (page) => {
    await seed(server, "files", "box");
    const folder = await mkdtemp(path.join(tmpdir(), "orrery-import-"));
    await writeFile(path.join(folder, "a.jsonl"), '{"id":"1","pk":"a"}\n{"id":"2","pk":"b"}\n{"pk":"c"}\n');
    await writeFile(path.join(folder, "b.json"), '[{"id":"4","pk":"a"}, 5]');
    await open(page, server, "files", "box");
    const input = await page.$(".items input[type=file]");
    await input.uploadFile(path.join(folder, "a.jsonl"));
    await see(page, "3 imported.");
    await until(page, () => document.querySelectorAll(".grid-row").length === 3);
    await input.uploadFile(path.join(folder, "b.json"));
    await see(page, "neither an array of items");
    await writeFile(path.join(folder, "c.json"), Buffer.from('{"id":"7","pk":"\xff"}', "latin1"));
    await input.uploadFile(path.join(folder, "c.json"));
    await see(page, "c.json is not UTF-8.");
    const drop = (text) => page.evaluate((words) => {
      const carried = new DataTransfer();
      carried.items.add(new File([words], "dropped.json", { type: "application/json" }));
      const view = document.querySelector(".view.items");
      view.dispatchEvent(new DragEvent("dragover", { dataTransfer: carried, bubbles: true, cancelable: true }));
      const wasMarked = view.classList.contains("dropping");
      view.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
      return [wasMarked, view.classList.contains("dropping")];
    }, text);
    assert.deepEqual(await drop('[{"id":"5","pk":"a"},{"id":"6","pk":"b","big":12345678901234567890}]'), [true, false]);
    await see(page, "2 imported.");
    await until(page, () => document.querySelectorAll(".grid-row").length === 5);
    const client = await server.client();
    assert.match((await client.send("GET", ["dbs", "files", "colls", "box", "docs", "6"], { headers: { "x-ms-documentdb-partitionkey": '["b"]' } })).text, /12345678901234567890|12345678901234567000|1.2345678901234567e\+?19/);
  });
}
