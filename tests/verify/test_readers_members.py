"""Readers of a member that a class lost: found where the receiver can be such an object, and nowhere else."""

from __future__ import annotations

import pytest

from tests.support.left_behind import places, problems

RUNNER = """# file: pkg/__init__.py
# file: pkg/runner.py
class Runner:
    def __init__(self, rank):
        self.rank = rank
        self.size = 2

    def go(self):
        return self.rank
"""
DROP = ("pkg/runner.py", "        self.size = 2\n", "")


def reader(text: str, path: str = "pkg/use.py") -> str:
    return f"{RUNNER}# file: {path}\n{text}"


# Each reads `size` on line 4 (or the lines named) through a receiver that is known to be a Runner.
FOUND = {
    "annotated parameter": "from pkg.runner import Runner\n\ndef f(x: Runner):\n    return x.size\n",
    "quoted annotation": "from pkg.runner import Runner\n\ndef f(x: 'Runner'):\n    return x.size\n",
    "optional": "from pkg.runner import Runner\n\ndef f(x: Runner | None):\n    return x.size\n",
    "module alias": "import pkg.runner as r\n\ndef f(x: r.Runner):\n    return x.size\n",
    "made here": "from pkg.runner import Runner\n\nx = Runner(1)\nprint(x.size)\n",
    "through a call": "from pkg.runner import Runner\n\n\nprint(Runner(1).size)\n",
    "getattr": "from pkg.runner import Runner\n\ndef f(x: Runner):\n    return getattr(x, 'size', 1)\n",
    "hasattr": "from pkg.runner import Runner\n\ndef f(x: Runner):\n    return hasattr(x, 'size')\n",
    "added to": "from pkg.runner import Runner\n\ndef f(x: Runner):\n    x.size += 1\n",
    "heir": "from pkg.runner import Runner\nclass Draft(Runner):\n    def f(self):\n        return self.size\n",
    "typed as an heir": (
        "from pkg.runner import Runner\nclass Draft(Runner): pass\ndef f(x: Draft):\n    return x.size\n"
    ),
    "what a function gives": (
        "from pkg.runner import Runner\ndef pick() -> Runner:\n    return Runner(1)\nprint(pick().size)\n"
    ),
    "one of a list": "from pkg.runner import Runner\n\ndef f(rows: list[Runner]):\n    return rows[0].size\n",
    "each of a list": "from pkg.runner import Runner\ndef f(rows: list[Runner]):\n    for x in rows:\n        x.size\n",
    "cast": "from typing import cast\nfrom pkg.runner import Runner\ndef f(x):\n    return cast(Runner, x).size\n",
    "f-string": "from pkg.runner import Runner\n\ndef f(x: Runner):\n    return f'{x.size} ranks'\n",
}


@pytest.mark.parametrize("name", FOUND)
def test_a_reader_is_found(name: str) -> None:
    assert places(reader(FOUND[name]), DROP) == ["U119 pkg/use.py:4"]


def test_the_class_itself_may_read_it() -> None:
    text = RUNNER.replace("return self.rank", "return self.rank + self.size")
    assert places(text, DROP) == ["U119 pkg/runner.py:6"]


def test_a_mixin_reads_from_its_host() -> None:
    text = RUNNER.replace("class Runner:", "from pkg.mixin import Pools\n\n\nclass Runner(Pools):")
    mixin = "# file: pkg/mixin.py\nclass Pools:\n    def pools(self):\n        return [0] * self.size\n"
    assert places(text + mixin, DROP) == ["U119 pkg/mixin.py:3"]


def test_a_method_that_the_host_overrides_reads_nothing() -> None:
    text = RUNNER.replace("class Runner:", "from pkg.mixin import Pools\n\n\nclass Runner(Pools):")
    text = text.replace("    def go(self)", "    def pools(self):\n        return []\n\n    def go(self)")
    mixin = "# file: pkg/mixin.py\nclass Pools:\n    def pools(self):\n        return [0] * self.size\n"
    assert places(text + mixin, DROP) == []


def test_an_attribute_that_holds_one() -> None:
    use = "from pkg.runner import Runner\n\nclass Worker:\n    def __init__(self, x: Runner):\n        self.x = x\n\n"
    assert places(reader(use + "    def f(self):\n        return self.x.size\n"), DROP) == ["U119 pkg/use.py:8"]


def test_an_heir_of_an_heir() -> None:
    text = RUNNER + "# file: pkg/heir.py\nfrom pkg.runner import Runner\n\n\nclass Draft(Runner): ...\n"
    text += "# file: pkg/use.py\nfrom pkg.heir import Draft\nclass Last(Draft):\n    def f(self):\n        self.size\n"
    assert places(text, DROP) == ["U119 pkg/use.py:4"]


# `pkg/other.py` annotates a name as Runner; `pkg/use.py` has the same name without a type.
KEEPS = "class C:\n    def __init__(self, mr):\n        self._mr = mr\n"
KEEPS += "    def f(self):\n        return self._mr.size\n"
SAYS = "from pkg.runner import Runner\n\n\ndef f(mr: Runner):\n    return mr.rank\n"


@pytest.mark.parametrize(
    ("use", "line"),
    [
        ("def f(mr):\n    return mr.size\n", 2),
        (
            KEEPS,
            5,
        ),
        ("class C:\n    def f(self, mr):\n        it = mr\n        return it.size\n", 4),
    ],
)
def test_a_name_that_the_tree_gives_to_the_class(use: str, line: int) -> None:
    text = reader(use) + f"# file: pkg/other.py\n{SAYS}"
    assert places(text, DROP) == [f"U119 pkg/use.py:{line}"]


def test_the_customary_name_of_the_class_is_enough() -> None:
    text = (
        RUNNER.replace("Runner", "ModelRunner")
        + "# file: pkg/use.py\ndef f(model_runner):\n    return model_runner.size\n"
    )
    assert places(text, DROP) == ["U119 pkg/use.py:2"]


# Nothing may be said of these.
SILENT = {
    "another class": (
        "class Pool:\n    def __init__(self):\n        self.size = 1\n\n    def f(self):\n        return self.size\n"
    ),
    "unknown": "def f(x):\n    return x.size\n",
    "typed as another": "class Pool:\n    size = 1\n\ndef f(runner: Pool):\n    return runner.size\n",
    "a module": "import os\nprint(os.size)\n",
    "docstring": "from pkg.runner import Runner\ndef f(x: Runner):\n    'x.size of Runner.size'\n    # x.size\n",
    "an heir that has it": (
        "from pkg.runner import Runner\nclass Own(Runner):\n    size = 1\n    def f(self):\n        return self.size\n"
    ),
    "an heir with a property": (
        "from pkg.runner import Runner\nclass Own(Runner):\n    @property\n    def size(self):\n        return 1\n"
        "def f(x: Own):\n    return x.size\n"
    ),
    "an heir with hooks": (
        "from pkg.runner import Runner\nclass Own(Runner):\n    def __getattr__(self, name):\n        return 1\n"
        "def f(x: Own):\n    return x.size\n"
    ),
    "one of two classes": (
        "from pkg.runner import Runner\nclass Pool:\n    size = 1\ndef f(x: Runner | Pool):\n    return x.size\n"
    ),
    "same name for another": (
        "class Pool:\n    size = 1\n\ndef g(runner: Pool): ...\n\ndef f(runner):\n    return runner.size\n"
    ),
    "rebound": "from pkg.runner import Runner\ndef f(x: Runner):\n    x = [1]\n    return x.size\n",
    "set from outside": "from pkg.runner import Runner\ndef f(x: Runner):\n    x.size = 3\n    return x.size\n",
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_no_reader_is_not_reported(name: str) -> None:
    assert places(reader(SILENT[name]), DROP) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        self.size = 2\n", "        if rank:\n            self.size = 3\n"),
        ("        self.size = 2\n", "        self.a, self.size = 1, 2\n"),
        ("        self.size = 2\n", "        setattr(self, 'size', 2)\n"),
        ("        self.size = 2\n", "        for name in ('size',):\n            setattr(self, name, 2)\n"),
        ("        self.size = 2\n", "        self.__dict__.update(size=2)\n"),
        ("        self.size = 2\n", "\n    @property\n    def size(self):\n        return 2\n"),
        ("        self.size = 2\n", "\n    def __getattr__(self, name):\n        return 2\n"),
        ("class Runner:", "class Base:\n    size = 1\n\n\nclass Runner(Base):"),
        ("class Runner:", "class Base:\n    def __init__(self):\n        self.size = 1\n\n\nclass Runner(Base):"),
        ("class Runner:", "class Runner:\n    size: int\n\n"),
        ("class Runner:", "from outside import Base\n\n\nclass Runner(Base):"),
        ("class Runner:", "from outside import sized\n\n\n@sized\nclass Runner:"),
        ("class Runner:", "class Meta(type): ...\n\n\nclass Runner(metaclass=Meta):"),
        ("class Runner:", "class Runner:\n    __slots__ = ('rank', 'size')\n\n"),
    ],
)
def test_what_is_still_provided_is_not_gone(old: str, new: str) -> None:
    edits = [("pkg/runner.py", old, new)] + ([DROP] if old.startswith("class") and "__init__" not in new else [])
    assert places(reader(FOUND["annotated parameter"]), *edits) == []


def test_what_was_pushed_down_to_the_heirs_is_left_to_them() -> None:
    text = RUNNER.replace("return self.rank", "return self.size")
    heir = "# file: pkg/heir.py\nfrom pkg.runner import Runner\n\n\nclass Draft(Runner):\n    size = 3\n"
    assert places(text + heir, DROP) == []
    made = "# file: pkg/make.py\nfrom pkg.runner import Runner\n\nprint(Runner(1).go())\n"
    assert places(text + heir + made, DROP) == ["U119 pkg/runner.py:6"]


def test_a_method_a_property_and_a_field_are_members_too() -> None:
    text = """# file: runner.py
class Runner:
    limit: int = 3

    def slots(self):
        return 8

    @property
    def half(self):
        return 4
# file: use.py
from runner import Runner

def f(x: Runner):
    x.slots()
    x.half
    Runner.limit
"""
    drop = ("runner.py", text[text.index("    limit") : text.index("# file: use.py")], "    pass\n")
    assert places(text, drop) == ["U119 use.py:4", "U119 use.py:5", "U119 use.py:6"]


def test_a_class_that_moves_keeps_its_members() -> None:
    body = RUNNER.split("# file: pkg/runner.py\n")[1]
    text = RUNNER + "# file: pkg/use.py\nfrom pkg.new import Runner\n\ndef f(x: Runner):\n    return x.size\n"
    moved = [("pkg/runner.py", body, "A = 1\n"), ("pkg/new.py", "", body)]
    assert places(text, *moved) == []
    assert places(text, *moved, ("pkg/new.py", "        self.size = 2\n", "")) == ["U119 pkg/use.py:4"]


def test_patches_that_name_the_member() -> None:
    text = RUNNER.replace("self.size = 2", "self.size = 2\n\n    def ring(self):\n        return 1\n") + (
        "# file: tests/test_it.py\nfrom unittest.mock import patch\nfrom pkg.runner import Runner\n\n"
        "with patch.object(Runner, 'ring'):\n    pass\nwith patch('pkg.runner.Runner.ring'):\n    pass\n"
    )
    drop = ("pkg/runner.py", "    def ring(self):\n        return 1\n", "")
    assert places(text, drop) == ["U119 tests/test_it.py:4", "U119 tests/test_it.py:6"]


def test_a_reader_that_dangled_before_is_no_news() -> None:
    text = reader("from pkg.runner import Runner\n\ndef f(x: Runner):\n    return x.width\n")
    assert places(text, DROP) == []


def test_messages_say_how_it_is_read() -> None:
    said = [each.message for each in problems(reader(FOUND["annotated parameter"]), DROP)]
    assert said == ["x.size is still read; Runner no longer has size"]
    said = [each.message for each in problems(reader(FOUND["getattr"]), DROP)]
    assert said == ["getattr(x, 'size') still asks for what Runner no longer has"]


# -- doubles


@pytest.mark.parametrize(
    ("double", "line"),
    [
        ("import pkg.runner\nclass FakeRunner:\n    size = 1\n", 3),
        ("import pkg.runner\nclass _StubRunner:\n    def __init__(self):\n        self.size = 1\n", 4),
        ("from pkg.runner import Runner\nclass Small(Runner):\n    size = 1\n", 3),
        ("from unittest.mock import MagicMock\nfrom pkg.runner import Runner\nx = MagicMock(spec=Runner, size=1)\n", 3),
        ("from unittest.mock import Mock\ndef f(run):\n    mr = Mock()\n    mr.size = 1\n    run(mr)\n", 4),
        ("from types import SimpleNamespace\ndef f(run):\n    run(mr=SimpleNamespace(size=1))\n", 3),
    ],
)
def test_a_double_that_still_defines_it(double: str, line: int) -> None:
    text = RUNNER + f"# file: pkg/other.py\n{SAYS}# file: tests/test_it.py\n{double}"
    assert places(text, DROP) == [f"U120 tests/test_it.py:{line}"]


@pytest.mark.parametrize(
    "double",
    [
        "class FakeRunner:\n    size = 1\n",  # of whatever runner: nothing here names ours
        "import pkg.runner\nclass FakePool:\n    size = 1\n",
        "import pkg.runner\nclass TestRunner:\n    size = 1\n",
        "import pkg.runner\nclass FakeOtherRunner:\n    size = 1\n",
        "from unittest.mock import Mock\ndef f(run):\n    pool = Mock()\n    pool.size = 1\n    run(pool)\n",
        "from types import SimpleNamespace\nx = SimpleNamespace(size=1)\n",
        "from types import SimpleNamespace\nmr = SimpleNamespace(rank=1)\nmr.rank = SimpleNamespace(size=1)\n",
    ],
)
def test_a_double_of_something_else(double: str) -> None:
    text = RUNNER + f"# file: pkg/other.py\n{SAYS}class OtherRunner: ...\n# file: tests/test_it.py\n{double}"
    assert places(text, DROP) == []


def test_a_double_outside_of_the_tests_is_product_code() -> None:
    assert places(RUNNER + "# file: pkg/fake.py\nclass FakeRunner:\n    size = 1\n", DROP) == []


def test_a_file_that_does_not_parse_hides_nothing_else() -> None:
    broken = "# file: pkg/broken.py\nfrom pkg.runner import Runner\ndef f(x: Runner:\n    x.size\n"
    binary = "# file: pkg/binary.py\nRunner\0size\n"
    assert places(reader(FOUND["annotated parameter"]) + broken + binary, DROP) == ["U119 pkg/use.py:4"]


def test_a_class_that_does_not_parse_any_more_loses_nothing() -> None:
    assert (
        places(reader(FOUND["annotated parameter"]), ("pkg/runner.py", "class Runner:", "class Runner(:"), DROP) == []
    )
