"""test/sdk/java/docs.py - runs the JUnit tests of docs/testing.md, by the command that is given, and tells their sum.

The page's tests each find a clean account: two of them, one after the other.
"""
import os
import re
import subprocess
import sys

TESTS, SECONDS_MAX = 2, 120


def main():
    run = subprocess.run(sys.argv[1:], env={**os.environ, "ENDPOINT": os.environ["ORRERY_ENDPOINT"]}, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=SECONDS_MAX)
    found = re.search(r"\[ +(\d+) tests successful +\]", run.stdout)
    passed = int(found.group(1)) if found else 0
    if run.returncode != 0 or passed != TESTS:
        print(run.stdout)
    print("%d passed, %d failed" % (passed, max(TESTS - passed, run.returncode != 0)))


if __name__ == "__main__":
    main()
