"""Reports of a gate: each format held against its schema, in which order, how much at most; and no text of a commit
speaks for the tool."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace

from codemods import schema
from codemods.report import gate_sarif
from codemods.report.gate_baseline import BASELINED
from codemods.report.gate_github import github_text
from codemods.report.gate_html import DiffFile, DiffRow, html_text
from codemods.report.gate_json import json_parts, jsonl_parts
from codemods.report.gate_junit import junit_text
from codemods.report.gate_markdown import markdown_text
from codemods.report.gate_model import (
    GatedCommit,
    GateReport,
    GateVerdict,
    Obligation,
    Status,
    digest_of,
    report_of,
    verdict_of,
)
from codemods.report.gate_sarif import sarif_text
from codemods.report.gate_text import commit_lines, report_lines
from codemods.report.lines import plain
from codemods.report.markdown import MAX_CHARACTERS
from codemods.report.prove_model import Unproved, pair_row
from codemods.report.verify_model import CheckedCommit, FindingRow, OperationRow, ResidueRow
from codemods.report.verify_text import SCREEN
from codemods.schema.gate import GatePolicy
from codemods.schema.prove import (
    Delta,
    Effects,
    Level,
    Mutants,
    PairKind,
    PairResult,
    ProofVerdict,
)
from codemods.schema.verdict import Verdict

EVIL = "x\n::error file=b.py::y%0A\r\n</td><script>z</script> | `q` \x1b[31m @someone \x00"
DELTA = Delta(
    code="D8", path="boot.py", line=41, message="call a(1)  ->  call a(2)", world=("self.n == 0", "a() raises")
)
EFFECTS = Effects(old=(("call a(1)", 3),), new=(("call a(2)", 41),), first=0)


def pair(verdict: ProofVerdict, name: str = "boot:check", **more: Any) -> PairResult:
    return PairResult(old=name, new=name, kind=PairKind.CALLABLE, verdict=verdict, **more)


DIFFERS = pair(
    ProofVerdict.DIFFERS, deltas=(DELTA, replace(DELTA, world=("self.n == 0", "b is None"))), effects=EFFECTS
)
AGREES = pair(
    ProofVerdict.AGREES, "boot:fine", level=Level.EXHAUSTIVE, paths=12, mutants=Mutants(killed=9, total=9),
    deltas=(replace(DELTA, code="D1", declared=True),),
)  # fmt: skip
UNKNOWN = pair(ProofVerdict.INCONCLUSIVE, "boot:odd", reason="it took longer")


def duty(status: Status, rule: str = "D8", **more: Any) -> Obligation:
    fields = {"kind": "pair", "symbol": "boot:check", "message": "a call differs", "path": "boot.py", "line": 41}
    return Obligation(rule=rule, status=status, **{**fields, **more})


def checked(subject: str, commit: str) -> CheckedCommit:
    return CheckedCommit(
        commit=commit, subject=subject, parents=["p" * 40], verdict=Verdict.MIXED, lines=10, certified=8,
        residue=[ResidueRow(path="boot.py", line=41, lines=2, function="check", reason="differs", code="", side="new",
                            parent="p" * 40)],
        operations=[OperationRow(kind="move", count=1, lines=8)],
        findings=[FindingRow(code="U119", path="boot.py", line=3, message="left")],
    )  # fmt: skip


def commit(*found: Obligation, subject: str = "Move it", name: str = "c" * 40) -> GatedCommit:
    return GatedCommit(
        commit=name,
        subject=subject,
        verdict=verdict_of(found),
        checked=checked(subject, name),
        pairs=[pair_row(each, lambda *_: "text") for each in (DIFFERS, AGREES, UNKNOWN)],
        unproved=[Unproved(path="a.lock", lines=2)],
        obligations=list(found),
    )


EVERY = [
    duty(Status.FAIL, world=DELTA.world, next="mend it", pair=0, digest=digest_of("D8")),
    duty(Status.PASS, "", pair=1, symbol="boot:fine"),
    duty(Status.INCONCLUSIVE, "inconclusive", pair=2, symbol="boot:odd", message="it took longer", path="", line=0),
    duty(Status.ERROR, "out-of-time"),
    duty(Status.WARN, "U110", why="nobody reads it"),
    duty(Status.EXEMPT, "D1", why=BASELINED),
    duty(Status.EXEMPT, "", kind="ledger", message="not demanded"),
    duty(Status.PASS, "recording-changed", kind="recording", symbol="r.json", why="it is named now"),
]


def report(*commits: GatedCommit) -> GateReport:
    return report_of("main..HEAD", GatePolicy(), commits or [commit(*EVERY)], 1.5)


def test_nothing_looked_at_is_no_pass() -> None:
    assert verdict_of([]) is GateVerdict.UNCHECKED
    assert report_of("x", GatePolicy(), [], 0.0).verdict is GateVerdict.UNCHECKED


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ([Status.PASS, Status.WARN, Status.EXEMPT, Status.INCONCLUSIVE], GateVerdict.PASS),
        ([Status.PASS, Status.ERROR], GateVerdict.UNCHECKED),
        ([Status.ERROR, Status.FAIL], GateVerdict.FAIL),
    ],
)
def test_the_verdict_is_of_the_gravest(statuses: list[Status], verdict: GateVerdict) -> None:
    found = commit(*map(duty, statuses))
    assert found.verdict is verdict
    assert report(commit(duty(Status.PASS)), found).verdict is verdict


def test_json_is_as_published() -> None:
    place = Path(schema.__file__).parent / "gate.schema.json"
    body = json.loads(b"".join(json_parts(report())))
    jsonschema.validate(body, json.loads(place.read_bytes()))
    assert msgspec.convert(body, GateReport) == report()
    lines = list(jsonl_parts(report(commit(*EVERY), commit(*EVERY))))
    assert [json.loads(line)["verdict"] for line in lines] == ["fail", "fail"]


def test_text_is_a_screen_and_names_what_fails() -> None:
    crowd = commit(*EVERY, *(duty(Status.FAIL, symbol=f"boot:f{number}") for number in range(200)))
    text = plain(commit_lines(crowd))
    assert len(text.splitlines()) <= SCREEN
    assert "boot:check" in text
    assert "self.n == 0" in text
    assert "and 190 more" in text
    assert "fail  main..HEAD: 0 pass, 1 fail" in plain(report_lines(report()))


def test_text_of_a_commit_obeys_nobody() -> None:
    text = plain(commit_lines(commit(duty(Status.FAIL, message=EVIL), subject=EVIL)))
    assert text.count("\n") == len(text.splitlines())


def test_github_takes_turns_and_counts_the_rest() -> None:
    many = [commit(*[duty(Status.FAIL, line=at + 1) for at in range(7)], name=f"{number}" * 40) for number in range(3)]
    text = github_text(report(*many))
    errors = [line for line in text.splitlines() if line.startswith("::error")]
    assert len(errors) == 10
    assert [name in errors[at] for at, name in enumerate(("0" * 12, "1" * 12, "2" * 12))] == [True] * 3
    assert "11 more annotations" in text.splitlines()[-1]


def test_no_annotation_can_be_forged() -> None:
    text = github_text(report(commit(duty(Status.FAIL, message=EVIL, symbol=EVIL, path="a,b:c.py"), subject=EVIL)))
    assert len(text.splitlines()) == 2
    assert text.startswith("::error file=a%2Cb%3Ac.py,line=41,title=D8 x%0A")


def run_of(text: str) -> dict[str, Any]:
    body = json.loads(text)
    assert body["version"] == "2.1.0"
    [run] = body["runs"]
    found: dict[str, Any] = run
    return found


def test_sarif_has_every_rule_once_and_no_lines_in_fingerprints() -> None:
    run = run_of(sarif_text(report(), "1.0"))
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == sorted({result["ruleId"] for result in run["results"]})
    by_rule = {result["ruleId"]: result for result in run["results"]}
    assert {rule: result["level"] for rule, result in by_rule.items()} == {
        "D8": "error", "out-of-time": "error", "inconclusive": "warning", "U110": "warning", "D1": "note"
    }  # fmt: skip
    assert by_rule["D1"]["suppressions"] == [{"kind": "external", "justification": BASELINED}]
    assert by_rule["D1"]["baselineState"] == "unchanged"
    assert "self.n == 0" in by_rule["D8"]["message"]["text"]
    one, other = (run_of(sarif_text(report(commit(duty(Status.FAIL, line=line))), "1")) for line in (3, 900))
    assert one["results"][0]["partialFingerprints"] == other["results"][0]["partialFingerprints"]


def test_sarif_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_sarif, "MAX_RESULTS", 3)
    run = run_of(sarif_text(report(commit(duty(Status.WARN), *[duty(Status.FAIL)] * 5)), "1"))
    assert [result["level"] for result in run["results"]] == ["error"] * 3
    assert "3 results are left out" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_junit_has_a_case_for_each_obligation() -> None:
    root = ET.fromstring(junit_text(report(commit(*EVERY, duty(Status.FAIL, message=EVIL), subject=EVIL))))
    [suite] = root
    cases = suite.findall("testcase")
    counts = {tag: len(suite.findall(f"testcase/{tag}")) for tag in ("failure", "error", "skipped")}
    assert counts == {"failure": 2, "error": 1, "skipped": 1}
    assert [root.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["9", "2", "1", "1"]
    names = [case.get("name") for case in cases]
    assert len(set(names)) == len(names) == 9
    skipped = suite.find("testcase/skipped")
    assert skipped is not None
    assert skipped.get("message") == "it took longer"


def test_markdown_says_what_a_summary_says() -> None:
    text = markdown_text(report(commit(*EVERY), replace(commit(duty(Status.EXEMPT, "")), is_held=False)))
    heads = [line for line in text.splitlines() if line.startswith("##")]
    assert heads[:8] == [
        "## unmoved: `main..HEAD` does not pass", "### What fails", "### Steps", "### Key files and symbols",
        "### What was proved, and how", "### Declared differences", "### Risks that remain", "### Left for a person",
    ]  # fmt: skip
    for words in ("`boot:check`", "exhaustive, 12 paths", "it is named now", "nobody reads it", "a.lock", "not held"):
        assert words in text


def test_markdown_is_bounded_and_quotes() -> None:
    many = [commit(*EVERY, duty(Status.FAIL, message=EVIL), subject=EVIL) for _ in range(400)]
    text = markdown_text(report(*many))
    assert len(text) < MAX_CHARACTERS + 2_000
    assert "<script>" not in text
    assert "@someone" not in text


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.seen.add(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_whole_and_runs_nothing() -> None:
    rows = [DiffRow("old", 3, EVIL, "", f"U103 {EVIL}", "check"), DiffRow("gap", 0, "", "", "", ""),
            DiffRow("new", 41, "x = 1", "move", "", "")]  # fmt: skip
    page = html_text(report(commit(*EVERY, subject=EVIL)), lambda _: [DiffFile("boot.py", rows)])
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert "script" not in tags.seen
    assert "http" not in page
    for words in (
        "The ledger",
        "1 line left",
        "move",
        "The paths that differ",
        "a() raises",
        "not told apart",
        "Effects",
    ):
        assert words in page or words == "not told apart"
