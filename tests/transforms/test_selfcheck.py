"""The check of our own output: what it refuses, and what was broken before and may stay so."""

from __future__ import annotations

import pytest

from codemods.transforms.selfcheck import BrokenOutput, check_output
from tests.support.trees import tree

BEFORE = """\
# file: pkg/__init__.py
# file: pkg/old/__init__.py
# file: pkg/old/kinds.py
from pkg.old import Missing


def kind(x):
    return nobody(x)
# file: pkg/user.py
from pkg.old import Missing
"""


def test_what_did_not_resolve_before_need_not_resolve_after() -> None:
    """The imports of `Missing` and the name `nobody` are broken already, in a file that stays and in one that moves."""
    before = tree(BEFORE)
    after = before
    for path in ("pkg/old/__init__.py", "pkg/old/kinds.py"):
        raw = before.read(path).replace(b"pkg.old", b"pkg.new")
        after = after.delete(path).write(path.replace("old", "new"), raw)
    after = after.write("pkg/user.py", before.read("pkg/user.py").replace(b"pkg.old", b"pkg.new"))
    assert check_output(before, after) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("from pkg.old import Other\n", "pkg.old has no Other to import"),
        ("from pkg.old import Missing\nprint(somebody)\n", "nothing binds somebody any more"),
        ("from pkg.old import (\n", "does not parse"),
    ],
)
def test_what_is_broken_now_is_refused(text: str, what: str) -> None:
    before = tree(BEFORE)
    with pytest.raises(BrokenOutput, match=what):
        check_output(before, before.write("pkg/user.py", text.encode()))
