// test/emulator/programs/start.mjs - starts the emulator by Testcontainers' module for Node.js, and asks for its account.
import { AzureCosmosDbEmulatorContainer } from "@testcontainers/azure-cosmosdb-emulator";

const emulator = await new AzureCosmosDbEmulatorContainer("orrery:latest").start();
const answer = await fetch(emulator.getEndpoint() + "/");
if (answer.status !== 200) throw new Error("status " + answer.status);
console.log("ready", emulator.getEndpoint());
await emulator.stop();
