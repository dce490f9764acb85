// test/sdk/java/Queries.java - queries with azure-cosmos: the table of ../queries.json, then pages, metrics and lists.
// This SDK asks for the plan of every query and runs it over the ranges by itself.

import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CompositePath;
import com.azure.cosmos.models.CompositePathSortOrder;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemIdentity;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.azure.cosmos.models.SqlParameter;
import com.azure.cosmos.models.SqlQuerySpec;
import com.azure.cosmos.models.ThroughputProperties;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

final class Queries {
    private static final String[] SYSTEM = {"_rid", "_self", "_etag", "_attachments", "_ts"};

    /** Those that this SDK has a continuation for. */
    private static final List<String> RESUMABLE = List.of("everything", "values", "ORDER BY", "ORDER BY of two", "OFFSET LIMIT",
        "TOP of an order", "JOIN", "everything of a key", "a filter and an order of a key");

    /** What it cannot run over ranges, here or on the service: it wants an object where the plan has the value's array. */
    private static final List<String> BEYOND = List.of("GROUP BY under VALUE");

    /** What it runs twice at once over several ranges, in state that both write: right on one thread, which Direct mode does not let it have. */
    private static boolean isRace(JsonNode entry, String where) {
        return "true".equals(System.getenv("ORRERY_DIRECT")) && !where.equals("one") && entry.get("name").asText().startsWith("RANK");
    }

    private final String name = "queries-java-" + System.nanoTime();
    private final CosmosClient client;
    private final CosmosClient other;
    private final JsonNode table;
    private final CosmosDatabase database;
    private final Map<String, CosmosContainer> containers = new HashMap<>();
    int passed;
    int failed;

    interface Step {
        void run() throws Exception;
    }

    Queries(CosmosClient client, CosmosClient other) throws IOException {
        this.client = client;
        this.other = other;
        table = new ObjectMapper().readTree(new File(System.getenv("ORRERY_QUERIES")));
        client.createDatabase(name);
        database = client.getDatabase(name);
        fill("one", table.get("definition"), 400);
        fill("three", table.get("definition"), 18000);
        fill("levels", table.get("levels"), 18000);
    }

    private static IndexingPolicy policy(JsonNode definition) {
        List<List<CompositePath>> indexes = new ArrayList<>();
        for (JsonNode index : definition.path("compositeIndexes")) {
            List<CompositePath> paths = new ArrayList<>();
            for (JsonNode path : index) {
                boolean up = path.get("order").asText().equals("ascending");
                paths.add(new CompositePath().setPath(path.get("path").asText())
                    .setOrder(up ? CompositePathSortOrder.ASCENDING : CompositePathSortOrder.DESCENDING));
            }
            indexes.add(paths);
        }
        return new IndexingPolicy().setCompositeIndexes(indexes);
    }

    private void fill(String id, JsonNode definition, int throughput) {
        JsonNode key = definition.get("partitionKey");
        PartitionKeyDefinition keys = new PartitionKeyDefinition();
        List<String> paths = new ArrayList<>();
        key.get("paths").forEach(path -> paths.add(path.asText()));
        keys.setPaths(paths);
        keys.setKind(key.get("kind").asText().equals("Hash") ? PartitionKind.HASH : PartitionKind.MULTI_HASH);
        keys.setVersion(PartitionKeyDefinitionVersion.V2);
        CosmosContainerProperties properties = new CosmosContainerProperties(id, keys);
        properties.setIndexingPolicy(policy(definition.path("indexingPolicy")));
        database.createContainer(properties, ThroughputProperties.createManualThroughput(throughput));
        containers.put(id, database.getContainer(id));
        table.get("items").forEach(item -> containers.get(id).createItem(item));
    }

    private void attempt(String sentence, Step step) {
        try {
            step.run();
            passed++;
        } catch (Throwable problem) {
            failed++;
            System.out.println("FAILED " + sentence + ": " + problem);
        }
    }

    private static void must(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException("not true: " + what);
        }
    }

    /** Text that is the same for values that are: members sorted, numbers to twelve digits. */
    private static String canonical(JsonNode value) {
        List<String> parts = new ArrayList<>();
        if (value.isNumber()) {
            return String.format("%.11e", value.asDouble());
        }
        if (value.isArray()) {
            value.forEach(one -> parts.add(canonical(one)));
            return parts.toString();
        }
        if (value.isObject()) {
            value.fields().forEachRemaining(one -> parts.add(one.getKey() + "=" + canonical(one.getValue())));
            Collections.sort(parts);
            return "{" + parts + "}";
        }
        return value.toString();
    }

    /** An item as it was before the server added to it; other rows as they are. */
    private static JsonNode plain(JsonNode row) {
        return row.isObject() ? ((ObjectNode) row.deepCopy()).remove(Arrays.asList(SYSTEM)) : row;
    }

    private void check(JsonNode entry, List<JsonNode> rows) {
        if (entry.has("count")) {
            must(rows.size() == entry.get("count").asInt(), entry.get("count") + " rows, and not " + rows.size());
            return;
        }
        List<String> found = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        rows.forEach(row -> found.add(canonical(plain(row))));
        (entry.get("rows").isTextual() ? table.get("items") : entry.get("rows")).forEach(row -> expected.add(canonical(row)));
        if (!entry.path("ordered").asBoolean()) {
            Collections.sort(found);
            Collections.sort(expected);
        }
        must(found.equals(expected), "\n found    " + found + "\n expected " + expected);
    }

    private JsonNode entryOf(String sentence) {
        for (JsonNode entry : table.get("queries")) {
            if (entry.get("name").asText().equals(sentence)) {
                return entry;
            }
        }
        throw new IllegalArgumentException(sentence);
    }

    private static SqlQuerySpec spec(JsonNode entry) {
        List<SqlParameter> parameters = new ArrayList<>();
        entry.path("parameters").forEach(one -> parameters.add(new SqlParameter(one.get("name").asText(), one.get("value"))));
        return new SqlQuerySpec(entry.get("query").asText(), parameters);
    }

    /** One key, or part of one, or every key. */
    private static CosmosQueryRequestOptions options(JsonNode entry) {
        CosmosQueryRequestOptions options = new CosmosQueryRequestOptions();
        if (entry.has("key")) {
            PartitionKeyBuilder key = new PartitionKeyBuilder();
            entry.get("key").forEach(component -> key.add(component.asText()));
            options.setPartitionKey(entry.has("container") ? key.build() : new PartitionKey(entry.get("key").get(0).asText()));
        }
        return options;
    }

    // The table

    private List<JsonNode> rows(JsonNode entry, String where, CosmosQueryRequestOptions options, int size) {
        List<JsonNode> rows = new ArrayList<>();
        for (FeedResponse<JsonNode> page : containers.get(where).queryItems(spec(entry), options, JsonNode.class).iterableByPage(size)) {
            must(page.getResults().size() <= size, "a page of " + page.getResults().size());
            rows.addAll(page.getResults());
        }
        return rows;
    }

    private void answer(JsonNode entry, String where, CosmosQueryRequestOptions options, int size) {
        if (!entry.has("error")) {
            check(entry, rows(entry, where, options, size));
            return;
        }
        try {
            rows(entry, where, options, size);
        } catch (CosmosException problem) {
            must(problem.getStatusCode() == entry.get("error").get("status").asInt(), "the status of " + problem);
            must(problem.getMessage().contains(entry.get("error").get("message").asText()), "the reason of " + problem);
            return;
        }
        throw new IllegalStateException("it was answered");
    }

    private void runTable() {
        for (JsonNode entry : table.get("queries")) {
            if (BEYOND.contains(entry.get("name").asText())) {
                continue;
            }
            for (String where : entry.has("container") ? List.of(entry.get("container").asText()) : List.of("one", "three")) {
                if (isRace(entry, where)) {
                    continue;
                }
                String sentence = entry.get("name").asText() + " of " + where;
                attempt(sentence, () -> answer(entry, where, options(entry), 100));
                attempt(sentence + ", by pages of two", () -> answer(entry, where, options(entry), 2));
                attempt(sentence + ", all ranges at once",
                    () -> answer(entry, where, options(entry).setMaxDegreeOfParallelism(-1).setMaxBufferedItemCount(50), 100));
            }
        }
    }

    // Pages: by two clients in turn, which know nothing of one another but the token

    private void resumed(JsonNode entry, String where) {
        List<JsonNode> rows = new ArrayList<>();
        String token = null;
        int pages = 0;
        do {
            CosmosContainer container = (pages % 2 == 0 ? client : other).getDatabase(name).getContainer(where);
            Iterator<FeedResponse<JsonNode>> pager =
                container.queryItems(spec(entry), options(entry), JsonNode.class).iterableByPage(token, 3).iterator();
            FeedResponse<JsonNode> page = pager.next();
            must(page.getResults().size() <= 3, "a page of " + page.getResults().size());
            rows.addAll(page.getResults());
            token = page.getContinuationToken();
            must(++pages < 100, "the pages have an end");
        } while (token != null);
        must(pages > 1, "more than one page");
        check(entry, rows);
    }

    private void runPages() {
        for (String where : List.of("one", "three")) {
            for (String sentence : RESUMABLE) {
                attempt(sentence + " of " + where + " goes on in another client", () -> resumed(entryOf(sentence), where));
            }
        }
    }

    // By range, and what else there is

    private void byRange() {
        List<FeedRange> ranges = containers.get("three").getFeedRanges();
        List<JsonNode> rows = new ArrayList<>();
        must(ranges.size() == 3, "three ranges, and not " + ranges.size());
        for (FeedRange range : ranges) {
            List<JsonNode> part = rows(entryOf("everything"), "three", new CosmosQueryRequestOptions().setFeedRange(range), 100);
            must(!part.isEmpty(), "a range has items");
            rows.addAll(part);
        }
        check(entryOf("everything"), rows);
    }

    private void metrics() {
        CosmosQueryRequestOptions options = new CosmosQueryRequestOptions().setQueryMetricsEnabled(true);
        for (FeedResponse<JsonNode> page
            : containers.get("one").queryItems("SELECT * FROM c WHERE c.radius > 1000", options, JsonNode.class).iterableByPage()) {
            String told = page.getCosmosDiagnostics().toString();
            must(told.contains("\"outputDocumentCount\":" + page.getResults().size()), "metrics in " + told);
        }
    }

    private void readAll() {
        List<JsonNode> rows = new ArrayList<>();
        containers.get("three").readAllItems(new PartitionKey("saturn"), JsonNode.class).forEach(rows::add);
        check(entryOf("everything of a key"), rows);
    }

    private void readMany() {
        List<CosmosItemIdentity> wanted = new ArrayList<>();
        table.get("items").forEach(
            item -> wanted.add(new CosmosItemIdentity(new PartitionKey(item.get("planet").asText()), item.get("id").asText())));
        check(entryOf("everything"), containers.get("three").readMany(wanted, JsonNode.class).getResults());
    }

    private void lists() {
        SqlQuerySpec query = new SqlQuerySpec("SELECT * FROM r WHERE r.id = @id", new SqlParameter("@id", name));
        List<String> found = new ArrayList<>();
        client.queryDatabases(query, null).forEach(one -> found.add(one.getId()));
        must(found.equals(List.of(name)), "the database by its id: " + found);
        TreeSet<String> ids = new TreeSet<>();
        database.queryContainers("SELECT * FROM r WHERE r.id IN ('one', 'three')").forEach(one -> ids.add(one.getId()));
        must(ids.equals(new TreeSet<>(List.of("one", "three"))), "containers by their ids: " + ids);
    }

    void run() {
        runTable();
        runPages();
        attempt("each range has its items, and all have all", this::byRange);
        attempt("metrics are told when they are asked for", this::metrics);
        attempt("readAllItems has every item of a key", this::readAll);
        attempt("readMany has those that were asked for", this::readMany);
        attempt("databases and containers are found by a query", this::lists);
        database.delete();
    }
}
