"""test/transactions/planted.py - small histories: one is in order, each other has one mistake that must be found."""
from account import Wrong
from history import APPEND, CREATE, DELETE, REPLACE, History, Step, Write


def history_of(*rows):
    """A row: name, begin, end, writes {item: (kind, LSN, saw)}, reads {item: list}."""
    return History([Step(name, began, ended, {item: Write(*each[:2], saw=(each[2:] or (None,))[0]) for item, each in writes.items()}, reads)
                    for name, began, ended, writes, reads in rows], lambda item: item[0])


MADE = ("made", 0, 1, {"x1": (CREATE, 1), "y1": (CREATE, 1)}, {})

# name: (what the checker says of it, or None; the rows)
PLANTED = {
    "in order": (None, [MADE, ("one", 2, 5, {"x1": (APPEND, 2), "y1": (APPEND, 2)}, {}),
                        ("two", 3, 4, {}, {"x1": ("made",), "y1": ("made",)}),
                        ("gone", 6, 7, {"x1": (DELETE, 3)}, {}), ("again", 8, 9, {"x1": (CREATE, 4)}, {}),
                        ("three", 8, 10, {}, {"x1": ("again",), "y1": ("made", "one")})]),
    "half a commit is seen": ("no order", [MADE, ("one", 2, 5, {"x1": (APPEND, 2), "y1": (APPEND, 2)}, {}),
                                          ("two", 3, 4, {}, {"x1": ("made", "one"), "y1": ("made",)})]),
    "two commits in two orders": ("no order", [MADE, ("one", 2, 5, {"x1": (APPEND, 2), "y1": (APPEND, 3)}, {}),
                                              ("two", 3, 4, {"x1": (APPEND, 3), "y1": (APPEND, 2)}, {})]),
    "each wrote what the other did not see": ("no order", [MADE, ("one", 2, 5, {"x1": (APPEND, 2)}, {"y1": ("made",)}),
                                                           ("two", 3, 4, {"y1": (APPEND, 2)}, {"x1": ("made",)})]),
    "two readers in two orders": ("no order", [MADE, ("one", 2, 9, {"x1": (APPEND, 2)}, {}), ("two", 2, 9, {"y1": (APPEND, 2)}, {}),
                                              ("three", 3, 4, {}, {"x1": ("made", "one"), "y1": ("made",)}),
                                              ("four", 3, 4, {}, {"x1": ("made",), "y1": ("made", "two")})]),
    "an old state is seen later": ("no order", [MADE, ("one", 2, 3, {"x1": (APPEND, 2)}, {}), ("two", 4, 5, {}, {"x1": ("made",)})]),
    "an append is lost": ("never was", [MADE, ("one", 2, 3, {"x1": (APPEND, 2)}, {}), ("two", 4, 5, {"x1": (APPEND, 3)}, {}),
                                        ("three", 6, 7, {}, {"x1": ("made", "two")})]),
    "an append is done twice": ("never was", [MADE, ("one", 2, 3, {"x1": (APPEND, 2)}, {}),
                                              ("two", 4, 5, {}, {"x1": ("made", "one", "one")})]),
    "what was refused is there": ("never was", [MADE, ("two", 4, 5, {}, {"x1": ("made", "refused")})]),
    "a condition did not hold": ("on condition of", [MADE, ("one", 2, 3, {"x1": (APPEND, 2)}, {}),
                                                    ("two", 2, 5, {"x1": (REPLACE, 3, ("made",))}, {})]),
    "created twice": ("created what was there", [MADE, ("one", 2, 3, {"x1": (CREATE, 2)}, {})]),
    "two commits have one LSN": ("have one LSN", [MADE, ("one", 2, 3, {"x1": (APPEND, 1)}, {})]),
    "a commit has two LSNs": ("two LSNs", [MADE, ("one", 2, 3, {"x1": (APPEND, 2), "x2": (CREATE, 3)}, {})]),
}


def check_planted(name):
    said, rows = PLANTED[name]
    try:
        history_of(*rows).check()
    except Wrong as wrong:
        return None if said and said in str(wrong) else str(wrong)
    return "nothing was found" if said else None
