"""test/emulator/engine.py - as much of a container engine as Testcontainers asks for, whose containers are processes.

with Engine("build/orrery") as engine: ...      DOCKER_HOST=engine.url, TESTCONTAINERS_RYUK_DISABLED=true

Every image is `orrery serve --emulator`. A container has the machine's own network, so the port that it listens on is the
one of the host that its port 8081 is published on: PORT says so, as Testcontainers for Node.js does by itself.
"""
import base64
import http.server
import io
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tarfile
import tempfile
import threading
import urllib.parse
import uuid

CERTIFICATE = "emulator.pem"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Container:
    def __init__(self, program, settings):
        self.id, self.settings, self.program = uuid.uuid4().hex * 2, settings, program
        self.directory = tempfile.mkdtemp(prefix="orrery-test-")
        self.lines, self.more, self.process = [], threading.Condition(), None
        self.variables = dict(one.split("=", 1) for one in settings.get("Env") or [])
        self.ports = {}
        wanted = set(settings.get("ExposedPorts") or {}) | set((settings.get("HostConfig") or {}).get("PortBindings") or {})
        bindings = (settings.get("HostConfig") or {}).get("PortBindings") or {}
        for port in wanted:
            given = (bindings.get(port) or [{}])[0].get("HostPort")
            self.ports[port] = int(given) if given and given != "0" else free_port()

    def start(self):
        port = self.variables.get("PORT") or str(self.ports.get("8081/tcp") or 0)
        variables = {**os.environ, "HEALTH_PORT": "0", "EXPLORER_PORT": "0", **self.variables, "PORT": port}
        command = [self.program, "serve", "--emulator", "--data", os.path.join(self.directory, "data"), *(self.settings.get("Cmd") or [])]
        self.process = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number, stream in ((1, self.process.stdout), (2, self.process.stderr)):
            threading.Thread(target=self.listen, args=(number, stream), daemon=True).start()

    def listen(self, number, stream):
        for line in stream:
            with self.more:
                self.lines.append((number, line))
                self.more.notify_all()

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        if self.is_running():
            self.process.terminate()
            self.process.wait(60)
        with self.more:
            self.more.notify_all()

    def inspect(self):
        bound = {port: [{"HostIp": "0.0.0.0", "HostPort": str(at)}] for port, at in self.ports.items()}
        return {"Id": self.id, "Name": "/" + self.id[:12], "Created": "2026-01-01T00:00:00Z", "Image": "sha256:" + "0" * 64,
                "State": {"Status": "running" if self.is_running() else "exited", "Running": self.is_running(), "ExitCode": 0,
                          "StartedAt": "2026-01-01T00:00:00Z", "FinishedAt": "0001-01-01T00:00:00Z"},
                "Config": {"Hostname": "h", "Tty": False, "Labels": self.settings.get("Labels") or {}, "Env": self.settings.get("Env") or [],
                           "Image": self.settings.get("Image"), "ExposedPorts": {port: {} for port in self.ports}},
                "HostConfig": {"PortBindings": bound, "NetworkMode": "bridge"},
                "NetworkSettings": {"Ports": bound, "Networks": {"bridge": {"IPAddress": "127.0.0.1", "Gateway": "127.0.0.1", "NetworkID": "n"}}}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, kind="application/json", headers=()):
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("api-version", "1.43")
        self.send_header("content-length", str(len(content)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_logs(self, container, query):
        """Frames of Docker's: a byte for the stream, a length. With `follow` it goes on while the container runs."""
        self.send_response(200)
        self.send_header("content-type", "application/vnd.docker.raw-stream")
        self.send_header("connection", "close")
        self.end_headers()
        told, follow = 0, query.get("follow", ["0"])[0] in ("1", "true", "True")
        wanted = [number for number, name in ((1, "stdout"), (2, "stderr")) if query.get(name, ["1"])[0] in ("1", "true", "True")]
        while True:
            with container.more:
                if follow and told == len(container.lines) and container.is_running():
                    container.more.wait(1)
                lines = container.lines[told:]
            for number, line in lines:
                if number in wanted:
                    self.wfile.write(struct.pack(">BxxxL", number, len(line)) + line)
            self.wfile.flush()
            told += len(lines)
            if not follow or (not container.is_running() and not lines):
                break
        self.close_connection = True

    def send_archive(self, container, path):
        name = os.path.basename(path)
        source = os.path.join(container.directory, "data/tls/cert.pem") if name == CERTIFICATE else None
        if not source:
            return self.answer(404, {"message": "no such file"})
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(source, name)
        about = base64.b64encode(json.dumps({"name": name, "size": os.path.getsize(source), "mode": 0o644, "mtime": "", "linkTarget": ""}).encode()).decode()
        return self.answer(200, archive.getvalue(), "application/x-tar", [("X-Docker-Container-Path-Stat", about)])

    def answer_exec(self, words):
        """The image has no shell: what is to be run in it ends with 127, as an engine tells it."""
        if words[-1] == "exec":
            return self.answer(201, {"Id": "1"})
        if words[-1] == "start" and self.headers.get("upgrade"):
            self.close_connection = True
            self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
            return None
        return self.answer(200, {"ID": "1", "Running": False, "ExitCode": 127})

    def handle_one(self):
        url = urllib.parse.urlsplit(self.path)
        path, query = re.sub(r"^/v1\.\d+", "", url.path), urllib.parse.parse_qs(url.query)
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(size) if size else b""
        engine, words = self.server.engine, path.strip("/").split("/")
        engine.asked.append((self.command, path))
        if path == "/_ping":
            return self.answer(200, b"OK", "text/plain")
        if path == "/version":
            return self.answer(200, {"Version": "24.0.0", "ApiVersion": "1.43", "MinAPIVersion": "1.12", "Os": "linux", "Arch": "amd64"})
        if path == "/info":
            return self.answer(200, {"ServerVersion": "24.0.0", "OperatingSystem": "Debian", "OSType": "linux", "Architecture": "x86_64", "MemTotal": 1 << 33, "IndexServerAddress": "", "Labels": []})
        if words[0] == "images":
            return self.answer(200, [] if path == "/images/json" else {"Id": "sha256:" + "0" * 64, "Config": {"Env": [], "ExposedPorts": {"8081/tcp": {}}}, "Os": "linux", "Architecture": "amd64"})
        if words[0] == "networks":
            return self.answer(200, [] if len(words) == 1 else {"Name": "bridge", "Id": "n", "IPAM": {"Config": [{"Gateway": "127.0.0.1"}]}})
        if words[-1] == "prune":
            return self.answer(200, {})
        if path == "/containers/json":
            return self.answer(200, [{"Id": one.id, "Names": [one.inspect()["Name"]], "State": "running", "NetworkSettings": one.inspect()["NetworkSettings"]}
                                     for one in engine.containers.values()])
        if path == "/containers/create":
            container = Container(engine.program, json.loads(body))
            engine.containers[container.id] = container
            return self.answer(201, {"Id": container.id, "Warnings": []})
        if words[0] == "exec" or words[2:] == ["exec"]:
            return self.answer_exec(words)
        container = engine.containers.get(words[1]) if words[0] == "containers" and len(words) > 1 else None
        if not container:
            return self.answer(404, {"message": "nothing of that name: " + path})
        if self.command == "DELETE":
            container.stop()
            return self.answer(204)
        if words[2:] == ["start"]:
            container.start()
            return self.answer(204)
        if words[2:] in (["stop"], ["kill"]):
            container.stop()
            return self.answer(204)
        if words[2:] == ["json"]:
            return self.answer(200, container.inspect())
        if words[2:] == ["logs"]:
            return self.send_logs(container, query)
        if words[2:] == ["archive"] and self.command == "GET":
            return self.send_archive(container, query["path"][0])
        if words[2:] == ["wait"]:
            container.stop()
            return self.answer(200, {"StatusCode": 0})
        return self.answer(404, {"message": "this engine cannot do that: " + path})

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = lambda self: self.handle_one()


class Engine:
    def __init__(self, program):
        self.program, self.containers, self.asked = os.path.abspath(program), {}, []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.engine = self
        self.url = "tcp://127.0.0.1:%d" % self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for container in self.containers.values():
            container.stop()
            shutil.rmtree(container.directory, ignore_errors=True)
        self.server.shutdown()
        self.server.server_close()
