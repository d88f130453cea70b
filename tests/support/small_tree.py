"""A tree with one method to extract, plans for it, and the command lines that tests of whole runs share."""

from __future__ import annotations

SOURCE = b'''"""Runs."""

from pkg import config


class Runner:
    def __init__(self, rank):
        self.rank = rank

    def bind(self, count):
        return self.rank + count + config.BASE

    def go(self):
        return self.bind(1)
'''
CALLER = b"from pkg.runner import Runner\n\n\ndef call(runner: Runner):\n    return runner.bind(2)\n"
FILES = {
    "pkg/__init__.py": b"",
    "pkg/config.py": b"BASE = 1\n",
    "pkg/numa.py": b'"""Numa."""\n',
    "pkg/runner.py": SOURCE,
    "pkg/caller.py": CALLER,
}
CHANGED = ["pkg/caller.py", "pkg/numa.py", "pkg/runner.py"]
PLAN = 'id = "bind"\n\n[[step]]\ndo = "extract-method"\nmethod = "pkg.runner:Runner.bind"\nto = "pkg.numa"\n'
MOVE = 'id = "call"\n\n[[step]]\ndo = "move"\ndefinition = "pkg.caller:call"\nto = "pkg.numa"\n'
RENAME = 'id = "call"\n\n[[step]]\ndo = "rename"\ndefinition = "pkg.caller:call"\nto = "ring"\n'

# With the plan beside the tree, which lies in `root`.
APPLY = ("apply", "plan.toml", "--root", "root")
IN_PLACE = (*APPLY, "--in-place")
BRANCH = (*APPLY, "--branch", "split")
BIND = ("plan", "pkg.runner:Runner.bind", "--to", "pkg.numa", "--root", "root")
