"""The pytest files that `unmoved prove --tests` writes, run as their reader would run them: in a process of their own,
failing on the tree with the slip and passing on the mended one, with nothing but a path changed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.cli.app import main
from tests.prove.regression_pairs import SIDES, load_cases, write_tree
from tests.support.house import ROOT

# A function, a class, a module and a reader left behind.
CASES = ("B02", "X02", "B72")


def ran(place: Path, folder: Path) -> tuple[int, str]:
    """By a pytest that knows no plugin and finds the tool alone."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(place)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def with_new_tree(place: Path, tree: Path | str) -> None:
    text = place.read_text(encoding="utf-8")
    changed = re.sub(r"^NEW_TREE = .*$", lambda _: f"NEW_TREE = {str(tree)!r}", text, count=1, flags=re.MULTILINE)
    assert changed != text
    place.write_text(changed, encoding="utf-8")


@pytest.mark.parametrize("case_id", CASES)
def test_it_fails_on_the_slip_and_passes_once_that_is_mended(case_id: str, tmp_path: Path) -> None:
    case = next(each for each in load_cases() if each.id == case_id)
    trees = {side: write_tree(case.tree(side), tmp_path / side) for side in SIDES}
    made = tmp_path / "made"
    asked = [str(trees["before"]), str(trees["after"]), "--root", str(tmp_path), "--no-power", "--tests", str(made)]
    assert main(["prove", *asked]) == 1
    places = sorted(made.iterdir())
    assert places
    status, out = ran(made, tmp_path)
    assert (status, "Traceback" in out) == (1, False)
    assert f"{len(places)} failed" in out
    for place in places:
        with_new_tree(place, trees["fixed"])
    status, out = ran(made, tmp_path)
    assert (status, f"{len(places)} passed" in out) == (0, True), out


def test_a_failure_is_the_report_and_says_what_to_do(tmp_path: Path) -> None:
    for name, text in (("a", "def f():\n    return 1\n"), ("b", "def f():\n    return 2\n")):
        write_tree({"m.py": text.encode()}, tmp_path / name)
    main(["prove", str(tmp_path / "a"), str(tmp_path / "b"), "--tests", str(tmp_path), "--root", str(tmp_path)])
    [place] = tmp_path.glob("test_*.py")
    _, out = ran(place, tmp_path)
    assert "D6  m.py:2  return 1  ->  return 2" in out
    assert "asserting.py" not in out
    assert "say it in MEANT with the reason" in out
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace("MEANT = ()", 'MEANT = [("D6", "return 1", "two it is")]'), encoding="utf-8")
    assert ran(place, tmp_path)[0] == 0
    with_new_tree(place, tmp_path / "a")
    status, out = ran(place, tmp_path)
    assert status == 1
    assert "does not occur any more" in out


def test_trees_of_a_plan_can_be_named(tmp_path: Path) -> None:
    """What a step of a plan makes is written nowhere: it is made again."""
    logger = b"import logging\n\nlog = logging.getLogger(__name__)\n"
    write_tree({"m.py": logger + b'\n\ndef f():\n    log.info("here")\n', "n.py": logger}, tmp_path / "r")
    plan = tmp_path / "r" / "plan.toml"
    plan.write_text('id = "p"\n[[step]]\ndo = "move"\nfunction = "m:f"\nto = "n"\n', encoding="utf-8")
    assert main(["prove", str(plan), "--root", str(tmp_path / "r"), "--tests", str(tmp_path)]) == 1
    [place] = tmp_path.glob("test_n_f_*.py")
    assert f"NEW_TREE = 'plan:{plan}@1'" in place.read_text(encoding="utf-8")
    status, out = ran(place, tmp_path)
    assert status == 1
    assert "NotEquivalent" in out
