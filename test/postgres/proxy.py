"""test/postgres/proxy.py - stands between a server and its PostgreSQL, and loses the answer to a COMMIT when told to."""
import os
import shutil
import socket
import tempfile
import threading

COMMIT = b"\0commit\0"  # the statement's name, as a Bind message has it
DONE = b"Z\0\0\0\x05I"  # the database is ready for the next, outside of any transaction


class Proxy:
    def __init__(self, postgres):
        self.directory = tempfile.mkdtemp(prefix="orrery-proxy-")
        self.target = os.path.join(postgres.directory, ".s.PGSQL.5432")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.directory, ".s.PGSQL.5432"))
        self.listener.listen(64)
        self.lose = 0  # so many answers more
        self.lost = 0
        self.mutex = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target)
        state = {"cut": False}
        threading.Thread(target=self.answers, args=(server, client, state), daemon=True).start()
        try:
            while data := client.recv(1 << 16):
                with self.mutex:
                    if self.lose > 0 and COMMIT in data:
                        self.lose -= 1
                        state["cut"] = True
                server.sendall(data)
        except OSError:
            pass  # either side has gone
        server.close()

    def answers(self, server, client, state):
        """Those behind a COMMIT that is to be lost are read to their end, so that it has happened."""
        while True:
            try:
                data = server.recv(1 << 16)
                if not data:
                    break
                if not state["cut"]:
                    client.sendall(data)
                elif data.endswith(DONE):
                    self.lost += 1
                    break
            except OSError:
                break
        try:
            client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        shutil.rmtree(self.directory, ignore_errors=True)
