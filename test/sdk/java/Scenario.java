// test/sdk/java/Scenario.java - the steps of ../scenario.md with azure-cosmos, in gateway mode; then Queries.java and Ranges.java.

import com.azure.cosmos.ConsistencyLevel;
import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.GatewayConnectionConfig;
import com.azure.cosmos.Http2ConnectionConfig;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosBatchItemRequestOptions;
import com.azure.cosmos.models.CosmosBatchOperationResult;
import com.azure.cosmos.models.CosmosBatchResponse;
import com.azure.cosmos.models.CosmosBulkOperationResponse;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.IndexingMode;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

public final class Scenario {
    private static final String TEXT = "é 日本 😀 שלום \u2028 \\ \" /";
    private static final String[] ODD_IDS = {
        "a b", "100%", "a+b&c=d@e:f", "'single' and \"double\"", "é日本😀", "a.b..c", "a;b,c$d!e*f(g)"
    };
    private static final PartitionKey A = new PartitionKey("a");

    private final ObjectMapper mapper = new ObjectMapper();
    private final String name = "scenario-java-" + System.nanoTime();
    private final CosmosClient client;
    private CosmosDatabase database;
    private CosmosContainer single;
    private CosmosContainer levels;
    private String etag;
    private int passed;
    private int failed;

    private interface Step {
        void run() throws Exception;
    }

    private Scenario() {
        client = connect();
    }

    static CosmosClientBuilder builder() {
        CosmosClientBuilder builder = new CosmosClientBuilder()
            .endpoint(System.getenv("ORRERY_ENDPOINT"))
            .key(System.getenv("ORRERY_KEY"))
            .consistencyLevel(ConsistencyLevel.SESSION)
            .contentResponseOnWriteEnabled(true);
        return "true".equals(System.getenv("ORRERY_DIRECT")) ? builder.directMode()
            : builder.gatewayMode(new GatewayConnectionConfig().setHttp2ConnectionConfig(
                new Http2ConnectionConfig().setEnabled("true".equals(System.getenv("ORRERY_HTTP2")))));
    }

    private static CosmosClient connect() {
        return builder().buildClient();
    }

    private void step(String what, Step step) {
        try {
            step.run();
            passed++;
        } catch (Throwable problem) {
            failed++;
            System.out.println("FAILED " + what + ": " + problem);
        }
    }

    private static void must(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException("not true: " + what);
        }
    }

    private static void refused(int status, Step step) throws Exception {
        try {
            step.run();
        } catch (CosmosException problem) {
            must(problem.getStatusCode() == status, status + ", and not " + problem.getStatusCode());
            return;
        }
        throw new IllegalStateException("succeeded, where " + status + " was expected");
    }

    private ObjectNode item(String id, String pk) {
        return mapper.createObjectNode().put("id", id).put("pk", pk);
    }

    private JsonNode read(CosmosContainer container, String id, PartitionKey key) {
        return container.readItem(id, key, JsonNode.class).getItem();
    }

    private void databases() {
        step("create database", () -> {
            client.createDatabase(name);
            refused(409, () -> client.createDatabase(name));
        });
        step("read and list databases", () -> {
            database = client.getDatabase(name);
            must(database.read().getProperties().getId().equals(name), "the database's id");
            must(client.readAllDatabases().stream().anyMatch(one -> one.getId().equals(name)), "it is listed");
        });
    }

    private void containers() {
        step("create container", () -> {
            database.createContainer("single", "/pk");
            single = database.getContainer("single");
            CosmosContainerProperties read = single.read().getProperties();
            must(read.getIndexingPolicy().getIndexingMode() == IndexingMode.CONSISTENT, "the default indexing mode");
            must(read.getIndexingPolicy().getIncludedPaths().get(0).getPath().equals("/*"), "all paths included");
        });
        step("create hierarchical container", () -> {
            PartitionKeyDefinition key = new PartitionKeyDefinition();
            key.setPaths(List.of("/tenant", "/user", "/session"));
            key.setKind(PartitionKind.MULTI_HASH);
            key.setVersion(PartitionKeyDefinitionVersion.V2);
            database.createContainer(new CosmosContainerProperties("levels", key));
            levels = database.getContainer("levels");
            refused(409, () -> database.createContainer(new CosmosContainerProperties("levels", key)));
        });
    }

    private void items() {
        step("create item", () -> {
            etag = single.createItem(item("1", "a").put("n", 1).put("text", TEXT), A, null).getETag();
            must(etag != null && !etag.isEmpty(), "an etag");
        });
        step("read item", () -> {
            JsonNode found = read(single, "1", A);
            must(found.get("text").asText().equals(TEXT), "the text as it was sent");
            must(found.get("_etag").asText().equals(etag), "the etag of the create");
        });
        step("read absent item", () -> refused(404, () -> read(single, "none", A)));
        step("create existing item", () -> refused(409, () -> single.createItem(item("1", "a"), A, null)));
        step("replace item", () -> {
            String now = single.replaceItem(item("1", "a").put("n", 2), "1", A, null).getETag();
            must(!now.equals(etag), "a new etag");
        });
        step("replace on condition", () -> {
            CosmosItemRequestOptions options = new CosmosItemRequestOptions().setIfMatchETag(etag);
            refused(412, () -> single.replaceItem(item("1", "a").put("n", 9), "1", A, options));
            must(read(single, "1", A).get("n").asInt() == 2, "the item as before");
        });
        step("upsert items", () -> {
            must(single.upsertItem(item("1", "a").put("n", 3), A, null).getStatusCode() == 200, "200: replaced");
            must(single.upsertItem(item("2", "a"), A, null).getStatusCode() == 201, "201: created");
        });
        step("odd ids", () -> {
            for (String id : ODD_IDS) {
                single.createItem(item(id, "a"), A, null);
                must(read(single, id, A).get("id").asText().equals(id), id);
                single.deleteItem(id, A, null);
            }
        });
    }

    private void keys() {
        step("null and undefined keys", () -> {
            PartitionKey none = new PartitionKey(null);
            single.createItem(item("null", null), none, null);
            must(read(single, "null", none).get("pk").isNull(), "null");
            single.createItem(mapper.createObjectNode().put("id", "none"), PartitionKey.NONE, null);
            must(!read(single, "none", PartitionKey.NONE).has("pk"), "no key");
        });
        step("hierarchical item", () -> {
            ObjectNode item = mapper.createObjectNode().put("id", "1").put("tenant", "t").put("user", "u").put("session", 5);
            PartitionKey here = new PartitionKeyBuilder().add("t").add("u").add(5).build();
            PartitionKey elsewhere = new PartitionKeyBuilder().add("t").add("u").add(6).build();
            levels.createItem(item, here, null);
            must(read(levels, "1", here).get("session").asInt() == 5, "the item by its three values");
            refused(404, () -> read(levels, "1", elsewhere));
        });
    }

    private void pages() {
        step("read by pages", () -> {
            PartitionKey key = new PartitionKey("many");
            for (int n = 0; n < 25; n++) {
                single.createItem(item("many-" + n, "many"), key, null);
            }
            CosmosQueryRequestOptions options = new CosmosQueryRequestOptions().setPartitionKey(key);
            List<String> seen = new ArrayList<>();
            for (FeedResponse<JsonNode> page
                : single.queryItems("SELECT * FROM c", options, JsonNode.class).iterableByPage(10)) {
                must(page.getResults().size() <= 10, "a page of 10 at most");
                page.getResults().forEach(found -> seen.add(found.get("id").asText()));
            }
            must(seen.size() == 25 && new HashSet<>(seen).size() == 25, "each of 25 items, once: " + seen.size());
        });
    }

    private static String statuses(CosmosBatchResponse response) {
        List<Integer> found = new ArrayList<>();
        for (CosmosBatchOperationResult one : response.getResults()) {
            found.add(one.getStatusCode());
        }
        return found.toString();
    }

    private void ends() {
        step("replace container", () -> {
            CosmosContainerProperties properties = single.read().getProperties();
            properties.setDefaultTimeToLiveInSeconds(3600);
            single.replace(properties);
            must(single.read().getProperties().getDefaultTimeToLiveInSeconds() == 3600, "the time to live that was set");
        });
        step("patch item", () -> {
            single.upsertItem(item("1", "a").put("n", 3).put("old", "text").set("list", mapper.createArrayNode().add(1)));
            CosmosPatchOperations changes = CosmosPatchOperations.create()
                .add("/list/-", 2).set("/a~1b", "x").replace("/list/0", 0).increment("/n", 1.5)
                .move("/old", "/new").remove("/a~1b");
            JsonNode patched = single.patchItem("1", A, changes, JsonNode.class).getItem();
            must(patched.get("list").toString().equals("[0,2]") && patched.get("n").asDouble() == 4.5, "what was changed");
            must(patched.get("new").asText().equals("text") && !patched.has("old") && !patched.has("a/b"), "what was moved");
            CosmosPatchItemRequestOptions onCondition = new CosmosPatchItemRequestOptions();
            onCondition.setFilterPredicate("from c where c.n > 4");
            CosmosPatchOperations back = CosmosPatchOperations.create().set("/n", 3);
            single.patchItem("1", A, back, onCondition, JsonNode.class);
            refused(412, () -> single.patchItem("1", A, back, onCondition, JsonNode.class));
        });
        step("batch", () -> {
            CosmosBatch all = CosmosBatch.createCosmosBatch(A);
            all.createItemOperation(item("b1", "a").put("n", 1));
            all.upsertItemOperation(item("b1", "a").put("n", 2));
            all.replaceItemOperation("b1", item("b1", "a").put("n", 3));
            all.patchItemOperation("b1", CosmosPatchOperations.create().increment("/n", 1));
            all.readItemOperation("b1");
            all.createItemOperation(item("b2", "a"));
            all.deleteItemOperation("b2");
            CosmosBatchResponse done = single.executeCosmosBatch(all);
            must(done.isSuccessStatusCode() && statuses(done).equals("[201, 200, 200, 200, 200, 201, 204]"), "the batch: " + statuses(done));
            must(done.getResults().get(4).getItem(JsonNode.class).get("n").asInt() == 4, "what was read");
            CosmosBatch wrong = CosmosBatch.createCosmosBatch(A);
            wrong.createItemOperation(item("b3", "a"));
            wrong.deleteItemOperation("b1", new CosmosBatchItemRequestOptions().setIfMatchETag("old"));
            CosmosBatchResponse undone = single.executeCosmosBatch(wrong);
            must(undone.getStatusCode() == 412 && statuses(undone).equals("[424, 412]"), "the wrong batch: " + statuses(undone));
            refused(404, () -> read(single, "b3", A));
            single.deleteItem("b1", A, null);
        });
        step("bulk", () -> {
            List<CosmosItemOperation> operations = new ArrayList<>();
            for (int i = 0; i < 250; i++) {
                String key = "bulk" + i % 7;
                operations.add(CosmosBulkOperations.getCreateItemOperation(item("i" + i, key), new PartitionKey(key)));
            }
            int created = 0;
            for (CosmosBulkOperationResponse<Object> one : single.executeBulkOperations(operations)) {
                created += one.getResponse() != null && one.getResponse().getStatusCode() == 201 ? 1 : 0;
            }
            must(created == 250, created + " items created in bulk");
            for (int i = 0; i < 7; i++) {
                single.deleteAllItemsByPartitionKey(new PartitionKey("bulk" + i), null);
            }
        });
        step("delete by key", () -> {
            single.deleteAllItemsByPartitionKey(new PartitionKey("many"), null);
            refused(404, () -> read(single, "many-0", new PartitionKey("many")));
            must(read(single, "1", A).get("n").asInt() == 3, "the item of another key");
        });
        step("delete item", () -> {
            single.deleteItem("1", A, null);
            refused(404, () -> read(single, "1", A));
            refused(404, () -> single.deleteItem("1", A, null));
        });
        step("delete container", () -> {
            levels.delete();
            refused(404, levels::read);
        });
        step("delete database", () -> {
            database.delete();
            refused(404, database::read);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Scenario scenario = new Scenario();
        CosmosClient other = connect();
        Queries queries = new Queries(scenario.client, other);
        queries.run();
        other.close();
        CosmosAsyncClient async = builder().buildAsyncClient();
        Ranges ranges = new Ranges(scenario.client, async);
        ranges.run();
        async.close();
        scenario.databases();
        scenario.containers();
        scenario.items();
        scenario.keys();
        scenario.pages();
        scenario.ends();
        scenario.client.close();
        int failed = scenario.failed + queries.failed + ranges.failed;
        System.out.println(scenario.passed + queries.passed + ranges.passed + " passed, " + failed + " failed");
        System.exit(failed > 0 ? 1 : 0);
    }
}
