"""What a call may set anew of what was read before it: code that reads it again gets another value, and a slip in what
it does with that shows. Code that only reads it elsewhere, between calls that leave it alone, does not differ."""

from __future__ import annotations

import pytest

from codemods.schema.prove import ProofVerdict
from tests.support.prove_texts import proved

_HEAD = "from ext import load, make, run\n\n"
_X = """
class X:
    def __init__(self):
        self.w = None

    def load(self):
        self._more()

    def _more(self):
        self.w = 1


class Other:
    def start(self, x):
        x.begin()


def fetch(x):
    x.load()


"""
_OWN = """
class C:
    shared = None

    def __init__(self):
        self.x = None
        self.still = None

    def setup(self):
        self.x = make()

    def look(self):
        return self.still

    @classmethod
    def share(cls):
        cls.shared = make()

"""
_GLOBAL = """
import os

_state = None


def start():
    global _state
    _state = make()


def begin():
    start()


def export():
    os.environ["A"] = "1"


"""
_STANDING = """
class S:
    def __init__(self):
        self.count = None


s = S()


def step():
    s.count = 1


"""
# What is there, how the function begins, what is asked, what is called then, and what is given back.
_AGAIN = {
    "an attribute of the instance": (_OWN + "    def f(self):\n", "self.x is None", "self.setup()", "self.x"),
    "one that is set by a method that is handed on": (
        _OWN + "    def f(self):\n", "self.x is None", "run(self.setup)", "self.x",
    ),
    "one that may not be there": (_OWN + "    def f(self):\n", "not hasattr(self, 'x')", "self.setup()", "self.x"),
    "one that was set before": (
        _OWN + "    def f(self):\n        self.x = 3\n", "self.still is None", "self.setup()", "self.x - 3 or None",
    ),
    "an attribute of the class": (
        _OWN + "    @classmethod\n    def f(cls):\n", "cls.shared is None", "cls.share()", "cls.shared",
    ),
    "an attribute of a parameter": (_X + "def f(x):\n", "x.w is None", "x.load()", "x.w"),
    "through a function": (_X + "def f(x):\n", "x.w is None", "fetch(x)", "x.w"),
    "through a function that is not in the trees": (_X + "def f(x):\n", "x.z is None", "load(x)", "x.z"),
    "through a method that is not in the trees": (_X + "def f(x):\n", "x.z is None", "x.begin()", "x.z"),
    "of what another call gave": (_X + "def f(x):\n    y = x.first()\n", "y.w is None", "y.load()", "y.w"),
    "of what another one holds": (_X + "def f(x):\n    y = x.child\n", "y.w is None", "x.load()", "y.w"),
    "whether it is there": (_X + "def f(x):\n", "not hasattr(x, 'w')", "x.load()", "(1 if hasattr(x, 'w') else None)"),
    "of which class it is": (
        _X + "def f(x):\n", "not isinstance(x.w, int)", "x.load()", "(2 if isinstance(x.w, int) else None)",
    ),
    "an item": (_X + "def f(x):\n", "x['w'] is None", "load(x)", "x['w']"),
    "a size": (_X + "def f(x):\n", "len(x) == 0", "x.load()", "x[0]"),
    "a name of the module": (_GLOBAL + "def f():\n", "_state is None", "start()", "_state"),
    "a name of the module, two calls down": (_GLOBAL + "def f():\n", "_state is None", "begin()", "_state"),
    "a variable of the environment": (
        _GLOBAL + "def f():\n", "'A' not in os.environ", "export()", "os.environ.get('A')",
    ),
    "an attribute of an object of the module": (_STANDING + "def f():\n", "s.count is None", "step()", "s.count"),
}  # fmt: skip


def _text(what: str, last: str) -> tuple[str, str]:
    """The module, with these lines after the call, and the name of the function."""
    head, test, call, _ = _AGAIN[what]
    is_method = "class C:" in head
    lines = [f"if {test}:", f"    {call}", *(f"    {line}" for line in last.splitlines()), "return 5"]
    space = "        " if is_method else "    "
    return _HEAD + head + "".join(f"{space}{line}\n" for line in lines), "C.f" if is_method else "f"


@pytest.mark.parametrize("what", _AGAIN)
def test_a_slip_in_what_is_read_again_differs(what: str) -> None:
    value = _AGAIN[what][3]
    before, name = _text(what, f"return {value}")
    for last in ("return None", f"if {value}:\n    return {value}\nreturn 3"):
        found = proved(before, _text(what, last)[0], name)
        assert found.verdict is ProofVerdict.DIFFERS, (last, found.reason)


@pytest.mark.parametrize("what", [each for each in _AGAIN if "still" not in _AGAIN[each][1]])
def test_what_was_asked_before_may_be_asked_again(what: str) -> None:
    """A check after the call is no check of what is known: it may turn out the other way."""
    test = _AGAIN[what][1]
    before, name = _text(what, f"if {test}:\n    raise ValueError\nreturn 3")
    for last in ("raise ValueError", "return 3"):
        verdict = proved(before, _text(what, last)[0], name).verdict
        if what in ("an item", "a size"):  # for values of the parameter to decide, and none is another after a call
            assert verdict is not ProofVerdict.AGREES
        else:
            assert verdict is ProofVerdict.DIFFERS


@pytest.mark.parametrize("what", _AGAIN)
def test_the_same_in_other_words_agrees(what: str) -> None:
    value = _AGAIN[what][3]
    before, name = _text(what, f"return {value}")
    found = proved(before, _text(what, f"found = {value}\nreturn found")[0], name)
    assert found.verdict is ProofVerdict.AGREES, (found.reason, found.deltas)


_MOVED = {
    "a read before a call that leaves it alone": (
        _OWN + "    def f(self):\n        run(self.still)\n        self.setup()\n        return self.still\n",
        _OWN + "    def f(self):\n        x = self.still\n        run(x)\n        self.setup()\n        return x\n",
    ),
    "a read before a call that sets it": (
        _OWN + "    def f(self):\n        self.setup()\n        return self.x\n",
        _OWN + "    def f(self):\n        x = self.x\n        self.setup()\n        return x\n",
    ),
    "a read of a part": (
        _OWN + "    def f(self):\n        run(self.x.a)\n        self.look()\n        return self.x.b\n",
        _OWN + "    def f(self):\n        x = self.x\n        run(x.a)\n        self.look()\n        return x.b\n",
    ),
    "two reads of another object": (
        _X + "def f(x, y):\n    run(x.a)\n    y.begin()\n    return x.a\n",
        _X + "def f(x, y):\n    a = x.a\n    run(a)\n    y.begin()\n    return a\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", _MOVED)
def test_what_is_only_read_elsewhere_agrees(what: str) -> None:
    before, after = _MOVED[what]
    found = proved(_HEAD + before, _HEAD + after, "C.f" if "self" in after.partition("def f(")[2][:6] else "f")
    assert found.verdict is ProofVerdict.AGREES, (found.reason, found.deltas)


def test_a_value_that_is_kept_over_a_call_which_sets_it_differs_and_says_which() -> None:
    before = _OWN + "    def f(self):\n        run(self.x)\n        self.setup()\n        return self.x\n"
    after = _OWN + "    def f(self):\n        x = self.x\n        run(x)\n        self.setup()\n        return x\n"
    found = proved(_HEAD + before, _HEAD + after, "C.f")
    assert found.verdict is ProofVerdict.DIFFERS
    assert any("self.setup() sets self.x anew" in said for each in found.deltas for said in each.world), found.deltas


def test_a_method_that_is_left_out_is_there_for_the_class() -> None:
    """`cls.share()` of a method that both sides share is a call, and no AttributeError that hides what comes then."""
    before = (
        _HEAD + _OWN + "    @classmethod\n    def f(cls, x):\n        cls.share()\n        C.share()\n        x.a()\n"
    )
    for after in (before.replace("x.a()", "x.b()"), before.replace("        C.share()\n", "")):
        assert proved(before, after, "C.f").verdict is ProofVerdict.DIFFERS


def test_what_is_read_elsewhere_agrees_whatever_was_decided_before() -> None:
    """Both twins are run anew in the world as it was decided."""
    start = "    def f(self, a, b):\n        if a.z:\n            b.go()\n        if b.k == 3:\n            run(a.z)\n"
    before = _OWN + start + "        run(self.x)\n        self.setup()\n        self.look()\n        return self.x\n"
    after = (
        _OWN
        + start
        + "        run(self.x)\n        self.setup()\n        x = self.x\n        self.look()\n        return x\n"
    )
    found = proved(_HEAD + before, _HEAD + after, "C.f")
    assert found.verdict is ProofVerdict.AGREES, (found.reason, found.deltas)


def test_methods_of_what_is_not_in_the_trees_stay_what_they_are() -> None:
    text = _HEAD + "def f(x, n):\n    return [[x.draw(1, 9) for _ in range(n)] for _ in range(n)]\n"
    found = proved(text, text.replace("x.draw(1, 9)", "x.draw(1, 8 + 1)"), "f")
    assert found.verdict is ProofVerdict.AGREES
    assert found.faults <= 40, found.faults
