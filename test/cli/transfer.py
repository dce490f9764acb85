"""test/cli/transfer.py - what is exported and imported again is the same, and an export is of one moment."""
import ctypes
import json
import os
import random
import re
import subprocess
import tempfile
import threading

from server import ROOT, Server
from tool import Tool, check, same

SEED = 7


def some_text(chance):
    letters = "ab,\"'\\\n\r\t;: é漢\U0001F600\u0001\u007f<"
    return "".join(chance.choice(letters) for _ in range(chance.randrange(8)))


def some_value(chance, depth=0):
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind == 0:
        return None
    if kind == 1:
        return chance.random() < 0.5
    if kind == 2:
        return chance.randrange(-2**53, 2**53)
    if kind == 3:
        return chance.choice([0.1, -1.5e-7, 1e300, 123456789.125])
    if kind < 7:
        return some_text(chance)
    if kind == 7:
        return [some_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {some_text(chance): some_value(chance, depth + 1) for _ in range(chance.randrange(4))}


def some_item(chance, number):
    members = {"m%d" % i: some_value(chance) for i in range(chance.randrange(5))}
    return {"id": str(number), "pk": chance.choice(["a", "b", 1, 2.5, True, None]), **members}


def whatever_is_exported_is_imported_again_in_every_form(tool):
    chance = random.Random(SEED)
    items = [some_item(chance, number) for number in range(300)]
    for name in ("first", "gz", "zst", "array", "csv"):
        tool.container("dbs/round/colls/" + name)
    lines = "".join(json.dumps(item) + "\n" for item in items).encode()
    tool.run("import", "-", "--to", "dbs/round/colls/first", "--quiet", stdin=lines)
    check(same(tool.items("dbs/round/colls/first"), items), "the first container has other items")
    with tempfile.TemporaryDirectory() as place:
        for name in ("gz", "zst"):
            path = os.path.join(place, "a.jsonl." + name)
            tool.run("export", "dbs/round/colls/first", "--out", path, "--quiet")
            tool.run("import", path, "--to", "dbs/round/colls/" + name, "--quiet", "--batch", "7")
            check(same(tool.items("dbs/round/colls/" + name), items), "%s has other items", name)
        plain = os.path.join(place, "a.json")
        with open(plain, "w") as file:
            json.dump(items, file, indent=1)
        tool.run("import", plain, "--to", "dbs/round/colls/array", "--quiet")
        check(same(tool.items("dbs/round/colls/array"), items), "the array has other items")


def rows_as_typed_csv_are_the_same_items_again(tool):
    chance = random.Random(SEED + 1)
    items = [{"id": str(number), "pk": some_text(chance), "mixed": some_value(chance), "n": chance.random(), "yes": chance.random() < 0.5,
              "text": some_text(chance), **({"rare": []} if number % 9 == 0 else {})} for number in range(200)]
    tool.container("dbs/typed/colls/a")
    tool.container("dbs/typed/colls/b")
    tool.run("import", "-", "--to", "dbs/typed/colls/a", "--quiet", stdin="".join(json.dumps(item) + "\n" for item in items).encode())
    done = subprocess.run([tool.program, "query", "SELECT c.id, c.pk, c.mixed, c.n, c.yes, c.text, c.rare FROM c", "--in", "dbs/typed/colls/a",
                           "--format", "typed-csv"], env=tool.environment(), capture_output=True, check=True)
    tool.run("import", "-", "--format", "csv", "--to", "dbs/typed/colls/b", "--quiet", stdin=done.stdout)
    check(same(tool.items("dbs/typed/colls/b"), items), "other items came back")


def broken_archives_are_told(tool):
    tool.container("dbs/broken/colls/c")
    with tempfile.TemporaryDirectory() as place:
        for name in ("a.jsonl.gz", "a.jsonl.zst"):
            path = os.path.join(place, name)
            tool.shell('cd broken/c; put {"id":"1","pk":"a"}')
            tool.run("export", "dbs/broken/colls/c", "--out", path, "--quiet")
            with open(path, "rb") as file:
                whole = file.read()
            for broken, word in ((whole[:-3], "too early"), (b"x" + whole, "no sense")):
                with open(path, "wb") as file:
                    file.write(broken)
                _, said = tool.run("import", path, "--to", "dbs/broken/colls/c", "--mode", "upsert", "--quiet", status=1)
                check(word in said, "%s: %s", name, said)


def packed(text, level):
    """As a program that keeps no checksum packs it: the last of what comes out may come after the last that goes in."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(ctypes.c_size_t(len(text))))
    size = library.ZSTD_compress(room, ctypes.c_size_t(len(room)), text, ctypes.c_size_t(len(text)), level)
    return room.raw[:size]


def archives_of_others_are_read_to_their_end(tool):
    chance = random.Random(SEED)
    text = "".join(json.dumps({"id": str(i), "pk": "a", "text": "%x" % chance.getrandbits(1600)}) + "\n" for i in range(1100)).encode()
    tool.container("dbs/others/colls/c")
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "a.jsonl.zst")
        for level in (1, 3, 13, 19):
            with open(path, "wb") as file:
                file.write(packed(text, level))
            tool.run("import", path, "--to", "dbs/others/colls/c", "--mode", "upsert", "--quiet")
        for part in range(100, 1100, 100):  # two frames, of which one or the other ends where a buffer of ours does not
            lines = text.splitlines(keepends=True)[:part + 500]
            with open(path, "wb") as file:
                file.write(packed(b"".join(lines[:part]), 3) + packed(b"".join(lines[part:]), 3))
            tool.run("import", path, "--to", "dbs/others/colls/c", "--mode", "upsert", "--quiet")
    check(len(tool.items("dbs/others/colls/c")) == 1100, "items are missing")


class Churn(threading.Thread):
    """Somebody who writes all the time: creates, replaces and deletes, in groups that must be seen whole."""

    def __init__(self, tool, link):
        super().__init__()
        self.tool, self.link, self.ends, self.failed = tool, link, threading.Event(), None

    def run(self):
        round = 0
        try:
            while not self.ends.is_set():
                round += 1
                lines = ["cd " + self.link]
                for group in range(20):
                    lines.append('put {"id":"x%d","pk":"p%d","round":%d}' % (group, group, round))
                    lines.append(('rm g%d p%d' if round % 2 == 0 else 'put {"id":"g%d","pk":"p%d"}') % (group, group))
                self.tool.run("shell", stdin="\n".join(lines).encode())
        except Exception as problem:
            self.failed = problem


def state_at(log, lsn):
    """The items as of an LSN, of every version that there was."""
    state = {}
    for change in log:
        metadata = change["metadata"]
        if metadata["lsn"] > lsn:
            continue
        if metadata["operationType"] == "delete":
            state.pop((metadata["id"], str(metadata["partitionKey"]["pk"])), None)
        else:
            item = {name: value for name, value in change["current"].items() if not name.startswith("_")}
            state[item["id"], str(item["pk"])] = item
    return list(state.values())


def an_export_is_of_one_lsn_while_others_write(tool):
    """Every version is in the feed of all versions, which is read from before the first item: what the state was is known."""
    for link, throughput in (("dbs/churn/colls/one", ""), ("dbs/churn/colls/many", "30000")):
        tool.container(link, "/pk", throughput)
        watch = subprocess.Popen([tool.program, "shell", "--in", link, "-c", "\\watch all"], env=tool.environment(),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        log = []
        reader = threading.Thread(target=lambda: log.extend(json.loads(line) for line in watch.stdout))
        reader.start()
        first = True
        while not log:  # the feed begins where it is first asked: a mark shows that it has
            tool.shell('cd %s; put {"id":"mark","pk":"m"}' % link)
        lines = "".join('{"id":"%d","pk":"p%d","s":"%s"}\n' % (i, i % 40, "x" * 300) for i in range(8000))
        tool.run("import", "-", "--to", link, "--quiet", stdin=lines.encode())
        writer = Churn(tool, link)
        writer.start()
        exports = []
        for words in ([], [], ["--query", "SELECT * FROM c"], ["--query", "SELECT * FROM c ORDER BY c.id"]):
            out, said = tool.run("export", link, *words)
            exports.append((int(re.search(r"as of LSN (\d+)", said).group(1)), [json.loads(line) for line in out.splitlines()]))
        writer.ends.set()
        writer.join()
        check(not writer.failed, "%s", writer.failed)
        tool.shell('cd %s; put {"id":"end","pk":"m"}' % link)
        while not any(change["current"].get("id") == "end" for change in log):
            check(watch.poll() is None, "the watch has ended: %s", watch.stderr.read() if watch.poll() is not None else "")
        watch.send_signal(2)
        watch.wait(60)
        reader.join()
        for lsn, items in exports:
            check(log[0]["metadata"]["lsn"] < lsn, "the log begins too late")
            expected = [item for item in state_at(log, lsn)]
            marks = [item for item in items if item["id"] == "mark"]
            if not any(item["id"] == "mark" for item in expected):
                items = [item for item in items if item not in marks]
            check(same(items, expected), "%s as of %d: %d items, and there were %d", link, lsn, len(items), len(expected))
        first = False
        check(not first, "nothing was read")


def ranges_with_lsns_of_their_own_are_exported_whole(tool):
    """One bucket has many more commits than the others; then items are replaced while they are exported. Each is there once."""
    with Server(os.path.relpath(tool.program, ROOT), store="memory", options=["--buckets", "3"]) as server:
        tool = Tool(tool.build, server)
        link = "dbs/buckets/colls/c"
        tool.container(link, "/pk")
        ids = ["i%d" % i for i in range(60)]
        for part in (range(40), range(40, 60)):
            lines = "".join('{"id":"i%d","pk":"p%d"}\n' % (i, i % 7 if i < 40 else 3) for i in part)
            tool.run("import", "-", "--to", link, "--quiet", stdin=lines.encode())
        for number in range(30):
            tool.shell('cd %s; put {"id":"i3","pk":"p3","n":%d}' % (link, number))
        out, said = tool.run("export", link)
        check(sorted(json.loads(line)["id"] for line in out.splitlines()) == sorted(ids), "%d items: %s", len(out.splitlines()), said)
        check("as of one LSN of each range" in said, "%s", said)
        writer = Churn(tool, link)
        writer.start()
        for _ in range(5):
            found = [item["id"] for item in tool.items(link)]
            check(len(found) == len(set(found)) and set(ids) <= set(found), "%d items: %s", len(found), sorted(found))
        writer.ends.set()
        writer.join()
        check(not writer.failed, "%s", writer.failed)


def the_words_for_completion_are_the_servers_own(tool):
    names = set()
    folder = os.path.join(ROOT, "src", "query", "function")
    for name in os.listdir(folder):
        if name.startswith("fn_") and name.endswith(".c"):
            with open(os.path.join(folder, name)) as file:
                names |= set(re.findall(r'^ *\{ "([A-Za-z][A-Za-z_0-9]*)"', file.read(), re.MULTILINE))
    with open(os.path.join(ROOT, "cli", "words.def")) as file:
        listed = set(re.findall(r"^FUNCTION\((\w+)\)", file.read(), re.MULTILINE))
    check(names == listed, "the server's alone: %s; words.def's alone: %s", sorted(names - listed), sorted(listed - names))


TESTS = [whatever_is_exported_is_imported_again_in_every_form, rows_as_typed_csv_are_the_same_items_again, broken_archives_are_told,
         archives_of_others_are_read_to_their_end,
         an_export_is_of_one_lsn_while_others_write, ranges_with_lsns_of_their_own_are_exported_whole, the_words_for_completion_are_the_servers_own]
