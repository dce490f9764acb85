// test/sdk/js/throughput.test.mjs - a server with --enforce-throughput: the SDK waits as it is told, and everything is done.
import { CosmosClient } from "@azure/cosmos";
import harness from "./harness.cjs";

const { assert, endpoint, key, main, refusal, test } = harness;
const client = new CosmosClient({ endpoint, key });
const { database } = await client.databases.create({ id: `throughput-${process.pid}` });
const partitionKey = { paths: ["/pk"], version: 2 };

async function make(id, throughput) {
  const { container } = await database.containers.create({ id, partitionKey, throughput });
  return container;
}

/** The item costs more than a container of 400 RU/s has. */
const large = (id) => ({ id, pk: "a", text: "x".repeat(2_000_000) });

/** So many at a time, because what is under way is paid for only when it is done. */
async function inTurns(count, atATime, act) {
  const answers = [];
  let next = 0;
  await Promise.all(Array.from({ length: atATime }, async () => {
    while (next < count) answers.push(await act(next++));
  }));
  return answers;
}

async function throttled(name) {
  const text = await (await fetch(`${endpoint.replace(/\/$/, "")}/_orrery/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith("orrery_requests_throttled_total") && one.includes(`container="${name}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

test("a flood against a container of 400 RU/s is slowed down and finishes", async () => {
  const container = await make("flooded", 400);
  const began = performance.now();
  const answers = await inTurns(300, 10, (i) => container.items.create({ id: `${i}`, pk: `${i}` }));
  const seconds = (performance.now() - began) / 1000;
  const charge = answers.reduce((sum, one) => sum + one.requestCharge, 0);
  assert.ok(answers.every((one) => one.statusCode === 201));
  assert.ok(seconds > (0.5 * (charge - 400)) / 400, `${charge} request units in ${seconds} s`);
  assert.ok((await throttled("flooded")) > 0);
});

test("a client that does not wait is told how long it should have", async () => {
  const container = await make("hasty", 400);
  const hasty = new CosmosClient({ endpoint, key, connectionPolicy: { retryOptions: { maxRetryAttemptCount: 0 } } });
  await container.items.create(large("1"));
  const problem = await refusal(hasty.database(database.id).container("hasty").item("1", "a").read());
  assert.equal(problem.code, 429);
  assert.equal(problem.substatus, 3200);
  assert.ok(problem.retryAfterInMs > 0 && problem.retryAfterInMs < 3000, `${problem.retryAfterInMs}`);
});

test("bulk operations that were refused are sent again and done", async () => {
  const container = await make("bulk", 400);
  const operations = Array.from({ length: 150 }, (_, i) => ({
    operationType: "Create",
    partitionKey: `${i}`,
    resourceBody: { id: `${i}`, pk: `${i}` },
  }));
  const results = await container.items.executeBulkOperations(operations);
  assert.deepEqual([...new Set(results.map((one) => one.response?.statusCode ?? one.error?.code))], [201]);
  const { resources } = await container.items.query("SELECT VALUE COUNT(1) FROM c").fetchAll();
  assert.deepEqual(resources, [150]);
});

test("a query goes on after each page that was refused", async () => {
  const container = await make("paged", 400);
  for (let i = 0; i < 4; i++) await container.items.create({ id: `${i}`, pk: "a", text: "x".repeat(200_000) });
  const { resources } = await container.items.query("SELECT c.id FROM c", { maxItemCount: 1 }).fetchAll();
  assert.equal(resources.length, 4);
});

test("more throughput counts at once", async () => {
  const container = await make("raised", 400);
  const { resource: offer } = await container.readOffer();
  await container.items.create(large("1"));
  offer.content.offerThroughput = 10000;
  await client.offer(offer.id).replace(offer);
  const began = performance.now();
  for (let i = 2; i < 6; i++) await container.items.create(large(`${i}`));
  assert.ok(performance.now() - began < 5000); // 3,200 request units: eight seconds of the 400 that it had
});

await main(() => database.delete());
