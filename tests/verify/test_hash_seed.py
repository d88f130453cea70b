"""What is said of a commit is the same in every process, whatever order sets of texts have in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
# Five functions store the attribute by its name as text, each in a way of its own; the finding names one of them.
_SCRIPT = '''
from codemods.verify.certificate import examine
from codemods.verify.chain import checks
from tests.verify.test_kernel_more import module_change

head = """
class Box:
    def __init__(self):
        self.n = 0


def first(box):
    vars(box)[
        "n"
    ] = 1


def second(box):
    delattr(
        box,
        "n",
    )


def third(box):
    box.__dict__[
        "n"
    ] = 3


def fourth(box):
    setattr(
        box,
        "n",
        4,
    )


def fifth(box):
    object.__setattr__(
        box,
        "n",
        5,
    )


def f(box: Box, other):
"""
old = head + "    x = box.n\\n    other(box)\\n    return print(x)\\n"
new = head + "    other(box)\\n    return print(box.n)\\n"
ledger = examine(module_change(old, new), *checks(None, None))
for entry in ledger.residue:
    print(entry.line, entry.mark.reason)
for problem in ledger.problems:
    print(problem.line, problem.message)
'''


def said(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], cwd=_ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_which_writer_is_named_does_not_depend_on_the_order_of_a_set() -> None:
    texts = {seed: said(seed) for seed in "012345"}
    assert "writes it" in texts["0"]
    assert set(texts.values()) == {texts["0"]}
