"""test/sdk/outages.py - a server that fails when a program asks for it, behind a door whose address stays.

with Outages("build/orrery") as server: ... server.https, server.certificate, server.settings

The program that is told of it (ORRERY_OUTAGES) posts to /cut, /restart, /kill, /split or /merge, the last two with the link of
a container, and is answered when it is done. Only the server's port changes at a restart, and nobody but the door knows it.
"""
import asyncio
import http.server
import json
import os
import socket
import struct
import sys
import threading
import urllib.parse

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "security"), os.path.join(TESTS, "wire"), TESTS]

from peer import Peer
from server import Server

RESETS = struct.pack("ii", 1, 0)  # SO_LINGER: what was not sent is forgotten, and the peer is told so


def reset(writer):
    """An end as a broken line or a killed process has it, whatever is under way."""
    if not writer.is_closing():
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
    writer.transport.abort()


def bound(port):
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind(("127.0.0.1", port))
    return made


class Door:
    """Passes bytes on to whoever is behind it; an end on one side is one on the other. Shut, it refuses connections."""

    def __init__(self):
        self.target, self.listener, self.writers = None, None, set()
        self.holder = bound(0)  # does not listen: it keeps the port while the door is shut
        self.port = self.holder.getsockname()[1]
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def wait_for(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def listen(self):
        self.listener = await asyncio.start_server(self.serve, sock=bound(self.port))

    async def end_listening(self):
        self.listener.close()

    def open(self, target):
        self.target = target
        self.wait_for(self.listen())

    def shut(self):
        self.wait_for(self.end_listening())

    async def serve(self, reader, writer):
        try:
            behind, into = await asyncio.open_connection(*self.target)
        except OSError:
            reset(writer)  # it has just gone
            return
        pair = {writer, into}
        self.writers |= pair
        try:
            await asyncio.gather(self.pump(reader, into), self.pump(behind, writer))
            for one in pair:
                one.close()
        except OSError:
            for one in pair:
                reset(one)
        self.writers -= pair

    @staticmethod
    async def pump(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()

    async def reset_all(self):
        for writer in list(self.writers):
            reset(writer)

    def cut(self):
        """Every connection that there is, in the middle of whatever goes over it."""
        self.wait_for(self.reset_all())

    def close(self):
        self.shut()
        self.cut()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.holder.close()


class Outages(Server):
    """A server whose clients come through a door, and whose outages they ask for."""

    ASKED = ("cut", "restart", "kill", "split", "merge")

    def __init__(self, program):
        self.door, self.live = Door(), []
        super().__init__(program, options=["--public-endpoint", "https://localhost:%d" % self.door.port])
        self.control = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        threading.Thread(target=self.control.serve_forever, daemon=True).start()
        self.settings = {"ORRERY_OUTAGES": "http://127.0.0.1:%d/" % self.control.server_port, "ORRERY_DIRECT": "true"}

    def handler(self):
        outages = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                status, problem = 200, ""
                try:
                    outages.happen(self.path.strip("/"), body)
                except Exception as reason:  # the program that asked tells it
                    status, problem = 500, repr(reason)
                self.send_response(status)
                self.send_header("content-length", str(len(problem.encode())))
                self.end_headers()
                self.wfile.write(problem.encode())

            def log_message(self, *arguments):
                pass

        return Handler

    def happen(self, name, link):
        if name not in self.ASKED:
            raise ValueError("nobody knows the outage %r" % name)
        getattr(self, name)(link)

    def start(self, timeout_s=120):
        super().start(timeout_s)
        place = urllib.parse.urlsplit(self.http)
        self.door.open((place.hostname, place.port))
        self.https = "https://localhost:%d/" % self.door.port

    def stop(self, timeout_s=120):
        self.control.shutdown()
        self.control.server_close()
        status = super().stop(timeout_s)
        self.door.close()
        return status

    def cut(self, link):
        self.door.cut()

    def restart(self, link):
        self.door.shut()
        status = super().stop()
        if status != 0:
            raise RuntimeError("the server ended with %s:\n%s" % (status, self.log()))
        self.start()

    def kill(self, link):
        self.door.shut()
        self.process.kill()
        self.process.wait()
        self.start()

    def admin(self, command, **wanted):
        answer = Peer(self.http).must(200, "POST", "/_orrery/" + command, wanted)
        self.live = [one["id"] for one in answer.json()["ranges"]]

    def split(self, link):
        self.admin("split", container=link)

    def merge(self, link):
        """Those that the last split left become one."""
        self.admin("merge", container=link, ranges=self.live)
