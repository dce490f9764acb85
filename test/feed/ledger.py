"""test/feed/ledger.py - what was written, what was delivered, and whether the two agree."""
import threading


class Ledger:
    """Deliveries of one group of consumers. A page counts when its lease has the page's checkpoint, and never twice.

    Whoever was not told whether a checkpoint was written leaves the page pending. The next owner knows: it has
    changed the lease on condition of what it had read there, so that nobody's earlier write can come after.
    """

    def __init__(self, name):
        self.name, self.lock, self.clock = name, threading.Lock(), 0
        self.delivered, self.pending, self.pages = {}, {}, 0

    def now(self):
        with self.lock:
            self.clock += 1
            return self.clock

    def add(self, changes):
        self.pages += 1
        for item, operation, version in changes:
            self.delivered.setdefault(item, []).append((operation, version))

    def begin(self, lease, checkpoint, changes):
        """Before the lease is written."""
        when = self.now()
        with self.lock:
            self.pending[checkpoint] = (when, lease, changes)

    def end(self, checkpoint, is_written):
        """Its answer came. A new owner may have settled it before."""
        with self.lock:
            _, _, changes = self.pending.pop(checkpoint, (0, None, None))
            if changes is not None and is_written:
                self.add(changes)

    def adopt(self, lease, checkpoint, sent_at):
        """The lease was taken, at that time, with this checkpoint in it."""
        with self.lock:
            for name, (when, of, changes) in list(self.pending.items()):
                if of != lease or when > sent_at:
                    continue
                del self.pending[name]
                if name == checkpoint:
                    self.add(changes)

    def copy(self):
        with self.lock:
            return {item: list(changes) for item, changes in self.delivered.items()}


def wrong_with_all(written, delivered):
    """Every change of each item, in its order, once."""
    for item in sorted(set(written) | set(delivered)):
        if written.get(item, []) != delivered.get(item, []):
            return "%s: written %s, delivered %s" % (item, written.get(item, [])[-6:], delivered.get(item, [])[-6:])
    return None


def wrong_with_latest(written, delivered):
    """Of each item versions that it had, in their order, the last one too if it is there."""
    for item in sorted(set(written) | set(delivered)):
        had = [version for operation, version in written.get(item, []) if operation != "delete"]
        got = [version for _, version in delivered.get(item, [])]
        if got != sorted(set(got)) or not set(got) <= set(had):
            return "%s: had %s, delivered %s" % (item, had[-6:], got[-6:])
        if written[item][-1][0] != "delete" and got[-1:] != had[-1:]:
            return "%s: is at %s, delivered %s" % (item, had[-1], got[-6:])
    return None
