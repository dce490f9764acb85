"""tools/bench/nginx.py - nginx sending the bytes of a 1 KB point read, as the yardstick's generator configures it.

The generator names fixed ports and places. In the copy that it writes here they become free ports and the bench's own
folder, so that neither another server nor another bench is measured in nginx's place.
"""
import atexit
import os
import re
import socket
import subprocess
import sys
import urllib.request

from rig import SCRATCH, YARDSTICKS, on_core

SAID = b'"id":"doc-000042"'  # by the yardstick's document, and by no other server


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return SAID in answer.read()
    except OSError:
        return False


class Nginx:
    """`pid`, `url` and, with TLS, `tls_url`. With `http2` both speak it, the plain one nothing else. Its certificate may serve others, too."""

    certificate, key = os.path.join(SCRATCH, "cert.pem"), os.path.join(SCRATCH, "key.pem")

    def __init__(self, core=0, http2=False):
        ports = {"plain": free_port(), "tls": free_port()}
        self.url, self.tls_url = (f"{scheme}://127.0.0.1:{ports[name]}" for scheme, name in (("http", "plain"), ("https", "tls")))
        self.more = " http2" if http2 else ""
        self.process = subprocess.Popen(on_core(core, ["nginx", "-c", self.configure(ports)]), stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        atexit.register(self.process.terminate)  # whatever fails here, it does not stay behind
        while not (listens(ports["plain"]) if http2 else answers(self.url)):
            if self.process.poll() is not None:
                sys.exit("nginx did not start")

    def configure(self, ports):
        subprocess.run(["python3", os.path.join(YARDSTICKS, "http", "gen.py")], cwd=SCRATCH, check=True)
        path = os.path.join(SCRATCH, "nginx.conf")
        with open(path) as file:
            text = file.read()
        text, changed = re.subn(r"listen \d+( ssl)?;", lambda found: f"listen 127.0.0.1:{ports['tls' if found[1] else 'plain']}{found[1] or ''}{self.more};", text)
        if changed != len(ports):
            sys.exit("the yardstick's nginx.conf has other ports than this knows of")
        text = re.sub(r"(pid|ssl_certificate|ssl_certificate_key) \S*/([^/;]+);", rf"\1 {SCRATCH}/\2;", text)
        text = text.replace("http{", "http{ssl_protocols TLSv1.3;", 1)  # as ours; this nginx would stay at TLS 1.2
        with open(path, "w") as file:
            file.write(text)
        if not os.path.exists(self.certificate):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key, "-out", self.certificate,
                            "-subj", "/CN=localhost", "-days", "2"], cwd=SCRATCH, check=True, capture_output=True)
        return path

    def stop(self):
        self.process.terminate()
        self.process.wait()
