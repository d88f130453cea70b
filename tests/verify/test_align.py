"""Statements that say the same at the ends of two blocks go together at once: the pairs are those of the comparison of
each with each."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.verify import align as module
from codemods.verify.align import align
from codemods.verify.frames import Claims, Item, level_frame

CLAIMS = Claims(pairs={}, changed=frozenset())
STATEMENTS = (
    "x = f(a)", "x = f(b)", "f(a)", "g(a, b)", "return", "return x", "pass", "y = x + a", "f(x)", "x += 1",
    "self.close()", "print(x, y, z)", "z = [x, y]",
)  # fmt: skip
Block = list[str]


def items(block: Sequence[str], side: int) -> list[Item]:
    frame = level_frame(side, "a.py")
    return [Item(ast.parse(f"def _():\n    {each}").body[0].body[0], frame) for each in block]  # type: ignore[attr-defined]


def pairs(old: Block, new: Block) -> list[tuple[int | None, int | None]]:
    a, b = items(old, 0), items(new, 1)
    numbers = {id(item): at for side in (a, b) for at, item in enumerate(side)}
    return [
        (numbers[id(o)] if o is not None else None, numbers[id(n)] if n is not None else None)
        for o, n in align(a, b, CLAIMS)
    ]


def each_with_each(old: Block, new: Block, patch: pytest.MonkeyPatch) -> list[tuple[int | None, int | None]]:
    with patch.context() as context:
        context.setattr(module, "_num_first", lambda *_: 0)
        context.setattr(module, "_num_last", lambda *_: 0)
        return pairs(old, new)


blocks = st.lists(st.sampled_from(STATEMENTS), max_size=6)


@given(start=blocks, old=blocks, new=blocks, end=blocks)
def test_the_ends_change_no_pair(start: Block, old: Block, new: Block, end: Block) -> None:
    sides = start + old + end, start + new + end
    with pytest.MonkeyPatch.context() as patch:
        assert pairs(*sides) == each_with_each(*sides, patch)


def test_equal_ends_are_not_compared_with_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    old = [f"f{at}(a, b{at})" for at in range(40)]
    new = [*old[:20], "g(c)", *old[20:]]
    compared = []
    likeness = module._likeness

    def noted(o: Item, a: module._Said, n: Item, b: module._Said) -> float:
        compared.append((o, n))
        return likeness(o, a, n, b)

    monkeypatch.setattr(module, "_likeness", noted)
    assert pairs(old, new) == [*((at, at) for at in range(20)), (None, 20), *((at, at + 1) for at in range(20, 40))]
    assert len(compared) < 50
