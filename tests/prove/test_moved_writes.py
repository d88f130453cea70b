"""Writes are moved against the effects that both sides have: a call more, or one less, elsewhere moves none of them."""

from __future__ import annotations

import pytest

from tests.support.prove_texts import codes, proved

_OLD = """
class C:
    def f(self, send):
        send.first()
        self.a = 1
        send.second(1)
        send.third()
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("send.first()", "send.first()\n        send.more()", ["D8"]),
        ("        send.first()\n", "", ["D8"]),
        (
            "        self.a = 1\n        send.second(1)\n",
            "        send.second(1)\n        self.a = 1\n",
            ["D2", "D3"],
        ),
        (
            "        self.a = 1\n        send.second(1)\n        send.third()\n",
            "        send.more()\n        send.second(1)\n        self.a = 1\n        send.third()\n",
            ["D2", "D3", "D8"],
        ),
        (
            "        self.a = 1\n        send.second(1)\n        send.third()\n",
            "        send.second(2)\n        self.a = 1\n        send.third()\n        send.more()\n",
            ["D2", "D8"],
        ),
    ],
)
def test_a_write_is_moved_against_what_both_sides_do(before: str, after: str, expected: list[str]) -> None:
    assert before in _OLD
    found = proved(_OLD, _OLD.replace(before, after), "C.f")
    assert sorted({code for code, _ in codes(found)}) == expected, [each.message for each in found.deltas]
