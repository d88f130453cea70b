"""What `unmoved plan --suggest` found about one method of a class, as data. How it is found is plan/survey.py's."""

from __future__ import annotations

from msgspec import Struct

from codemods.schema.hazards import Hazard


class Candidate(Struct, frozen=True, kw_only=True):
    """`method` is its name in the class; `line` where it starts and `lines` how many it has.

    cost: the lower, the cheaper it leaves; comparable within one class only.
    reasons: one short clause each: what makes it cheap or dear, and, where `can_leave` is false, why it can't leave."""

    method: str
    line: int
    lines: int
    cost: int
    reasons: tuple[str, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    can_leave: bool
