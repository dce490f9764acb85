"""test/crash/power.py - the other side of shim.c: what was synced, failing disks, and the power cut itself."""
import mmap
import os
import struct

# magic, fail_sync_in, kill_sync_in, space_bytes, syncs, failed_syncs, refused_writes, file_count
HEADER = struct.Struct("<8sqqqQQQQ")
RECORD = struct.Struct("<QQQQ")  # inode, synced_bytes, lost_from, is_synced
STATE_BYTES = 1 << 20
BLOCK = 4096
UNLIMITED = -1


class Disk:
    """A directory with the data and its copies, and the state in which the shim keeps what is safe in it."""

    def __init__(self, directory, state_path):
        self.directory, self.path = os.path.realpath(directory), state_path
        with open(state_path, "wb") as file:
            file.truncate(STATE_BYTES)
        self.file = open(state_path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), STATE_BYTES)
        self.forget()

    def close(self):
        self.memory.close()
        self.file.close()

    def environment(self, shim):
        return ["LD_PRELOAD=" + shim, "ORRERY_SHIM_DIR=" + self.directory, "ORRERY_SHIM_STATE=" + self.path]

    def forget(self):
        """Everything that is on the disk now is safe, and nothing fails."""
        HEADER.pack_into(self.memory, 0, b"ORRSHIM1", 0, 0, UNLIMITED, 0, 0, 0, 0)

    def fail_sync(self, nth):
        struct.pack_into("<q", self.memory, 8, nth)

    def kill_before_sync(self, nth):
        struct.pack_into("<q", self.memory, 16, nth)

    def leave_space(self, count):
        struct.pack_into("<q", self.memory, 24, count)

    def counts(self):
        syncs, failed_syncs, refused_writes = HEADER.unpack_from(self.memory)[4:7]
        return {"syncs": syncs, "failed syncs": failed_syncs, "refused writes": refused_writes}

    def records(self):
        count = HEADER.unpack_from(self.memory)[-1]
        rows = (RECORD.unpack_from(self.memory, HEADER.size + i * RECORD.size) for i in range(count))
        return {inode: (min(synced, lost), is_synced) for inode, synced, lost, is_synced in rows}

    def cut(self, random, tail=True):
        """The power fails: (bytes that were not safe, how many of them are lost). The server has been killed before."""
        records, unsafe, lost = self.records(), 0, 0
        for folder, _, names in os.walk(self.directory):
            for name in sorted(names):
                path = os.path.join(folder, name)
                info = os.lstat(path)
                if info.st_ino in records:
                    synced, is_synced = records[info.st_ino]
                    unsafe += max(0, info.st_size - synced)
                    lost += cut_file(random, path, info.st_size, synced, is_synced, tail)
        self.forget()
        return unsafe, lost


def cut_file(random, path, size, synced, is_synced, tail):
    """How many bytes it lost. A file that was never synced may lose its name as well."""
    if not is_synced and random.random() < 0.5:
        os.unlink(path)
        return size
    if size <= synced:
        return 0
    kept = synced + (random.choice([0, size - synced, random.randint(0, size - synced)]) if tail else 0)
    os.truncate(path, kept)
    if kept > synced and random.random() < 0.5:
        garble(random, path, synced, kept)
    return size - kept


def garble(random, path, synced, kept):
    """The last block that was kept holds zeros or rubbish, as far as it was not safe."""
    start = max(synced, (kept - 1) // BLOCK * BLOCK)
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(bytes(kept - start) if random.random() < 0.5 else random.randbytes(kept - start))
