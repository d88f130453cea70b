"""The plugin of pytest, in runs of pytest of their own: what is collected and when, what a failure says, pytest-xdist,
and that a run that does not ask for it is as it was. The engine is replaced, but in the last test."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.repository import write_files

REPOSITORY = Path(__file__).resolve().parents[2]
IS_INSTALLED = bool(importlib.metadata.entry_points(group="pytest11", name="unmoved"))
FAKE = """
import sys
from types import ModuleType

from tests.support.fake_prove import FakeEngine

module = ModuleType("codemods.prove.proving")
module.prove_pairs = FakeEngine().prove_pairs
sys.modules[module.__name__] = module
"""
TEST = b"def test_plain():\n    pass\n"
F1, F2 = b"def f(x=None):\n    return 1\n", b"def f(x=None):\n    return 2\n"
TREES = 'old-tree = "../a"\nnew-tree = "../b"\n'


class Ran(NamedTuple):
    status: int
    out: str

    @property
    def outcomes(self) -> str:
        """`1 failed, 2 passed`."""
        return self.out.strip().splitlines()[-1].partition(" in ")[0].strip("= ")


def run(root: Path, *arguments: str) -> Ran:
    plugin = () if IS_INSTALLED else ("-p", "codemods.cli.pytest_plugin")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "-p", "no:benchmark", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout + done.stderr)


def spec(*names: str) -> bytes:
    pairs = "".join(f'\n[[pair]]\nold = "{name}:f"\nnew = "{name}:f"\n' for name in names)
    return f"schema = 1\n{TREES}{pairs}".encode()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A test, a spec of three pairs in specs/ and another that nobody asks for."""
    write_files(
        tmp_path,
        {
            "pytest.ini": b"[pytest]\n",
            "conftest.py": FAKE.encode(),
            "tests/test_plain.py": TEST,
            "specs/all.equivalence.toml": spec("fine", "bad", "unsure"),
            "specs/notes.toml": b"a = 1\n",
            "elsewhere/more.equivalence.toml": spec("fine"),
        },
    )
    for name, raw in (("a", F1), ("b", F2)):
        write_files(tmp_path / name, {f"{each}.py": raw for each in ("fine", "bad", "unsure")})
    return tmp_path


def with_ini(root: Path, text: str) -> None:
    (root / "pytest.ini").write_text(f"[pytest]\n{text}\n", encoding="utf-8")


def test_nothing_changes_unless_it_is_asked_for(root: Path) -> None:
    ran = run(root)
    assert (ran.status, ran.outcomes) == (0, "1 passed")
    assert "unmoved" not in ran.out.replace("plugins: unmoved-", "")  # where it is installed, pytest names it there


def test_specs_of_the_option_are_collected(root: Path) -> None:
    ran = run(root, "--unmoved-specs", "specs", "--collect-only", "-q")
    assert sorted(line for line in ran.out.splitlines() if "::" in line) == [
        "specs/all.equivalence.toml::bad:f",
        "specs/all.equivalence.toml::fine:f",
        "specs/all.equivalence.toml::unsure:f",
        "tests/test_plain.py::test_plain",
    ]


def test_specs_of_the_option_are_added_to_other_arguments(root: Path) -> None:
    assert run(root, "tests", "--unmoved-specs", "specs").outcomes == "2 failed, 2 passed"
    assert run(root, "tests", "--unmoved-specs", "elsewhere/more.equivalence.toml").outcomes == "2 passed"


def test_specs_of_the_configuration_belong_to_a_whole_run(root: Path) -> None:
    with_ini(root, "unmoved_specs = specs\ntestpaths = tests")
    assert run(root).outcomes == "2 failed, 2 passed"
    assert run(root, "tests").outcomes == "1 passed"
    assert run(root, "specs").outcomes == "2 failed, 1 passed"


def test_a_spec_that_is_named_is_collected(root: Path) -> None:
    assert run(root, "elsewhere/more.equivalence.toml").outcomes == "1 passed"
    assert run(root, "specs/all.equivalence.toml::fine:f", "--unmoved-specs", "elsewhere").outcomes == "2 passed"


def test_a_failure_is_the_report_of_the_command(root: Path) -> None:
    ran = run(root, "specs/all.equivalence.toml")
    assert ran.status == 1
    for words in (
        "differs       bad:f",
        "  D6  bad.py:2  return 1  ->  return 2",
        "      old  bad.py:2  return 1",
        "    > 2  return 1   2  return 2",
        "inconclusive  unsure:f",
        "  it took longer than 60 s and was stopped",
        "FAILED specs/all.equivalence.toml::bad:f",
    ):
        assert words in ran.out
    assert "Traceback" not in ran.out
    assert "pytest_plugin.py" not in ran.out


def test_a_wrong_spec_is_an_error_of_collection_with_its_line(root: Path) -> None:
    (root / "specs" / "all.equivalence.toml").write_bytes(spec("fine") + b"domain = 3\n")
    ran = run(root, "--unmoved-specs", "specs")
    assert ran.status == 2
    assert "all.equivalence.toml:8: `domain` is not a key of `pair` 1; did you mean `domains`?" in ran.out
    assert "Traceback" not in ran.out


def test_a_place_that_is_not_there_is_a_wrong_command_line(root: Path) -> None:
    ran = run(root, "--unmoved-specs", "missing")
    assert ran.status == 4
    assert "there is no spec at" in ran.out


def test_pytest_xdist_spreads_the_pairs(root: Path) -> None:
    with_ini(root, "unmoved_specs = specs")
    assert run(root, "-n", "2").outcomes == "2 failed, 2 passed"
    assert run(root, "-n", "2", "tests").outcomes == "1 passed"
    assert run(root, "-n", "2", "tests", "--unmoved-specs", "elsewhere").outcomes == "2 passed"


def test_pairs_can_be_selected_under_strict_markers(root: Path) -> None:
    ran = run(root, "--strict-markers", "-W", "error", "--unmoved-specs", "specs", "-m", "equivalence", "-k", "fine")
    assert ran.outcomes == "1 passed, 3 deselected"


def test_numbers_go_into_junit(root: Path) -> None:
    run(root, "specs/all.equivalence.toml", "--junitxml", "out.xml")
    cases = ET.parse(root / "out.xml").getroot().iter("testcase")
    found = {
        case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")} for case in cases
    }
    assert found["fine:f"]["verdict"] == "agrees"
    assert found["fine:f"]["mutants"] == "2/2"
    assert found["bad:f"]["verdict"] == "differs"


def test_the_plugin_loads_little() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import codemods.cli.pytest_plugin; "
        "print(sorted(name for name in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['codemods', 'codemods.cli', 'codemods.cli.pytest_plugin']"


def test_with_the_real_engine(root: Path) -> None:
    (root / "conftest.py").unlink()
    ran = run(root, "specs/all.equivalence.toml", "--unmoved-mutants", "0", "-k", "bad")
    assert ran.outcomes == "1 failed, 2 deselected"
    assert "  D6  bad.py:2  return 1  ->  return 2" in ran.out
