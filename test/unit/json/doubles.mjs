// test/unit/json/doubles.mjs - writes doubles.txt: node doubles.mjs > doubles.txt
// Rows of a double's bits and what JavaScript prints for it, from a fixed seed.
const view = new DataView(new ArrayBuffer(8));
let state = 1n;
const mask = (1n << 64n) - 1n;

function next() { // splitmix64
  state = (state + 0x9e3779b97f4a7c15n) & mask;
  let x = state;
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & mask;
  return x ^ (x >> 31n);
}

const unit = () => Number(next() >> 11n) / 2 ** 53;
const below = n => Number(next() % BigInt(n));
const fromBits = bits => (view.setBigUint64(0, bits), view.getFloat64(0));

function row(number) {
  view.setFloat64(0, number);
  if (Number.isFinite(number)) console.log(`ROW(0x${view.getBigUint64(0).toString(16)}, "${String(number)}")`);
}

console.log('/* Made by doubles.mjs: the bits of a double, and its text in JavaScript. */');
[0, -0, 1, -1, 0.1, 0.5, 1e21, 1e-6, 1e-7, 123456789012345680000, 5e-324, 2 ** 53, 2 ** 63, -(2 ** 63), 2 ** 64,
  Number.MAX_VALUE, Number.MIN_VALUE, 2 ** -1022, 2 ** -1022 - 2 ** -1074, 1e15, 1e16, 1e22, 1e23, 0.3, 0.1 + 0.2,
  4.35, 0.000001, 1.7976931348623157e308, 9007199254740993, 999999999999999.9, 0.99999999999999989].forEach(row);
for (let e = -1074; e < 1024; e += e > -25 && e < 60 ? 1 : 7) row(2 ** e);
for (let i = 0; i < 600; i++) row(fromBits(next()));
for (let i = 0; i < 400; i++) row((unit() - 0.5) * 360);
for (let i = 0; i < 400; i++) row(unit() * 10 ** (below(40) - 15));
for (let i = 0; i < 400; i++) row(below(1e9) / 10 ** (below(8) + 1));
for (let i = 0; i < 100; i++) row(Number(next() & 0x3fffffffffffn) * 5e-324);
for (let i = 0; i < 100; i++) row(-Number(next()) * 2 ** below(12));
