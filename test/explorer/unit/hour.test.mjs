// test/explorer/unit/hour.test.mjs - what the page makes of the server's samples.
import assert from "node:assert";
import { test } from "node:test";
import { Hour, percentile } from "../../../explorer/state/hour.js";

const FIGURES = ["store_commits_total", "store_groups_total", "cache_hits_total", "cache_misses_total", "connections_open"];
const sample = (at, answers, figures, more = {}) => ({ at, microseconds: 0, memory: 5, answers, retries: [0, 0], times: [answers[1], 0, 0], figures, units: [], ...more });
const told = (next, samples, more = {}) => ({ next, sampleMilliseconds: 5000, boundsMicroseconds: [100, 1000], figures: FIGURES, samples, minutes: [], containers: [], operations: [], slow: [], ...more });

test("percentiles lie between the bounds of the times", () => {
  assert.equal(percentile([1000, 2000], [50, 50, 0], 0.5), 1);
  assert.equal(percentile([1000, 2000], [0, 100, 0], 0.5), 1.5);
  assert.equal(percentile([1000, 2000], [0, 0, 7], 0.5), 2);
  assert.equal(percentile([1000, 2000], [0, 0, 0], 0.5), null);
});

test("a point is what lies between two samples", () => {
  const hour = new Hour();
  hour.add(told(2, [sample(0, [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]), sample(5000, [0, 40, 0, 8, 2], [30, 10, 9, 1, 3], { units: [[0, 50]], retries: [5, 0] }), sample(5100, [0, 41, 0, 8, 2], [30, 10, 9, 1, 3])], { containers: ["dbs/a/colls/b"] }));
  const points = hour.points();
  assert.equal(points.length, 1, "a moment after a sample is too short for a rate");
  const [point] = points;
  assert.deepEqual([point.requests, point.failed, point.throttled, point.commits, point.group, point.hits, point.figures.connections_open], [10, 2, 1, 6, 3, 90, 3]);
  assert.equal(point.units.get("dbs/a/colls/b"), 10);
});

test("samples are kept from answer to answer, but for the last of each, which is of its moment", () => {
  const hour = new Hour();
  const zero = [0, 0, 0, 0, 0];
  hour.add(told(1, [sample(0, zero, zero), sample(2000, zero, zero)]));
  assert.equal(hour.next, 1);
  hour.add(told(2, [sample(5000, zero, zero), sample(7000, zero, zero)]));
  assert.deepEqual(hour.points().map((p) => p.at), [5000, 7000]);
});

test("a server that has begun anew is asked for everything, and nothing is negative", () => {
  const hour = new Hour();
  hour.add(told(9, [sample(0, [0, 9, 0, 0, 0], [9, 9, 9, 9, 9]), sample(5000, [0, 1, 0, 0, 0], [1, 1, 1, 1, 1])]));
  assert.equal(hour.points()[0].requests, 0);
  assert.equal(hour.add(told(1, [sample(0, [0, 0, 0, 0, 0], [0, 0, 0, 0, 0])])), false);
  assert.equal(hour.next, 0);
  assert.deepEqual(hour.points(), []);
});

test("operations have what they did since the answer before", () => {
  const hour = new Hour();
  const of = (requests, seconds) => ({ operations: [{ name: "document_read", requests, failed: 0, seconds }] });
  hour.add(told(0, [sample(0, [0, 0, 0, 0, 0], [])], of(10, 1)));
  assert.deepEqual(hour.operations().map((o) => [o.perSecond, o.mean]), [[0, null]]);
  hour.add(told(0, [sample(2000, [0, 0, 0, 0, 0], [])], of(20, 1.5)));
  assert.deepEqual(hour.operations().map((o) => [o.perSecond, o.mean]), [[5, 50]]);
});

test("the heat of a key is in the minutes that have it, the hottest first", () => {
  const hour = new Hour();
  const minutes = [{ at: 0, keys: [{ container: 0, key: '["a"]', units: 5, error: 0 }], ranges: [] }, { at: 1, keys: [{ container: 0, key: '["b"]', units: 50, error: 0, isCut: true }, { container: 0, key: '["a"]', units: 1, error: 0 }], ranges: [{ container: 1, range: "0", units: 0, error: 0 }] }];
  hour.add(told(0, [sample(0, [0, 0, 0, 0, 0], [])], { minutes, containers: ["dbs/a/colls/b", null] }));
  assert.deepEqual(hour.heat("keys", 5), [{ container: "dbs/a/colls/b", label: '["b"]', isCut: true, total: 50, cells: [null, 50] }, { container: "dbs/a/colls/b", label: '["a"]', isCut: false, total: 6, cells: [5, 1] }]);
  assert.deepEqual(hour.heat("ranges", 5), []);
});
