"""engine.py - the service's own query compiler, which the .NET SDK ships as a library, where it is at hand.

The folder that has ask.py is in ORACLE, else ../shared/oracle beside the tree; available() says whether it is there."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def folder():
    for place in (os.environ.get("ORACLE"), os.path.join(os.path.dirname(ROOT), "shared", "oracle")):
        if place and os.path.exists(os.path.join(place, "ask.py")):
            return place
    return None


def available():
    return folder() is not None


class Engine:
    def __init__(self):
        sys.path.insert(0, folder())
        import ask
        self.oracle = ask.Oracle()

    def answer(self, case):
        """A case (query, parameters?, partitionKey?) with what the engine says: its plan, or its error."""
        more = {"pk": case["partitionKey"]} if "partitionKey" in case else {}
        return self.oracle.ask(case["query"], case.get("parameters") or [], **more)
