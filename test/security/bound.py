"""test/security/bound.py - a server that the system gives so much memory and no more.

A control group (version 2) below the test's own, where one may be made and has the memory controller; its server is
ended by the kernel if it takes more. Else an address space (RLIMIT_AS): then malloc(), mmap() and new threads fail.
Addresses are more than memory, since stacks and the allocator reserve some that they do not use.
"""
import os
import subprocess

GROUPS = "/sys/fs/cgroup"
MB = 1 << 20


def _make_group(mb):
    """The path of a new group, or None where that is not permitted."""
    with open("/proc/self/cgroup") as file:
        own = next((line[3:].strip() for line in file if line.startswith("0::")), None)
    path = "%s%s/orrery-%d" % (GROUPS, own.rstrip("/"), os.getpid()) if own else None
    try:
        os.mkdir(path)
    except (OSError, TypeError):
        return None
    try:
        limit = os.open(os.path.join(path, "memory.max"), os.O_WRONLY)  # the kernel has made it, or this is no group
        os.write(limit, b"%d" % (mb * MB))
        os.close(limit)
        return path
    except OSError:
        os.rmdir(path)
        return None


class Bound:
    def __init__(self, mb):
        self.mb, self.group = mb, _make_group(mb) if mb else None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.group:
            os.rmdir(self.group)

    def put_under(self, server):
        """Puts a server that was started below the bound, with what it starts from here on; how."""
        if self.group:
            with open(os.path.join(self.group, "cgroup.procs"), "w") as file:
                file.write(str(server.process.pid))
            return "a control group of %d MB" % self.mb
        subprocess.run(["prlimit", "--pid", str(server.process.pid), "--as=%d:" % (self.mb * MB)], check=True)
        return "an address space of %d MB" % self.mb
