"""test/crash/target.py - the server under test: started with the shim, killed, started again, checked."""
import glob
import os
import shutil
import signal
import subprocess
import time

from power import Disk
from server import ROOT, Server


class Target(Server):
    """A server whose directory outlives it. `build` has orrery and test/shim.so."""

    def __init__(self, build, shim=True, options=()):
        super().__init__(os.path.join(build, "orrery"), options=list(options))
        self.disk = None
        self.start_ms = 0
        if shim:
            self.disk = Disk(self.directory, os.path.join(self.directory, "shim-state"))
            self.command = ["env", *self.disk.environment(os.path.join(ROOT, build, "test", "shim.so")), *self.command]

    def __exit__(self, kind, value, trace):
        if kind is None:
            super().__exit__(kind, value, trace)
            return
        status = self.process.poll()
        if status is None:
            self.kill()
        print("    kept %s; the server %s; its log ends with\n%s" % (
            self.directory, "was running" if status is None else "had ended with %s" % status, self.log()[-2000:]))

    def start(self, timeout_s=120):
        self.http = None
        began = time.monotonic()
        super().start(timeout_s)
        self.start_ms = (time.monotonic() - began) * 1000

    def kill(self):
        """Also what it may have left in memory: RocksDB's log, when it was killed while that was opened."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for path in glob.glob("/dev/shm/orrery-%d-*" % self.process.pid):
            shutil.rmtree(path)

    def has_scripts(self):
        return os.path.exists(os.path.join(os.path.dirname(self.program), "orrery-js"))

    def kill_children(self):
        """Those that run scripts."""
        for path in glob.glob("/proc/%d/task/*/children" % self.process.pid):
            try:
                with open(path) as file:
                    for pid in map(int, file.read().split()):
                        os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # the server, a thread or a child has just ended

    def interrupt_start(self, before_sync):
        """Starts it, to be killed before that sync; False when it was ready without."""
        self.disk.kill_before_sync(before_sync)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=log)
        was_killed = self.process.stdout.readline() == b""
        self.kill()
        self.disk.kill_before_sync(0)
        self.process.stdout.close()
        return was_killed

    def check(self):
        """(exit status, what it said) of orrery check."""
        done = subprocess.run([self.program, "check", self.data], capture_output=True, text=True, timeout=60,
                              errors="replace")
        return done.returncode, (done.stdout + done.stderr).strip()
