"""Reports of checked commits: bounded, ranked, and nothing in a commit can speak through them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from codemods.report import github, markdown, sarif
from codemods.report.lines import plain
from codemods.report.spool import Spool
from codemods.report.verify_json import json_parts
from codemods.report.verify_model import (
    CheckedCommit,
    FindingRow,
    OperationRow,
    ResidueRow,
    by_function,
    checked_commit,
    share,
)
from codemods.report.verify_text import SCREEN, commit_lines
from codemods.schema.certificate import Against, Certificate, CertifiedLines
from codemods.schema.verdict import Problem, Verdict

HASH = "c" * 40


def residue(
    line: int = 1, *, path: str = "a.py", function: str = "f", reason: str = "differs", side: str = "new"
) -> ResidueRow:
    return ResidueRow(
        path=path, line=line, lines=2, function=function, reason=reason, code="", side=side, parent="p" * 40
    )


def checked(
    residues: list[ResidueRow] | None = None, findings: list[FindingRow] | None = None, *, subject: str = "Do it",
    operations: list[OperationRow] | None = None,
) -> CheckedCommit:  # fmt: skip
    rows = residues or []
    lines = sum(row.lines for row in rows)
    return CheckedCommit(
        commit=HASH, subject=subject, parents=["p" * 40], verdict=Verdict.MIXED if rows else Verdict.MECHANICAL,
        lines=lines + 1, certified=1, residue=rows, operations=operations or [], findings=findings or [],
    )  # fmt: skip


def finding(number: int = 1, message: str = "still read") -> FindingRow:
    return FindingRow(code="U119", path=f"f{number}.py", line=number, message=message)


@pytest.fixture
def spool() -> Iterator[Spool]:
    with Spool() as made:
        yield made


def test_a_spool_can_be_read_again_and_grown_between(spool: Spool) -> None:
    for number in range(3):
        spool.add(checked(subject=str(number)))
        assert [one.subject for one in spool] == [str(at) for at in range(number + 1)]
    assert json.loads(b"".join(json_parts(spool)))["totals"]["commits"] == 3


def test_an_empty_range_is_still_json(spool: Spool) -> None:
    assert json.loads(b"".join(json_parts(spool)))["commits"] == []


@pytest.mark.parametrize(
    ("certified", "lines", "text"),
    [(0, 0, "no lines"), (1, 1, "100 %"), (99_999, 100_000, "99.9 %"), (1, 3, "33.3 %"), (0, 7, "0.0 %")],
)
def test_a_share_is_never_rounded_up(certified: int, lines: int, text: str) -> None:
    assert share(certified, lines) == text


def test_a_commit_always_fits_a_screen() -> None:
    rows = [residue(number, function=f"f{number}") for number in range(90)]
    operations = [OperationRow(kind=f"k{number}", count=1, lines=1) for number in range(30)]
    many = checked(rows, [finding(number) for number in range(90)], subject="s" * 300, operations=operations)
    shown = plain(commit_lines(many)).splitlines()
    assert len(shown) <= SCREEN
    assert sum("--format json has all" in line for line in shown) == 3


def test_operations_count_what_went_and_came_once() -> None:
    entries = [
        CertifiedLines(path="a.py", side="old", line=1, lines=3, kind="move"),
        CertifiedLines(path="b.py", side="new", line=1, lines=2, kind="move"),
        CertifiedLines(path="b.py", side="new", line=9, lines=2, kind="move"),
        CertifiedLines(path="b.py", side="new", line=7, lines=9, kind="import"),
        CertifiedLines(path="b.py", side="new", line=5, lines=1, reason="differs"),
    ]
    against = Against(
        parent="p", tree="t", verdict=Verdict.MIXED, lines=17, certified=16, claims=[], entries=entries, problems=[]
    )
    made = checked_commit(
        Certificate(
            tool="1", python="3", commit=HASH, subject="", tree="t", parents=["p"], against=[against, against],
            problems=[Problem("", 0, "claim-refuted", "no")],
        )
    )  # fmt: skip
    assert [(row.kind, row.count, row.lines) for row in made.operations] == [("import", 2, 18), ("move", 4, 14)]
    assert (made.lines, made.certified, len(made.residue), len(made.findings)) == (34, 32, 2, 1)


def test_residue_is_grouped_by_function_heaviest_first() -> None:
    rows = [residue(9, side="old"), residue(5), residue(7, reason="moved on"), residue(1, function="g")]
    groups = by_function(rows)
    assert [(group.function, group.line, group.side, group.lines, group.why) for group in groups] == [
        ("f", 5, "new", 6, ["differs", "moved on"]),
        ("g", 1, "new", 2, ["differs"]),
    ]


def results(spool: Spool) -> list[dict[str, Any]]:
    run = json.loads(sarif.sarif_bytes(spool, "1.0"))["runs"][0]
    found: list[dict[str, Any]] = run["results"]
    return found


def test_sarif_is_bounded_and_findings_come_first(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 3)
    spool.add(checked([residue(number) for number in range(5)]))
    spool.add(checked([residue()], [finding(1), finding(2)]))
    assert [one["ruleId"] for one in results(spool)] == ["U119", "U119", "residue"]
    run = json.loads(sarif.sarif_bytes(spool, "1.0"))["runs"][0]
    assert "5 results are left out" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"U119", "residue"}


def test_sarif_fingerprints_survive_a_shift_of_lines(spool: Spool) -> None:
    spool.add(checked([residue(1), residue(900), residue(1, function="g")]))
    prints = [one["partialFingerprints"]["unmoved/v1"] for one in results(spool)]
    assert prints[0] == prints[1] != prints[2]


def test_sarif_places(spool: Spool) -> None:
    spool.add(checked([residue(3, path="a b#.py"), residue(3, side="old")]))
    new, old = (one["locations"][0]["physicalLocation"] for one in results(spool))
    assert new["artifactLocation"]["uri"] == "a%20b%23.py"
    assert new["region"] == {"startLine": 3, "endLine": 4}
    assert "region" not in old


def test_github_shows_ten_of_a_level_and_counts_the_rest(spool: Spool) -> None:
    for number in range(13):
        spool.add(checked([residue()] * (number + 1), [finding()] * (number + 1)))
    lines = list(github.github_lines(spool))
    levels = [line.split(" ")[0] for line in lines]
    assert (levels.count("::error"), levels.count("::warning"), levels.count("::notice")) == (10, 10, 1)
    assert "6 more annotations are left out" in lines[-1]
    assert "title=1 findings" not in "".join(lines)


def test_no_annotation_can_be_forged(spool: Spool) -> None:
    evil = "x\n::error file=b.py::y%0A\r\n::stop-commands::z"
    spool.add(checked([residue(path="a,b:c.py", reason=evil)], [finding(message=evil)], subject=evil))
    lines = list(github.github_lines(spool))
    assert len("".join(lines).splitlines()) == 3
    assert all(line.startswith(("::error file=", "::warning file=a%2Cb%3Ac.py", "::notice title=")) for line in lines)


def test_markdown_is_bounded_and_holds_no_markup_of_a_commit(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "[x](http://e) | @all #1 <img src=x> `c` \n# head"
    spool.add(checked([residue(path="`|a.py", reason=evil)], [finding(message=evil)], subject=evil))
    text = markdown.markdown_text(spool)
    for bad in ("[x](", " @all", " #1", "<img", "\n# head", "``"):
        assert bad not in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {7, 5}
    monkeypatch.setattr(markdown, "MAX_CHARACTERS", 2_000)
    for number in range(400):
        spool.add(checked(subject=str(number)))
    assert len(markdown.markdown_text(spool)) < 2_300
    assert "left out here" in markdown.markdown_text(spool)
