// test/explorer/browser.mjs - every feature of the page as somebody uses it, in Chromium.
import { Server, finish, startBrowser } from "./harness.mjs";
import { ways } from "./browser/ways.mjs";
import { trees } from "./browser/trees.mjs";
import { items } from "./browser/items.mjs";
import { queries } from "./browser/queries.mjs";
import { others } from "./browser/others.mjs";
import { hostile } from "./browser/hostile.mjs";
import { hours } from "./browser/hours.mjs";
import { looks } from "./browser/looks.mjs";
import { secure } from "./browser/secure.mjs";

const KEYS = { primary: "ZXhwbG9yZXI6IGEga2V5IG9mIG9uZSdzIG93biwgMzIgYnl0ZXM=", primaryReadonly: "ZXhwbG9yZXI6IGEga2V5IHRoYXQgcmVhZHMsIDMyIGJ5dGVzLg==" };

const open = await new Server(["--slow-ms", "1", "--log", "error"]).start(); // what is slow is shown, and not logged
const kept = await new Server(async (directory) => {
  const { writeFile } = await import("node:fs/promises");
  await writeFile(`${directory}/keys`, Object.entries(KEYS).map(([name, key]) => `${name} ${key}\n`).join(""), { mode: 0o600 });
  return ["--key-file", `${directory}/keys`];
}).start();
const closed = await new Server(["--no-explorer", "--store", "memory"]).start();
await startBrowser();
await ways({ open, kept, closed, keys: KEYS });
await trees(open);
await items(open);
await queries(open);
await others(open);
await hostile(open);
await hours(open);
await secure(open);
await looks(new Server());
await finish([open, kept, closed]);
