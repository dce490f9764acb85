// explorer/state/hour.js - the last hour as the server tells it: samples of its counters, minutes of hot keys, slow queries.

/**
 * @typedef {{ at: number, microseconds: number, memory: number, answers: number[], retries: number[], times: number[], figures: number[], units: [number, number][] }} Sample
 * @typedef {{ container: number, units: number, error: number, key?: string, isCut?: boolean, range?: string }} Hot
 * @typedef {{ operation: string, count: number, milliseconds: number, totalMilliseconds: number, last: number, charge: number, status: number, link: string, query?: string, plan?: any }} Slow
 * @typedef {{ name: string, requests: number, failed: number, seconds: number }} Operation
 * @typedef {{ next: number, sampleMilliseconds: number, boundsMicroseconds: number[], figures: string[], samples: Sample[], minutes: { at: number, keys: Hot[], ranges: Hot[] }[],
 *             containers: (string|null)[], operations: Operation[], slow: Slow[] }} Told
 * @typedef {{ at: number, requests: number, failed: number, throttled: number, times: (number|null)[], commits: number, group: number|null, hits: number|null,
 *             figures: Record<string, number>, memory: number, units: Map<string, number> }} Point
 * @typedef {{ container: string, label: string, isCut: boolean, total: number, cells: (number|null)[] }} HeatRow
 */

const KEPT = 721;
const SHORTEST_MS = 900; // between two samples: of less, a rate is chance
const PARTS = [0.5, 0.95, 0.99];

/**
 * The time below which a part of the answers stayed, in milliseconds.
 * @param {number[]} bounds in microseconds @param {number[]} counts of answers up to each bound, and of those beyond the last @param {number} part
 */
export function percentile(bounds, counts, part) {
  const all = counts.reduce((a, b) => a + b, 0);
  if (!all) return null;
  let below = 0;
  for (let i = 0; i < counts.length; i++) {
    const from = i ? bounds[i - 1] : 0;
    if (counts[i] && below + counts[i] >= all * part) return (i < bounds.length ? from + ((bounds[i] - from) * (all * part - below)) / counts[i] : from) / 1000;
    below += counts[i];
  }
  return bounds[bounds.length - 1] / 1000;
}

export class Hour {
  /** The number of the sample to ask for next. */
  next = 0;
  /** @type {(Sample & { names: (string|null)[] })[]} */
  samples = [];
  /** Of the moment of the last answer. @type {(Sample & { names: (string|null)[] })|null} */
  live = null;
  /** @type {Told|null} */
  told = null;
  /** What operations had done by the answer before. @type {{ at: number, of: Map<string, Operation> }|null} */
  before = null;

  clear() {
    this.next = 0;
    this.samples = [];
    this.live = this.told = this.before = null;
  }

  /** What the server says. False: it is another one than before, or has begun anew, and has to be asked for everything. @param {Told} told */
  add(told) {
    if (told.next < this.next) {
      this.clear();
      return false;
    }
    const named = told.samples.map((sample) => ({ ...sample, names: told.containers }));
    if (this.told && this.live) this.before = { at: this.live.at, of: new Map(this.told.operations.map((o) => [o.name, o])) };
    this.live = named.pop() ?? null;
    this.samples = [...this.samples, ...named].slice(-KEPT);
    this.next = told.next;
    this.told = told;
    return true;
  }

  /** What lies between each two samples. @returns {Point[]} */
  points() {
    const all = this.live ? [...this.samples, this.live] : this.samples;
    const points = [];
    for (let i = 1; i < all.length; i++) if (all[i].at - all[i - 1].at >= SHORTEST_MS) points.push(this.between(all[i - 1], all[i]));
    return points;
  }

  /** A counter that fell has begun anew. @param {Sample & { names: (string|null)[] }} a @param {Sample & { names: (string|null)[] }} b @returns {Point} */
  between(a, b) {
    const seconds = (b.at - a.at) / 1000;
    const grown = (/** @type {number} */ before, /** @type {number} */ after) => Math.max(0, after - before);
    const sum = (/** @type {number[]} */ list) => list.reduce((x, y) => x + y, 0);
    const figures = /** @type {Record<string, number>} */ ({});
    const rates = /** @type {Record<string, number>} */ ({});
    this.told?.figures.forEach((name, i) => {
      figures[name] = b.figures[i];
      rates[name] = grown(a.figures[i], b.figures[i]);
    });
    const answers = b.answers.map((n, i) => grown(a.answers[i], n));
    const times = b.times.map((n, i) => grown(a.times[i], n));
    const asked = (rates.cache_hits_total ?? 0) + (rates.cache_misses_total ?? 0);
    /** @type {Map<string, number>} */
    const units = new Map();
    for (const [container, n] of b.units) units.set(b.names[container] ?? "", (units.get(b.names[container] ?? "") ?? 0) + n / seconds);
    return {
      at: b.at, figures, units, memory: b.memory,
      requests: sum(answers) / seconds, failed: (answers[3] + answers[4]) / seconds, throttled: grown(a.retries[0], b.retries[0]) / seconds,
      times: PARTS.map((part) => percentile(this.told?.boundsMicroseconds ?? [], times, part)),
      commits: (rates.store_commits_total ?? 0) / seconds,
      group: rates.store_groups_total ? rates.store_commits_total / rates.store_groups_total : null,
      hits: asked ? (100 * rates.cache_hits_total) / asked : null,
    };
  }

  /** Operations with what they did since the answer before. */
  operations() {
    const seconds = this.before && this.live ? (this.live.at - this.before.at) / 1000 : 0;
    return (this.told?.operations ?? []).map((now) => {
      const was = this.before?.of.get(now.name) ?? { requests: this.before ? 0 : now.requests, seconds: this.before ? 0 : now.seconds };
      const grown = Math.max(0, now.requests - was.requests);
      return { ...now, perSecond: seconds ? grown / seconds : 0, mean: grown ? ((now.seconds - was.seconds) / grown) * 1000 : null };
    }).sort((a, b) => b.perSecond - a.perSecond || b.requests - a.requests);
  }

  /** Keys or ranges, the hottest of the hour first, with their units in each minute. @param {"keys"|"ranges"} what @param {number} most @returns {HeatRow[]} */
  heat(what, most) {
    const minutes = this.told?.minutes ?? [];
    /** @type {Map<string, HeatRow>} */
    const rows = new Map();
    minutes.forEach((minute, at) => {
      for (const hot of minute[what]) {
        const label = hot.key ?? hot.range ?? "";
        const name = JSON.stringify([hot.container, label]);
        const row = rows.get(name) ?? { container: this.told?.containers[hot.container] ?? "", label, isCut: Boolean(hot.isCut), total: 0, cells: minutes.map(() => null) };
        row.cells[at] = hot.units;
        row.total += hot.units;
        rows.set(name, row);
      }
    });
    return [...rows.values()].filter((row) => row.total > 0).sort((a, b) => b.total - a.total).slice(0, most);
  }
}
