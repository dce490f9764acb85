"""tools/bench/sharing.py - which cache lines several threads write while they serve point reads: a line of the part cores.

Two cores show little of what sixty-four would: a line that all of them write costs each a wait for it. So the writes are counted
instead. valgrind's lackey tells every write, and which of the threads has its turn; a line that two loops write is shared, and one that
they write with every request is what does not grow with the cores. What stands on stacks and in arenas is one thread's, and does not count.
"""
import collections
import os
import re
import socket
import subprocess
import sys
import threading
import time

from rig import BUILD, SCRATCH, Server, load, requests_file

LINE_BYTES = 64
CONNECTIONS, AT_A_TIME, WARM, EACH = 4, 25, 150, 50  # requests of each connection: before any is counted, and counted
OFTEN = 0.25  # writes a request by each of two threads, from which on a line counts: less often is now and then
TURN = re.compile(rb"SCHED\[(\d+)\]:\s+acquired lock")


class Trace:
    """What lackey says while it is listened to. The rest, with all of the start, is passed over."""

    def __init__(self, pipe):
        self.listens, self.parts = False, []
        self.thread = threading.Thread(target=self.drain, args=(pipe,), daemon=True)
        self.thread.start()

    def drain(self, pipe):
        while part := os.read(pipe, 1 << 20):
            if self.listens:
                self.parts.append(part)


def spawn(data):
    """A server under lackey, two loops, its trace, and its address."""
    reading, writing = os.pipe()
    process = subprocess.Popen(["taskset", "-c", "0,1", "valgrind", "-q", "--tool=lackey", "--trace-mem=yes", "--trace-sched=yes", "--fair-sched=yes",
                                f"--log-fd={writing}", os.path.join(BUILD, "orrery"), "serve", "--data", data, "--listen", "127.0.0.1:0"],
                               stdout=subprocess.PIPE, pass_fds=[writing])
    os.close(writing)
    trace = Trace(reading)
    found = re.search(rb"http://(\S+):(\d+)", process.stdout.readline())
    if not found:
        sys.exit("the server did not start under valgrind")
    return process, trace, (found.group(1).decode(), int(found.group(2)))


def ask(connections, requests):
    """Some at a time on all connections: one that is quiet for long would give back its buffer, one whose answers nobody takes would be closed."""
    for begin in range(0, len(requests), AT_A_TIME * len(connections)):
        part = requests[begin:begin + AT_A_TIME * len(connections)]
        for at, connection in enumerate(connections):
            connection.sendall(b"".join(part[at::len(connections)]))
        for at, connection in enumerate(connections):
            take(connection, len(part[at::len(connections)]))


def take(connection, count):
    text = b""
    for _ in range(count):
        while b"\r\n\r\n" not in text:
            text += connection.recv(65536)
        head, text = text.split(b"\r\n\r\n", 1)
        size = int(re.search(rb"content-length: (\d+)", head, re.I).group(1))
        while len(text) < size:
            text += connection.recv(65536)
        text = text[size:]
        if b" 200 " not in head[:16]:
            sys.exit(head.decode())


class Names:
    """Functions by the addresses of their instructions, of the program and of its libraries."""

    def __init__(self, pid):
        self.places, self.known = [], {}
        with open(f"/proc/{pid}/maps") as file:
            for row in map(str.split, file):
                if len(row) == 6 and row[5].startswith("/") and "x" in row[1]:
                    low, high = (int(word, 16) for word in row[0].split("-"))
                    self.places.append((low, high, int(row[2], 16), row[5]))
        self.program = next(place for place in self.places if os.path.basename(place[3]) == "orrery")

    def is_program(self, address):
        return self.program[0] <= address < self.program[1]

    def address_of(self, name):
        """Where a function of the program begins."""
        low, _, offset, path = self.program
        out = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        return int(re.search(rf"^(\w+) . {name}$", out, re.M).group(1), 16) - offset + low

    def of(self, address):
        if address not in self.known:
            self.known[address] = self.look_up(address)
        return self.known[address]

    def look_up(self, address):
        for low, high, offset, path in self.places:
            if low <= address < high:
                name = subprocess.run(["addr2line", "-f", "-e", path, hex(address - low + offset)], capture_output=True, text=True).stdout.split("\n")[0]
                return name if name and name != "??" else os.path.basename(path)
        return "?"


def writes_of(text, names):
    """{line: {thread: [(address of the instruction, address of the last one of the program)]}} of what loops write; a loop is who handles requests."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    handles, loops = names.address_of("route_handle"), set()
    thread, at, ours = None, 0, 0
    for line in text.split(b"\n"):
        if line.startswith(b"I "):
            at = int(line[3:line.index(b",")], 16)
            if names.is_program(at):
                ours = at
                if at == handles:
                    loops.add(thread)
        elif line.startswith((b" S", b" M")):
            found[int(line[3:line.index(b",")], 16) // LINE_BYTES][thread].append((at, ours))
        elif turn := TURN.search(line):
            thread = turn.group(1)
    if len(loops) != 2:
        sys.exit(f"{len(loops)} threads have handled requests, and not two")
    return {line: {thread: places for thread, places in threads.items() if thread in loops} for line, threads in found.items()}


def shared(found, requests):
    """(writes a request, who writes) of the lines that both loops write often, the most written first."""
    rows = []
    for threads in found.values():
        often = [places for places in threads.values() if len(places) >= OFTEN * requests / 2]
        if len(often) > 1:
            rows.append((sum(map(len, often)) / requests, sum(often, [])))
    return sorted(rows, key=lambda row: -row[0])


def who(places, names):
    """Functions; of a library's, also the one of ours that has called it."""
    told = {names.of(at) if names.is_program(at) else f"{names.of(at)} for {names.of(ours)}" for at, ours in set(places)}
    return ", ".join(sorted(told))


def trace_reads(data, items):
    with open(requests_file("read", 0, CONNECTIONS * (WARM + EACH), items), "rb") as file:
        requests = file.read().split(b"\0")[:-1]
    process, trace, address = spawn(data)
    connections = [socket.create_connection(address) for _ in range(CONNECTIONS)]
    ask(connections, requests[:CONNECTIONS * WARM])
    time.sleep(1)
    trace.listens = True
    ask(connections, requests[CONNECTIONS * WARM:])
    names = Names(process.pid)
    time.sleep(1)
    trace.listens = False
    process.kill()
    process.wait()
    return writes_of(b"".join(trace.parts), names), names


def tell():
    data, items, requests = os.path.join(SCRATCH, "lines"), 100, CONNECTIONS * EACH
    server = Server(data)
    load(server, items)
    server.stop()
    found, names = trace_reads(data, items)
    rows = shared(found, requests)
    print(f"  cache lines that both loops write with their reads: {len(rows)} (at most 0), of {requests} reads under valgrind")
    for writes, places in rows:
        print(f"    {writes:5.1f} writes a read   by {who(places, names)}")
