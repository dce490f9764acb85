"""test/script/host.py - plays the server's part against orrery-js: frames over a socketpair, and a store in a dictionary.

with Host(program) as host: host.run("function () { ... }", 1, 2) gives the last frame: (kind, payload).
"""
import hashlib
import json
import os
import signal
import socket
import struct
import subprocess

SELF = "dbs/dbrid==/colls/collrid=/"
ALT = "dbs/shop/colls/orders"
SECONDS_MAX = 60  # a test that waits longer has failed


class Ended(Exception):
    """The child closed its end."""


class Store:
    """Documents by id. Knows two queries: all, and `WHERE c.id = ...` by parameter."""

    def __init__(self, *documents):
        self.documents = {}
        self.frames = []  # the operations of each frame
        self.made = 0
        for document in documents:
            self.put(document)

    @property
    def ops(self):
        return [op for frame in self.frames for op in frame]

    def put(self, document):
        self.made += 1
        made = {**document, "_self": SELF + "docs/r%s==/" % document["id"], "_etag": '"%d"' % self.made}
        self.documents[document["id"]] = made
        return made

    def find(self, op):
        return self.documents.get(op.get("id") or op["rid"][1:-2])

    def page(self, rows, options):
        start = int(options.get("continuation", "0"))
        size = options["pageSize"] if options["pageSize"] > 0 else len(rows)
        end = start + size
        found = {"status": 200, "body": rows[start:end], "options": {}}
        if end < len(rows):
            found["options"]["continuation"] = str(end)
        return found

    def answer(self, op):
        return getattr(self, op["op"])(op)

    def create(self, op):
        document = dict(op["body"])
        if not document.get("id"):
            document["id"] = "made-%d" % self.made
        if document["id"] in self.documents:
            return {"status": 409, "message": '{"Errors":["Resource with specified id or name already exists"]}'}
        return {"status": 201, "body": self.put(document), "options": {"currentCollectionSizeInMB": "documentsSize=0"}}

    def upsert(self, op):
        return {"status": 200, "body": self.put(op["body"])}

    def changed(self, op, change):
        old = self.find(op)
        if old is None:
            return {"status": 404, "message": '{"Errors":["Resource Not Found"]}'}
        if op["options"].get("etag", old["_etag"]) != old["_etag"]:
            return {"status": 412, "message": '{"Errors":["One of the specified pre-condition is not met"]}'}
        return change(old)

    def replace(self, op):
        return self.changed(op, lambda old: {"status": 200, "body": self.put(op["body"])})

    def delete(self, op):
        def remove(old):
            del self.documents[old["id"]]
            return {"status": 204}
        return self.changed(op, remove)

    def read(self, op):
        def give(old):
            same = op["options"].get("ifNoneMatch") == old["_etag"]
            return {"status": 304} if same else {"status": 200, "body": old}
        return self.changed(op, give)

    def readAll(self, op):
        return self.page(list(self.documents.values()), op["options"])

    def query(self, op):
        rows = list(self.documents.values())
        if isinstance(op["query"], dict):
            wanted = op["query"]["parameters"][0]["value"]
            rows = [row for row in rows if row["id"] == wanted]
        elif "ORDER" in op["query"]:
            return {"status": 400, "number": 400, "message": '{"Errors":["Syntax error"]}'}
        return self.page(rows, op["options"])


class Host:
    def __init__(self, program):
        self.program = program
        self.start()

    def start(self):
        ours, theirs = socket.socketpair()
        ours.settimeout(SECONDS_MAX)

        def place():
            os.dup2(theirs.fileno(), 3)

        self.socket = ours
        self.process = subprocess.Popen([self.program], env={}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        preexec_fn=place, pass_fds=[3])
        theirs.close()
        self.hello = self.receive()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.end()

    def end(self):
        """Says goodbye; the child's status."""
        self.socket.close()
        try:
            return self.process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self):
        self.process.kill()
        return self.process.wait()

    def send(self, kind, payload):
        body = kind.encode() + (payload if isinstance(payload, bytes) else text(payload))
        self.socket.sendall(struct.pack("<I", len(body)) + body)

    def exactly(self, size):
        parts = []
        while size:
            part = self.socket.recv(min(size, 1 << 20))
            if not part:
                raise Ended()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def receive(self):
        size, = struct.unpack("<I", self.exactly(4))
        body = self.exactly(size)
        return chr(body[0]), json.loads(body[1:])

    def load(self, source, kind="sproc", name=None):
        key = hashlib.sha256(repr((source, name)).encode("utf-8", "surrogatepass")).hexdigest()
        payload = {"key": key, "kind": kind, "source": source}
        if name:
            payload["name"] = name
        self.send("L", payload)
        return key

    def begin(self, source, args=(), name=None, **context):
        """Sends the run and does not wait."""
        key = self.load(source, name=name)
        full = {"collection": {"self": SELF, "alt": ALT}, "request": None, "response": {}, "log": False, "quota": {}}
        self.send("R", {"key": key, "args": list(args), "context": {**full, **context}})

    def run(self, source, *args, store=None, accept=None, **context):
        """Runs a script against the store: its last frame. accept(n) false: not after n frames of operations."""
        store = store or Store()
        self.begin(source, args, **context)
        while True:
            kind, payload = self.receive()
            if kind != "O":
                return kind, payload
            store.frames.append(payload["ops"])
            answers = {"answers": [store.answer(op) for op in payload["ops"]]}
            if accept and not accept(len(store.frames)):
                answers["accept"] = False
            self.send("A", answers)

    def body(self, source, *args, **more):
        """The response's body of a script that must end well; None when it set none."""
        kind, payload = self.run(source, *args, **more)
        assert kind == "D", (kind, payload)
        return payload.get("body")

    def failure(self, source, *args, **more):
        kind, payload = self.run(source, *args, **more)
        assert kind == "F", (kind, payload)
        return payload

    def call(self, source, *calls):
        key = self.load(source, "udf")
        self.send("U", {"key": key, "calls": list(calls)})
        kind, payload = self.receive()
        assert kind == "V", (kind, payload)
        return payload

    def value(self, source, *args):
        [answer] = self.call(source, list(args))
        assert "error" not in answer, answer
        return answer.get("value")


def text(payload):
    return json.dumps(payload, separators=(",", ":")).encode()


def ends_by_signal(status):
    return status == -signal.SIGKILL
