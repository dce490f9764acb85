"""test/cli/tool.py - the program under test, and the server that it speaks to."""
import json
import os
import subprocess
import tempfile


class Failed(Exception):
    """What was promised did not hold."""


def check(holds, text, *values):
    if not holds:
        raise Failed(text % values if values else text)


class Tool:
    def __init__(self, build, server):
        self.build, self.server = build, server
        self.program = os.path.join(build, "orrery")
        self.home = tempfile.mkdtemp(dir=server.directory)

    def environment(self, **more):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ORRERY_") and name != "NO_COLOR"}
        return {**inherited, "PATH": self.build + os.pathsep + os.environ["PATH"], "ORRERY_ENDPOINT": self.server.http,
                "HOME": self.home, "XDG_STATE_HOME": os.path.join(self.home, "state"), "TERM": "xterm", **more}

    def run(self, *words, stdin=None, status=0):
        """Standard output and standard error of a command, which must end so."""
        done = subprocess.run([self.program, *words], input=stdin, capture_output=True, env=self.environment(), timeout=300,
                              **({"stdin": subprocess.DEVNULL} if stdin is None else {}))
        out, said = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        check(done.returncode == status, "%s: ended with %s\n%s%s", words, done.returncode, out[-2000:], said[-2000:])
        return out, said

    def shell(self, text, status=0):
        return self.run("shell", "-c", text, status=status)

    def container(self, link, *paths):
        """Makes the container, and its database if there is none."""
        database = link.split("/")[1]
        subprocess.run([self.program, "shell", "-c", "mkdb " + database], env=self.environment(), capture_output=True)
        self.shell("mkcoll %s %s" % (link, " ".join(paths or ["/pk"])))

    def items(self, link, *flags):
        out, _ = self.run("export", link, "--quiet", *flags)
        return [json.loads(line) for line in out.splitlines()]


def same(left, right):
    """Whether two lists have the same items, in any order."""
    spelt = lambda items: sorted(json.dumps(item, sort_keys=True) for item in items)
    return spelt(left) == spelt(right)
