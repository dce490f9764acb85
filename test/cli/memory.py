"""test/cli/memory.py - 100,000 items in and out: memory does not grow with them."""
import os
import subprocess
import tempfile

from tool import check

ITEMS = 100000
SMALL = 1000


def peak_kb(tool, *words):
    """How much the command had at most. Its children are all that this process waits for meanwhile."""
    process = subprocess.Popen([tool.program, *words], env=tool.environment(ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=1"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    check(process.returncode == 0, "%s: ended with %d: %s", words, process.returncode, said)
    return usage.ru_maxrss


def memory_does_not_grow_with_what_is_moved(tool):
    peaks = {}
    with tempfile.TemporaryDirectory() as place:
        for count in (SMALL, ITEMS):
            link = "dbs/memory/colls/c%d" % count
            tool.container(link)
            path = os.path.join(place, "%d.jsonl" % count)
            with open(path, "w") as file:
                for number in range(count):
                    file.write('{"id":"%d","pk":"%d","text":"%s"}\n' % (number, number % 100, "x" * 200))
            peaks["import", count] = peak_kb(tool, "import", path, "--to", link, "--quiet", "--batch", "100")
            peaks["export", count] = peak_kb(tool, "export", link, "--quiet")
    for kind in ("import", "export"):
        grown = peaks[kind, ITEMS] - peaks[kind, SMALL]
        check(grown < 40 << 10, "%s of %d items took %d KB more than one of %d", kind, ITEMS, grown, SMALL)


TESTS = [memory_does_not_grow_with_what_is_moved]
