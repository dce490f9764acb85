// test/sdk/java/Outages.java - a server that restarts, dies, splits its ranges and loses its connections under azure-cosmos in Direct
// mode: clients of items, of bulks and of the change feed go on meanwhile, and see nothing of it but the time that it takes.

import com.azure.cosmos.ChangeFeedProcessor;
import com.azure.cosmos.ChangeFeedProcessorBuilder;
import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosEndToEndOperationLatencyPolicyConfigBuilder;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.ChangeFeedProcessorItem;
import com.azure.cosmos.models.ChangeFeedProcessorOptions;
import com.azure.cosmos.models.CosmosBulkOperationResponse;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosItemResponse;
import com.azure.cosmos.models.CosmosPatchItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.SqlParameter;
import com.azure.cosmos.models.SqlQuerySpec;
import com.azure.cosmos.models.ThroughputProperties;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

final class Outages {
    private static final int WORKERS = 6;
    private static final int BULK = 60;
    private static final int LAST = 4; // what the writes of an item leave in it
    private static final int ABSENT = 0;
    private static final Duration WAIT_MAX = Duration.ofSeconds(180);
    private static final String[] OUTAGES = {"restart", "cut", "split", "kill", "merge", "restart"};
    private static final Duration PATIENCE = Duration.ofSeconds(30); // as long as the SDK itself tries again

    private final ObjectMapper mapper = new ObjectMapper();
    private final HttpClient http = HttpClient.newHttpClient();
    private final String name = "outages-java-" + System.nanoTime();
    private final CosmosClient client = builder().buildClient();
    private final CosmosAsyncClient async = builder().buildAsyncClient();
    private final List<Worker> workers = new ArrayList<>();
    private final Map<String, Integer> kept = new ConcurrentHashMap<>(); // what must be there at the end
    private final Map<String, Integer> seen = new ConcurrentHashMap<>(); // what the change feed has told
    private final List<String> lost = new ArrayList<>(); // writes of which nobody was told what became, since the last outage began
    private final List<String> dropped = new ArrayList<>(); // calls that the SDK itself dropped since then
    private CosmosContainer container;
    private boolean ends;
    private int passed;
    private int failed;

    private interface Step {
        void run() throws Exception;
    }

    private interface Call {
        CosmosItemResponse<?> send(String etag);
    }

    private static CosmosClientBuilder builder() {
        return Scenario.builder().endToEndOperationLatencyPolicyConfig(new CosmosEndToEndOperationLatencyPolicyConfigBuilder(PATIENCE).build());
    }

    private void step(String what, Step step) {
        try {
            step.run();
            passed++;
        } catch (Throwable problem) {
            failed++;
            String told = problem.toString();
            System.out.println("FAILED " + what + ": " + told.substring(0, Math.min(told.length(), 600)));
        }
    }

    private static void must(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException("not true: " + what);
        }
    }

    // ---- clients: each does rounds until it is told to end ----

    private abstract class Worker implements Runnable {
        final String worker;
        long rounds;
        Throwable problem;

        Worker(String worker) {
            this.worker = worker;
        }

        abstract void round(long number);

        @Override
        public void run() {
            try {
                while (tell(0)) {
                    round(rounds);
                    tell(1);
                }
            } catch (Throwable reason) {
                problem = reason;
                tell(0);
            }
        }

        private boolean tell(int more) {
            synchronized (Outages.this) {
                rounds += more;
                Outages.this.notifyAll();
                return !ends;
            }
        }
    }

    /** A connection ended with the write on it: by this protocol nobody can tell what became of it. */
    private boolean isLost(int status, String what) {
        return status == 408 && note(lost, what);
    }

    /** When a connection has ended the SDK asks over https where to go on. It does not ask again while nobody is there. */
    private boolean isUnsent(CosmosException problem, String what) {
        return problem.getStatusCode() == 503 && problem.getSubStatusCode() == 10001 && note(dropped, what);
    }

    /**
     * The SDK hands a call to a connection that has just ended, and forgets it: only the end-to-end limit ends the call. And a
     * connection of https that is cut while it asks where to go on is an error without a status.
     */
    private boolean isForgotten(CosmosException problem, String what) {
        return (problem.getStatusCode() == 0 || problem.getSubStatusCode() == 20008) && note(dropped, what);
    }

    private synchronized boolean note(List<String> list, String what) {
        return list.add(what);
    }

    private <T> T again(String what, Supplier<T> call) {
        for (;;) {
            try {
                return call.get();
            } catch (CosmosException problem) {
                if (!isUnsent(problem, what) && !isForgotten(problem, what)) {
                    throw problem;
                }
            }
        }
    }

    private ObjectNode json(String id, String key, int n) {
        return mapper.createObjectNode().put("id", id).put("pk", key).put("n", n);
    }

    /** One item, which nobody else writes. Each write holds for one version only, so that one that comes late does nothing. */
    private final class Item {
        final String worker;
        final String id;
        final PartitionKey key;
        int n = ABSENT;
        String etag;
        final Set<Integer> doubts = new HashSet<>(); // what lost writes may yet make of it
        boolean wasInDoubt; // then it is not deleted: a create that comes late would bring it back

        Item(String worker, String id) {
            this.worker = worker;
            this.id = id;
            key = new PartitionKey(worker);
        }

        void read() {
            int before = n;
            try {
                CosmosItemResponse<JsonNode> found = again(worker, () -> container.readItem(id, key, JsonNode.class));
                n = found.getItem().get("n").asInt();
                etag = found.getETag();
            } catch (CosmosException problem) {
                if (problem.getStatusCode() != 404) {
                    throw problem;
                }
                n = ABSENT;
            }
            must(n == before || doubts.contains(n), id + " has " + n + ", where " + before + " was written, and perhaps " + doubts);
        }

        void find() {
            SqlQuerySpec query = new SqlQuerySpec("SELECT VALUE c.n FROM c WHERE c.id = @id", new SqlParameter("@id", id));
            CosmosQueryRequestOptions options = new CosmosQueryRequestOptions().setPartitionKey(key);
            List<Integer> found = again(worker, () -> container.queryItems(query, options, Integer.class).stream().collect(Collectors.toList()));
            must(found.equals(List.of(n)), id + " is found as " + found + ", where " + n + " was written");
        }

        /** Until it is done: a lost write may have been done, and then the same one is refused. */
        void write(int target, Call call) {
            do {
                try {
                    CosmosItemResponse<?> done = call.send(etag);
                    n = target;
                    etag = done.getETag();
                } catch (CosmosException problem) {
                    boolean isRefused = Set.of(404, 409, 412).contains(problem.getStatusCode());
                    if (isForgotten(problem, worker) || isLost(problem.getStatusCode(), worker)) {
                        doubts.add(target);
                        wasInDoubt = true;
                    } else if (!isUnsent(problem, worker) && (!isRefused || doubts.isEmpty())) {
                        throw problem;
                    }
                    read();
                }
            } while (n != target);
            doubts.clear();
        }
    }

    private final class Single extends Worker {
        Single(String worker) {
            super(worker);
        }

        private CosmosItemRequestOptions onlyIf(String etag) {
            return new CosmosItemRequestOptions().setIfMatchETag(etag);
        }

        @Override
        void round(long number) {
            Item item = new Item(worker, worker + "-" + number);
            item.write(1, etag -> container.createItem(json(item.id, worker, 1), item.key, null));
            item.read();
            item.write(2, etag -> container.replaceItem(json(item.id, worker, 2), item.id, item.key, onlyIf(etag)));
            item.find();
            item.write(3, etag -> container.upsertItem(json(item.id, worker, 3), item.key, onlyIf(etag)));
            item.write(LAST, etag -> {
                CosmosPatchItemRequestOptions options = new CosmosPatchItemRequestOptions();
                options.setIfMatchETag(etag);
                return container.patchItem(item.id, item.key, CosmosPatchOperations.create().set("/n", LAST), options, JsonNode.class);
            });
            item.read();
            if (number % 4 == 0 && !item.wasInDoubt) {
                item.write(ABSENT, etag -> container.deleteItem(item.id, item.key, onlyIf(etag)));
                item.read();
            } else {
                kept.put(item.id, LAST);
            }
        }
    }

    private final class Bulk extends Worker {
        Bulk() {
            super("bulk");
        }

        private CosmosItemOperation create(String id) {
            String key = id.substring(id.lastIndexOf('-'));
            return CosmosBulkOperations.getCreateItemOperation(json(id, key, LAST), new PartitionKey(key));
        }

        private boolean isMade(CosmosBulkOperationResponse<Object> answer, String id, Set<String> doubts) {
            int status;
            if (answer.getResponse() == null) {
                must(answer.getException() instanceof CosmosException, id + ": " + answer.getException());
                CosmosException problem = (CosmosException) answer.getException();
                if (isUnsent(problem, id)) {
                    return false;
                }
                status = isForgotten(problem, id) ? 0 : problem.getStatusCode();
            } else {
                status = answer.getResponse().getStatusCode();
            }
            if (status == 0 || isLost(status, id)) {
                doubts.add(id);
                return false;
            }
            must(status == 201 || status == 409 && doubts.contains(id), id + ": " + status);
            return true;
        }

        @Override
        void round(long number) {
            Map<CosmosItemOperation, String> waiting = new HashMap<>();
            Set<String> doubts = new HashSet<>();
            for (int i = 0; i < BULK; i++) {
                String id = "bulk-" + number + "-" + i;
                waiting.put(create(id), id);
                kept.put(id, LAST);
            }
            while (!waiting.isEmpty()) {
                Set<CosmosItemOperation> asked = new HashSet<>(waiting.keySet());
                for (CosmosBulkOperationResponse<Object> answer : container.executeBulkOperations(new ArrayList<>(asked))) {
                    must(asked.remove(answer.getOperation()), "an operation is answered once");
                    if (isMade(answer, waiting.get(answer.getOperation()), doubts)) {
                        waiting.remove(answer.getOperation());
                    }
                }
                must(asked.isEmpty(), "each operation is answered: " + asked.size());
            }
        }
    }

    // ---- outages ----

    private void await(BooleanSupplier holds, String what) throws Exception {
        long end = System.nanoTime() + WAIT_MAX.toNanos();
        synchronized (this) {
            while (!holds.getAsBoolean()) {
                for (Worker one : workers) {
                    must(one.problem == null, one.worker + " goes on: " + one.problem);
                }
                long left = (end - System.nanoTime()) / 1_000_000;
                must(left > 0, what);
                wait(left);
            }
        }
    }

    /** Each has done so many from now on: the first may have been begun before. */
    private void awaitRounds(int more) throws Exception {
        Map<Worker, Long> wanted = new HashMap<>();
        synchronized (this) {
            workers.forEach(one -> wanted.put(one, one.rounds + more));
        }
        await(() -> wanted.entrySet().stream().allMatch(one -> one.getKey().rounds >= one.getValue()), "each client does its rounds");
    }

    private void happen(String outage) throws Exception {
        String link = "dbs/" + name + "/colls/" + container.getId();
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("ORRERY_OUTAGES") + outage))
            .POST(HttpRequest.BodyPublishers.ofString(link)).build();
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        must(answer.statusCode() == 200, answer.body());
    }

    /**
     * A cut connection takes the write on it along, once each; all else costs no write. No read fails, whatever happens, but for
     * what the SDK drops by itself while connections end.
     */
    private void live(String outage) throws Exception {
        awaitRounds(2);
        synchronized (this) {
            lost.clear();
            dropped.clear();
        }
        happen(outage);
        awaitRounds(2);
        synchronized (this) {
            must(Set.of("cut", "kill").contains(outage) || lost.isEmpty(), "no write is lost: " + lost);
            must(Set.of("cut", "kill", "restart").contains(outage) || dropped.isEmpty(), "no call is dropped: " + dropped);
            must(new HashSet<>(lost).size() == lost.size(), "none is lost twice: " + lost);
        }
    }

    private ChangeFeedProcessor processor(String host, String leases) {
        ChangeFeedProcessorOptions options = new ChangeFeedProcessorOptions().setFeedPollDelay(Duration.ofMillis(100))
            .setLeaseAcquireInterval(Duration.ofMillis(500)).setLeaseRenewInterval(Duration.ofSeconds(1))
            .setLeaseExpirationInterval(Duration.ofSeconds(10)).setStartFromBeginning(true);
        return new ChangeFeedProcessorBuilder().hostName(host).options(options)
            .feedContainer(async.getDatabase(name).getContainer(container.getId()))
            .leaseContainer(async.getDatabase(name).getContainer(leases))
            .handleLatestVersionChanges(page -> page.forEach(this::note)).buildChangeFeedProcessor();
    }

    private void note(ChangeFeedProcessorItem item) {
        seen.merge(item.getCurrent().get("id").asText(), item.getCurrent().get("n").asInt(), Math::max);
        synchronized (this) {
            notifyAll();
        }
    }

    private Map<String, Integer> items() {
        Map<String, Integer> found = new TreeMap<>();
        container.queryItems("SELECT c.id, c.n FROM c", new CosmosQueryRequestOptions(), JsonNode.class)
            .forEach(row -> must(found.put(row.get("id").asText(), row.get("n").asInt()) == null, "once each: " + row));
        return found;
    }

    private static void same(Map<String, Integer> found, Map<String, Integer> wanted) {
        Set<Map.Entry<String, Integer>> differing = new HashSet<>(found.entrySet());
        differing.addAll(wanted.entrySet());
        differing.removeIf(one -> one.getValue().equals(found.get(one.getKey())) && one.getValue().equals(wanted.get(one.getKey())));
        must(found.equals(wanted), found.size() + " items, where " + wanted.size() + " were written: " + differing);
    }

    private void end(List<Thread> threads) throws Exception {
        synchronized (this) {
            ends = true;
        }
        for (Thread one : threads) {
            one.join(WAIT_MAX.toMillis());
            must(!one.isAlive(), "each client ends");
        }
        for (Worker one : workers) {
            must(one.problem == null, one.worker + " goes on: " + one.problem);
        }
    }

    private void run() throws Exception {
        client.createDatabase(name);
        CosmosDatabase database = client.getDatabase(name);
        database.createContainer(new CosmosContainerProperties("items", "/pk"), ThroughputProperties.createManualThroughput(18000));
        database.createContainer("leases", "/id");
        container = database.getContainer("items");
        ChangeFeedProcessor processor = processor("host", "leases");
        processor.start().block();
        for (int i = 0; i < WORKERS; i++) {
            workers.add(new Single("single" + i));
        }
        workers.add(new Bulk());
        List<Thread> threads = new ArrayList<>();
        for (Worker one : workers) {
            threads.add(new Thread(one));
        }
        threads.forEach(Thread::start);
        for (String outage : OUTAGES) {
            step("clients go on over: " + outage, () -> live(outage));
        }
        step("each client ends well", () -> end(threads));
        step("what was written is there, and nothing else", () -> same(items(), new TreeMap<>(kept)));
        // After a split and a merge the SDK now and then renews a lease and reads nothing more by it, until it is started anew.
        processor.stop().block(WAIT_MAX);
        ChangeFeedProcessor next = processor("next", "leases");
        next.start().block();
        step("the change feed has told of all of it", () -> await(() -> seen.entrySet().containsAll(kept.entrySet()), "each item is told"));
        next.stop().block(WAIT_MAX);
        database.delete();
    }

    public static void main(String[] arguments) throws Exception {
        Outages outages = new Outages();
        outages.run();
        outages.async.close();
        outages.client.close();
        System.out.println(outages.passed + " passed, " + outages.failed + " failed");
        System.exit(outages.failed == 0 ? 0 : 1);
    }
}
