"""Which functions of unchanged files a change reaches: those that would notice it, and no others."""

from __future__ import annotations

import pytest

from codemods.prove.pairs import pairs_of_change
from codemods.schema.prove import PairKind
from codemods.source.files import FileSet, MemoryTree

_OLD = """class Runner:
    kind = "gpu"

    def __init__(self, rank):
        self.rank = rank

    def lost(self):
        return self.rank

    def kept(self):
        return self.rank + 1


TABLE = {"a": 1}


def helper(x):
    return x
"""
_LOST = _OLD.replace("    def lost(self):\n        return self.rank\n\n", "")
_MAKER = _LOST.replace("def __init__(self, rank):", "def __init__(self, rank, size=1):")
_KIND = _LOST.replace('"gpu"', '"cpu"')
_BASE = _LOST.replace("class Runner:", "class Runner(dict):")
_MOVED = _OLD.replace('TABLE = {"a": 1}', 'TABLE = {"a": 2}')


def _reached(new: str, user: str, *, more: dict[str, str] | None = None) -> list[str]:
    """The functions of `user`, which is the same on both sides, that are to be proved where runner.py changes."""
    same = {"srv/__init__.py": b"", "srv/user.py": user.encode()}
    same.update({path: text.encode() for path, text in (more or {}).items()})
    old = FileSet(MemoryTree({**same, "srv/runner.py": _OLD.encode()}))
    changed = FileSet(MemoryTree({**same, "srv/runner.py": new.encode()}))
    pairs = pairs_of_change(old, changed, ["srv/runner.py"])
    return [each.new for each in pairs if each.kind is PairKind.CALLABLE and "runner:" not in each.new]


_FROM = "from srv.runner import Runner\n\n\n"


@pytest.mark.parametrize(
    "user",
    [
        "def use(runner: Runner) -> Runner:\n    return runner\n",
        "def use(runner):\n    other: Runner = runner\n    return other\n",
        "def use(rank):\n    return Runner(rank)\n",
        "def use(value):\n    return isinstance(value, Runner)\n",
        "def use(rank):\n    return Runner(rank).kept()\n",
        "def use(rank):\n    from srv.runner import Runner as R\n    return R(rank).kept()\n",
    ],
)
def test_who_does_not_notice_that_a_method_is_gone_is_no_pair(user: str) -> None:
    assert _reached(_LOST, _FROM + user) == []


@pytest.mark.parametrize(
    ("new", "user"),
    [
        (_LOST, "def use(runner: Runner):\n    return runner.lost()\n"),
        (_LOST, "def use(rank):\n    return Runner(rank).lost()\n"),
        (_LOST, "def use(rank):\n    class Inner(Runner):\n        pass\n\n    return Inner(rank)\n"),
        (_MAKER, "def use(rank):\n    return Runner(rank)\n"),
        (_KIND, "def use(rank):\n    return Runner.kind\n"),
        (_BASE, "def use(value):\n    return isinstance(value, Runner)\n"),
    ],
)
def test_who_notices_is_one(new: str, user: str) -> None:
    assert _reached(new, _FROM + user) == ["srv.user:use"]


@pytest.mark.parametrize(
    "user",
    [
        "from srv.runner import TABLE as RANKS\n\n\ndef use(key):\n    return RANKS[key]\n",
        "from srv.runner import *\n\n\ndef use(key):\n    return TABLE[key]\n",
        "from srv import runner\n\n\ndef use(key):\n    return runner.TABLE[key]\n",
        "from srv.runner import TABLE\n\nSIZE = len(TABLE)\nTWICE = SIZE * 2\n\n\ndef use(key):\n    return TWICE\n",
        "def use(key):\n    from srv.runner import TABLE\n\n    return TABLE[key]\n",
        "from srv.other import NAMES\n\n\ndef use(key):\n    return NAMES[key]\n",
        "from srv.other import *\n\n\ndef use(key):\n    return NAMES[key]\n",
    ],
)
def test_a_value_is_followed_under_every_name_that_it_has(user: str) -> None:
    more = {"srv/other.py": "from srv.runner import TABLE as NAMES\n"}
    assert _reached(_MOVED, user, more=more) == ["srv.user:use"]


def test_names_beside_a_changed_one_reach_nobody() -> None:
    user = "from srv.runner import TABLE, helper\n\n\ndef use(x):\n    return helper(x)\n"
    assert _reached(_MOVED, user) == []


def test_who_names_a_lost_method_after_an_import_of_its_own_is_a_pair() -> None:
    user = "def use(rank):\n    from srv.runner import Runner\n    return Runner(rank).lost()\n"
    assert _reached(_LOST, user) == ["srv.user:use"]
    assert _reached(_BASE, user.replace("lost", "kept")) == ["srv.user:use"]
    base = "def use():\n    from srv.runner import Runner\n\n    class Mine(Runner):\n        pass\n\n    return Mine\n"
    assert _reached(_LOST, base) == ["srv.user:use"]


def test_a_name_that_is_bound_to_itself_means_what_it_meant() -> None:
    """As renames leave behind: `Runner = Runner`."""
    user = _FROM + "class Made(Runner):\n    pass\n\n\nMade = Made\n"
    other = {"srv/other.py": "def use(rank):\n    from srv.user import Made\n    return Made(rank).kept()\n"}
    assert [each for each in _reached(_LOST, user, more=other) if "other" in each] == []


_STEPS = """class Runner:
    def __init__(self, rank):
        self.rank = self._ranked(rank)
        self.start()

    def start(self):
        self.size = self.rank + 1

    def _ranked(self, rank):
        return rank * 2
"""


@pytest.mark.parametrize(
    ("swaps", "is_asked"),
    [
        ([("self.rank + 1", "1 + self.rank")], False),  # a pair of its own
        ([("self.size", "self.length")], True),  # who reads it may not know the new name
        ([("self._ranked(rank)", "rank * 2"), ("    def _ranked(self, rank):\n        return rank * 2\n", "")], False),
        ([("def start(self):", "def start(self, more=1):")], True),
        ([("class Runner:\n", "class Runner:\n    kind = 'gpu'\n")], True),
        ([("class Runner:\n", "class Runner:\n    def __eq__(self, other):\n        return self is other\n")], True),
        ([("class Runner:\n", "class Runner:\n    def more(self):\n        return self.rank\n")], True),
        ([("class Runner:", "class Runner(dict):")], True),
    ],
)
def test_when_a_class_is_tried_as_a_whole(swaps: list[tuple[str, str]], is_asked: bool) -> None:
    """Not where each method that makes an instance is a pair, which shows what it writes."""
    new = _STEPS
    for before, after in swaps:
        assert before in new
        new = new.replace(before, after)
    old, changed = (FileSet(MemoryTree({"srv/runner.py": text.encode()})) for text in (_STEPS, new))
    pairs = pairs_of_change(old, changed, ["srv/runner.py"])
    assert (PairKind.CLASS in [each.kind for each in pairs]) is is_asked
    assert PairKind.CALLABLE in [each.kind for each in pairs] or is_asked
