"""test/sdk/counted.py - runs the tests of a page of the documentation by their own runner, and tells the sum as our tests do.

usage: counted.py COUNT PATTERN COMMAND...      the pattern finds how many the runner says have passed
"""
import os
import re
import subprocess
import sys

SECONDS_MAX = 240


def main(count, pattern, *command):
    run = subprocess.run(command, env={**os.environ, "ENDPOINT": os.environ["ORRERY_ENDPOINT"]}, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=SECONDS_MAX)
    found = re.search(pattern, re.sub("\x1b\\[[0-9;]*m", "", run.stdout))
    passed = int(found.group(1)) if found else 0
    if run.returncode != 0 or passed != int(count):
        print(run.stdout)
    print("%d passed, %d failed" % (passed, max(int(count) - passed, run.returncode != 0)))


if __name__ == "__main__":
    main(*sys.argv[1:])
