// test/sdk/js/models.test.mjs - the worked models under 100 clients at a time, whose requests fail in every way there is.
// A checker reads all the while: no invariant is ever seen broken. ORRERY_SECONDS says how long, ORRERY_SEED what is done.
import fs from "node:fs";
import { CosmosClient } from "@azure/cosmos";
import harness from "./harness.cjs";
import * as all from "./models.mjs";

const { assert, endpoint, key, main, test } = harness;
const CLIENTS = 100;
const PAGE = 10000; // more than a partition ever has
const seconds = Number(process.env.ORRERY_SECONDS ?? 12);
const seed = Number(process.env.ORRERY_SEED ?? 1);
const models = Object.values(all);
console.log(`seed ${seed}, ${seconds} s`);

const [patient, hasty] = [{}, { retryOptions: { maxRetryAttemptCount: 0 } }]
  .map((connectionPolicy) => new CosmosClient({ endpoint, key, connectionPolicy }));
const { database } = await patient.databases.create({ id: `models-${process.pid}` });

async function prepare(model) {
  const { container } = await database.containers.create({ id: model.name, partitionKey: model.partitionKey });
  // A method's text is no function by itself.
  for (const [id, run] of Object.entries(model.procedures ?? {}))
    await container.scripts.storedProcedures.create({ id, body: `function ${run}` });
  for (const [id, [triggerType, triggerOperation, run]] of Object.entries(model.triggers ?? {}))
    await container.scripts.triggers.create({ id, triggerType, triggerOperation, body: String(run) });
  await model.fill(container);
}

/** Choices of one client, from the seed; names that no other makes. */
function chanceOf(client) {
  let state = (seed * 1000 + client + 1) >>> 0;
  let made = 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n) => Math.floor(random() * n);
  return {
    below, one: (n) => below(n) === 0, pick: (list) => list[below(list.length)],
    name: (kind) => `${kind}-${client}-${made++}`,
    shuffled: (list) => list.map((value) => [random(), value]).sort(([a], [b]) => a - b).map(([, value]) => value),
  };
}

/** What goes wrong with one request. The first of some clients are chosen, so that each kind is there in every run. */
function faultOf(chance, client, isFirst) {
  const fault = { script: undefined, options: {} };
  const kind = isFirst && client < 10 ? ["throw", "abort"][client % 2] : isFirst && client < 13 ? "loop" : null;
  const dice = kind ? -1 : chance.below(1000);
  if (kind === "abort" || (dice >= 0 && dice < 60)) fault.options.abortSignal = AbortSignal.timeout(1 + chance.below(40));
  else if (kind === "throw" || (dice >= 60 && dice < 180)) fault.script = "throw";
  else if (kind === "loop" || dice === 180) fault.script = "loop";
  return fault;
}

// What a client may be told. A script's own number is the sub-status of a 400.
const outcomes = new Map();
const problems = [];
const state = { ended: false, checks: 0, killed: 0, requests: 0 };
const kill = killerOf(state);

function note(what) {
  outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
  kill(++state.requests);
}

/** The SDK leaves of a batch's failure nothing but its message. */
const BATCH_WORDS = [[/Retry to avoid conflicts/, "449"], [/Request rate is large/, "429"], [/exceeded maximum alloted time/, "408"]];

function wordsOf(problem) {
  const known = BATCH_WORDS.find(([pattern]) => problem?.message?.startsWith("Batch request error") && pattern.test(problem.message));
  if (known) return known[1];
  if (/AbortError|TimeoutError/.test(problem?.name) || /operation was aborted/.test(problem?.message)) return "aborted";
  if ([404, 408, 409, 412, 429, 449].includes(problem?.code)) return String(problem.code);
  if (problem?.code === 400 && problem.body?.message?.includes("ended unexpectedly")) return "lost child";
  if (problem?.code === 400 && [404, 409, 412, 418, 429].includes(problem.substatus)) return `400/${problem.substatus}`;
  return null;
}

async function client(number, until) {
  const chance = chanceOf(number);
  const connection = number % 2 ? patient : hasty;
  for (let count = 0; Date.now() < until && problems.length === 0; count++) {
    const isFirst = count === 0;
    const model = isFirst && number < 13 ? all.authors : chance.pick(models);
    const fault = faultOf(chance, number, isFirst);
    try {
      await model.act(connection.database(database.id).container(model.name), chance, fault);
      note("done");
    } catch (problem) {
      const words = wordsOf(problem);
      if (words) note(words);
      else problems.push(`${model.name}: ${problem?.code}/${problem?.substatus} ${problem?.message ?? problem}\n${problem?.stack}`);
    }
  }
}

/** All of one partition in one page: as of one moment. */
async function itemsOf(model, partitionKey) {
  const page = await database.container(model.name).items.query("SELECT * FROM c", { partitionKey, maxItemCount: PAGE }).fetchNext();
  assert.ok(!page.hasMoreResults, `${model.name} does not fit into a page`);
  return page.resources;
}

async function checkLast(model) {
  for (const partition of model.keys) {
    const items = await itemsOf(model, partition);
    model.check(items, partition);
    model.checkLast?.(items, partition);
  }
}

async function checkUntilEnd(model) {
  while (!state.ended && problems.length === 0)
    for (const partition of model.partitions()) {
      await itemsOf(model, partition).then((items) => model.check(items, partition))
        .catch((problem) => problems.push(`${model.name}: ${problem.stack}`));
      state.checks++;
    }
}

/** The processes that run scripts. */
function children(pid) {
  try {
    return fs.readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => fs.readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number));
  } catch {
    return []; // a thread has just ended
  }
}

/** One child after every so many requests: time alone decides nothing. */
function killerOf(state) {
  const chance = chanceOf(CLIENTS);
  let next = 40;
  return (count) => {
    const found = count < next ? [] : children(process.env.ORRERY_PID);
    if (!found.length) return;
    next = count + 20 + chance.below(60);
    try {
      process.kill(chance.pick(found), "SIGKILL");
      state.killed++;
    } catch {
      // it is gone already
    }
  };
}

test("100 clients, failures of every kind and killed children: no invariant is ever seen broken", async () => {
  await Promise.all(models.map(prepare));
  const beside = Promise.all(models.map(checkUntilEnd));
  const until = Date.now() + seconds * 1000;
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number, until)));
  state.ended = true;
  await beside;
  console.log(`${state.checks} checks, ${state.killed} children killed; ${[...outcomes].map(([what, n]) => `${what}: ${n}`).join(", ")}`);
  assert.deepEqual(problems, []);
  assert.ok(state.checks > 0 && state.killed > 0);
  for (const what of ["done", "aborted", "400/418", "412"]) assert.ok(outcomes.get(what) > 0, `nothing was ${what}`);
});

test("when all is over it holds as well, and what was acknowledged is there", () => Promise.all(models.map(checkLast)));

await main(() => database.delete());
