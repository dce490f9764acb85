// tools/bench/Latency.java - point reads by azure-cosmos, one at a time, in gateway mode and in Direct mode in turns.
// Prints a line for each: its name, and the milliseconds below which half of the reads and 99 of 100 took.
// ENDPOINT, KEY, ROUNDS and SECONDS_EACH come from the environment; the container d/c has the item 0 of the key a.

import com.azure.cosmos.ConsistencyLevel;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.PartitionKey;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

final class Latency {
    private static final PartitionKey A = new PartitionKey("a");

    private static CosmosClientBuilder builder() {
        return new CosmosClientBuilder().endpoint(System.getenv("ENDPOINT")).key(System.getenv("KEY")).consistencyLevel(ConsistencyLevel.SESSION);
    }

    private static void read(CosmosContainer container, long nanoseconds, List<Long> took) {
        for (long end = System.nanoTime() + nanoseconds, before; (before = System.nanoTime()) < end;) {
            container.readItem("0", A, JsonNode.class);
            took.add(System.nanoTime() - before);
        }
    }

    private static double milliseconds(List<Long> sorted, double part) {
        return sorted.get((int) (part * (sorted.size() - 1))) / 1e6;
    }

    public static void main(String[] arguments) {
        long each = Long.parseLong(System.getenv("SECONDS_EACH")) * 1_000_000_000;
        Map<String, CosmosClient> clients = new LinkedHashMap<>();
        clients.put("gateway", builder().gatewayMode().buildClient());
        clients.put("direct", builder().directMode().buildClient());
        Map<String, List<Long>> took = new LinkedHashMap<>();
        for (int round = 0; round <= Integer.parseInt(System.getenv("ROUNDS")); round++) {
            for (Map.Entry<String, CosmosClient> one : clients.entrySet()) {
                List<Long> found = took.computeIfAbsent(one.getKey(), name -> new ArrayList<>());
                if (round == 1) {
                    found.clear(); // the first is for the compiler
                }
                read(one.getValue().getDatabase("d").getContainer("c"), each, found);
            }
        }
        took.forEach((name, found) -> {
            found.sort(null);
            System.out.printf("%s %.3f %.3f %d%n", name, milliseconds(found, 0.5), milliseconds(found, 0.99), found.size());
        });
        clients.values().forEach(CosmosClient::close);
        System.exit(0);
    }
}
