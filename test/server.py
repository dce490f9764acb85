"""test/server.py - starts a server for a test, tells where it listens, and stops it.

with Server("build/orrery") as server: ... server.http, server.https, server.certificate
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
READY = re.compile(r"listening on (http://\S+)(?: and (https://\S+))?")


def new_schema():
    """For --store: a schema of its own in the PostgreSQL that test/postgres/with has started."""
    where, name = os.environ["ORRERY_TEST_POSTGRES"], "served_" + os.urandom(6).hex()
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", where, "-c", "CREATE SCHEMA " + name], check=True)
    return where + ("%20" if "options=" in where else "&options=") + "-csearch_path%3D" + name


class Server:
    """A server on a free port of 127.0.0.1, with a directory of its own that ends with it."""

    def __init__(self, program="build/orrery", store="rocksdb", options=()):
        self.program = os.path.join(ROOT, program)
        self.directory = tempfile.mkdtemp(prefix="orrery-test-")
        self.data = os.path.join(self.directory, "data")
        self.log_path = os.path.join(self.directory, "log")
        self.command = [self.program, "serve", "--listen", "127.0.0.1:0", "--data", self.data]
        if store == "memory":
            self.command += ["--store", "memory"]
        elif store == "postgres":
            self.command += ["--store", new_schema()]
        elif store.startswith("postgresql:"):
            self.command += ["--store", store]
        self.command += options
        self.settings = {}  # what a program is told that uses it
        self.process = None
        self.http = self.https = self.certificate = None

    def write_keys(self, keys):
        """Before it starts: a key file of its own, which it is told of. The file's path."""
        path = os.path.join(self.directory, "keys")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.writelines("%s %s\n" % pair for pair in keys.items())
        self.command += ["--key-file", path]
        return path

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self, timeout_s=120):
        self.http = self.https = None
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=log, text=True)
        watchdog = threading.Timer(timeout_s, self.process.kill)
        watchdog.start()
        for line in self.process.stdout:
            ready = READY.search(line)
            if ready:
                self.http, self.https = ready.group(1), ready.group(2)
                break
        watchdog.cancel()
        if not self.http:
            self.process.wait()
            raise RuntimeError("the server did not start:\n" + self.log())
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.certificate = os.path.join(self.data, "tls", "cert.pem")

    def stop(self, timeout_s=120):
        """Asks it to end; the exit status (a sanitizer's complaint is not 0)."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "did not end within %d s" % timeout_s

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()
