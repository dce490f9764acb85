// explorer/text/samples.js - a small shop to try queries with: made here, the same each time.

const CITIES = /** @type {[string, string, number, number][]} */ ([
  ["Oslo", "NO", 10.75, 59.91], ["Bergen", "NO", 5.32, 60.39], ["Stockholm", "SE", 18.07, 59.33], ["Göteborg", "SE", 11.97, 57.71], ["København", "DK", 12.57, 55.68], ["Helsinki", "FI", 24.94, 60.17],
  ["Reykjavík", "IS", -21.94, 64.15], ["Hamburg", "DE", 9.99, 53.55], ["Berlin", "DE", 13.4, 52.52], ["Amsterdam", "NL", 4.9, 52.37], ["القاهرة", "EG", 31.24, 30.04], ["東京", "JP", 139.69, 35.68],
]);
const NAMES = ["Ada", "Bo", "Cleo", "Dag", "Edda", "Finn", "Gro", "Hal", "Ida", "Jon", "Kaja", "Liv"];
const THINGS = /** @type {[string, number, string][]} */ ([["astrolabe", 1200, "instruments"], ["sextant", 640, "instruments"], ["star chart", 45, "paper"], ["globe", 210, "paper"], ["telescope", 890, "instruments"], ["almanac", 25, "paper"], ["lens", 75, "glass"], ["prism", 60, "glass"]]);

/** Numbers that look random and are the same each time. @param {number} seed */
function dice(seed) {
  let state = seed;
  return (/** @type {number} */ sides) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * sides);
  };
}

export const SAMPLES = () => {
  const roll = dice(7);
  const customers = NAMES.map((name, i) => ({ id: "customer-" + (i + 1), name, city: CITIES[i][0], country: CITIES[i][1], since: 2012 + roll(12), tags: roll(2) ? ["newsletter"] : [] }));
  const orders = Array.from({ length: 120 }, (_, i) => {
    const lines = Array.from({ length: 1 + roll(4) }, () => {
      const [product, price, kind] = THINGS[roll(THINGS.length)];
      return { product, kind, price, quantity: 1 + roll(3) };
    });
    const month = String(1 + roll(12)).padStart(2, "0");
    return { id: "order-" + (i + 1), customerId: "customer-" + (1 + roll(NAMES.length)), placed: `2025-${month}-${String(1 + roll(28)).padStart(2, "0")}T12:00:00Z`, month: `2025-${month}`, lines, total: lines.reduce((sum, line) => sum + line.price * line.quantity, 0) };
  });
  const places = CITIES.map(([name, country, x, y]) => ({ id: name, name, country, location: { type: "Point", coordinates: [x, y] } }));
  const products = THINGS.map(([name, price, kind], i) => ({ id: "product-" + (i + 1), name, kind, price, embedding: Array.from({ length: 8 }, (_, d) => Number((Math.sin(kind.length * (d + 1)) + roll(100) / 300).toFixed(3))) }));
  const container = (/** @type {string} */ id, /** @type {string} */ path) => ({ id, partitionKey: { paths: [path], kind: "Hash", version: 2 } });
  return [
    { definition: container("customers", "/country"), items: customers },
    { definition: container("orders", "/customerId"), items: orders },
    { definition: container("places", "/country"), items: places },
    { definition: container("products", "/kind"), items: products },
  ];
};

/** @type {[string, string][]} */
export const SAMPLE_QUERIES = [
  ["orders", "SELECT c.month, COUNT(1) AS orders, SUM(c.total) AS total\nFROM c\nGROUP BY c.month"],
  ["orders", 'SELECT c.id, l.product, l.quantity\nFROM c JOIN l IN c.lines\nWHERE l.kind = "glass" AND c.total > 500'],
  ["places", 'SELECT c.name, c.location,\n  ROUND(ST_DISTANCE(c.location, {"type": "Point", "coordinates": [10.75, 59.91]}) / 1000) AS km\nFROM c'],
  ["products", "SELECT c.id, c.name, c.embedding FROM c"],
  ["customers", "SELECT * FROM c WHERE STARTSWITH(c.name, \"A\") ORDER BY c.since DESC"],
];
