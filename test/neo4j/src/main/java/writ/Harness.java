package writ;

import java.nio.file.Files;
import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.connectors.HttpConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.harness.Neo4j;
import org.neo4j.harness.Neo4jBuilders;

/**
 * A Neo4j server for tests, in this process: prints one line with the URL of
 * its Bolt port and runs until standard input ends.
 *
 * <p>The port is the first argument, 0 or none for a free one. NEO4J_PASSWORD
 * sets the password of the user neo4j; without it nobody is asked for one. Its
 * data lies in a temporary folder, or in the one that HARNESS_DIR names.
 */
public final class Harness {
    private Harness() {}

    public static void main(String[] args) throws Exception {
        int port = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        String password = System.getenv("NEO4J_PASSWORD");
        boolean auth = password != null && !password.isEmpty();
        String folder = System.getenv("HARNESS_DIR");
        Path dir = folder == null || folder.isEmpty() ? Files.createTempDirectory("writ-neo4j") : Path.of(folder);

        Neo4j server = Neo4jBuilders.newInProcessBuilder(dir)
                .withDisabledServer()
                .withConfig(BoltConnector.enabled, true)
                .withConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", port))
                .withConfig(HttpConnector.enabled, false)
                .withConfig(GraphDatabaseSettings.auth_enabled, auth)
                .build();
        if (auth) {
            server.databaseManagementService()
                    .database("system")
                    .executeTransactionally(
                            "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED",
                            java.util.Map.of("password", password));
        }
        System.out.println(server.boltURI());
        System.out.flush();
        while (System.in.read() >= 0) {
            // Whoever started this server holds the other end.
        }
        server.close();
        // Neo4j leaves threads behind that would keep the process alive.
        System.exit(0);
    }
}
