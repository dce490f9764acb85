// test/explorer/browser/trees.mjs - databases and containers are made, walked by keyboard, and deleted.
import assert from "node:assert";
import { choose, click, openExplorer, row, see, seed, test, type, until } from "../harness.mjs";

export async function trees(server) {
  await test("a database and a container are made, and the container is deleted when its name was typed", async (page) => {
    await openExplorer(page, server.http);
    await click(page, "New database");
    await type(page, "dialog input[name=id]", "shop");
    await click(page, "Create");
    await page.waitForSelector('.tree-row[aria-label="shop"][aria-expanded="true"]');
    await click(page, "Actions for shop");
    await click(page, "New container");
    await type(page, "dialog input[name=id]", "orders");
    await type(page, "dialog input[name=key]", "/customer");
    await click(page, "Create");
    await see(page, "No items yet", ".view.items");
    await click(page, "Actions for orders");
    await click(page, "Delete…");
    await type(page, "dialog input[name=typed]", "order");
    assert.equal(await page.$eval("dialog button.danger", (b) => b.disabled), true);
    await page.type("dialog input[name=typed]", "s");
    await click(page, "Delete", "dialog button");
    await until(page, () => !document.querySelector('.tree-row[aria-label="orders"]') && !document.querySelector(".view.items"));
  });

  await test("arrows walk the tree, Enter opens, and the filter narrows", async (page) => {
    await seed(server, "walk", "alpha");
    await seed(server, "walk", "beta");
    await openExplorer(page, server.http);
    await (await page.waitForSelector('.tree-row[aria-label="walk"]')).focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector('.tree-row[aria-label="alpha"]');
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await until(page, () => document.activeElement.getAttribute("aria-label") === "beta");
    await page.keyboard.press("Enter");
    await until(page, () => document.querySelector('.tab.active')?.innerText.includes("beta"));
    await page.type(".tree .filter", "alph");
    await until(page, () => !document.querySelector('.tree-row[aria-label="beta"]') && document.querySelector('.tree-row[aria-label="alpha"]'));
    assert.ok(await page.$('.tree-row[aria-label="walk"]'), "what is above a match is shown");
  });

  await test("settings are saved, and what is no JSON is told", async (page) => {
    await seed(server, "set", "tings", [{ id: "1", pk: "a" }]);
    await openExplorer(page, server.http);
    await row(page, "set");
    await row(page, "tings");
    await row(page, "Settings");
    await page.waitForSelector(".settings .CodeMirror");
    await choose(page, '.settings select[aria-label="Time to live"]', "seconds");
    await page.$eval(".settings input[type=number][min='1']", (input) => (input.value = "77"));
    await page.evaluate(() => document.querySelector(".settings .CodeMirror").CodeMirror.setValue('{"indexingMode":"sometimes"}'));
    await see(page, "indexingMode is consistent or none, and not sometimes.", ".policy");
    await page.evaluate(() => document.querySelector(".settings .CodeMirror").CodeMirror.setValue("{"));
    await click(page, "Save settings");
    await see(page, "Indexing policy is not JSON.");
    const policy = { indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/secret/?" }] };
    await page.evaluate((text) => document.querySelector(".settings .CodeMirror").CodeMirror.setValue(text), JSON.stringify(policy));
    await page.$eval(".settings input[min='400']", (input) => (input.value = "900"));
    await click(page, "Save settings");
    await see(page, "Settings saved.");
    const client = await server.client();
    const read = (await client.send("GET", ["dbs", "set", "colls", "tings"])).body;
    assert.equal(read.defaultTtl, 77);
    assert.ok(read.indexingPolicy.excludedPaths.some((p) => p.path === "/secret/?"));
    const offers = (await client.send("GET", ["offers"])).body.Offers;
    assert.equal(offers.find((o) => o.offerResourceId === read._rid).content.offerThroughput, 900);
  });

  await test("a user and a function are renamed", async (page) => {
    const place = await seed(server, "names", "of");
    const client = await server.client();
    await client.send("POST", ["dbs", "names", "users"], { body: { id: "ann" } });
    await client.send("POST", [...place, "udfs"], { body: { id: "twice", body: "function twice(x) { return 2 * x; }" } });
    await openExplorer(page, server.http);
    await row(page, "names");
    await row(page, "Users");
    await click(page, "Actions for ann");
    await click(page, "Rename…");
    await type(page, "dialog input[name=id]", "anna");
    await click(page, "Save", "dialog button");
    await page.waitForSelector('.tree-row[aria-label="anna"]');
    await row(page, "of");
    await row(page, "Functions");
    await click(page, "Actions for twice");
    await click(page, "Rename…");
    await type(page, "dialog input[name=id]", "double");
    await click(page, "Save", "dialog button");
    await page.waitForSelector('.tree-row[aria-label="double"]');
    assert.equal((await client.send("GET", [...place, "udfs", "double"])).body.body, "function twice(x) { return 2 * x; }");
    assert.equal((await client.send("GET", ["dbs", "names", "users"])).body.Users.length, 1);
  });

  await test("a range is split and its parts are merged", async (page) => {
    await seed(server, "ranges", "wide");
    await openExplorer(page, server.http);
    await row(page, "ranges");
    await row(page, "wide");
    await row(page, "Settings");
    await (await page.waitForSelector(".range")).click();
    await click(page, "Split");
    await until(page, () => document.querySelectorAll(".range").length === 2);
    for (const i of [0, 1]) await page.evaluate((n) => document.querySelectorAll(".range")[n].click(), i);
    await click(page, "Merge");
    await until(page, () => document.querySelectorAll(".range").length === 1);
  });
}
