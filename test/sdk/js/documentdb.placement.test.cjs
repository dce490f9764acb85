// test/sdk/js/documentdb.placement.test.cjs - fresh keys and links, placed by documentdb 1.15.3 and by liborrery: the same.
const { execFileSync } = require("node:child_process");
const crypto = require("node:crypto");
const { HashPartitionResolver, Range, RangePartitionResolver } = require("documentdb");
const { assert, main, test } = require("./harness.cjs");

const ROUNDS = 40;
const KEYS = 250;
const seed = process.env.ORRERY_SEED ?? crypto.randomBytes(8).toString("hex");
const place = process.env.ORRERY_PLACE;
console.log(`seed ${seed}: ORRERY_SEED replays it`);

/** Numbers that follow from the seed: below(n) is one of 0 to n-1. */
let drawn = 0;
function below(n) {
  return crypto.createHash("sha256").update(`${seed}:${drawn++}`).digest().readUInt32LE() % n;
}

const alphabets = [
  () => String.fromCharCode(97 + below(26)),
  () => String.fromCharCode(32 + below(95)),
  () => String.fromCodePoint(0xa0 + below(0x500)),
  () => String.fromCodePoint(0x4e00 + below(0x5000)),
  () => String.fromCodePoint(0x10000 + below(0xffff)),
  () => String.fromCodePoint(0xe000 + below(0x1ffe)),
  () => String.fromCharCode(below(32)),
];

function text(longest = 40) {
  return Array.from({ length: below(longest + 1) }, () => alphabets[below(alphabets.length)]()).join("");
}

/** What liborrery answers, a line for each request. */
function ask(requests) {
  const input = requests.map((request) => JSON.stringify(request)).join("\n") + "\n";
  const lines = execFileSync(place, { input, maxBuffer: 1 << 28 }).toString().trim().split("\n");
  assert.equal(lines.length, requests.length);
  return lines.map((line) => JSON.parse(line));
}

function name() {
  return text(12).replace(/[/\\?#]/g, "_").replace(/[\u0000-\u001f]/g, "_") || "n";
}

/** Links as users write them: names or rids, with slashes around them or without. */
function links(count) {
  const slash = ["", "/"][below(2)];
  const unique = new Set();
  while (unique.size < count) unique.add(`${slash}dbs/${name()}/colls/${name()}${slash}`);
  return [...unique];
}

function keys() {
  return Array.from({ length: KEYS }, () => (below(50) === 0 ? text(4).repeat(1000) : text()));
}

test("random keys lie in the same collection, whatever their number, links and virtual nodes", () => {
  const requests = [];
  const expected = [];
  for (let round = 0; round < ROUNDS; round++) {
    const request = { links: links(1 + below(20)), nodes: [1, 5, 16, 128, 128, 300][below(6)], keys: keys() };
    const resolver = new HashPartitionResolver("id", request.links, { numberOfVirtualNodesPerCollection: request.nodes });
    requests.push(request);
    expected.push(request.keys.map((key) => request.links.indexOf(resolver.resolveForCreate(key))));
  }
  assert.deepEqual(ask(requests), expected);
});

test("what is left out is 128 virtual nodes of Murmur3", () => {
  const request = { links: links(4), keys: keys() };
  const resolver = new HashPartitionResolver("id", request.links);
  assert.deepEqual(ask([request])[0], request.keys.map((key) => request.links.indexOf(resolver.resolveForCreate(key))));
});

test("MD5 plugged in lies the same, with either byte order", () => {
  for (const msbFirst of [false, true]) {
    const digest = (value) => crypto.createHash("md5").update(value).digest();
    const shown = (value) => Buffer.from(msbFirst ? value : Buffer.from(value).reverse()).toString("hex");
    // The package hands the last value back to the function, which has to know the digest behind it.
    const known = new Map();
    const computeHash = (value) => {
      const made = digest(known.get(value) ?? value);
      known.set(shown(made), made);
      return shown(made);
    };
    const request = { links: links(3), nodes: 16, hash: "md5", msbFirst, keys: keys().filter((key) => key !== "") };
    const resolver = new HashPartitionResolver("id", request.links, { numberOfVirtualNodesPerCollection: 16, computeHash });
    const wanted = request.keys.map((key) => request.links.indexOf(resolver.resolveForCreate(key)));
    assert.deepEqual(ask([request])[0], wanted);
  }
});

function span(draw, before) {
  const ends = [draw(), draw()];
  return before(ends[1], ends[0]) ? ends.reverse() : ends;
}

/** Ranges and keys of one type; the SDK's answers with each link once. */
function ranges(draw, before, compareFunction) {
  const rows = Array.from({ length: 1 + below(12) }, (_, i) => [...span(draw, before), `dbs/db/colls/c${below(i + 1)}`]);
  const map = rows.map(([low, high, link]) => ({ range: new Range({ low, high }), link }));
  const resolver = new RangePartitionResolver("id", map, compareFunction);
  const asked = Array.from({ length: KEYS }, () => (below(3) ? draw() : span(draw, before)));
  const wanted = asked.map((key) => {
    const found = resolver.resolveForRead(Array.isArray(key) ? new Range({ low: key[0], high: key[1] }) : key);
    return [...new Set(found)];
  });
  return { request: { ranges: rows, keys: asked }, wanted };
}

test("random ranges of texts and of numbers are found alike", () => {
  const all = Array.from({ length: ROUNDS }, (_, i) =>
    i % 2
      ? ranges(() => text(5), (a, b) => a < b)
      : ranges(() => below(2000) / 4 - 100, (a, b) => a < b, (a, b) => a - b),
  );
  assert.deepEqual(ask(all.map((one) => one.request)), all.map((one) => one.wanted));
});

main();
