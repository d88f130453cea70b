"""What the kernel can't see in the text, on small trees: who sets, writes, overrides and still means a name."""

from __future__ import annotations

import pytest

from codemods.schema.verdict import Problem
from codemods.source.files import FileSet, MemoryTree
from codemods.verify.change import TreeChange, between
from codemods.verify.class_text import class_in
from codemods.verify.duties import Duties
from codemods.verify.frames import Claims, Duty, Line
from codemods.verify.names import Names

RUNNER = """\
class Base:
    def start(self):
        self.tick()

    def tick(self):
        pass


class Runner(Base):
    limit = 3

    def __init__(self, args: "Args", size):
        super().__init__()
        self.args = args
        self.size = size
        if size:
            self.extra = 1
        self._prepare()

    def _prepare(self):
        self.ready = True
        self.step = 0

    @property
    def fresh(self):
        return object()

    def run(self, hook):
        self.late = hook
        self.bump()
        return self.late, self.extra

    def bump(self):
        self.step += 1

    def note(self):
        return self.size

    def again(self):
        self.bump()


class Args:
    page: int

    def __init__(self, page):
        self.page = page
"""


def tree(files: dict[str, str]) -> FileSet:
    return FileSet(MemoryTree({path: text.encode() for path, text in files.items()}))


def change_of(before: dict[str, str], after: dict[str, str]) -> TreeChange:
    return between(tree(before), tree(after))


def duties_of(files: dict[str, str], claims: Claims | None = None, before: dict[str, str] | None = None) -> Duties:
    """The duties of a change that adds a line to runner.py, unless the old tree is given."""
    old = before or {**files, "runner.py": "# old\n" + files["runner.py"]}
    change = change_of(old, files)
    claims = claims or Claims(changed=frozenset({"runner.py"}))
    return Duties(change, claims, Names(change.old), Names(change.new))


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def asked(kind: str, text: str, at: str, *more: str, files: dict[str, str] | None = None) -> list[str]:
    """The codes of what is answered to a duty of Runner. at: a part of the line where it arises."""
    files = {"runner.py": RUNNER, **(files or {})}
    line = line_of(files["runner.py"], at)
    function = class_in("runner.py", files["runner.py"].encode(), "Runner")
    assert function is not None
    title = f"Runner.{function.method_at(line)}"
    duty = Duty(kind, 1, "runner.py", line, (text, "runner.py", "Runner", *more), title)
    lines, problems = duties_of(files).discharged([], [duty])
    return [*(each.code for each in lines), *(each.code for each in problems)]


@pytest.mark.parametrize("name", ["size", "args", "limit", "ready", "step", "late", "bump"])
def test_an_attribute_that_is_there_may_be_read_early(name: str) -> None:
    assert asked("eager", f"self.{name}", "return self.late") == []


@pytest.mark.parametrize("name", ["extra", "late", "unknown"])
def test_an_attribute_that_may_be_missing_may_not(name: str) -> None:
    assert asked("eager", f"self.{name}", "return self.size") == ["U102"]


def test_a_property_may_not_be_read_early_or_once() -> None:
    assert asked("eager", "self.fresh", "return self.size") == ["U102"]
    assert asked("computed", "self.fresh", "return self.size") == ["U101"]


def test_an_heir_that_makes_itself_otherwise_may_lack_the_attribute() -> None:
    other = "from runner import Runner\n\n\nclass Draft(Runner):\n    def __init__(self):\n        self.size = 1\n"
    assert asked("eager", "self.size", "return self.size", files={"draft.py": other}) == []
    assert asked("eager", "self.args", "return self.size", files={"draft.py": other}) == ["U102"]


def test_an_heir_of_the_tests_that_lacks_the_attribute_is_a_finding() -> None:
    other = "from runner import Runner\n\n\nclass Draft(Runner):\n    def __init__(self):\n        self.size = 1\n"
    files = {"runner.py": RUNNER, "tests/test_draft.py": other}
    line = line_of(RUNNER, "return self.late, self.extra")
    duties = [
        Duty("eager", 1, "runner.py", line, (f"self.{name}", "runner.py", "Runner"), "Runner.run")
        for name in ("args", "size", "step")
    ]
    lines, problems = duties_of(files).discharged([], duties)
    assert lines == []
    assert [(each.code, each.line) for each in problems] == [("U102", line)]
    assert "`self.args`, `self.step` read here" in problems[0].message
    assert "Draft in tests/test_draft.py" in problems[0].message


def test_a_namesake_in_another_module_is_no_heir() -> None:
    other = "class Runner:\n    pass\n\n\nclass Draft(Runner):\n    def __init__(self):\n        self.x = 1\n"
    assert asked("eager", "self.args", "return self.size", files={"other.py": other}) == []


def test_a_field_of_a_typed_object_is_looked_up_in_its_class() -> None:
    assert asked("eager", "self.args.page", "return self.size") == []
    assert asked("eager", "self.args.other", "return self.size") == ["U102"]


def test_what_nobody_writes_later_is_stable() -> None:
    assert asked("stable", "self.size", "return self.size", "runner.py:self.bump") == []


def test_what_a_called_method_writes_is_not_stable() -> None:
    assert asked("stable", "self.step", "return self.size", "runner.py:self.bump") == ["U101"]
    assert asked("stable", "self.step", "return self.size", "runner.py:self.again") == ["U101"]
    assert asked("stable", "self.step", "return self.size", "runner.py:self.note") == []


def test_calls_that_nobody_knows_may_write_what_some_method_writes() -> None:
    assert asked("stable", "self.step", "return self.size", "runner.py:self.hook") == ["U101"]
    assert asked("stable", "self.step", "return self.size", "runner.py:elsewhere") == ["U101"]


@pytest.mark.parametrize(
    ("writer", "codes"),
    [
        ("def f(runner):\n    runner.size = 2\n", ["U101"]),
        ("def f(thing):\n    thing.size = 2\n", ["U101"]),
        ("def f(thing):\n    thing.a, thing.size = 1, 2\n", ["U101"]),
        ("def f(thing):\n    (\n        thing.a,\n        thing.size,\n    ) = 1, 2\n", ["U101"]),
        ("def f(thing):\n    setattr(thing, 'size', 2)\n", ["U101"]),
        ("def f(thing):\n    del thing.size\n", ["U101"]),
        ("def f(thing):\n    for thing.size in (1, 2):\n        pass\n", ["U101"]),
        ("def f(thing):\n    thing.size += 2\n", ["U101"]),
        ("def f(thing):\n    return thing.size == 2, g(a=thing.size, b=thing.size)\n", []),
        ("def f(thing):\n    return g(\n        thing.size,\n        x=1,\n    )\n", []),
        ("class Box:\n    def f(self):\n        self.size = 2\n", []),
        ("class Box:\n    pass\n\n\ndef f(box):\n    box.size = 2\n", []),
        ("from runner import Runner\n\n\nclass Draft(Runner):\n    def f(self):\n        self.size = 2\n", ["U101"]),
        (
            "from runner import Runner\n\n\nclass Draft(\n    Runner,\n):\n    def f(self):\n        self.size = 2\n",
            ["U101"],
        ),
    ],
)
def test_who_else_may_write_an_attribute(writer: str, codes: list[str]) -> None:
    assert asked("stable", "self.size", "return self.size", "runner.py:self.f", files={"w.py": writer}) == codes
    assert asked("stable", "self.size", "return self.size", "runner.py:self.f", files={"tests/test_w.py": writer}) == []


def test_another_class_of_the_family_has_a_say_in_a_call_on_self() -> None:
    assert answers(Duty("dispatch", 1, "runner.py", 1, ("runner.py", "Runner", "tick"))) == ["U104"]
    assert answers(Duty("dispatch", 1, "runner.py", 1, ("runner.py", "Runner", "note"))) == []
    heir = {"draft.py": "import runner\n\n\nclass Draft(runner.Runner):\n    def note(self):\n        return 1\n"}
    assert answers(Duty("dispatch", 1, "runner.py", 1, ("runner.py", "Runner", "note")), heir) == ["U104"]


def test_a_method_of_that_name_elsewhere_makes_a_receiver_doubtful() -> None:
    duty = Duty("receiver", 1, "runner.py", 1, ("runner.py", "Runner", "note"))
    assert answers(duty) == []
    assert answers(duty, {"box.py": "class Box:\n    def note(self):\n        return 1\n"}) == ["U115"]


def answers(duty: Duty, files: dict[str, str] | None = None) -> list[str]:
    lines, problems = duties_of({"runner.py": RUNNER, **(files or {})}).discharged([], [duty])
    return [*(each.code for each in lines), *(each.code for each in problems)]


def test_one_finding_says_a_thing_once() -> None:
    duties = [Duty("late", 1, "runner.py", 14, ("self.size", "runner.py", "Runner")) for _ in range(2)]
    duties.append(Duty("late", 1, "runner.py", 15, ("self.size", "runner.py", "Runner")))
    _, problems = duties_of({"runner.py": RUNNER}).discharged([], duties)
    assert [(each.code, each.line) for each in problems] == [("U103", 14)]
    assert all(isinstance(each, Problem) for each in problems)


# ---- names that are gone

OLD = """\
class Runner:
    def __init__(self, args):
        self.args = args
        self.cnt = 0

    def label(self):
        return self.cnt
"""
NEW = OLD.replace("self.cnt", "self.steps_done")


def renamed(others: dict[str, str]) -> list[Line]:
    claims = Claims(changed=frozenset({"runner.py"}), attributes={"steps_done": "cnt"})
    duties = duties_of({"runner.py": NEW, **others}, claims, {"runner.py": OLD, **others})
    return duties.discharged([], [])[0]


@pytest.mark.parametrize(
    "reader",
    [
        "def f(thing):\n    return thing.cnt\n",
        "def f(thing):\n    return getattr(thing, 'cnt', 0)\n",
        "LABEL = '{0.cnt} steps'\n",
        "from operator import attrgetter\n\nKEY = attrgetter('cnt')\n",
    ],
)
def test_a_reader_that_may_mean_a_lost_attribute_is_residue(reader: str) -> None:
    found = renamed({"reader.py": reader})
    assert [(each.side, each.first, each.code) for each in found] == [(0, 4, "U119")]
    assert "reader.py" in found[0].reason


@pytest.mark.parametrize(
    "reader",
    [
        "# cnt was its name\n",
        "def f(cnt):\n    return cnt\n",
        "class Box:\n    def __init__(self):\n        self.cnt = 1\n\n    def f(self):\n        return self.cnt\n",
        "class Box:\n    cnt = 1\n\n\ndef f(box):\n    return box.cnt\n",
        "def f():\n    return {'cnt': 1}\n",
    ],
)
def test_what_means_another_thing_of_that_name_is_not(reader: str) -> None:
    assert renamed({"reader.py": reader}) == []


def test_a_renamed_attribute_is_read_from_its_own_objects_only() -> None:
    claims = Claims(changed=frozenset({"runner.py"}), attributes={"steps_done": "cnt"})
    other = {"box.py": "class Box:\n    cnt = 1\n"}
    after = (
        NEW + "\n\nfrom box import Box\n\n\ndef f(box: Box, runner):\n    return box.steps_done, runner.steps_done\n"
    )
    duties = duties_of({"runner.py": after, **other}, claims, {"runner.py": OLD, **other})
    for receiver, codes in (("box", ["U115"]), ("runner", [])):
        duty = Duty("renamed", 1, "runner.py", 14, (f"{receiver}.steps_done", "runner.py", ""), "f")
        assert [each.code for each in duties.discharged([], [duty])[0]] == codes


BEHIND = "class Runner:\n    def __init__(self, ps):\n        self.ps = ps\n        self.rank = ps.rank\n"


@pytest.mark.parametrize(
    ("other", "codes"),
    [
        ("", []),
        ("def f(runner):\n    runner.rank = 2\n", ["U101"]),
        ("def f(runner):\n    runner.ps = None\n", ["U101"]),
        ("def f(ps):\n    ps.rank = 2\n", ["U101"]),
        ("class State:\n    def f(self):\n        self.rank = 2\n", ["U101"]),
    ],
)
def test_an_attribute_behind_another_object_has_to_keep_the_same_value(other: str, codes: list[str]) -> None:
    claims = Claims(changed=frozenset({"runner.py"}), redirects={("ps", "rank"): "rank"})
    after = BEHIND.replace("        self.rank = ps.rank\n", "")
    duties = duties_of({"runner.py": after, "w.py": other}, claims, {"runner.py": BEHIND, "w.py": other})
    duty = Duty("alias", 0, "runner.py", 4, ("self.rank", "runner.py", "Runner"), "Runner.__init__")
    assert [each.code for each in duties.discharged([], [duty])[0] if each.code == "U101"] == codes


def test_a_call_on_the_class_still_passes_the_object_to_a_static_method() -> None:
    before = "class Runner:\n    def clip(self, n):\n        return min(n, 8)\n"
    after = "class Runner:\n    @staticmethod\n    def clip(n):\n        return min(n, 8)\n"
    for call, codes in (("Runner.clip(runner, 1)", ["U120"]), ("runner.clip(1)", []), ("Other.clip(runner, 1)", [])):
        other = {"w.py": f"from runner import Runner\n\n\ndef f(runner):\n    return {call}\n"}
        duties = duties_of({"runner.py": after, **other}, None, {"runner.py": before, **other})
        assert [each.code for each in duties.discharged([], [])[0]] == codes
