"""test/postgres/database.py - a PostgreSQL of the test's own: made in a scratch directory, reached by a socket there.

    with Postgres() as postgres:
        postgres.where("a_schema")      what --store takes; the schema is made
"""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

BINARIES = "/usr/lib/postgresql/15/bin"


def account():
    """PostgreSQL does not run as root: then it runs as a user who owns nothing else."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
    raise SystemExit("no user postgres or nobody to run PostgreSQL as")


def program(name):
    return os.path.join(BINARIES, name) if os.path.exists(os.path.join(BINARIES, name)) else name


def children_of(parent):
    """Each is a session of its own, so no signal reaches all of them."""
    children = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % name) as file:
                if name.isdigit() and int(file.read().rsplit(")", 1)[1].split()[1]) == parent:
                    children.append(int(name))
        except (OSError, ValueError):
            pass
    return children


class Postgres:
    def __init__(self, settings=()):
        self.directory = tempfile.mkdtemp(prefix="orrery-postgres-")
        self.data = os.path.join(self.directory, "data")
        self.settings = settings
        self.user = account()
        self.process = None
        os.mkdir(self.data, 0o700)
        if self.user:
            for path in (self.directory, self.data):
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
        os.chmod(self.directory, 0o755)
        self.fill()
        self.start()

    def fill(self):
        self.run("initdb", "--auth=trust", "--username=orrery", "--no-sync", "--no-instructions", "--locale=C", "--encoding=UTF8", "-D", self.data)

    def demote(self):
        """Signals of the terminal are for who started us: the server is stopped by stop()."""
        os.setpgid(0, 0)
        if self.user:
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)

    def run(self, name, *arguments):
        subprocess.run([program(name), *arguments], check=True, stdout=subprocess.DEVNULL, preexec_fn=self.demote,
                       cwd=self.directory)

    def start(self):
        """Ready when it says so in its log. A crash of the machine is no part of these tests, so nothing is synced."""
        settings = ["listen_addresses=", "unix_socket_directories=" + self.directory, "fsync=off", "max_connections=100",
                    "log_min_messages=warning", "logging_collector=off", *self.settings]
        self.process = subprocess.Popen([program("postgres"), "-D", self.data] + [part for each in settings for part in ("-c", each)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        preexec_fn=self.demote, cwd=self.directory, text=True)
        ready, lines = threading.Event(), []
        self.log = lines

        def read():
            for line in self.process.stderr:
                lines.append(line)
                if "ready to accept" in line:
                    ready.set()
            ready.set()

        threading.Thread(target=read, daemon=True).start()
        ready.wait()
        if self.process.poll() is not None:
            raise SystemExit("PostgreSQL does not start:\n" + "".join(lines[-20:]))

    def kill(self):
        """As a machine that loses its power: all of its processes at once. The next start recovers."""
        self.process.send_signal(signal.SIGSTOP)  # so that it starts no more of them
        children = children_of(self.process.pid)
        for pid in (self.process.pid, *children):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        while any(os.path.exists("/proc/%d" % pid) for pid in children):
            time.sleep(0.01)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()

    def sql(self, text):
        answer = subprocess.run([program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.directory, "-U", "orrery",
                                 "-d", "postgres", "-c", text], check=True, capture_output=True, text=True)
        return answer.stdout.strip()

    def base(self):
        return "postgresql://orrery@/postgres?host=" + urllib.parse.quote(self.directory, safe="")

    def where(self, schema):
        self.sql("CREATE SCHEMA IF NOT EXISTS %s" % schema)
        return self.base() + "&options=-csearch_path%3D" + schema

    def base_with(self, other):
        """Either of two, whichever takes writes."""
        places = ",".join(each.directory for each in (self, other))
        return "postgresql://orrery@/postgres?host=" + urllib.parse.quote(places, safe=",")

    def wait_for(self, standby):
        """From here on a commit is acknowledged when the standby has it too."""
        self.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql("SELECT pg_reload_conf()")
        while self.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1":
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


class Given:
    """A database that somebody has started for tests, by its URI. The schemas that are made in it stay."""

    def __init__(self, where):
        self.uri = where if "?" in where else where + "?connect_timeout=30"

    def sql(self, text):
        answer = subprocess.run([program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.uri, "-c", text],
                                check=True, capture_output=True, text=True)
        return answer.stdout.strip()

    def base(self):
        return self.uri

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Standby(Postgres):
    """Has what a primary has, and may take its place."""

    def __init__(self, primary, settings=()):
        self.primary = primary
        super().__init__(settings)

    def fill(self):
        self.run("pg_basebackup", "-h", self.primary.directory, "-U", "orrery", "-D", self.data, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync")

    def promote(self):
        self.sql("SELECT pg_promote()")
