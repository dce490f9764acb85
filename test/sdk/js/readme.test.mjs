// test/sdk/js/readme.test.mjs - the program in README.md, as a reader would paste it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import harness from "./harness.cjs";

const { assert, endpoint, main, test } = harness;

test("the README's first program works when pasted", () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  const program = /```js\n([\s\S]*?)```/.exec(readme)[1];
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    env: { ...process.env, ENDPOINT: endpoint },
  });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stdout, /^The Dispossessed "[0-9a-f-]+"\n\[ { title: 'The Dispossessed', tags: 2 } \]\n$/);
});

await main();
