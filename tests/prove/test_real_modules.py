"""The README lists what is real in the controlled world, each with a reason: that list is the one that counts."""

from __future__ import annotations

import re

from codemods.prove.stand_ins import PURE, _made
from tests.support.house import ROOT


def table() -> dict[str, set[str]]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("### What is real in that world\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    return {reason.strip(): set(re.findall(r"`([^`]+)`", names)) for names, reason in rows}


def test_every_real_module_is_in_the_readme_once_with_its_reason() -> None:
    found = table()
    assert all(found)
    names = [name for some in found.values() for name in some]
    assert len(names) == len(set(names))
    assert set(names) == PURE | set(_made())
