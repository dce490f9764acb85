"""test/repeat.py - the line under a failure that says how to run just that again.

print(repeat.line(*repeat.given(options.filter), name))     repeat: test/wire/run --store memory item/create_twice
"""
import os
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def given(chosen=()):
    """The words that this run was started with, but for those that chose some of its tests."""
    words = sys.argv[1:]
    for word in chosen:
        del words[len(words) - 1 - words[::-1].index(word)]
    return words


def line(*words):
    """The command, to be typed where README.md is: this program, with these words."""
    program = os.path.relpath(os.path.abspath(sys.argv[0]), ROOT)
    return "repeat: " + shlex.join([program, *map(str, words)])
