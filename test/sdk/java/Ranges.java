// test/sdk/java/Ranges.java - ranges that split and merge under azure-cosmos: queries, the change feed, its processor.

import com.azure.cosmos.ChangeFeedProcessor;
import com.azure.cosmos.ChangeFeedProcessorBuilder;
import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.models.ChangeFeedProcessorItem;
import com.azure.cosmos.models.ChangeFeedProcessorOptions;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.azure.cosmos.models.ThroughputProperties;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Ranges {
    private static final int ITEMS = 60;
    private static final int WAIT_SECONDS_MAX = 60;

    private final ObjectMapper mapper = new ObjectMapper();
    private final HttpClient http = HttpClient.newHttpClient();
    private final String name = "ranges-java-" + System.nanoTime();
    private final CosmosClient client;
    private final CosmosAsyncClient async;
    private final CosmosDatabase database;
    private List<String> live = new ArrayList<>();
    private int made;
    int passed;
    int failed;

    interface Step {
        void run() throws Exception;
    }

    Ranges(CosmosClient client, CosmosAsyncClient async) {
        this.client = client;
        this.async = async;
        client.createDatabase(name);
        database = client.getDatabase(name);
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

    // ---- splitting and merging: the SDK has no word for it, so it is signed by hand ----

    private List<String> admin(String command, CosmosContainer container, ObjectNode wanted) throws Exception {
        String date = DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ENGLISH).format(ZonedDateTime.now(ZoneOffset.UTC));
        String text = "post\n_orrery\n_orrery/" + command + "\n" + date.toLowerCase(Locale.ENGLISH) + "\n\n";
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(System.getenv("ORRERY_KEY")), "HmacSHA256"));
        String signature = Base64.getEncoder().encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        wanted.put("container", "dbs/" + name + "/colls/" + container.getId());
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("ORRERY_ENDPOINT").replaceAll("/$", "") + "/_orrery/" + command))
            .header("authorization", URLEncoder.encode("type=master&ver=1.0&sig=" + signature, StandardCharsets.UTF_8))
            .header("x-ms-date", date)
            .POST(HttpRequest.BodyPublishers.ofString(wanted.toString())).build();
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        must(answer.statusCode() == 200, answer.body());
        List<String> ids = new ArrayList<>();
        mapper.readTree(answer.body()).get("ranges").forEach(range -> ids.add(range.get("id").asText()));
        return ids;
    }

    private void split(CosmosContainer container) throws Exception {
        live = admin("split", container, mapper.createObjectNode());
    }

    private void splitInside(CosmosContainer container, String range) throws Exception {
        admin("split", container, mapper.createObjectNode().put("range", range).put("at", "median"));
    }

    /** Those that the last split left are one. This SDK gives up a page that finds its range gone several times. */
    private void mergeAll(CosmosContainer container) throws Exception {
        ObjectNode wanted = mapper.createObjectNode();
        live.forEach(wanted.putArray("ranges")::add);
        live = admin("merge", container, wanted);
    }

    // ---- items ----

    private CosmosContainer containerOf(CosmosContainerProperties properties) {
        database.createContainer(properties, ThroughputProperties.createManualThroughput(12000));
        return database.getContainer(properties.getId());
    }

    private CosmosContainer empty() {
        return containerOf(new CosmosContainerProperties("c" + ++made, "/pk"));
    }

    private void write(CosmosContainer container, int from, int to) {
        for (int n = from; n < to; n++) {
            String pk = "p" + n % 20;
            container.upsertItem(mapper.createObjectNode().put("id", "" + n).put("pk", pk).put("n", n), new PartitionKey(pk), null);
        }
    }

    private CosmosContainer filled() {
        CosmosContainer container = empty();
        write(container, 0, ITEMS);
        return container;
    }

    private static List<Integer> numbers(int from, int to) {
        return IntStream.range(from, to).boxed().collect(Collectors.toList());
    }

    private static void same(List<Integer> found, List<Integer> wanted) {
        must(found.stream().sorted().collect(Collectors.toList()).equals(wanted), "each once: " + found);
    }

    /** What the pages have, with something done behind each of the first few. */
    private static List<Integer> drain(Iterable<FeedResponse<JsonNode>> pages, Step... between) throws Exception {
        List<Integer> found = new ArrayList<>();
        int at = 0;
        for (FeedResponse<JsonNode> page : pages) {
            page.getResults().forEach(row -> found.add(row.get("n").asInt()));
            if (at < between.length) {
                between[at++].run();
            }
        }
        return found;
    }

    // ---- queries ----

    private void queries() {
        step("a query goes on over splits and merges", () -> {
            CosmosContainer container = filled();
            Iterable<FeedResponse<JsonNode>> pages =
                container.queryItems("SELECT c.n FROM c", new CosmosQueryRequestOptions(), JsonNode.class).iterableByPage(5);
            same(drain(pages, () -> split(container), () -> mergeAll(container), () -> split(container)), numbers(0, ITEMS));
        });
        step("a sorted query goes on over splits, in order", () -> {
            CosmosContainer container = filled();
            Iterable<FeedResponse<JsonNode>> pages =
                container.queryItems("SELECT c.n FROM c ORDER BY c.n", new CosmosQueryRequestOptions(), JsonNode.class).iterableByPage(7);
            List<Integer> found = drain(pages, () -> split(container), () -> split(container));
            must(found.equals(numbers(0, ITEMS)), "in order: " + found);
        });
        step("the first level of a hierarchical key is found over splits inside it", () -> {
            PartitionKeyDefinition key = new PartitionKeyDefinition();
            key.setPaths(List.of("/a", "/b"));
            key.setKind(PartitionKind.MULTI_HASH);
            key.setVersion(PartitionKeyDefinitionVersion.V2);
            database.createContainer(new CosmosContainerProperties("levels", key));
            CosmosContainer container = database.getContainer("levels");
            for (int n = 0; n < ITEMS; n++) {
                PartitionKey whole = new PartitionKeyBuilder().add("one").add("b" + n).build();
                container.createItem(mapper.createObjectNode().put("id", "" + n).put("a", "one").put("b", "b" + n).put("n", n), whole, null);
            }
            splitInside(container, "0");
            CosmosQueryRequestOptions options = new CosmosQueryRequestOptions().setPartitionKey(new PartitionKeyBuilder().add("one").build());
            same(drain(container.queryItems("SELECT c.n FROM c", options, JsonNode.class).iterableByPage(7),
                () -> splitInside(container, "1"), () -> splitInside(container, "2")), numbers(0, ITEMS));
        });
    }

    // ---- the change feed ----

    private void feed() {
        step("the change feed goes on over splits and merges", () -> {
            CosmosContainer container = filled();
            same(drainFeedOver(container, () -> split(container), () -> mergeAll(container), () -> split(container)),
                numbers(0, ITEMS));
        });
        step("a time is a start as well, and a feed range of before", () -> {
            CosmosContainer container = filled();
            List<FeedRange> before = container.getFeedRanges();
            split(container);
            mergeAll(container);
            split(container);
            List<Integer> found = new ArrayList<>();
            for (FeedRange range : before) {
                found.addAll(drainFeed(container,
                    CosmosChangeFeedRequestOptions.createForProcessingFromPointInTime(Instant.now().minusSeconds(3600), range)));
            }
            same(found, numbers(0, ITEMS));
        });
        step("a continuation goes on after a split and a merge", () -> {
            CosmosContainer container = filled();
            String token = lastToken(container, beginning());
            split(container);
            write(container, ITEMS, ITEMS + 10);
            mergeAll(container);
            same(drainFeed(container, CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(token)),
                numbers(ITEMS, ITEMS + 10));
        });
        step("all versions and deletes go on over a split and a merge", () -> {
            CosmosContainer container = filled();
            String token = lastToken(container, CosmosChangeFeedRequestOptions.createForProcessingFromNow(FeedRange.forFullRange())
                .allVersionsAndDeletes());
            split(container);
            write(container, 0, 5);
            container.deleteItem("7", new PartitionKey("p7"), null);
            mergeAll(container);
            List<String> found = new ArrayList<>();
            for (FeedResponse<JsonNode> page : container.queryChangeFeed(
                CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(token).allVersionsAndDeletes(), JsonNode.class)
                .iterableByPage()) {
                page.getResults().forEach(row -> found.add(row.get("metadata").get("operationType").asText()));
            }
            must(found.equals(List.of("replace", "replace", "replace", "replace", "replace", "delete")), found.toString());
        });
    }

    private static CosmosChangeFeedRequestOptions beginning() {
        return CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forFullRange());
    }

    private static List<Integer> drainFeed(CosmosContainer container, CosmosChangeFeedRequestOptions options) throws Exception {
        return drain(container.queryChangeFeed(options, JsonNode.class).iterableByPage());
    }

    /** A page, a change of the ranges, and so on by the page's token: one feed of this SDK outlives one range that is gone, not two. */
    private static List<Integer> drainFeedOver(CosmosContainer container, Step... changes) throws Exception {
        List<Integer> found = new ArrayList<>();
        CosmosChangeFeedRequestOptions options = beginning();
        for (Step change : changes) {
            FeedResponse<JsonNode> page =
                container.queryChangeFeed(options.setMaxItemCount(4), JsonNode.class).iterableByPage().iterator().next();
            page.getResults().forEach(row -> found.add(row.get("n").asInt()));
            change.run();
            options = CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(page.getContinuationToken());
        }
        found.addAll(drainFeed(container, options.setMaxItemCount(4)));
        return found;
    }

    private static String lastToken(CosmosContainer container, CosmosChangeFeedRequestOptions options) {
        String token = null;
        for (FeedResponse<JsonNode> page : container.queryChangeFeed(options, JsonNode.class).iterableByPage()) {
            token = page.getContinuationToken();
        }
        return token;
    }

    // ---- the processor, over a container of leases ----

    private ChangeFeedProcessorBuilder processorOf(CosmosContainer container, boolean fromBeginning) {
        String leases = "leases-" + container.getId();
        database.createContainer(leases, "/id");
        ChangeFeedProcessorOptions options = new ChangeFeedProcessorOptions().setFeedPollDelay(Duration.ofMillis(100))
            .setLeaseAcquireInterval(Duration.ofMillis(500)).setLeaseRenewInterval(Duration.ofSeconds(1)).setMaxItemCount(5)
            .setStartFromBeginning(fromBeginning);
        return new ChangeFeedProcessorBuilder().hostName("host").options(options)
            .feedContainer(async.getDatabase(name).getContainer(container.getId()))
            .leaseContainer(async.getDatabase(name).getContainer(leases));
    }

    /** Until each of those wanted has come. */
    private static List<Integer> take(BlockingQueue<Integer> seen, int count) throws Exception {
        List<Integer> found = new ArrayList<>();
        while (found.stream().distinct().count() < count) {
            Integer one = seen.poll(WAIT_SECONDS_MAX, TimeUnit.SECONDS);
            must(one != null, "more than " + found.size() + " of " + count + " changes came");
            found.add(one);
        }
        return found.stream().distinct().collect(Collectors.toList());
    }

    private static <T> T next(BlockingQueue<T> seen) throws Exception {
        T one = seen.poll(WAIT_SECONDS_MAX, TimeUnit.SECONDS);
        must(one != null, "another change came");
        return one;
    }

    /** A processor that begins now has begun when it hears of a write. */
    private void untilHeard(CosmosContainer container, BlockingQueue<ChangeFeedProcessorItem> seen) throws Exception {
        for (int tries = 0; tries < 10 * WAIT_SECONDS_MAX; tries++) {
            write(container, 3, 4);
            if (seen.poll(100, TimeUnit.MILLISECONDS) != null) {
                return;
            }
        }
        must(false, "it heard of a write");
    }

    private void processors() {
        step("a processor goes on over splits and merges", () -> {
            CosmosContainer container = empty();
            BlockingQueue<Integer> seen = new LinkedBlockingQueue<>();
            ChangeFeedProcessor processor = processorOf(container, true)
                .handleLatestVersionChanges(page -> page.forEach(item -> seen.add(item.getCurrent().get("n").asInt()))).buildChangeFeedProcessor();
            processor.start().block();
            try {
                write(container, 0, 20);
                same(take(seen, 20), numbers(0, 20));
                split(container);
                write(container, 20, 40);
                same(take(seen, 20), numbers(20, 40));
                mergeAll(container);
                write(container, 40, ITEMS);
                same(take(seen, ITEMS - 40), numbers(40, ITEMS));
            } finally {
                processor.stop().block();
            }
        });
        step("a processor of all versions and deletes is told what was deleted, over a split", () -> {
            CosmosContainer container = empty();
            BlockingQueue<ChangeFeedProcessorItem> seen = new LinkedBlockingQueue<>();
            ChangeFeedProcessor processor = processorOf(container, false)
                .handleAllVersionsAndDeletesChanges((List<ChangeFeedProcessorItem> page) -> seen.addAll(page)).buildChangeFeedProcessor();
            processor.start().block();
            try {
                untilHeard(container, seen);
                split(container);
                container.deleteItem("3", new PartitionKey("p3"), null);
                ChangeFeedProcessorItem deleted = next(seen);
                while (deleted != null && deleted.getPrevious() == null || deleted.getCurrent() != null && deleted.getCurrent().has("n")) {
                    deleted = next(seen);
                }
                must(deleted != null && deleted.getPrevious().get("n").asInt() == 3, "what it was before: " + deleted);
            } finally {
                processor.stop().block();
            }
        });
    }

    void run() {
        queries();
        feed();
        processors();
        database.delete();
    }
}
