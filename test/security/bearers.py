"""test/security/bearers.py - tokens of an identity provider: whom they let in, and files that change meanwhile."""
import base64
import json
import os
import subprocess
import time

from peer import check
from server import KEY

DOCS = "/dbs/s/colls/c/docs"
ISSUER, AUDIENCE = "https://id.example/tenant", "https://db.example"
PATIENCE_S = 30


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Provider:
    """Signs as an identity provider does; OpenSSL's program does the cryptography, in the place of the server's."""

    def __init__(self, directory, name):
        self.name, self.key = name, os.path.join(directory, name + ".pem")
        self.openssl("genrsa", "-out", self.key, "2048")
        modulus = self.openssl("rsa", "-in", self.key, "-noout", "-modulus").decode().strip().partition("=")[2]
        self.jwk = {"kty": "RSA", "use": "sig", "kid": name, "n": encode(bytes.fromhex(modulus)), "e": "AQAB"}

    @staticmethod
    def openssl(*arguments, data=None):
        return subprocess.run(["openssl", *arguments], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True).stdout

    def token(self, header=None, **claims):
        now = int(time.time())
        said = {"iss": ISSUER, "aud": AUDIENCE, "iat": now, "nbf": now, "exp": now + 3600, **claims}
        parts = [encode(json.dumps(part).encode()) for part in (header or {"alg": "RS256", "kid": self.name}, said)]
        signature = self.openssl("dgst", "-sha256", "-sign", self.key, data=".".join(parts).encode())
        return "type=aad&ver=1.0&sig=" + ".".join([*parts, encode(signature)])


def replace(path, content):
    """As a careful administrator does: whole, by a rename."""
    with open(path + ".new", "w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    os.chmod(path + ".new", 0o644)
    os.rename(path + ".new", path)


def assignments(**roles):
    return {"assignments": [{"sub": who, "role": "Cosmos DB Built-in Data " + role, "scope": scope} for who, (role, scope) in roles.items()]}


class Files:
    """What the server is told of before it starts."""

    def __init__(self, server):
        self.jwks, self.roles = (os.path.join(server.directory, name) for name in ("jwks.json", "roles.json"))
        self.provider, self.other = Provider(server.directory, "first"), Provider(server.directory, "second")
        self.current = self.provider  # whose public key the server has
        replace(self.jwks, {"keys": [self.provider.jwk]})
        replace(self.roles, assignments(reader=("Reader", "/dbs/s/colls/c"), writer=("Contributor", "/dbs/s")))
        server.command += ["--jwks", self.jwks, "--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE, "--roles", self.roles]


def until(status, ask):
    """Asks until the server has taken up what changed."""
    end = time.monotonic() + PATIENCE_S
    while ask().status != status:
        check(time.monotonic() < end, "not %d after %d s", status, PATIENCE_S)


def tokens_and_roles(world):
    peer, provider = world.peer, world.files.provider
    reader, writer, nobody = (provider.token(sub=name) for name in ("reader", "writer", "nobody"))
    peer.must(200, "GET", "/", authorization=reader)
    peer.must(200, "GET", DOCS + "/1", authorization=reader)
    peer.must(403, "POST", DOCS, {"id": "b1", "pk": "a"}, authorization=reader)
    peer.must(403, "GET", "/dbs/t/colls/c/docs/1", authorization=reader)
    peer.must(403, "GET", "/dbs/none/colls/c/docs/1", authorization=reader)
    peer.must(201, "POST", DOCS, {"id": "b1", "pk": "a"}, authorization=writer)
    peer.must(204, "DELETE", DOCS + "/b1", authorization=writer)
    peer.must(403, "POST", "/dbs/s/colls", {"id": "x", "partitionKey": {"paths": ["/pk"]}}, authorization=writer)
    peer.must(403, "POST", "/_orrery/backup", {"directory": "/tmp/x"}, authorization=writer)
    peer.must(403, "GET", "/", authorization=nobody)
    for token in (provider.token(sub="writer", exp=1), provider.token(sub="writer", nbf=2 ** 32), provider.token(sub="writer", iss="x"),
                  provider.token(sub="writer", aud="x"), provider.token({"alg": "none", "kid": "first"}, sub="writer"),
                  provider.token({"alg": "HS256", "kid": "first"}, sub="writer"), world.files.other.token({"alg": "RS256", "kid": "first"}, sub="writer"),
                  world.files.other.token(sub="writer"), writer[:-2], writer + "A"):
        answer = peer.must(401, "GET", DOCS + "/1", authorization=token)
        check(answer.has_json_body(), "no JSON: %s", answer.body)


def files_that_change(world):
    """New roles and keys are taken up; what is no good changes nothing and is told of once."""
    peer, files = world.peer, world.files
    reader, later = files.provider.token(sub="reader"), files.other.token(sub="reader")
    replace(files.roles, "{")
    replace(files.jwks, {"keys": [files.provider.jwk, files.other.jwk]})
    end = time.monotonic() + PATIENCE_S
    while "stay as they are" not in world.server.log():
        check(time.monotonic() < end, "the log says nothing")
    peer.must(200, "GET", DOCS + "/1", authorization=reader)
    peer.must(401, "GET", DOCS + "/1", authorization=later)
    replace(files.roles, assignments(reader=("Contributor", "/")))
    until(200, lambda: peer.ask("GET", DOCS + "/1", authorization=later))
    peer.must(201, "POST", DOCS, {"id": "b2", "pk": "a"}, authorization=reader)
    replace(files.jwks, {"keys": [files.other.jwk]})
    until(401, lambda: peer.ask("GET", DOCS + "/1", authorization=reader))
    files.current = files.other
    peer.must(204, "DELETE", DOCS + "/b2", authorization=later)
    check(world.server.log().count("stay as they are") <= 2, "the log repeats itself")


def audit_file(world):
    """Refusals and changes are in the file, with who it was; no line has a secret, and a file that was moved is made anew."""
    path = os.path.join(world.server.directory, "audit")
    world.peer.must(201, "POST", "/dbs", {"id": "audited"})
    world.peer.must(401, "DELETE", "/dbs/audited", key=world.readonly)
    world.peer.must(403, "DELETE", "/dbs/audited", authorization=world.files.current.token(sub="reader"))
    world.peer.must(204, "DELETE", "/dbs/audited")
    with open(path) as file:
        text = file.read()
    lines = [json.loads(line) for line in text.splitlines()]
    told = [(line["event"], line["by"], line["principal"], line["method"], line["status"], line["subStatus"])
            for line in lines if line.get("path", "").startswith("/dbs/audited")]
    check(told == [("refused", "key", None, "DELETE", 401, 0), ("refused", "bearer token", "reader", "DELETE", 403, 5300),
                   ("changed", "key", "primary", "DELETE", 204, 0)], "%s", told)
    check(all(line["peer"].startswith("127.0.0.1:") for line in lines if "path" in line), "no peer: %s", lines[-1])
    check(os.stat(path).st_mode & 0o077 == 0, "others may read it")
    for secret in (KEY, world.readonly, *(token[-60:] for token in world.tokens)):
        check(secret not in text, "a secret is in the audit file")
    os.rename(path, path + ".1")
    end = time.monotonic() + PATIENCE_S
    while not os.path.exists(path):
        check(time.monotonic() < end, "no new file")
    world.peer.must(201, "POST", "/dbs", {"id": "audited"})
    world.peer.must(204, "DELETE", "/dbs/audited")
    with open(path) as file:
        check(len(file.read().splitlines()) == 2, "not in the new file")
    keys = os.path.join(world.server.directory, "keys")
    with open(keys) as file, open(os.open(keys + ".new", os.O_WRONLY | os.O_CREAT, 0o600), "w") as new:
        new.write(file.read())
    os.rename(keys + ".new", keys)  # the same keys, in a file that is another
    end = time.monotonic() + PATIENCE_S
    while '"event":"keys"' not in open(path).read():
        check(time.monotonic() < end, "new keys are not told")


ALL = [("tokens and roles", tokens_and_roles), ("public keys and roles that change", files_that_change), ("audit file", audit_file)]
