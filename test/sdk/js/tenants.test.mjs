// test/sdk/js/tenants.test.mjs - the program in docs/tenants.md, as a reader would paste it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import harness from "./harness.cjs";

const { assert, endpoint, main, test } = harness;

test("the program of the page on tenants works when pasted", () => {
  const page = readFileSync(new URL("../../../docs/tenants.md", import.meta.url), "utf8");
  const program = /```js\n([\s\S]*?)```/.exec(page)[1];
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    env: { ...process.env, ENDPOINT: endpoint },
  });
  assert.equal(run.status, 0, run.stderr);
  assert.deepEqual(run.stdout.trim().split("\n"), [
    "shared: ada has 3",
    "shared: left are [ 'bob' ]",
    "own: ada has 3",
    "own: left are [ 'tenant-bob' ]",
  ]);
});

await main();
