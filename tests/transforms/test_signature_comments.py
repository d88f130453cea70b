"""Functions whose types stand in one comment: what changes their parameters or results is refused, the rest is done."""

from __future__ import annotations

import pytest

from codemods.schema.plan import ExtractMethod, ResultStruct
from tests.support.steps import codes, run

METHODS = [
    ("def m(self, a):\n        # type: (int) -> int\n        return self.x + a", False, True),
    ("def m(self, a):\n        # type: (int) -> int\n        return self.x + a", True, True),
    ("def m(self, a):  # type: (int) -> int\n        return self.x + a", False, True),
    ("def m(self, a):  # type: (int) -> int\n        return self.x + a", True, False),
    ("def m(self, a):\n        # type: (A, int) -> int\n        return a", False, True),
    ("def m(self, a):\n        # type: (int) -> int\n        return a", False, False),
    ("def m(self):\n        # type: () -> int\n        return 1", False, False),
    ("def m(self,\n          a,  # type: int\n          ):\n        # type: (...) -> int\n        return self.x + a", False, False),
    ("def m(self, a):\n        # type: (...) -> None\n        self.x = a", False, True),
    ("def m(self, a):\n        b = a  # type: int\n        return self.x + b", False, False),
    ("def m(self, a):\n        # type: ignore\n        return self.x + a", False, False),
]  # fmt: skip


@pytest.mark.parametrize(("method", "wrapper", "is_refused"), METHODS)
def test_methods(method: str, wrapper: bool, is_refused: bool) -> None:
    text = f"class A:\n    x = 1\n    {method}\ndef f(a: A): a.m(1)\n"
    result, _ = run(text, ExtractMethod(method="m:A.m", wrapper=wrapper))
    assert ("refused type-comment" in codes(result)) is is_refused


@pytest.mark.parametrize("comment", ["(int) -> tuple[int, int]", "(...) -> tuple[int, int]"])
def test_a_result_that_becomes_a_struct(comment: str) -> None:
    text = f"def f(n):\n    # type: {comment}\n    return n, 1\na, b = f(1)\n"
    step = ResultStruct(function="m:f", name="Both", fields=("first", "second"))
    result, _ = run(text, step)
    assert codes(result) == ["refused type-comment"]
    result, _ = run(text.replace("type:", "kind:"), step)
    assert result.refusals == ()
