/* test/emulator/programs/Main.java - starts the emulator by Testcontainers' module for Java, and trusts its certificate. */
import org.testcontainers.containers.CosmosDBEmulatorContainer;
import org.testcontainers.utility.DockerImageName;

public class Main {
    public static void main(String[] words) throws Exception {
        DockerImageName image = DockerImageName.parse("orrery:latest")
            .asCompatibleSubstituteFor("mcr.microsoft.com/cosmosdb/linux/azure-cosmos-emulator");
        try (CosmosDBEmulatorContainer emulator = new CosmosDBEmulatorContainer(image)) {
            emulator.start();
            if (emulator.buildNewKeyStore().size() != 1)
                throw new IllegalStateException("no certificate");
            System.out.println("ready " + emulator.getEmulatorEndpoint());
        }
        System.exit(0);
    }
}
