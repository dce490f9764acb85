// test/explorer/browser/looks.mjs - how the page looks: the places of its parts, and how light they are, as they were when somebody looked.
// Fonts differ from machine to machine, so a picture is compared as a small grid of greys. `LOOKS=write` writes looks.json anew.
import assert from "node:assert";
import { readFile, writeFile } from "node:fs/promises";
import { click, isWanted, openExplorer, row, see, seed, setEditor, test, until } from "../harness.mjs";

const FILE = new URL("../looks.json", import.meta.url);
const [COLUMNS, ROWS] = [32, 20];
const MEAN_MAX = 5; // of 255, over all cells
const CELL_MAX = 48; // a cell that differs by more is another one
const OTHERS_MAX = 0.05; // so many cells may be others
const PLACE_PX = 24; // an edge of a part may lie so far away
const PARTS = [".top", ".tree", ".tabs", ".content", ".view:not([hidden])", ".grid-scroll", ".pane", ".editor", ".results", ".panels", ".heat", ".form", ".copies", ".snippets"];

/** The picture as greys, made smaller by a browser. */
async function greysOf(page, blank) {
  const picture = await page.screenshot({ encoding: "base64" });
  return blank.evaluate(async (text, columns, rows) => {
    const image = new Image();
    image.src = "data:image/png;base64," + text;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const sums = Array.from({ length: columns * rows }, () => [0, 0]);
    for (let y = 0; y < image.height; y++)
      for (let x = 0; x < image.width; x++) {
        const at = (y * image.width + x) * 4;
        const cell = sums[Math.floor((y * rows) / image.height) * columns + Math.floor((x * columns) / image.width)];
        cell[0] += 0.3 * data[at] + 0.59 * data[at + 1] + 0.11 * data[at + 2];
        cell[1]++;
      }
    return sums.map(([sum, n]) => Math.round(sum / n));
  }, picture, COLUMNS, ROWS);
}

const placesOf = (page) => page.evaluate((parts) => Object.fromEntries(parts.flatMap((css) => {
  const element = [...document.querySelectorAll(css)].find((e) => e.checkVisibility());
  if (!element) return [];
  const { left, top, right, bottom } = element.getBoundingClientRect();
  return [[css, [left, top, right, Math.min(bottom, innerHeight)].map(Math.round)]];
})), PARTS);

function differences(was, is) {
  const found = [];
  const grey = [...Buffer.from(was.greys, "base64")].map((value, i) => Math.abs(value - is.greys[i]));
  const mean = grey.reduce((a, b) => a + b, 0) / grey.length;
  const others = grey.filter((d) => d > CELL_MAX).length / grey.length;
  if (mean > MEAN_MAX || others > OTHERS_MAX) found.push(`its greys differ by ${mean.toFixed(1)} in the mean, ${(others * 100).toFixed(0)} % of the cells are others`);
  for (const css of new Set([...Object.keys(was.places), ...Object.keys(is.places)])) {
    const [a, b] = [was.places[css], is.places[css]];
    if (!a || !b || a.slice(0, 3).some((edge, i) => Math.abs(edge - b[i]) > PLACE_PX)) found.push(`${css} was at ${a}, and is at ${b}`);
  }
  return found;
}

const VIEWS = [
  ["start", async () => {}],
  ["items", async (page) => {
    await row(page, "goods");
    await page.waitForSelector(".grid-row");
    await page.evaluate(() => [...document.querySelectorAll(".grid-row")].find((r) => r.innerText.includes("item-03")).click());
    await until(page, () => document.querySelector(".pane .CodeMirror")?.CodeMirror.getValue().includes("item-03"));
  }],
  ["query", async (page) => {
    await click(page, "Query");
    await page.waitForSelector(".view.query .CodeMirror");
    await setEditor(page, "SELECT c.id, c.n, c.name FROM c ORDER BY c.id", ".view.query:not([hidden])");
    await click(page, "Run");
    await see(page, "40 rows", ".query .status");
  }],
  ["settings", async (page) => {
    await row(page, "Settings");
    await page.waitForSelector(".settings .CodeMirror");
  }],
  ["now", async (page) => {
    await click(page, "Now");
    await see(page, "shop / goods", ".heat");
  }],
];

const LOOKS = ["light", "dark"];
const nameOf = (look) => `the page looks as it did, ${look}`;

export async function looks(server) {
  if (!LOOKS.some((look) => isWanted(nameOf(look)))) return;
  await server.start();
  await seed(server, "shop", "goods", Array.from({ length: 40 }, (_, i) => ({ id: "item-" + String(i).padStart(2, "0"), pk: "p" + (i % 3), n: i, name: "a thing of number " + i })));
  const isWriting = process.env.LOOKS === "write";
  const known = isWriting ? {} : JSON.parse(await readFile(FILE, "utf8"));
  for (const look of LOOKS)
    await test(nameOf(look), async (page, context) => {
      const blank = await context.newPage();
      await page.bringToFront();
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: look }]);
      await openExplorer(page, server.http);
      await page.waitForSelector('.tree-row[aria-label="goods"]');
      for (const [name, go] of VIEWS) {
        await go(page);
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
        const is = { greys: await greysOf(page, blank), places: await placesOf(page) };
        const key = `${name}, ${look}`;
        if (isWriting) known[key] = { places: is.places, greys: Buffer.from(is.greys).toString("base64") };
        else assert.deepEqual(differences(known[key], is), [], key);
      }
    });
  if (isWriting) await writeFile(FILE, JSON.stringify(known, null, 1) + "\n");
  await server.stop();
}
