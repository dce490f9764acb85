// test/sdk/js/headers.cjs - the calls that test/client/programs/drive_headers.c makes with the C library, in the same order.
// usage: node headers.cjs ENDPOINT KEY
const { CosmosClient } = require("@azure/cosmos");

async function main([endpoint, key]) {
    const client = new CosmosClient({ endpoint, key, consistencyLevel: "Session" });
    const { database } = await client.databases.create({ id: "headers" });
    const { container } = await database.containers.create({ id: "items", partitionKey: "/pk", throughput: 400 });
    await container.read();

    const item = { id: "1", pk: "café" };
    await container.items.create(item);
    await container.items.upsert(item);
    await container.item("1", "café").read();
    await container.item("1", "café").replace(item, { accessCondition: { type: "IfMatch", condition: "*" } });
    await container.item("1", "café").patch([{ op: "set", path: "/n", value: 1 }]);

    await container.items.query("SELECT * FROM c", { partitionKey: "café", maxItemCount: 5 }).fetchAll();
    await client.databases.query("SELECT * FROM d").fetchAll();
    await container.scripts.storedProcedures.readAll().fetchAll();

    await container.items.batch([{ operationType: "Upsert", resourceBody: { id: "2", pk: "café" } }], "café");
    await container.item("1", "café").delete();
    await database.delete();
    client.dispose();
}

main(process.argv.slice(2)).catch((problem) => {
    console.error(problem);
    process.exit(1);
});
