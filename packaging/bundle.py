"""packaging/bundle.py - the programs of a build, with the libraries that they need.

programs(build)           which of them were built: orrery, orrery-js, orrery-cli
libraries(files, triplet) the shared libraries that these need, open at run time, and those need: name to path on this machine
inside(files, triplet)    the archives that these have in them
notices(paths)            the copyright files of the Debian packages that own these paths
"""
import os
import re
import shutil
import subprocess

OPENED = ("libgeos_c.so.1", "libpq.so.5")  # at run time, by the programs that have the name in them
INSIDE = {"librocksdb.a": b"BlockBasedTable"}  # archives that a program may have in it, and what is in such a program
NAMES = ("orrery", "orrery-js", "orrery-cli")
MACHINES = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}


def own():
    """The machine that this runs on, as Debian calls it."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, "amd64")


def programs(build):
    return [os.path.join(build, name) for name in NAMES if os.path.exists(os.path.join(build, name))]


def copy_program(source, target, triplet):
    """Without what only debuggers read."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    strip = shutil.which(triplet + "-strip") or "strip"
    subprocess.run([strip, "--strip-unneeded", "-o", target, source], check=True)
    os.chmod(target, 0o755)


def needed(path):
    text = subprocess.run(["readelf", "-d", "-W", path], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text)


def opened(path):
    with open(path, "rb") as file:
        program = file.read()
    return [name for name in OPENED if name.encode() in program]


def inside(files, triplet):
    """The archives that are a part of these programs."""
    found = []
    for path in files:
        with open(path, "rb") as file:
            program = file.read()
        found += [find(name, triplet) for name, mark in INSIDE.items() if mark in program]
    return found


def loader(path):
    """The program that starts it, as its head has it: /lib64/ld-linux-x86-64.so.2"""
    text = subprocess.run(["readelf", "-l", "-W", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"interpreter: (\S+)\]", text).group(1)


def find(name, triplet):
    for folder in ("/lib/" + triplet, "/usr/lib/" + triplet, "/usr/%s/lib" % triplet):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return os.path.realpath(path)
    raise SystemExit("no library %s for %s: is it installed?" % (name, triplet))


def libraries(files, triplet):
    found, left = {}, [name for path in files for name in needed(path) + opened(path)]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = find(name, triplet)
            left += needed(found[name])
    return found


def owners(paths):
    """The packages that files belong to. dpkg knows some by their older paths, without /usr."""
    known = [name for path in paths for name in (path, path.removeprefix("/usr"), "/usr" + path)]
    told = subprocess.run(["dpkg-query", "-S", *known], capture_output=True, text=True).stdout
    return {line.split(":")[0] for line in told.splitlines() if ": /" in line and not line.startswith("diversion")}


def notices(paths):
    """Package names to copyright files."""
    places = {package: "/usr/share/doc/%s/copyright" % package for package in owners(paths)}
    return {package: os.path.realpath(place) for package, place in places.items() if os.path.exists(place)}


def copy(source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)
    shutil.copymode(source, target)
