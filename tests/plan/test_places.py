"""Reports name places in the user's files, also for what later steps find in trees that are changed by then."""

from __future__ import annotations

import pytest

from codemods.plan.check import run_plan
from codemods.schema.config import Settings
from codemods.schema.plan import ExtractMethod, Plan, Rename, Step
from codemods.schema.progress import Silent
from codemods.source.files import FileSet
from codemods.source.line_map import LineMap
from tests.support.trees import tree

RUNNER = """\
# file: numa.py
'''Numbers.'''
# file: runner.py
import logging
import numa

logger = logging.getLogger(__name__)


class Runner:
    def first(self):
        # a comment
        # of two lines
        return self.size

    def second(self):
        self.bind = self.size
        logger.info("bound to a node")
        return self.check()

    def check(self):
        return self.bind


def use(r: Runner, x):
    r.first()
    r.second()
    return x.check()


class Other:
    def check(self): ...
"""
FIRST = ExtractMethod(method="runner:Runner.first", to="numa")
SECOND = ExtractMethod(method="runner:Runner.second", to="numa", wrapper=True, returns=("bind",))
CHECK = Rename(definition="runner:Runner.check", to="look", accept={"U115": "fine"})


def places(*steps: Step) -> dict[str, list[str]]:
    files = tree(RUNNER)
    result = run_plan(files, Plan(id="p", step=steps), Settings(accept={"U103": "x", "U106": "x"}), Silent())
    found: dict[str, list[str]] = {}
    for step in result.steps:
        for each in step.hazards:
            lines = files.read(each.path).decode().split("\n") if each.path in files else []
            text = lines[each.line - 1].strip() if each.line else ""
            found.setdefault(each.code, []).append(text if "the plan writes" not in each.message else "new")
    return found


def test_hazards_of_later_steps_are_told_where_the_user_has_them() -> None:
    alone, after = places(SECOND), places(FIRST, SECOND)
    assert alone == after
    assert alone["U110"] == ['logger.info("bound to a node")']
    assert alone["U103"] == ["return self.check()"]
    assert places(FIRST, SECOND, CHECK)["U115"] == ["return x.check()"]


OLD = b"a = 1\nb = 2\n\nccccccccccccccc = 3\nd = 4\n"
LINES = [
    ("m.py", OLD, 4, ("m.py", 4)),
    ("m.py", b"new\n" + OLD, 5, ("m.py", 4)),
    ("m.py", b"new\n" + OLD, 1, None),
    ("m.py", OLD.replace(b"b = 2\n", b""), 3, ("m.py", 4)),
    ("m.py", OLD.replace(b"b = 2", b"b = 9"), 2, ("m.py", 2)),
    ("m.py", OLD.replace(b"b = 2", b"b = 9\nz = 1"), 2, None),
    ("m.py", OLD.replace(b"\n", b"\r\n"), 4, ("m.py", 4)),
    ("new.py", b"\n\n    ccccccccccccccc = 3\n", 3, ("m.py", 4)),
    ("new.py", b"\n\n    d = 4\n", 3, None),
    ("new.py", b"x = 1\n", 0, ("new.py", 0)),
    ("gone.py", b"", 1, None),
]


@pytest.mark.parametrize(("path", "now", "line", "expected"), LINES)
def test_lines_go_back(path: str, now: bytes, line: int, expected: tuple[str, int] | None) -> None:
    origin: FileSet = tree({"m.py": OLD})
    found = LineMap(origin).back(origin.write(path, now), path, line, moved_from="m.py")
    assert found == expected
