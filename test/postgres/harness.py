"""test/postgres/harness.py - runs tests beside a PostgreSQL of their own: each is test(options, postgres), and tells what it saw.

main(tests, settings, of_their_own)     --at URI: over a database that is there, without those that start one of their own
"""
import argparse
import os
import traceback

import repeat
from database import Given, Postgres


def main(tests, settings=(), of_their_own=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/asan/orrery")
    parser.add_argument("--rounds", type=int, default=2)
    if of_their_own is not None:
        parser.add_argument("--at")
    parser.add_argument("filter", nargs="*")
    options = parser.parse_args()
    at = getattr(options, "at", None)
    tests = [test for test in tests if not at or test not in of_their_own]
    chosen = [test for test in tests if not options.filter or any(word in test.__name__ for word in options.filter)]
    failed = 0
    with Given(at) if at else Postgres(settings) as postgres:
        os.environ["ORRERY_TEST_POSTGRES"] = postgres.base()
        for test in chosen:
            try:
                print("%s: %s" % (test.__name__, test(options, postgres)), flush=True)
            except Exception:
                failed += 1
                again = repeat.line(*repeat.given(options.filter), test.__name__)
                print("FAILED %s\n%s%s" % (test.__name__, traceback.format_exc(), again), flush=True)
                if not at and postgres.process.poll() is not None:
                    postgres.start()
    print("%d passed, %d failed" % (len(chosen) - failed, failed))
    return 1 if failed else 0
