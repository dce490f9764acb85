// test/sdk/js/harness.cjs - runs tests one after the other and counts them; and requests without an SDK.
const assert = require("node:assert/strict");
const crypto = require("node:crypto");

const endpoint = process.env.ORRERY_ENDPOINT;
const key = process.env.ORRERY_KEY;
const tests = [];

/** A test is named by the sentence it proves. */
function test(sentence, run) {
  tests.push({ sentence, run });
}

/** The command that runs one test again: test/sdk/js/run says which suite this is. */
function repeatOf(sentence) {
  const set = ["ORRERY_PROGRAM", "ORRERY_SECONDS", "ORRERY_SEED"].filter((name) => process.env[name]);
  const quoted = "'" + sentence.replaceAll("'", "'\\''") + "'";
  return ["repeat:", ...set.map((name) => `${name}=${process.env[name]}`), "test/sdk/js/run", process.env.ORRERY_SUITE, quoted].join(" ");
}

async function main(cleanUp) {
  const filter = process.argv[2] ?? "";
  let passed = 0;
  let failed = 0;
  for (const { sentence, run } of tests.filter((one) => one.sentence.includes(filter))) {
    try {
      await run();
      passed++;
    } catch (problem) {
      failed++;
      console.log(`FAILED ${sentence}\n${problem?.stack ?? JSON.stringify(problem, null, 1)}\n${repeatOf(sentence)}`);
    }
  }
  await cleanUp?.().catch((problem) => console.log(`clean-up: ${problem?.message}`));
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed || !passed ? 1 : 0);
}

/** The error that a call ends with; a call that succeeds is the failure here. */
async function refusal(promise) {
  let value;
  try {
    value = await promise;
  } catch (problem) {
    return problem;
  }
  assert.fail(`expected a refusal, got ${JSON.stringify(value?.resource ?? value)?.slice(0, 300)}`);
}

/** A signed request as plain text, for what an SDK's JSON.parse would round. */
async function raw(verb, path, type, link, headers = {}, body = undefined) {
  const date = new Date().toUTCString();
  const text = `${verb.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`;
  const signature = crypto.createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
  const authorization = encodeURIComponent(`type=master&ver=1.0&sig=${signature}`);
  const response = await fetch(endpoint.replace(/\/$/, "") + path, {
    method: verb,
    headers: { authorization, "x-ms-date": date, "x-ms-version": "2020-07-15", ...headers },
    body,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Every printable ASCII character that an item's id may have. */
const legal = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).filter((c) => !"/\\#".includes(c));

module.exports = { assert, endpoint, key, legal, main, raw, refusal, test };
