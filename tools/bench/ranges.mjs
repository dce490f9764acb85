// tools/bench/ranges.mjs - sorted queries drained by the SDK, over one range and over many, in turns; prints the milliseconds.
// usage: node ranges.mjs URL KEY ITEMS RANGES ROUNDS      in a folder that has the SDK
import { createRequire } from "node:module";

const { CosmosClient, BulkOperationType } = createRequire(process.cwd() + "/")("@azure/cosmos");
const [, , endpoint, key, items, ranges, rounds] = process.argv;
const client = new CosmosClient({ endpoint, key });
const { database } = await client.databases.createIfNotExists({ id: "sorted" });

async function filled(id, throughput) {
  const { container } = await database.containers.create({ id, partitionKey: "/pk", throughput });
  for (let from = 0; from < +items; from += 1000)
    await container.items.executeBulkOperations(
      Array.from({ length: Math.min(1000, +items - from) }, (_, i) => {
        const n = from + i;
        const resourceBody = { id: `${n}`, pk: `p${n % 1000}`, n: (n * 7919) % +items, text: "x".repeat(100) };
        return { operationType: BulkOperationType.Create, partitionKey: resourceBody.pk, resourceBody };
      }),
    );
  return container;
}

async function drain(container, query) {
  const began = performance.now();
  const { resources } = await container.items.query(query, { maxItemCount: 1000, maxDegreeOfParallelism: -1 }).fetchAll();
  if (resources.length === 0) throw new Error("no rows");
  return performance.now() - began;
}

const one = await filled("one", 400);
const many = await filled("many", 10000 * +ranges);
const report = [];
for (const query of ["SELECT * FROM c ORDER BY c.n", "SELECT c.id, c.n FROM c WHERE c.n > 10000 ORDER BY c.n DESC"]) {
  const row = { query, one: [], many: [] };
  await drain(one, query);
  await drain(many, query);
  for (let round = 0; round < +rounds; round++) {
    row.one.push(await drain(one, query));
    row.many.push(await drain(many, query));
  }
  report.push(row);
}
console.log(JSON.stringify(report));
