"""`unmoved gate`: what each kind of commit comes to under each policy, what is declared, baselines, frozen pairs, exit
status. The engine is the real one, on a repository of two small files."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from codemods.schema.verdict import Explained, Problem
from codemods.verify.change import TreeChange
from codemods.verify.explain import explain
from tests.cli.conftest import Ran
from tests.support.gate_repository import HELPERS, committed, edited, helper_repository
from tests.support.repository import run_git, write_files

Unmoved = Callable[..., Ran]
SLIP = ("final=True", "final=False")
SAFE = ("        return chosen\n", "        return self.bound\n")
SAFE_TOO = ("    runner.announce(node, final=True)", "    last = True\n    runner.announce(node, final=last)")
MOVED = b"from helpers import Runner\n\n\ndef start(nodes):\n    return Runner(1, 2).bind(nodes)\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return helper_repository(tmp_path / "r")


@pytest.fixture
def gate(root: Path, unmoved: Unmoved) -> Callable[..., Ran]:
    def run(*arguments: str, target: str = "base..") -> Ran:
        targets = [target] if target else []
        return unmoved("gate", *targets, "--root", str(root), "-j", "1", "--mutants", "0", *arguments)

    return run


Gate = Callable[..., Ran]


def policy(root: Path, text: str) -> None:
    (root / "unmoved.toml").write_text(f"[gate]\nsurvivors = 'warn'\n{text}\n", encoding="utf-8")


def report(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran.out)
    return found


def rules(ran: Ran, status: str = "fail") -> list[tuple[str, str]]:
    """Rule and symbol of what has that status, in all commits."""
    return [
        (each["rule"], each["symbol"])
        for commit in report(ran)["commits"]
        for each in commit["obligations"]
        if each["status"] == status
    ]


def test_a_mechanical_commit_passes_and_nothing_is_run(root: Path, gate: Gate) -> None:
    committed(root, "Rename go", {"user.py": MOVED})
    ran = gate("--format", "json")
    [commit] = report(ran)["commits"]
    assert ran.status == 0
    assert (commit["verdict"], commit["checked"]["verdict"], commit["pairs"]) == ("pass", "mechanical", [])
    assert report(ran)["totals"]["passed"] == 1


def test_what_is_left_is_proved(root: Path, gate: Gate) -> None:
    policy(root, "")
    edited(root, "Say it otherwise", SAFE_TOO)
    ran = gate("--format", "json")
    [commit] = report(ran)["commits"]
    assert (ran.status, commit["verdict"]) == (0, "pass")
    assert [pair["verdict"] for pair in commit["pairs"]] in ([], ["agrees"])


def test_a_difference_fails_and_says_where(root: Path, gate: Gate) -> None:
    edited(root, "Not final", SLIP)
    ran = gate("--format", "json")
    assert ran.status == 1
    assert rules(ran) == [("D8", "helpers:spread")]
    assert report(ran)["next"]


def test_a_range_is_judged_commit_by_commit(root: Path, gate: Gate) -> None:
    policy(root, "")
    edited(root, "Not final", SLIP)
    edited(root, "Final again", (SLIP[1], SLIP[0]))
    committed(root, "Rename go", {"user.py": MOVED})
    verdicts = [commit["verdict"] for commit in report(gate("--format", "json"))["commits"]]
    assert verdicts == ["fail", "fail", "pass"]


def test_only_a_claim_is_held_to_proof_where_the_policy_says_so(root: Path, gate: Gate) -> None:
    policy(root, "demand = 'claims'")
    edited(root, "Not final: the last one is announced elsewhere", SLIP)
    ran = gate("--format", "json")
    [commit] = report(ran)["commits"]
    assert (ran.status, commit["is_held"], commit["pairs"]) == (0, False, [])
    for message in ("refactor: as before", "Tidy\n\nNo functional change.", "Split\n\nUnmoved-Plan: x", "Only moved"):
        run_git(root, "reset", "-q", "--hard", "base")
        edited(root, message, SLIP)
        ran = gate("--format", "json")
        assert (ran.status, report(ran)["commits"][0]["is_held"]) == (1, True), message


def test_no_pairs_are_looked_for_where_no_proof_is_asked_for(
    root: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy(root, "demand = 'claims'")
    edited(root, "Not final", SLIP)
    monkeypatch.setattr("codemods.prove.pairs.pairs_of_change", lambda *_: pytest.fail("nobody asked"))
    assert gate("--no-cache").status == 0


def test_words_of_ones_own_are_a_claim(root: Path, gate: Gate) -> None:
    policy(root, "demand = 'claims'\nclaims = ['^Tidy ']")
    edited(root, "Tidy spread", SLIP)
    ran = gate("--format", "json")
    assert (ran.status, report(ran)["commits"][0]["claim"]) == (1, "Tidy")


def test_some_paths_are_held_to_proof_in_any_case(root: Path, gate: Gate) -> None:
    policy(root, "demand = 'claims'\nalways = ['help*.py']")
    edited(root, "Not final", SLIP)
    assert gate().status == 1


def test_a_reader_left_behind_fails_whatever_is_claimed(root: Path, gate: Gate) -> None:
    policy(root, "demand = 'claims'")
    edited(root, "Call it attach", ("def bind(", "def attach("), ("runner.bind(", "runner.attach("))
    ran = gate("--format", "json")
    assert ran.status == 1
    assert ("user.py" in {symbol for _, symbol in rules(ran)}, report(ran)["commits"][0]["is_held"]) == (True, False)


def test_a_call_that_means_something_else_is_no_reader_left_behind(
    root: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same text, other parameters: a change of behaviour that a commit may make, and a refactoring has to prove."""
    policy(root, "demand = 'claims'")
    edited(root, "Not final", SLIP)

    def explained(change: TreeChange) -> Explained:
        found = explain(change)
        found.problems.append(Problem("user.py", 5, "U121", "takes its parameters in other places now"))
        return found

    monkeypatch.setattr("codemods.verify.explain.explain", explained)
    ran = gate("--format", "json", "--no-cache")
    assert (ran.status, rules(ran), rules(ran, "warn")) == (0, [], [("U121", "user.py")])
    policy(root, "")
    assert ("U121", "user.py") in rules(gate("--format", "json", "--no-cache"))
    accepted = gate("--format", "json", "--no-cache", "--config", "accept = { U121 = 'all callers were looked at' }")
    assert ("U121", "user.py") in rules(accepted, "exempt")


def test_a_claim_that_the_ledger_refutes_is_reported_and_decides_nothing(root: Path, gate: Gate) -> None:
    policy(root, "")
    edited(root, "A mechanical refactoring", ("len(nodes) == 0", "not len(nodes)"))
    ran = gate("--format", "json")
    warned = rules(ran, "warn")
    assert ran.status == 0
    assert ("claim-refuted", "") in warned or not report(ran)["commits"][0]["checked"]["residue"]


def test_what_no_pair_runs_fails_unless_it_is_out_of_scope(root: Path, gate: Gate) -> None:
    committed(root, "Pin", {"deps/all.lock": b"msgspec 0.19\n"})
    ran = gate("--format", "json")
    assert (ran.status, rules(ran)) == (1, [("residue", "deps/all.lock")])
    assert "out-of-scope" in report(ran)["next"]
    policy(root, "out-of-scope = ['*.lock']")
    ran = gate("--format", "json")
    assert (ran.status, rules(ran)) == (0, [])
    assert "1 out of scope" in json.dumps(report(ran))


def test_codes_are_let_pass_with_a_reason(root: Path, gate: Gate) -> None:
    edited(root, "Say it louder", ("logger.warning", "logger.error"))
    codes = {rule for rule, _ in rules(gate("--format", "json"))}
    table = ", ".join(f"{code} = 'nobody reads it'" for code in codes)
    for key, status in (("warn", "warn"), ("ignore", "exempt")):
        policy(root, f"{key} = {{ {table} }}")
        ran = gate("--format", "json")
        assert (ran.status, rules(ran)) == (0, [])
        assert codes <= {rule for rule, _ in rules(ran, status)}


def test_power_is_asked_for(root: Path, gate: Gate) -> None:
    policy(root, "power = 100")
    edited(root, "Say it otherwise", ("len(nodes) == 0", "not len(nodes)"))
    ran = gate("--format", "json", "--mutants", "6")
    [pair] = report(ran)["commits"][0]["pairs"]
    killed, total = pair["mutants"]["killed"], pair["mutants"]["total"]
    assert pair["verdict"] == "agrees"
    assert (ran.status, ("power", pair["new"]) in rules(ran)) == ((0, False) if killed == total else (1, True))


RECORDING = "golden/recordings/bind/one.json"


def test_a_recording_that_changes_has_to_be_declared(root: Path, gate: Gate) -> None:
    policy(root, "out-of-scope = ['golden/']")
    committed(root, "Record", {RECORDING: b"{}\n", "golden/recordings/bind/two.json": b"{}\n"})
    assert gate().status == 0  # a new one takes nothing away
    committed(root, "Record anew", {RECORDING: b"[]\n"})
    ran = gate("--format", "json")
    assert (ran.status, rules(ran)) == (1, [("recording-changed", RECORDING)])
    trailer = "Unmoved-Recordings: golden/recordings/bind the node is named now"
    run_git(root, "commit", "-q", "--amend", "-m", f"Record anew\n\n{trailer}")
    ran = gate("--format", "json")
    assert (ran.status, rules(ran)) == (0, [])
    assert "the node is named now" in ran.out
    run_git(root, "commit", "-q", "--amend", "-m", "Record anew\n\nUnmoved-Recordings: golden/recordings/bind")
    assert gate().status == 1  # without a reason it declares nothing


SPEC = """schema = 1
[[pair]]
old = "helpers:spread"
new = "helpers:spread"
delta = [{deltas}]
"""
DECLARED = '{ code = "D8", where = "announce", why = "the last one is announced elsewhere" }'
STALE = '{ code = "D7", where = "announce", why = "meant once" }'


def spec(root: Path, *deltas: str) -> None:
    write_files(root, {"golden/specs/spread.toml": SPEC.format(deltas=", ".join(deltas)).encode()})


def test_a_declared_difference_passes_and_one_that_does_not_occur_fails(root: Path, gate: Gate) -> None:
    policy(root, "")
    edited(root, "Not final", SLIP)
    spec(root, DECLARED)
    ran = gate("--format", "json")
    assert (ran.status, rules(ran)) == (0, [])
    assert report(ran)["totals"]["declared"] == 1
    spec(root, DECLARED, STALE)
    ran = gate("--format", "json")
    assert (ran.status, rules(ran)) == (1, [("stale-declaration", "helpers:spread")])
    assert "does not occur" in ran.out


def test_a_declaration_has_to_occur_in_one_commit_of_the_range(root: Path, gate: Gate) -> None:
    policy(root, "")
    edited(root, "Not final", SLIP)
    edited(root, "Prepare by name", ("runner.prepare()", "prepare = runner.prepare\n    prepare()"))
    spec(root, DECLARED)
    ran = gate("--format", "json")
    assert (ran.status, rules(ran)) == (0, [])


def test_a_baseline_lets_pass_what_it_holds_and_only_shrinks(root: Path, gate: Gate) -> None:
    policy(root, "")
    edited(root, "Not final", SLIP)
    edited(root, "Say it louder", ("logger.warning", "logger.error"))
    place = str(root / "baseline.json")
    assert gate("--baseline", place).status == 2  # there is none yet
    ran = gate("--format", "json", "--baseline", place, "--write-baseline")
    held = json.loads(Path(place).read_bytes())["entries"]
    assert (ran.status, {each["rule"] for each in held}) == (0, {rule for rule, _ in rules(ran, "exempt") if rule})
    assert not any(isinstance(value, int) for each in held for value in each.values())
    assert gate("--baseline", place).status == 0

    run_git(root, "reset", "-q", "--hard", "HEAD^")  # one of the two is mended
    ran = gate("--format", "json", "--baseline", place)
    assert (ran.status, {rule for rule, _ in rules(ran)}) == (1, {"stale-baseline"})
    edited(root, "Another slip", ("raise ValueError", "raise KeyError"))
    ran = gate("--baseline", place, "--write-baseline")
    assert ran.status == 1  # what is new does not get in
    left = json.loads(Path(place).read_bytes())["entries"]
    assert [each["symbol"] for each in left] == ["helpers:spread"]


def test_a_baseline_knows_no_lines(root: Path, gate: Gate) -> None:
    policy(root, "")
    edited(root, "Not final", SLIP)
    place = str(root / "baseline.json")
    assert gate("--baseline", place, "--write-baseline").status == 0
    run_git(root, "reset", "-q", "--hard", "base")
    committed(root, "A comment", {"helpers.py": b"# One line more.\n" + HELPERS})
    run_git(root, "tag", "-f", "base")
    edited(root, "Not final", SLIP)
    assert gate("--baseline", place).status == 0


FROZEN = """schema = 1
old-tree = "../originals/spread"
[[pair]]
old = "helpers:spread"
new = "helpers:spread"
"""


def test_frozen_pairs_are_proved_and_kept(root: Path, gate: Gate) -> None:
    policy(root, "")
    write_files(root, {"golden/specs/spread.toml": FROZEN.encode(), "golden/originals/spread/helpers.py": HELPERS})
    ran = gate("--frozen", "--format", "json", target="")
    [found] = report(ran)["commits"]
    assert (ran.status, found["commit"], found["pairs"][0]["verdict"]) == (0, "golden/specs/spread.toml", "agrees")
    again = report(gate("--frozen", "--format", "json", target=""))
    assert again["commits"][0]["pairs"][0]["is_cached"]
    text = HELPERS.decode().replace(*SLIP)
    (root / "helpers.py").write_text(text, encoding="utf-8")
    ran = gate("--frozen", "--format", "json", target="")
    assert (ran.status, rules(ran)) == (1, [("D8", "helpers:spread")])


def test_frozen_pairs_that_are_not_there_are_an_error(gate: Gate) -> None:
    ran = gate("--frozen", target="")
    assert (ran.status, "old-tree" in ran.err) == (2, True)


def test_what_is_staged_is_looked_at_before_it_is_a_commit(root: Path, gate: Gate) -> None:
    assert gate("--staged", "--no-prove", target="").status == 0  # as an empty commit would be
    text = HELPERS.replace(b"def bind(", b"def attach(").replace(b"runner.bind(", b"runner.attach(")
    write_files(root, {"helpers.py": text})
    run_git(root, "add", "-A")
    write_files(root, {"helpers.py": b"broken ("})  # what is not staged is not looked at
    head, index = run_git(root, "rev-parse", "HEAD"), run_git(root, "diff", "--cached")
    ran = gate("--staged", "--no-prove", "--format", "json", target="")
    assert (ran.status, {symbol for _, symbol in rules(ran)}) == (1, {"user.py"})
    assert (run_git(root, "rev-parse", "HEAD"), run_git(root, "diff", "--cached")) == (head, index)


def test_what_is_pushed_is_named_by_pre_commit(root: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(root, "Not final", SLIP)
    head, base = (run_git(root, "rev-parse", name).strip() for name in ("HEAD", "base"))
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", base)
    monkeypatch.setenv("PRE_COMMIT_TO_REF", head)
    assert gate("--pushed", target="").status == 1
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", head)
    assert gate("--pushed", target="").status == 0
    for name in ("FROM", "TO"):
        monkeypatch.delenv(f"PRE_COMMIT_{name}_REF")
        assert gate("--pushed", target="").status == 2


@pytest.mark.parametrize(
    ("looks", "late"), [(1, ["", ""]), (2, ["helpers:Runner.bind", ""])], ids=["before it is read", "before it is run"]
)
def test_time_that_is_over_is_no_pass(
    root: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, looks: int, late: list[str]
) -> None:
    edited(root, "Say it otherwise", ("len(nodes) == 0", "not len(nodes)"))
    edited(root, "And again", ("not len(nodes)", "len(nodes) < 1"))
    clock = chain(repeat(0.0, looks), repeat(99.0))
    monkeypatch.setattr("codemods.cli.gate_run.time", SimpleNamespace(monotonic=lambda: next(clock)))
    ran = gate("--format", "json", "--config", "gate.seconds = 10", "--no-cache")
    assert (ran.status, rules(ran, "error")) == (2, [("out-of-time", symbol) for symbol in late])


def test_two_directories_are_one_commit(root: Path, tmp_path: Path, unmoved: Unmoved) -> None:
    for name, raw in (("old", HELPERS), ("new", HELPERS.replace(b"final=True", b"final=False"))):
        write_files(tmp_path / name, {"helpers.py": raw})
    ran = unmoved("gate", str(tmp_path / "old"), str(tmp_path / "new"), "--root", str(root), "--format", "json")
    assert (ran.status, rules(ran)) == (1, [("D8", "helpers:spread")])


def test_for_adoption_the_status_can_be_left_out(root: Path, gate: Gate) -> None:
    edited(root, "Not final", SLIP)
    assert gate("--exit-zero").status == 0
    assert gate("--exit-zero", target="nothing..").status == 2


def test_a_merge_answers_for_what_neither_side_had(root: Path, gate: Gate) -> None:
    policy(root, "")
    run_git(root, "checkout", "-q", "-b", "side")
    edited(root, "Rename go", ("def go(", "def start("), path="user.py")
    run_git(root, "checkout", "-q", "main")
    edited(root, "Say it otherwise", SAFE_TOO)
    run_git(root, "merge", "-q", "--no-ff", "-m", "Merge", "side")
    ran = gate("--format", "json")
    assert (ran.status, rules(ran)) == (0, [])


USAGE = [
    ((), "nothing to look at"),
    (("base..", "x", "y"), "too many"),
    (("base..", "--staged"), "exclude"),
    (("--frozen", "--no-prove"), "exclude"),
    (("base..", "--write-baseline"), "--baseline"),
    (("base..", "--format", "yaml"), "yaml"),
    (("base..", "--format", "json", "--format", "sarif"), "stdout"),
    (("base..", "--output", "x", "--output", "y"), "more --output"),
    (("HEAD..base",), "empty-range"),
    (("base..", "--config", "gate.demnad = 'all'"), "demand"),
    (("base..", "--config", "gate.warn = { D1 = '' }"), "without a reason"),
    (("base..", "--config", "gate.warn = { D99 = 'x' }"), "no rule"),
    (("base..", "--config", "gate.claims = ['(']"), "regular expression"),
    (("base..", "--config", "gate.specs = ['nowhere']"), "nowhere"),
]


@pytest.mark.parametrize(("arguments", "words"), USAGE, ids=[words for _, words in USAGE])
def test_a_wrong_request_is_no_verdict(root: Path, unmoved: Unmoved, arguments: tuple[str, ...], words: str) -> None:
    edited(root, "Not final", SLIP)
    ran = unmoved("gate", *arguments, "--root", str(root))
    assert ran.status == 2
    assert words in ran.err


def test_an_unchanged_range_is_answered_from_the_cache(root: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    policy(root, "")
    edited(root, "Say it otherwise", ("len(nodes) == 0", "not len(nodes)"))
    first = report(gate("--format", "json"))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("it is known")

    monkeypatch.setattr("codemods.verify.certificate.examine", never)
    monkeypatch.setattr("codemods.prove.proving.write_pack", never)
    run_git(root, "commit", "-q", "--amend", "--no-edit", "--date", "2020-01-01T00:00:00")  # as after a rebase
    again = report(gate("--format", "json"))
    assert again["commits"][0]["pairs"][0]["is_cached"]
    assert again["commits"][0]["obligations"][0] == first["commits"][0]["obligations"][0]
