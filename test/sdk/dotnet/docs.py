"""test/sdk/dotnet/docs.py - runs the C# programs of the documentation and compares what they print.

The argument is JSON: for each program's name the command that runs it.
"""
import json
import os
import re
import subprocess
import sys

PROGRAM_SECONDS_MAX = 120
PRINTED = {
    "readme-1": r'The Dispossessed "[0-9a-f-]+"\nFound \{ title = The Dispossessed, tags = 2 \}\n',
    "dotnet-1": r"1000 readings, 499\.5 on average\n",
}


def main():
    commands, failed = json.loads(sys.argv[1]), 0
    settings = {**os.environ, "ENDPOINT": os.environ["ORRERY_ENDPOINT"], "SSL_CERT_FILE": os.environ["ORRERY_CERTIFICATE"]}
    for name in sorted({*PRINTED, *commands}):
        if name not in PRINTED or name not in commands:
            print("FAILED %s: %s" % (name, "nothing says what it prints" if name in commands else "it is not in the documentation"))
            failed += 1
            continue
        run = subprocess.run(commands[name], env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PROGRAM_SECONDS_MAX)
        if run.returncode != 0 or not re.fullmatch(PRINTED[name], run.stdout):
            print("FAILED %s: ended with %d and printed\n%s" % (name, run.returncode, run.stdout))
            failed += 1
    print("%d passed, %d failed" % (len({*PRINTED, *commands}) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
