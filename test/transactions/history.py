"""test/transactions/history.py - what clients did and saw, and whether some order of it explains all of it.

A Step is one commit or one read of several items. LSNs order the commits of a container, and so the versions of every
item; an item's list must then be what its writers in this order make of it. That settles what each step saw: a version
has a writer before it and one behind it. An order of all steps exists when these relations, and that of steps of which
one ended before the other began, have no cycle.
"""
from account import Wrong, expect

CREATE, APPEND, REPLACE, DELETE = "create", "append", "replace", "delete"


class Write:
    """What a step did to an item. `saw`: the list that a condition of the write was about; None: no condition."""

    def __init__(self, kind, lsn, etag=None, saw=None, saw_length=None):
        self.kind, self.lsn, self.etag, self.saw, self.saw_length = kind, lsn, etag, saw, saw_length


class Step:
    def __init__(self, name, began, ended, writes=None, reads=None):
        self.name, self.began, self.ended = name, began, ended
        self.writes = writes or {}  # by the item's name
        self.reads = reads or {}  # by the item's name: its list

    def __repr__(self):
        return self.name


class Version:
    """`log` is None where the item was deleted, or was not there yet."""

    def __init__(self, log, writer, write):
        self.log, self.writer, self.write = log, writer, write
        self.readers = []


def next_log(before, step, write):
    """What the write makes of a list; Wrong when it could not have been done."""
    if write.kind == CREATE:
        expect(before is None, "%s created what was there: %s", step, before)
        return (step.name,)
    expect(before is not None, "%s did %s to what was not there", step, write.kind)
    expect(write.saw is None or write.saw == before, "%s did %s to %s on condition of %s", step, write.kind, before, write.saw)
    expect(write.saw_length is None or write.saw_length == len(before), "%s did %s to %s on condition of %s names",
           step, write.kind, before, write.saw_length)
    return None if write.kind == DELETE else (*before, step.name)


class History:
    def __init__(self, steps, container_of):
        """container_of(item): whose LSNs order its writes."""
        self.steps, self.container_of = steps, container_of
        self.versions = {}  # by item, in their order
        self.edges = {}  # by step: {a step that comes later: why}

    def check(self):
        self.check_lsns()
        self.order_versions()
        for step in self.steps:
            for item, log in step.reads.items():
                self.version_of(step, item, log).readers.append(step)
        self.relate()
        self.relate_by_time()
        cycle = self.cycle()
        expect(not cycle, "no order explains what was seen: %s", cycle)

    # ---- versions ----

    def check_lsns(self):
        """A step has one LSN in a container, and no other step has it."""
        owners = {}
        for step in self.steps:
            lsns = {}
            for item, write in step.writes.items():
                container = self.container_of(item)
                expect(lsns.setdefault(container, write.lsn) == write.lsn, "%s has two LSNs in %s", step, container)
            for place in lsns.items():
                expect(owners.setdefault(place, step) is step, "%s and %s have one LSN, %s", step, owners[place], place)

    def order_versions(self):
        writes = {}
        for step in self.steps:
            for item, write in step.writes.items():
                writes.setdefault(item, []).append((write.lsn, step, write))
        for item, found in writes.items():
            versions = self.versions[item] = [Version(None, None, None)]
            for _, step, write in sorted(found, key=lambda row: row[0]):
                versions.append(Version(next_log(versions[-1].log, step, write), step, write))

    def last(self, item):
        return self.versions[item][-1] if item in self.versions else Version(None, None, None)

    def version_of(self, step, item, log):
        """Lists differ by their last name, which no other version has."""
        for version in self.versions.get(item, ()):
            if version.log == log:
                return version
        raise Wrong("%s saw %s of %s, which it never was" % (step, log, item))

    # ---- who comes before whom ----

    def before(self, first, second, why):
        if first is not None and second is not None and first is not second:
            self.edges.setdefault(first, {}).setdefault(second, why)

    def relate(self):
        for item, versions in self.versions.items():
            for version, following in zip(versions, versions[1:] + [None]):
                writer = following and following.writer
                self.before(version.writer, writer, "wrote %s before" % item)
                for reader in version.readers:
                    self.before(version.writer, reader, "wrote %s, seen by" % item)
                    self.before(reader, writer, "saw %s as it was before" % item)

    def relate_by_time(self):
        """By a chain of moments: whoever ended before one comes before all that began after it."""
        events = sorted([(step.began, 1, step) for step in self.steps] + [(step.ended, 0, step) for step in self.steps],
                        key=lambda event: event[:2])
        moment = None
        for at, is_begin, step in events:
            if is_begin:
                self.before(moment, step, "is earlier than")
                continue
            following = Step("%.6f s" % at, at, at)
            self.before(moment, following, "is earlier than")
            self.before(step, following, "had ended at")
            moment = following

    # ---- cycles ----

    def cycle(self):
        """What a cycle says, or None: a walk in depth, without recursion."""
        done, path, on_path = set(), [], {}
        for start in list(self.edges):
            if start in done:
                continue
            stack = [(start, iter(self.edges.get(start, ())))]
            path, on_path = [start], {start: 0}
            while stack:
                step, rest = stack[-1]
                following = next((other for other in rest if other not in done), None)
                if following is None:
                    stack.pop()
                    done.add(path.pop())
                    del on_path[step]
                elif following in on_path:
                    return self.told(path[on_path[following]:])
                else:
                    on_path[following] = len(path)
                    path.append(following)
                    stack.append((following, iter(self.edges.get(following, ()))))
        return None

    def told(self, cycle):
        """The shortest way around that begins with one of its steps is told: long cycles say little."""
        shortest = min((self.around(step) for step in cycle), key=len)
        return ", ".join("%s %s %s" % (a, self.edges[a][b], b) for a, b in zip(shortest, shortest[1:]))

    def around(self, start):
        came, queue = {}, [start]
        for step in queue:
            for following in self.edges.get(step, ()):
                if following is start:
                    way = [start, step]
                    while way[-1] is not start:
                        way.append(came[way[-1]])
                    return way[::-1]
                if following not in came:
                    came[following] = step
                    queue.append(following)
        raise AssertionError("it is on a cycle")
