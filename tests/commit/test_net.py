"""Drafts follow on from one another, and what they come to is what is left at the end."""

from __future__ import annotations

import pytest

from codemods.commit.net import drafts, net_changes, renamed_from
from codemods.schema.errors import InternalError
from codemods.schema.hazards import Refusal
from codemods.schema.result import FileChange, PlanResult, StepResult
from tests.support.repository import change, draft, plan_result


def test_only_what_differs_between_start_and_end_is_left() -> None:
    result = plan_result(
        draft(change("b.py", b"1", b"2"), change("a.py", b"1", None), change("same.py", b"1", b"2")),
        draft(change("b.py", b"2", b"3"), change("new.py", None, b"x"), change("same.py", b"2", b"1")),
        draft(change("brief.py", None, b"x")),
        draft(change("brief.py", b"x", None)),
    )
    assert net_changes(result) == (change("a.py", b"1", None), change("b.py", b"1", b"3"), change("new.py", None, b"x"))
    assert [number for number, _ in drafts(result)] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "changes",
    [
        [change("a.py", b"1", b"2"), change("a.py", b"1", b"3")],
        [change("a.py", b"1", None), change("a.py", b"1", b"3")],
        [change("../a.py", b"1", b"2")],
        [change("/a.py", b"1", b"2")],
        [change(".git/config", b"1", b"2")],
        [change("a//b.py", b"1", b"2")],
        [change("a\0.py", b"1", b"2")],
    ],
)
def test_a_chain_that_does_not_hold_is_a_fault_of_ours(changes: list[FileChange]) -> None:
    with pytest.raises(InternalError, match="nothing was written"):
        net_changes(plan_result(*(draft(one) for one in changes)))


def test_a_refused_plan_and_an_empty_draft_are_never_written() -> None:
    refusal = Refusal(code="U104", path="a.py", line=1, message="m", settle="s")
    step = StepResult(number=1, do="move", target="a:f", to="b", refusals=(refusal,))
    with pytest.raises(InternalError, match="refusals"):
        net_changes(PlanResult(plan_id="p", steps=(step,)))
    with pytest.raises(InternalError, match="the move commit of step 1 changes nothing"):
        net_changes(plan_result(draft()))


def test_a_renamed_file_is_known_by_its_bytes() -> None:
    result = plan_result(
        draft(change("a.py", b"1", None), change("b.py", None, b"1"), change("c.py", None, b"2")),
        draft(change("b.py", b"1", b"3")),
        draft(change("b.py", b"3", None), change("d.py", None, b"3")),
    )
    assert renamed_from(result) == {"b.py": "a.py", "d.py": "a.py"}
