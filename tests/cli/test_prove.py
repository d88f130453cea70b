"""`unmoved prove`: what each target asks for, options, formats, exit status, tests that are written. The engine and the
search for pairs are replaced; they have tests of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import msgspec
import pytest

from codemods import schema
from codemods.prove import pairs
from codemods.report.prove_model import ProveReport
from codemods.schema.errors import SourceError
from codemods.schema.prove import PairKind, ProofVerdict
from tests.cli.conftest import Ran
from tests.support.fake_prove import FakeEngine
from tests.support.repository import make_repository, run_git, write_files

Unmoved = Callable[..., Ran]
F1, F2 = b"def f(x=None):\n    return 1\n", b"def f(x=None):\n    return 2\n"
FORMATS = ("text", "json", "jsonl", "markdown", "html", "junit", "github", "sarif")
SPEC = 'schema = 1\n{trees}[[pair]]\nold = "{old}"\nnew = "{new}"\ndomains = {{ x = "int 0..3" }}\n'


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    made = FakeEngine()
    module = ModuleType("codemods.prove.proving")
    vars(module).update(prove_pairs=made.prove_pairs)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(pairs, "pairs_of_change", made.pairs_of_change)
    return made


def commit(root: Path, message: str, **files: bytes) -> str:
    write_files(root, {f"{name}.py": raw for name, raw in files.items()})
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(root, "rev-parse", "HEAD").strip()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two commits over `base`; in each of them one function returns something else."""
    root = make_repository(tmp_path / "r", {"fine.py": F1, "bad.py": F1, "settings.cfg": b"one\n"})
    run_git(root, "tag", "base")
    commit(root, "Change fine", fine=F2)
    commit(root, "Change bad", bad=F2)
    monkeypatch.chdir(tmp_path)
    return root


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two directories, `a` and `b`."""
    for name, raw in (("a", F1), ("b", F2)):
        write_files(tmp_path / name, {"fine.py": raw, "same.py": F1})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spec_file(place: Path, old: str = "fine:f", new: str = "fine:f", trees: str = "") -> Path:
    place.write_text(SPEC.format(old=old, new=new, trees=trees), encoding="utf-8")
    return place


def raising(error: BaseException) -> Callable[..., object]:
    def fail(*_: object, **__: object) -> object:
        raise error

    return fail


# -- targets


def test_a_range_is_proved_commit_by_commit(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    ran = unmoved("prove", "base..HEAD", "--root", str(root), "--format", "json")
    assert ran.status == 1
    report = msgspec.json.decode(ran.out, type=ProveReport)
    commits = run_git(root, "rev-list", "--reverse", "base..HEAD").split()
    assert [(row.new, row.verdict.value, row.change) for row in report.pairs] == [
        ("fine:f", "agrees", commits[0]),
        ("bad:f", "differs", commits[1]),
    ]
    assert (report.old, report.new) == ("base", "HEAD")
    assert [call.changed for call in engine.calls] == [("fine.py",), ("bad.py",)]
    assert engine.calls[0].old.read("fine.py") == F1
    assert engine.calls[0].new.read("fine.py") == F2


def test_a_commit_is_proved_against_its_parent(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    assert unmoved("prove", "HEAD~1", "--root", str(root)).status == 0
    assert engine.asked == [("fine:f", "fine:f")]
    unmoved("prove", "base", "--root", str(root))
    assert list(engine.calls[1].old.paths()) == []  # the first of all: nothing was there before it


def test_a_range_as_one_change(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    assert unmoved("prove", "base..", "--squash", "--root", str(root)).status == 1
    assert [call.changed for call in engine.calls] == [("bad.py", "fine.py")]


def test_the_residue_of_the_ledger_is_asked_for(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    unmoved("prove", "HEAD", "--root", str(root))
    assert engine.residues == [{"bad.py": {2}, "old:bad.py": {2}}]
    unmoved("prove", "HEAD", "--all", "--root", str(root))
    assert engine.residues[1] is None
    assert engine.calls[1].pairs[0].origin == "all"


def test_what_is_certified_is_not_proved(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    commit(root, "Say why", fine=F2 + b"# a comment\n")
    ran = unmoved("prove", "HEAD", "--root", str(root))
    assert (ran.status, engine.calls) == (2, [])
    assert "nothing was proved" in ran.out
    assert unmoved("prove", "HEAD", "--all", "--root", str(root)).status == 0


def test_a_merge_counts_for_what_no_parent_has(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    run_git(root, "checkout", "-q", "-b", "side", "base")
    commit(root, "On the side", other=F1)
    run_git(root, "merge", "-q", "--no-commit", "main")
    commit(root, "Merge, and slip something in", slipped=F2)
    assert unmoved("prove", "HEAD", "--root", str(root)).status == 0
    assert engine.asked == [("slipped:f", "slipped:f")]
    engine.calls.clear()
    assert unmoved("prove", "HEAD", "--all", "--root", str(root)).status == 0
    assert engine.asked == [("slipped:f", "slipped:f")]


def test_lines_that_no_pair_covers_are_counted(root: Path, unmoved: Unmoved) -> None:
    write_files(root, {"settings.cfg": b"one\ntwo\nthree\n"})
    commit(root, "Say more", fine=F1)
    ran = unmoved("prove", "HEAD", "--root", str(root), "--format", "json")
    assert json.loads(ran.out)["unproved"] == [{"path": "settings.cfg", "lines": 2, "change": "", "at": ""}]
    assert "left to read: 2 changed lines that no pair runs, in settings.cfg" in ran.err


@pytest.mark.usefixtures("two")
def test_two_directories(unmoved: Unmoved, engine: FakeEngine) -> None:
    ran = unmoved("prove", "a", "b", "--format", "json")
    assert (ran.status, engine.calls[0].changed) == (0, ("fine.py",))
    report = json.loads(ran.out)
    assert (report["old"], report["new"]) == ("a", "b")


def test_a_reader_left_behind_differs_without_a_run(tmp_path: Path, unmoved: Unmoved) -> None:
    old = {"m.py": b"class C:\n    def old_name(self):\n        return 1\n"}
    user = {"user.py": b"from m import C\n\n\ndef use():\n    return C().old_name()\n"}
    new = {"m.py": old["m.py"].replace(b"old_name", b"new_name")}
    write_files(tmp_path / "a", {**old, **user})
    write_files(tmp_path / "b", {**new, **user})
    ran = unmoved("prove", str(tmp_path / "a"), str(tmp_path / "b"), "--format", "json")
    assert ran.status == 1
    report = msgspec.json.decode(ran.out, type=ProveReport)
    [reader] = [row for row in report.pairs if row.kind is PairKind.READER]
    assert (reader.new, reader.verdict) == ("user.py", ProofVerdict.DIFFERS)
    assert (reader.deltas[0].code, reader.deltas[0].line, reader.deltas[0].text) == (
        "U119", 5, "    return C().old_name()",
    )  # fmt: skip


def test_a_file_that_can_not_be_parsed_is_inconclusive(
    root: Path, unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = SourceError("can't be parsed", path="bad.py", fix="mend the syntax")
    monkeypatch.setattr(pairs, "pairs_of_change", raising(error))
    ran = unmoved("prove", "HEAD", "--root", str(root))
    assert ran.status == 2
    assert "can't be parsed; mend the syntax" in ran.out


PLAN = """\
id = "p"
[[step]]
do = "move"
function = "m:helper"
to = "n"

[[step]]
do = "rename"
definition = "n:helper"
to = "helped"
"""


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(
        tmp_path / "r", {"m.py": b"def helper(x):\n    return x + 1\n\n\ndef stay():\n    return 2\n", "n.py": b""}
    )
    (tmp_path / "r" / "plan.toml").write_text(PLAN, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "r")
    return tmp_path / "r"


def test_a_plan_is_proved_step_by_step(planned: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    ran = unmoved("prove", "plan.toml", "--format", "json")
    assert ran.status == 0, ran.err
    report = msgspec.json.decode(ran.out, type=ProveReport)
    assert [row.change for row in report.pairs if row.new == "n:f"] == [
        "step 1: move m:helper", "step 2: rename n:helper",
    ]  # fmt: skip
    assert all(pair.origin == "plan" for call in engine.calls for pair in call.pairs)
    assert b"helped" in engine.calls[1].new.read("n.py")
    assert engine.calls[1].old.read("n.py") == engine.calls[0].new.read("n.py")
    assert "helper" in (planned / "m.py").read_text()


@pytest.mark.usefixtures("planned")
def test_a_pair_is_proved_from_before_a_plan_to_after_it(unmoved: Unmoved, engine: FakeEngine) -> None:
    assert unmoved("prove", "plan.toml", "--pair", "m:helper", "n:helped").status == 0
    [call] = engine.calls
    assert (b"helper" in call.old.read("m.py"), b"helped" in call.new.read("n.py")) == (True, True)
    assert call.changed == ("m.py", "n.py")


def test_a_plan_that_is_refused_is_an_error(planned: Path, unmoved: Unmoved) -> None:
    (planned / "plan.toml").write_text(PLAN.replace("m:helper", "m:missing"), encoding="utf-8")
    ran = unmoved("prove", "plan.toml")
    assert ran.status == 2
    assert "the plan is refused" in ran.err


def test_a_range_that_is_known_is_not_read_again(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    commit(root, "Change fine again", fine=F1, also=F1)
    first = unmoved("prove", "HEAD", "--root", str(root))
    assert (first.status, len(engine.residues)) == (0, 1)
    assert unmoved("prove", "HEAD", "--root", str(root)) == first
    assert len(engine.residues) == 1
    assert engine.calls[0].pairs == engine.calls[1].pairs
    assert len(set(engine.identities)) == 1
    unmoved("prove", "HEAD", "--root", str(root), "--no-cache")
    unmoved("prove", "HEAD", "--root", str(root), "--all")
    unmoved("prove", "HEAD", "--root", str(root), "--config", 'exclude=["x"]')
    assert len(engine.residues) == 4
    assert len(set(engine.identities)) == 2


def test_a_reader_that_is_left_is_looked_for_each_time(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    commit(
        root,
        "Add",
        m=b"class C:\n    def old_name(self):\n        return 1\n",
        user=b"from m import C\n\nC().old_name()\n",
    )
    commit(root, "Rename", m=b"class C:\n    def new_name(self):\n        return 1\n")
    for _ in range(2):
        assert unmoved("prove", "HEAD", "--root", str(root)).status == 1
    assert len(engine.residues) == 2


# -- pairs that are named


def test_pairs_by_hand_at_both_ends_of_a_range(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    ran = unmoved("prove", "base..HEAD", "--pair", "fine:f", "bad:f", "--pair=fine", "fine", "--root", str(root))
    assert ran.status == 1
    [call] = engine.calls
    assert [(pair.old, pair.new, pair.kind) for pair in call.pairs] == [
        ("fine:f", "bad:f", PairKind.CALLABLE), ("fine", "fine", PairKind.IMPORT),
    ]  # fmt: skip
    assert (call.old.read("bad.py"), call.new.read("bad.py")) == (F1, F2)
    assert engine.residues == []


def test_pairs_by_hand_within_the_root(two: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    write_files(two / "a", {"pack/__init__.py": b"", "pack/c.py": b"class C:\n    def m(self):\n        pass\n"})
    ran = unmoved(
        "prove", "--root", "a", "--pair", "pack/c.py:C", "pack.c:C", "--pair", "fine:f", "./pack/c.py:C.m"
    )  # fmt: skip
    assert ran.status == 0, ran.err
    [call] = engine.calls
    assert [(pair.old, pair.new, pair.kind) for pair in call.pairs] == [
        ("pack.c:C", "pack.c:C", PairKind.CLASS), ("fine:f", "pack.c:C.m", PairKind.CALLABLE),
    ]  # fmt: skip
    assert call.changed == ()


def test_a_spec_has_trees_of_its_own(two: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    spec = spec_file(two / "s.toml", trees='old-tree = "a"\nnew-tree = "b"\n')
    ran = unmoved("prove", str(spec), "--root", "a")
    assert ran.status == 0, ran.err
    [call] = engine.calls
    assert call.changed == ("fine.py",)
    assert (call.pairs[0].domains, call.pairs[0].origin) == ({"x": "int 0..3"}, "spec")


def test_a_spec_of_revisions(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    one = spec_file(root / "s.toml", trees='old-tree = "git:base"\nnew-tree = "git:HEAD"\n')
    mixed = spec_file(root / "t.toml", trees='old-tree = "git:base"\n')
    assert unmoved("prove", str(one), str(mixed), "--root", str(root)).status == 0
    assert engine.calls[0].changed == ("bad.py", "fine.py")
    assert {"bad.py", "fine.py"} <= set(engine.calls[1].changed)
    assert engine.calls[1].new.read("fine.py") == F2


def test_a_spec_says_how_a_derived_pair_is_proved(root: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    known = spec_file(root.parent / "known.toml", old="fine.py:f")
    more = spec_file(root.parent / "more.toml", old="fine:f", new="bad:f")
    ran = unmoved("prove", "base..HEAD", "--root", str(root), "--spec", str(known), "--spec", str(more))
    assert ran.status == 1
    assert engine.asked == [("fine:f", "fine:f"), ("bad:f", "bad:f"), ("fine:f", "bad:f")]
    assert [call.pairs[0].origin for call in engine.calls] == ["spec", "ledger", "spec"]
    assert engine.calls[2].changed == ("bad.py", "fine.py")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to prove is named"),
        (("a",), "one alone has no change"),
        (("a", "missing"), "missing is not a directory"),
        (("a", "b", "c"), "3 targets are too many"),
        (("a", "s.toml"), "two kinds of target"),
        (("none.toml",), "no plan or spec file"),
        (("--pair", "fine:f"), "--pair needs two names"),
        (("--pair", "fine:f", "--all"), "--pair needs two names"),
        (("--pair", "fine:f", "not a name:"), "does not name a definition"),
        (("a", "b", "-j", "0"), "-j 0 is no number from 1 to 256"),
        (("a", "b", "--paths", "many"), "--paths many"),
        (("a", "b", "--seconds", "-1"), "--seconds -1"),
        (("a", "b", "--mutants", "3", "--no-power"), "exclude one another"),
        (("a", "b", "--format", "yaml"), "yaml"),
        (("a", "b", "--output", "no/such/file"), "the report can't be written"),
        (("base..HEAD", "--root", "a"), "not in a git repository"),
    ],
)
@pytest.mark.usefixtures("two")
def test_what_does_not_go_together(unmoved: Unmoved, arguments: tuple[str, ...], words: str) -> None:
    ran = unmoved("prove", *arguments)
    assert ran.status == 2
    assert words in ran.err


def test_the_first_commit_has_no_old_side(root: Path, unmoved: Unmoved) -> None:
    for more in (("--pair", "fine:f", "fine:f"), ("--squash",)):
        ran = unmoved("prove", "base", "--root", str(root), *more)
        assert (ran.status, "base is the first commit, so there is no old side" in ran.err) == (2, True)


def test_a_wrong_spec_is_named_with_its_line(two: Path, unmoved: Unmoved) -> None:
    spec = spec_file(two / "s.toml")
    spec.write_text(spec.read_text() + "domain = 3\n", encoding="utf-8")
    ran = unmoved("prove", str(spec), "--format", "json")
    assert ran.status == 2
    error = json.loads(ran.out)["error"]
    assert (error["code"], error["path"], error["line"]) == ("unknown-key", str(spec), 6)


# -- options


def test_budgets_reach_the_engine(two: Path, unmoved: Unmoved, engine: FakeEngine) -> None:
    (two / "a" / "unmoved.toml").write_text('real = ["xml.etree"]\n', encoding="utf-8")
    unmoved(
        "prove", "a", "b", "-j", "3", "--paths", "7", "--faults", "0", "--seconds", "1.5", "--mutants", "4", "--seed",
        "9", "--no-cache", "--root", "a",
    )  # fmt: skip
    options = engine.calls[0].options
    assert (options.jobs, options.paths, options.faults, options.seconds) == (3, 7, 0, 1.5)
    assert (options.mutants, options.seed, options.cache_dir, options.real) == (4, 9, None, ("xml.etree",))
    unmoved("prove", "a", "b", "--no-power", "--root", "a")
    assert (engine.calls[1].options.mutants, engine.calls[1].options.cache_dir) == (0, Path("a"))


@pytest.mark.usefixtures("two")
def test_show_config_proves_nothing(unmoved: Unmoved, engine: FakeEngine) -> None:
    ran = unmoved("prove", "a", "b", "--show-config", "--config", 'real=["json"]')
    assert (ran.status, engine.calls) == (0, [])
    assert "real" in ran.out
    assert '["json"]' in ran.out


@pytest.mark.parametrize(("names", "status"), [(["fine"], 0), (["fine", "bad", "unsure"], 1), (["fine", "unsure"], 2)])
def test_exit_status(two: Path, unmoved: Unmoved, names: list[str], status: int) -> None:
    write_files(two / "a", {f"{name}.py": F1 for name in names})
    write_files(two / "b", {f"{name}.py": F2 for name in names})
    assert unmoved("prove", "a", "b").status == status
    assert unmoved("prove", "a", "b", "--exit-zero").status == 0


# -- reports


@pytest.fixture
def mixed(two: Path) -> Path:
    for name, raw in (("a", F1), ("b", F2)):
        write_files(two / name, {"bad.py": raw, "unsure.py": raw})
    return two


@pytest.mark.usefixtures("mixed")
def test_text(unmoved: Unmoved) -> None:
    ran = unmoved("prove", "a", "b")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines if line[:1].isalnum()] == [
        "differs",
        "agrees",
        "inconclusive",
        "3",
        "next:",
    ]
    for words in (
        "  D6  bad.py:2  return 1  ->  return 2",
        "      old  bad.py:2  return 1",
        "      new  bad.py:2  return 2",
        "    x is None",
        "    > 2  return 1   2  return 2",
        "3 pairs: 1 agree (1 exhaustively), 1 differ, 1 inconclusive",
    ):
        assert any(line.startswith(words) for line in lines), words
    assert ran.err == ""


@pytest.mark.usefixtures("mixed")
def test_every_format_is_what_it_says(unmoved: Unmoved) -> None:
    out = {format_: unmoved("prove", "a", "b", "--format", format_).out for format_ in FORMATS}
    report = json.loads(out["json"])
    assert [json.loads(line) for line in out["jsonl"].splitlines()] == report["pairs"]
    assert out["markdown"].startswith("**1 of 3 pairs agree")
    assert "<title>unmoved: 1 of 3 pairs agree</title>" in out["html"]
    assert ET.fromstring(out["junit"]).get("failures") == "1"
    assert out["github"].startswith("::error file=bad.py,line=2,title=D6 bad%3Af::")
    assert json.loads(out["sarif"])["version"] == "2.1.0"


@pytest.mark.parametrize("format_", FORMATS)
def test_a_report_in_a_file_leaves_the_text_on_stdout(mixed: Path, unmoved: Unmoved, format_: str) -> None:
    ran = unmoved("prove", "a", "b", "--format", format_, "--output", "report")
    assert ran.out == unmoved("prove", "a", "b").out
    direct = unmoved("prove", "a", "b", "--format", format_).out
    assert (mixed / "report").read_text(encoding="utf-8") == direct


@pytest.mark.usefixtures("mixed")
def test_the_json_is_as_its_schema_says(unmoved: Unmoved) -> None:
    published = json.loads((Path(schema.__file__).parent / "prove.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(published)
    for arguments in (("a", "b"), ("a", "a"), ("a", "missing")):
        validator.validate(json.loads(unmoved("prove", *arguments, "--format", "json").out))
    spoilt: dict[str, Any] = json.loads(unmoved("prove", "a", "b", "--format", "json").out)
    spoilt["pairs"][0]["verdict"] = "fine"
    assert not validator.is_valid(spoilt)


@pytest.mark.usefixtures("mixed")
def test_the_json_comes_by_configuration_too(unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMOVED_FORMAT", "json")
    assert len(json.loads(unmoved("prove", "a", "b").out)["pairs"]) == 3


def test_annotations_leave_the_rest_to_the_step_summary(
    mixed: Path, unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(mixed / "summary"))
    unmoved("prove", "a", "b", "--format", "github")
    assert "### differs: `bad:f`" in (mixed / "summary").read_text(encoding="utf-8")


def test_failing_tests_are_written(mixed: Path, unmoved: Unmoved) -> None:
    ran = unmoved("prove", "a", "b", "--tests", "made", "--format", "json")
    [place] = (mixed / "made").iterdir()
    rows = {row["new"]: row for row in json.loads(ran.out)["pairs"]}
    assert rows["bad:f"]["test_file"] == f"made/{place.name}"
    assert rows["fine:f"]["test_file"] == ""
    assert place.name.startswith("test_bad_f_")
    text = place.read_text(encoding="utf-8")
    assert rows["bad:f"]["test"] == text
    assert f"ROOT = {str(mixed)!r}\nOLD_TREE = {str(mixed / 'a')!r}\nNEW_TREE = {str(mixed / 'b')!r}\n" in text
    assert "#   x is None\n" in text
    assert unmoved("prove", "a", "b", "--tests", "made/" + place.name).status == 2


def test_tests_of_a_range_name_its_revisions(root: Path, unmoved: Unmoved, tmp_path: Path) -> None:
    """The new side is what is on disk, where that can still be mended, and else the commit."""
    commits = run_git(root, "rev-parse", "HEAD~1", "HEAD").split()
    for target, new in (("base..HEAD", ""), ("HEAD~1..HEAD", f"git:{commits[1]}")):
        if new:
            (root / "bad.py").write_bytes(F1)
        made = tmp_path / f"made{len(new)}"
        unmoved("prove", target, "--root", str(root), "--tests", str(made))
        [place] = made.iterdir()
        text = place.read_text(encoding="utf-8")
        assert f"OLD_TREE = 'git:{commits[0]}'\nNEW_TREE = {new!r}\n" in text


@pytest.mark.usefixtures("mixed")
def test_a_test_says_what_was_unusual_about_its_run(unmoved: Unmoved, tmp_path: Path) -> None:
    spec = spec_file(tmp_path / "s.toml", old="bad:f", new="bad:f")
    unmoved(
        "prove", "a", "b", "--spec", str(spec), "--seconds", "7", "--seed", "3", "--tests", "made", "--config",
        'real=["xml"]',
    )  # fmt: skip
    [place] = (tmp_path / "made").iterdir()
    lines = [line.strip() for line in place.read_text(encoding="utf-8").splitlines()]
    for line in ("domains={'x': 'int 0..3'},", "seconds=7.0,", "seed=3,", "config=('real=[\"xml\"]',),"):
        assert line in lines


@pytest.mark.usefixtures("mixed")
def test_an_interruption_says_what_was_written(unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["codemods.prove.proving"], "prove_pairs", raising(KeyboardInterrupt()))
    ran = unmoved("prove", "a", "b")
    assert (ran.status, ran.out) == (130, "")
    assert "interrupted: nothing was changed" in ran.err


@pytest.mark.usefixtures("mixed")
def test_a_crash_is_no_verdict(unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["codemods.prove.proving"], "prove_pairs", raising(ZeroDivisionError("midway")))
    ran = unmoved("prove", "a", "b", "--format", "json")
    assert ran.status == 2
    assert json.loads(ran.out)["error"]["code"] == "internal-error"


def test_help_shows_every_target(unmoved: Unmoved) -> None:
    ran = unmoved("prove", "--help")
    assert ran.status == 0
    assert ran.out.strip().splitlines()[0] == "Usage: unmoved prove [OPTIONS] [TARGET [OTHER]]"
    assert "--pair OLD NEW" in ran.out
    assert ran.out.count("\n    unmoved prove ") >= 6


def test_what_is_slow_to_load_waits_for_work() -> None:
    program = (
        "import sys; from codemods.cli.app import main; main(['prove', '--help']); "
        "sys.stderr.write(str([name for name in ('hypothesis', 'rich', 'codemods.prove', 'codemods.verify') "
        "if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.endswith("[]")
