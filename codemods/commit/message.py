"""The text of a commit: subject, the operation in words, trailers. What the words are is decided by the transforms."""

from __future__ import annotations

import re
import textwrap

from codemods.schema.errors import PlanError
from codemods.schema.result import CommitDraft

WIDTH = 72
_LIST_ITEM = re.compile(r"(?:[-*]|\d+[.)]) +")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


class BadMessage(PlanError):
    """A text that goes into one line of a commit message can't stand in one line."""

    code = "bad-message"


def message(plan_id: str, step_number: int, draft: CommitDraft) -> str:
    """The whole message, with a final line break. The subject stays as given, however long; the body is wrapped.

    Raises BadMessage for a subject or a plan id that is empty or holds a line break or another control character."""
    subject = _one_line(draft.subject, f"the subject of step {step_number}")
    trailers = (
        f"Unmoved-Plan: {_one_line(plan_id, 'the id of the plan')}",
        f"Unmoved-Step: {step_number}",
        f"Unmoved-Phase: {draft.phase.value}",
    )
    body = wrapped(draft.body)
    return "\n\n".join(part for part in (subject, body, "\n".join(trailers)) if part) + "\n"


def wrapped(body: str) -> str:
    """Lines longer than 72 are broken at spaces; an indented line is code and stays. No two lines are joined."""
    lines: list[str] = []
    for line in body.strip("\n").replace("\0", "").split("\n"):
        line = line.rstrip()
        if len(line) <= WIDTH or line.startswith((" ", "\t")):
            lines.append(line)
            continue
        item = _LIST_ITEM.match(line)
        hang = " " * (item.end() if item else 0)
        lines += textwrap.wrap(
            line,
            WIDTH,
            subsequent_indent=hang,
            break_long_words=False,
            break_on_hyphens=False,
            expand_tabs=False,
            replace_whitespace=False,
        )
    return "\n".join(lines)


def _one_line(text: str, what: str) -> str:
    if not text.strip() or _CONTROL.search(text):
        raise BadMessage(f"{what} is {text!r}, which is not one line of text", fix="write it in one line")
    return text.strip()
