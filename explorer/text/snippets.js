// explorer/text/snippets.js - a first program in each language; {endpoint} and {key} are this server's.

/** @type {Record<string, string>} */
export const SNIPPETS = {
  JavaScript: `// npm install @azure/cosmos
import { CosmosClient } from "@azure/cosmos";

const client = new CosmosClient({ endpoint: "{endpoint}", key: "{key}" });
const { database } = await client.databases.createIfNotExists({ id: "library" });
const { container } = await database.containers.createIfNotExists({ id: "books", partitionKey: "/author" });
await container.items.upsert({ id: "1", author: "le guin", title: "The Dispossessed" });
const { resource } = await container.item("1", "le guin").read();
console.log(resource.title);`,
  Python: `# pip install azure-cosmos
from azure.cosmos import CosmosClient, PartitionKey

client = CosmosClient("{endpoint}", "{key}")
database = client.create_database_if_not_exists("library")
container = database.create_container_if_not_exists("books", PartitionKey("/author"))
container.upsert_item({"id": "1", "author": "le guin", "title": "The Dispossessed"})
print(container.read_item("1", partition_key="le guin")["title"])`,
  "C#": `// dotnet add package Microsoft.Azure.Cosmos
using Microsoft.Azure.Cosmos;

using CosmosClient client = new("{endpoint}", "{key}",
    new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway });
Database database = await client.CreateDatabaseIfNotExistsAsync("library");
Container container = await database.CreateContainerIfNotExistsAsync("books", "/author");
await container.UpsertItemAsync(new { id = "1", author = "le guin", title = "The Dispossessed" });`,
  Java: `// com.azure:azure-cosmos
import com.azure.cosmos.*;

CosmosClient client = new CosmosClientBuilder()
    .endpoint("{endpoint}").key("{key}").gatewayMode().buildClient();
client.createDatabaseIfNotExists("library");
CosmosDatabase database = client.getDatabase("library");
database.createContainerIfNotExists("books", "/author");`,
  Go: `// go get github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos
credential, _ := azcosmos.NewKeyCredential("{key}")
client, err := azcosmos.NewClientWithKey("{endpoint}", credential, nil)
if err != nil {
    log.Fatal(err)
}
container, _ := client.NewContainer("library", "books")
item := []byte(\`{"id": "1", "author": "le guin", "title": "The Dispossessed"}\`)
_, err = container.UpsertItem(ctx, azcosmos.NewPartitionKeyString("le guin"), item, nil)`,
  Rust: `// cargo add azure_data_cosmos --features key_auth
let client = CosmosClient::with_key("{endpoint}", Secret::from("{key}"), None)?;
let container = client.database_client("library").container_client("books");
container.upsert_item("le guin", Book { id: "1".into(), author: "le guin".into() }, None).await?;`,
  C: `/* cc first.c $(pkg-config --cflags --libs orrery) */
#include <orrery.h>
#include <stdio.h>

int main(void)
{
    orrery_settings settings = { .size = sizeof(settings), .endpoint = "{endpoint}", .key = "{key}" };
    orrery_client *client = NULL;

    if (orrery_open(&settings, &client) != ORRERY_OK)
        return 1;
    puts("connected");
    orrery_close(client);
}`,
};
