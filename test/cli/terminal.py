"""test/cli/terminal.py - the shell and the bars on a real terminal, which a pty is."""
import os
import pty
import re
import select
import signal
import subprocess
import tempfile

from tool import check

PATIENCE_S = 60
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """A program whose standard input, output and error are a terminal."""

    def __init__(self, tool, *words, **variables):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            environment = tool.environment(**variables)
            os.execve(tool.program, [tool.program, *words], environment)
        self.raw = ""
        self.read_to = 0

    def text(self):
        return ESCAPES.sub("", self.raw)

    def read(self):
        ready, _, _ = select.select([self.file], [], [], PATIENCE_S)
        check(ready, "nothing came for %d s after:\n%s", PATIENCE_S, self.text()[-2000:])
        try:
            data = os.read(self.file, 65536)
        except OSError:
            data = b""
        self.raw += data.decode("utf-8", "replace")
        return bool(data)

    def until(self, wanted):
        """Reads until the text is there, behind what was waited for before."""
        while wanted not in self.text()[self.read_to:]:
            check(self.read(), "it ended, and %r did not come:\n%s", wanted, self.text()[-2000:])
        self.read_to = self.text().index(wanted, self.read_to) + len(wanted)

    def type(self, keys):
        os.write(self.file, keys.encode())

    def end(self):
        """The rest, and the exit status."""
        while self.read():
            pass
        os.close(self.file)
        _, status = os.waitpid(self.pid, 0)
        check(os.WIFEXITED(status), "a signal ended it: %s", status)
        return os.WEXITSTATUS(status)


def with_items(tool, name, count=3):
    tool.container("dbs/%s/colls/c" % name)
    items = "".join('{"id":"%d","pk":"a","place":{"city":"Lyon"},"n":%d}\n' % (i, i) for i in range(count))
    tool.run("import", "-", "--to", "dbs/%s/colls/c" % name, "--quiet", stdin=items.encode())


def shell_at(tool, name, **variables):
    terminal = Terminal(tool, "shell", "--in", "dbs/%s/colls/c" % name, **variables)
    terminal.until("dbs/%s/colls/c> " % name)
    return terminal


def a_query_over_several_lines_ends_with_an_empty_one(tool):
    with_items(tool, "lines")
    terminal = shell_at(tool, "lines")
    terminal.type("SELECT c.id, c.n\r")
    terminal.until("...> ")
    terminal.type("FROM c ORDER BY c.n\r")
    terminal.until("...> ")
    terminal.type("\r")
    terminal.until("id  n\n--  -\n0   0\n1   1\n2   2\n(3 rows)")
    terminal.until("colls/c> ")
    terminal.type("SELECT VALUE c.n FROM c WHERE c.id = '1';\r")
    terminal.until("(1 row)")
    terminal.until("> ")
    terminal.type("nonsense\r")
    terminal.until("no command named nonsense")
    terminal.until("> ")
    terminal.type("\x04")
    check(terminal.end() == 1, "the last statement failed, and the shell ended with 0")


def ctrl_c_gives_up_a_line_and_a_statement_and_not_the_shell(tool):
    with_items(tool, "give")
    terminal = shell_at(tool, "give")
    terminal.type("SELECT *\r")
    terminal.until("...> ")
    terminal.type("FROM nowhere\x03")
    terminal.until("^C")
    terminal.until("dbs/give/colls/c> ")
    terminal.type("pwd\r")
    terminal.until("/dbs/give/colls/c\n")
    terminal.type("\\watch beginning\r")
    terminal.until('"id":"2"')
    tool.shell('cd give/c; put {"id":"new","pk":"a"}')
    terminal.until('"id":"new"')
    terminal.type("\x03")
    terminal.until("dbs/give/colls/c> ")
    terminal.type("exit\r")
    check(terminal.end() == 0, "another end than 0")


def the_tab_key_completes_commands_links_functions_and_paths(tool):
    with_items(tool, "complete")
    terminal = Terminal(tool, "shell")
    terminal.until("orrery> ")
    terminal.type("mkc\t")
    terminal.until("mkcoll ")
    terminal.type("\x15cd dbs/compl\t")
    terminal.until("cd dbs/complete ")
    terminal.type("\x7f/co\t")
    terminal.until("/colls/")  # libedit draws only what is new
    terminal.type("\t\r")
    terminal.until("dbs/complete/colls/c> ")
    terminal.type("SELECT VALUE array_len\t[1, 2]);\r")
    terminal.until("2\n(1 row)")
    terminal.type("SELECT VALUE c.place.c\tFROM c;\r")
    terminal.until("Lyon\nLyon\nLyon\n(3 rows)")
    terminal.until("> ")
    terminal.type("\x04")
    check(terminal.end() == 0, "another end than 0")


def statements_are_remembered_by_their_owner_alone(tool):
    with_items(tool, "remember")
    terminal = shell_at(tool, "remember")
    terminal.type("SELECT VALUE\r")
    terminal.until("...> ")
    terminal.type("'abc';\r")
    terminal.until("(1 row)")
    terminal.until("> ")
    terminal.type("\x04")
    check(terminal.end() == 0, "another end than 0")
    path = os.path.join(tool.home, "state", "orrery", "history")
    check(os.stat(path).st_mode & 0o077 == 0, "others may read %s", path)
    terminal = shell_at(tool, "remember")
    terminal.type("\x1b[A")  # the arrow that points upward
    terminal.until("SELECT VALUE 'abc'")
    terminal.type(";\r")
    terminal.until("(1 row)")
    terminal.until("> ")
    terminal.type("\x04")
    check(terminal.end() == 0, "another end than 0")


def colours_are_for_terminals_that_want_them(tool):
    with_items(tool, "colour")
    words = ("shell", "--in", "dbs/colour/colls/c", "-c", "\\format json; SELECT c.id FROM c")
    for variables, has_colours in ({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False):
        terminal = Terminal(tool, *words, **variables)
        check(terminal.end() == 0, "another end than 0")
        check(("\x1b[34m" in terminal.raw) == has_colours, "%s: %r", variables, terminal.raw)
    check("\x1b" not in tool.run(*words)[0], "colours in a pipe")


def a_long_import_draws_a_bar(tool):
    tool.container("dbs/bar/colls/c")
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for number in range(20000):
            file.write('{"id":"%d","pk":"%d"}\n' % (number, number % 7))
        file.flush()
        terminal = Terminal(tool, "import", file.name, "--to", "dbs/bar/colls/c")
        check(terminal.end() == 0, "another end than 0")
    check(re.search(r"\[#* *\] +\d+% \d+ items, .* s left", terminal.text()), "no bar: %r", terminal.text()[-500:])
    check("imported 20000 items" in terminal.text(), "%r", terminal.text()[-500:])


def ctrl_c_ends_an_import_which_the_same_command_takes_up(tool):
    tool.container("dbs/stop/colls/c")
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "a.jsonl")
        with open(path, "w") as file:
            for number in range(20000):
                file.write('{"id":"%d","pk":"%d"}\n' % (number, number % 7))
        words = [tool.program, "import", path, "--to", "dbs/stop/colls/c", "--resume", os.path.join(place, "state"), "--batch", "50"]
        for ends_by in (signal.SIGINT, signal.SIGKILL):
            process = subprocess.Popen(words, env=tool.environment(), stderr=subprocess.DEVNULL)
            while not os.path.exists(os.path.join(place, "state")) and process.poll() is None:
                pass
            process.send_signal(ends_by)
            check(process.wait(PATIENCE_S) != 0, "it was done before it was ended")
        _, said = tool.run(*words[1:])
        check("REJECTED" not in said, "%s", said)
        _, said = tool.run(*words[1:])
        check("imported 0 items" in said, "%s", said)
    check(len(tool.items("dbs/stop/colls/c")) == 20000, "%d items", len(tool.items("dbs/stop/colls/c")))


TESTS = [a_query_over_several_lines_ends_with_an_empty_one, ctrl_c_gives_up_a_line_and_a_statement_and_not_the_shell,
         the_tab_key_completes_commands_links_functions_and_paths, statements_are_remembered_by_their_owner_alone,
         colours_are_for_terminals_that_want_them, a_long_import_draws_a_bar,
         ctrl_c_ends_an_import_which_the_same_command_takes_up]
