// test/sdk/js/testing.test.mjs - the tests in docs/testing.md that reset the account before each test, as a reader would paste
// them. Node's own runner stands in for vitest, whose names they use.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import harness from "./harness.cjs";

const { assert, endpoint, main, test } = harness;
const here = fileURLToPath(new URL(".", import.meta.url));

test("the page's tests find a clean account each", () => {
  const page = readFileSync(new URL("../../../docs/testing.md", import.meta.url), "utf8");
  const folder = mkdtempSync(join(here, "pasted-")); // here, where the packages are
  try {
    const files = [...page.matchAll(/```js\n\/\/ (\S+)\n([\s\S]*?)```/g)];
    assert.equal(files.length, 2);
    for (const [, name, text] of files)
      writeFileSync(join(folder, name), text.replace(/import { beforeAll, beforeEach, test } from "vitest"/, 'import { before as beforeAll, beforeEach, test } from "node:test"'));
    const env = { ...process.env, ENDPOINT: endpoint };
    delete env.NODE_TEST_CONTEXT;
    const run = spawnSync(process.execPath, ["--test", join(folder, "orders.test.mjs")], { encoding: "utf8", env });
    assert.equal(run.status, 0, run.stdout + run.stderr);
    assert.match(run.stdout, /pass 2\b/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

await main();
