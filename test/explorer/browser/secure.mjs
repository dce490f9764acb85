// test/explorer/browser/secure.mjs - over https the page does what it does over http.
import assert from "node:assert";
import { choose, click, editorText, openExplorer, row, see, setEditor, test, type, until } from "../harness.mjs";

export async function secure(server) {
  await test("over https a container is made, filled, asked, watched and deleted", async (page) => {
    const plain = [];
    page.on("request", (request) => request.url().startsWith("http:") && plain.push(request.url()));
    await openExplorer(page, server.https);
    await click(page, "New database");
    await type(page, "dialog input[name=id]", "safe");
    await click(page, "Create");
    await page.waitForSelector('.tree-row[aria-label="safe"][aria-expanded="true"]');
    await click(page, "Actions for safe");
    await click(page, "New container");
    await type(page, "dialog input[name=id]", "box");
    await type(page, "dialog input[name=key]", "/pk");
    await click(page, "Create");
    await see(page, "No items yet", ".view.items");
    await click(page, "New item", ".bar button");
    await setEditor(page, '{"id":"one","pk":"a","n":1}');
    await click(page, "Save");
    await see(page, "Saved.", ".pane");
    await click(page, "Query");
    await page.waitForSelector(".view.query .CodeMirror");
    await setEditor(page, "SELECT c.id FROM c WHERE c.n = 1", ".view.query:not([hidden])");
    await click(page, "Run");
    await see(page, "1 rows", ".query .status");
    await row(page, "box");
    await row(page, "Changes");
    await choose(page, '.feed select[aria-label="From"]', '"0"');
    await see(page, "one", ".feed .grid-row");
    await row(page, "Settings");
    await page.waitForSelector(".settings .CodeMirror");
    assert.match(await editorText(page), /indexingMode/);
    await click(page, "Now");
    await see(page, "commits in a group", ".now");
    await click(page, "Start", ".top button");
    await see(page, server.https, ".copies");
    await click(page, "Actions for safe");
    await click(page, "Delete…");
    await type(page, "dialog input[name=typed]", "safe");
    await click(page, "Delete", "dialog button");
    await until(page, () => !document.querySelector('.tree-row[aria-label="safe"]'));
    assert.deepEqual(plain, [], "something was asked for in the clear");
    assert.equal(await page.evaluate(() => isSecureContext && location.protocol), "https:");
  });
}
