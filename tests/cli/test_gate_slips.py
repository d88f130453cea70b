"""Seeded slips: each kind of mistake in a helper turns the gate red, and the message names the helper, the difference
and a smallest world. Harmless rewrites stay green."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran
from tests.support.gate_repository import edited, helper_repository

Unmoved = Callable[..., Ran]
BIND, SPREAD = "helpers:Runner.bind", "helpers:spread"

# name, edit, helper, one of these codes
SLIPS = [
    ("comparison", ("if len(nodes) == 0:", "if len(nodes) != 0:"), BIND, {"D9", "D6", "D8"}),
    ("boundary", ("self.size > len(nodes)", "self.size >= len(nodes)"), BIND, {"D8"}),
    ("negation", ('if "BIND" in os.environ', 'if "BIND" not in os.environ'), BIND, {"D9", "D6", "D8"}),
    ("another exception", ("raise ValueError", "raise KeyError"), BIND, {"D9"}),
    ("text of an exception", ('"no nodes"', '"nothing"'), BIND, {"D9", "D5"}),
    ("cause of an exception", ("from error", "from None"), BIND, {"D9"}),
    ("swallowed exception", ("raise RuntimeError(\"can't lock\") from error", "del error"), BIND, {"D9", "D6", "D8"}),
    ("wider except", ("except OSError", "except Exception"), BIND, {"D9"}),
    ("another variable", ('os.environ["BIND"]', 'os.environ["BOUND"]'), BIND, {"D9", "D6", "D8"}),
    ("another attribute", ("nodes[self.rank]", "nodes[self.size]"), BIND, {"D9", "D6", "D8"}),
    ("swapped arguments", ("lock(self.rank, self.size)", "lock(self.size, self.rank)"), BIND, {"D8"}),
    ("dropped argument", ("lock(self.rank, self.size)", "lock(self.rank)"), BIND, {"D8"}),
    ("dropped write", ("        self.bound = chosen\n", ""), BIND, {"D8", "D6", "D2"}),
    ("write before the call", ("        chosen = nodes[self.rank]\n        try:",
                               "        chosen = nodes[self.rank]\n        self.bound = chosen\n        try:"), BIND,
     {"D2", "D3", "D8", "D7"}),
    ("dropped result", ("        return chosen\n", ""), BIND, {"D6"}),
    ("another result", ("            return self.bound\n", "            return None\n"), BIND, {"D6"}),
    ("level of a log record", ("logger.warning", "logger.info"), BIND, {"D8", "D5"}),
    ("text of a log record", ("more ranks than nodes", "more nodes than ranks"), BIND, {"D5", "D8"}),
    ("dropped call", ("    runner.prepare()\n", ""), SPREAD, {"D8", "D7"}),
    ("calls in another order", ("    runner.prepare()\n    node = runner.bind(nodes)\n",
                                "    node = runner.bind(nodes)\n    runner.prepare()\n"), SPREAD, {"D7", "D8"}),
    ("another keyword", ("final=True", "final=False"), SPREAD, {"D8"}),
    ("call done twice", ("    runner.prepare()\n", "    runner.prepare()\n    runner.prepare()\n"), SPREAD, {"D8"}),
]  # fmt: skip


def failures(ran: Ran) -> list[dict[str, Any]]:
    [commit] = json.loads(ran.out)["commits"]
    return [each for each in commit["obligations"] if each["status"] == "fail"]


@pytest.mark.parametrize(("edit", "helper", "codes"), [slip[1:] for slip in SLIPS], ids=[slip[0] for slip in SLIPS])
def test_a_slip_turns_the_gate_red(
    tmp_path: Path, unmoved: Unmoved, edit: tuple[str, str], helper: str, codes: set[str]
) -> None:
    root = helper_repository(tmp_path / "r")
    edited(root, "refactor: a slip", edit)
    ran = unmoved("gate", "base..", "--root", str(root), "--format", "json", "--no-cache", "-j", "1")
    assert ran.status == 1
    found = [each for each in failures(ran) if each["rule"] in codes and each["symbol"] == helper]
    assert found, failures(ran)
    assert found[0]["path"] == "helpers.py"
    assert found[0]["line"] > 0
    report = json.loads(ran.out)
    assert report["verdict"] == "fail"


SAFE = [
    ("another name for the result", ("        return chosen\n", "        return self.bound\n")),
    ("a name for a value", ("        if self.size > len(nodes):", "        n = len(nodes)\n        if self.size > n:")),
    ("the comparison turned round", ("self.size > len(nodes)", "len(nodes) < self.size")),
    ("a condition apart", ('if "BIND" in os.environ:', 'has = "BIND" in os.environ\n        if has:')),
]  # fmt: skip


@pytest.mark.parametrize("edit", [each[1] for each in SAFE], ids=[each[0] for each in SAFE])
def test_what_changes_nothing_stays_green(tmp_path: Path, unmoved: Unmoved, edit: tuple[str, str]) -> None:
    root = helper_repository(tmp_path / "r")
    edited(root, "refactor: harmless", edit)
    ran = unmoved(
        "gate", "base..", "--root", str(root), "--format", "json", "--no-cache", "-j", "1", "--mutants", "8",
        "--config", 'gate.survivors = "warn"',
    )  # fmt: skip
    assert (ran.status, failures(ran)) == (0, [])


def test_the_text_names_helper_difference_and_world(tmp_path: Path, unmoved: Unmoved) -> None:
    root = helper_repository(tmp_path / "r")
    edited(root, "refactor: a slip", ("self.size > len(nodes)", "self.size >= len(nodes)"))
    ran = unmoved("gate", "base..", "--root", str(root), "--no-cache", "-j", "1")
    assert ran.status == 1
    assert f"the smallest world that shows D8 in {BIND}" in ran.out
    world = ran.out.partition("the smallest world")[2].splitlines()[1]
    assert "self.size" in ran.out.partition("the smallest world")[2], world
    assert "warning" in ran.out
    assert len(ran.out.splitlines()) < 40
