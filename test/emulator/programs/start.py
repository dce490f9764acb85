"""test/emulator/programs/start.py - starts the emulator by Testcontainers' module for Python, and uses it by the SDK."""
from testcontainers.community.cosmosdb import CosmosDBNoSQLEndpointContainer

with CosmosDBNoSQLEndpointContainer(image="orrery:latest", bind_ports=False) as emulator:
    with emulator.insecure_sync_client() as client:
        assert client.create_database_if_not_exists("shop").read()["id"] == "shop"
    assert b"BEGIN CERTIFICATE" in emulator.server_certificate_pem
    print("ready", emulator.url)
