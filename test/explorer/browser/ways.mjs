// test/explorer/browser/ways.mjs - how people get in, and how others do not.
import assert from "node:assert";
import { click, openExplorer, row, see, seed, test, type, until } from "../harness.mjs";

export async function ways({ open, kept, closed, keys }) {
  for (const scheme of ["http", "https"])
    await test(`on loopback with the well-known key it opens at once, over ${scheme}`, async (page) => {
      await page.goto(open[scheme] + "/_explorer");
      await see(page, "Orrery is running");
      assert.equal(new URL(page.url()).pathname, "/_explorer/");
    });

  await test("every file has a strict policy, a type, an ETag, and is packed", async (page) => {
    let bytes = 0;
    const seen = [];
    const session = await page.createCDPSession();
    await session.send("Network.enable");
    session.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
    page.on("response", (response) => new URL(response.url()).pathname.startsWith("/_explorer/") && seen.push(response));
    await openExplorer(page, open.http);
    const first = await page.evaluate(() => {
      const { startTime } = performance.getEntriesByName("first-view")[0];
      return { files: performance.getEntriesByType("resource").filter((e) => e.startTime < startTime && e.name.includes("/_explorer/")).length, ms: startTime };
    });
    await until(page, () => document.documentElement.dataset.loaded === "all");
    await page.evaluate(() => import("/_explorer/views/chart.js").then((m) => m.loadChart()));
    console.log(`        the first view after ${first.ms.toFixed(0)} ms and ${first.files} files`);
    assert.ok(first.files <= 30, `the first view waits for ${first.files} files`);
    assert.ok(seen.length > 50, `${seen.length} files`);
    for (const response of seen) {
      const headers = response.headers();
      const where = response.url();
      assert.match(headers["content-security-policy"], /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/, where);
      assert.equal(headers["x-content-type-options"], "nosniff", where);
      assert.equal(headers["referrer-policy"], "no-referrer", where);
      assert.equal(headers["cross-origin-opener-policy"], "same-origin", where);
      assert.equal(headers["cross-origin-resource-policy"], "same-origin", where);
      if (response.status() === 200) assert.equal(headers["content-encoding"], "gzip", where);
      assert.match(headers.etag, /^"[0-9a-f]{16}"$/, where);
    }
    assert.ok(bytes <= 600 * 1024, `the page has ${bytes} bytes`);
  });

  await test("a file that has not changed is not sent again, and one that is not there is 404", async (page) => {
    await page.goto(open.http + "/_explorer/mark.svg");
    const answers = await page.evaluate(async () => {
      const first = await fetch("/_explorer/main.js");
      const again = await fetch("/_explorer/main.js", { headers: { "if-none-match": first.headers.get("etag") }, cache: "no-store" });
      const none = await fetch("/_explorer/../_explorer/none.js");
      return [first.status, again.status, none.status];
    }).catch((error) => error);
    assert.deepEqual(answers, [200, 304, 404]);
  });

  await test("with a key of its own it asks, refuses a wrong one, and keeps the right one for the tab", async (page, context) => {
    await page.goto(kept.http + "/_explorer/");
    await see(page, "Open this account");
    await type(page, "textarea", "bm90IHRoZSBrZXkgb2YgdGhpcyBzZXJ2ZXIgYXQgYWxsLi4u");
    await click(page, "Open");
    await see(page, "The server does not accept it.");
    await type(page, "textarea", `AccountEndpoint=${kept.http}/;AccountKey=${keys.primary};`);
    await click(page, "Open");
    await see(page, "Orrery is running");
    await page.reload();
    await see(page, "Orrery is running");
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie);
    assert.ok(!stored.includes(keys.primary), "the key is kept beyond the tab");
    const other = await context.newPage();
    await other.goto(kept.http + "/_explorer/");
    await see(other, "Open this account");
  });

  await test("a read-only key sees a page that only reads", async (page) => {
    const client = await kept.client(keys.primary);
    await client.send("POST", ["dbs"], { body: { id: "readable" } });
    await client.send("POST", ["dbs", "readable", "colls"], { body: { id: "things", partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } } });
    await client.send("POST", ["dbs", "readable", "colls", "things", "docs"], { body: { id: "one", pk: "a" }, headers: { "x-ms-documentdb-partitionkey": '["a"]' } });
    await page.goto(kept.http + "/_explorer/");
    await type(page, "textarea", keys.primaryReadonly);
    await click(page, "Open");
    await see(page, "Read only", ".top");
    await row(page, "things");
    await (await page.waitForSelector(".grid-row")).click();
    await see(page, "one", ".pane h2");
    const words = await page.evaluate(() => [...document.querySelectorAll("button")].filter((b) => b.checkVisibility()).map((b) => b.innerText || b.getAttribute("aria-label")));
    for (const word of ["New item", "Save", "Delete", "Duplicate", "New database", "Modelling"]) assert.ok(!words.includes(word), word + " is offered");
    await click(page, "Now");
    await see(page, "document_read", ".now");
    assert.equal(await page.$eval(".now .problem", (e) => e.innerText), "");
  });

  await test("a resource token opens its container and no more", async (page) => {
    const place = await seed(open, "tokens", "mine", [{ id: "1", pk: "a" }]);
    const client = await open.client();
    await client.send("POST", ["dbs", "tokens", "users"], { body: { id: "ann" } });
    const made = await client.send("POST", ["dbs", "tokens", "users", "ann", "permissions"], { body: { id: "read", permissionMode: "Read", resource: place.join("/") } });
    await page.goto(kept.http + "/_explorer/"); // which asks, because it does not know the well-known key
    await see(page, "Open this account");
    await page.goto(open.http + "/_explorer/");
    await page.evaluate((secret) => sessionStorage.setItem("orrery-secret", JSON.stringify(secret)), { kind: "token", secret: made.body._token, container: place });
    await page.reload();
    await see(page, "Read only", ".top");
    await see(page, "mine", ".tree");
    assert.equal(await page.evaluate(() => document.querySelectorAll('.tree-row[aria-level="1"]').length), 1);
    await row(page, "Items");
    await page.waitForSelector(".grid-row");
  });

  await test("a page of another origin can neither ask, nor frame, nor load anything", async (page) => {
    const asked = [];
    page.on("response", (response) => asked.push([response.request().method(), new URL(response.url()).pathname, response.status()]));
    await page.goto("about:blank");
    const found = await page.evaluate(async (server) => {
      const outcome = (promise) => promise.then((answer) => answer.type ?? "loaded", () => "refused");
      const frame = document.createElement("iframe");
      frame.src = server + "/_explorer/";
      const framed = new Promise((resolve) => frame.addEventListener("load", resolve));
      document.body.append(frame);
      await framed;
      const script = document.createElement("script");
      script.src = server + "/_explorer/main.js";
      const loaded = new Promise((resolve) => ((script.onload = () => resolve("loaded")), (script.onerror = () => resolve("refused"))));
      document.head.append(script);
      return {
        script: await loaded,
        module: await outcome(import(server + "/_explorer/main.js")),
        page: await outcome(fetch(server + "/_explorer/")),
        account: await outcome(fetch(server + "/")),
        now: await outcome(fetch(server + "/_orrery/now")),
        signed: await outcome(fetch(server + "/dbs", { headers: { authorization: "x" } })),
        posted: await outcome(fetch(server + "/_orrery/split", { method: "POST", mode: "no-cors", body: '{"container":"dbs/a/colls/b"}' })),
      };
    }, open.http);
    assert.deepEqual({ ...found, posted: "" }, { script: "refused", module: "refused", page: "refused", account: "refused", now: "refused", signed: "refused", posted: "" });
    assert.ok(!asked.some(([method, path, status]) => method === "POST" && status < 400), "a request of a foreign page was answered: " + JSON.stringify(asked));
    assert.ok(page.frames().every((frame) => !frame.url().startsWith(open.http)), "it can be framed");
  }, { attacks: true });

  await test("no address that the page asks for, and none that it shows, has the key in it", async (page) => {
    const asked = [];
    page.on("request", (request) => asked.push(request.url(), JSON.stringify(request.headers().referer ?? "")));
    await page.goto(kept.http + "/_explorer/?key=abc#secret");
    await type(page, "textarea", keys.primary);
    await click(page, "Open");
    await see(page, "Orrery is running");
    await click(page, "Now");
    await see(page, "connections", ".now");
    asked.push(page.url());
    for (const piece of [keys.primary, encodeURIComponent(keys.primary), keys.primary.slice(4, 20)]) assert.ok(!asked.some((url) => url.includes(piece)), "an address has the key in it");
    await click(page, "Sign out");
    await see(page, "Open this account");
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });

  await test("--no-explorer turns it off", async (page) => {
    const answer = await page.goto(closed.http + "/_explorer/");
    assert.equal(answer.status(), 404);
    assert.match(await answer.text(), /--no-explorer/);
    assert.equal((await page.goto(closed.http + "/_explorer")).status(), 404);
  });

  await test("the server is killed and started again under the open page", async (page) => {
    await seed(open, "survives", "all");
    await openExplorer(page, open.http);
    await page.waitForSelector('.tree-row[aria-label="survives"]');
    await open.kill();
    await click(page, "Read again");
    await see(page, "The server does not answer.", ".top");
    await open.start();
    await until(page, () => document.querySelector(".reach").textContent === "");
    await see(page, "The server answers again.");
    await row(page, "survives");
    await page.waitForSelector('.tree-row[aria-label="all"]');
  });
}
