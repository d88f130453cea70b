"""Reports of proved pairs: what each format says, in which order, how much at most; and nothing of a subject speaks."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from codemods.report import prove_github, prove_html, prove_junit, prove_markdown, prove_sarif
from codemods.report.lines import plain
from codemods.report.markdown import MAX_CHARACTERS
from codemods.report.prove_effects import apart, effect_lines, shown_effects
from codemods.report.prove_model import (
    PairRow,
    ProveReport,
    Unproved,
    amounts,
    encoded,
    next_move,
    next_of_pair,
    pair_row,
    totals_of,
)
from codemods.report.prove_text import pair_lines, report_lines
from codemods.schema.prove import (
    Delta,
    Effects,
    Level,
    Mutants,
    PairKind,
    PairResult,
    ProofVerdict,
    Survivor,
)

SOURCES = {
    ("old", "runner.py", 12): "\tself.rank = pick()",
    ("new", "boot.py", 41): "    rank = pick()",
}
SURVIVOR = Survivor(id="boundary:f:2f0c1a9b7e:1", path="boot.py", line=3, before="<=", after="<")
DELTA = Delta(
    code="D3",
    path="boot.py",
    line=41,
    message="self.rank is written after connect()",
    old_path="runner.py",
    old_line=12,
    world=("self.host is None", "connect() raises"),
    is_fault=True,
)
SAME = tuple((f"call step({number})", number) for number in range(1, 9))
EFFECTS = Effects(
    old=(*SAME, ("set self.rank", 12), ("call connect()", 13)), new=(*SAME, ("call connect()", 42)), first=8
)


def source(side: str, path: str, line: int) -> str:
    return SOURCES.get((side, path, line), "")


def agreeing(new: str = "boot:check") -> PairResult:
    return PairResult(
        old="runner:Runner.check",
        new=new,
        kind=PairKind.CALLABLE,
        verdict=ProofVerdict.AGREES,
        level=Level.EXHAUSTIVE,
        paths=2112,
        faults=62_880,
        mutants=Mutants(killed=38, total=40, survivors=(SURVIVOR, msgspec.structs.replace(SURVIVOR, why="equal"))),
        seconds=2.0,
    )


def differing(*deltas: Delta, new: str = "boot:start", reason: str = "", test: str = "def test(): ...") -> PairResult:
    return PairResult(
        old="runner:Runner.start",
        new=new,
        kind=PairKind.CALLABLE,
        verdict=ProofVerdict.DIFFERS,
        paths=12,
        deltas=deltas,
        effects=EFFECTS if deltas else None,
        reason=reason,
        test=test,
        seconds=1.25,
    )


def unsure(reason: str = "it took longer than 60 s and was stopped") -> PairResult:
    return PairResult(
        old="m:C", new="m:C", kind=PairKind.CLASS, verdict=ProofVerdict.INCONCLUSIVE, reason=reason, seconds=60
    )


def with_test(row: PairRow, place: str = "t/test_x.py") -> PairRow:
    """As the command has it where the tests were written."""
    if row.verdict is not ProofVerdict.DIFFERS:
        return row
    return replace(row, test_file=place, next=next_of_pair(row, place))


def report_of(results: Sequence[PairResult], *, unproved: Sequence[Unproved] = (), change: str = "") -> ProveReport:
    rows = [with_test(pair_row(each, source, change=change)) for each in results]
    totals = totals_of(rows)
    return ProveReport(
        schema_version=1, old="main", new="HEAD", pairs=rows, totals=totals, unproved=list(unproved),
        next=next_move(totals),
    )  # fmt: skip


MIXED = [agreeing(), differing(DELTA), unsure()]


def text_of(report: ProveReport, width: int = 110) -> str:
    return plain(report_lines(report, width=width))


# -- the model


def test_rows_are_results_with_source_lines_and_the_next_move() -> None:
    row = with_test(pair_row(differing(DELTA), source, change="c" * 40), "t.py")
    assert msgspec.structs.asdict(row)["old"] == "runner:Runner.start"
    [delta] = row.deltas
    assert (delta.text, delta.old_text) == ("    rank = pick()", "        self.rank = pick()")
    assert "pytest t.py" in row.next
    assert "unmoved explain D3" in row.next


def test_what_code_says_is_made_printable_and_the_test_is_left_alone() -> None:
    evil = Delta(code="D5", path="a.py", line=1, message="\x1b[2Jgone\ud800\nline two", world=("x = '\x07'",))
    row = pair_row(differing(evil, test="a = 1\nb = 2\n"), source)
    assert row.deltas[0].message == "\\x1b[2Jgone\\ud800\\nline two"
    assert row.deltas[0].world == ("x = '\\x07'",)
    assert row.test == "a = 1\nb = 2\n"
    json.loads(encoded(report_of([differing(evil)])))


def test_open_differences_come_gravest_first_and_faults_last() -> None:
    codes = [("D5", False), ("D9", True), ("D6", False), ("D1", False), ("U119", False)]
    deltas = [Delta(code=code, path="a.py", line=1, message=code, is_fault=fault) for code, fault in codes]
    declared = Delta(code="D8", path="a.py", line=1, message="d", declared=True)
    row = pair_row(differing(*deltas, declared), source)
    assert [delta.code for delta in row.open] == ["U119", "D6", "D5", "D1", "D9"]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (agreeing(), ""),
        (differing(reason="the declared D3 does not occur any more"), "declarations of the spec"),
        (unsure(), "--seconds"),
        (unsure("no mutant of the new side is told apart"), "domains in a spec"),
        (unsure("m:C differs from itself: time"), "from run to run"),
        (unsure("source-error: m.py:2: can't be parsed in the new tree: invalid syntax"), "mend the syntax there"),
        (unsure("no-such-callable: the old tree has no function m:f"), "what there is on both sides"),
        (unsure("it was stopped after 41 s; raise --seconds, or prove smaller pieces"), "more with --seconds"),
        (unsure("something unheard of, in time"), "read both sides by hand"),
    ],
)
def test_every_pair_that_has_not_passed_has_a_next_move(result: PairResult, words: str) -> None:
    found = pair_row(result, source).next
    assert words in found
    assert bool(found) is (result.verdict is not ProofVerdict.AGREES)


def test_what_tells_long_texts_apart_is_seen() -> None:
    text = f"log warning 'the machine has {'many ' * 60}nodes'"
    effects = Effects(old=((f"{text} [runner]", 3),), new=((f"{text} [numa]", 4),))
    shown = plain(effect_lines(effects, indent=0, width=100))
    assert "[runner]" in shown
    assert "[numa]" in shown
    assert shown.count("log warning 'the machine") == 2
    delta = msgspec.structs.replace(DELTA, message=f"{text} [runner]  ->  {text} [numa]")
    told = plain(pair_lines(pair_row(differing(delta), source)))
    assert "[runner]  ->  log warning" in told
    assert "[numa]" in told
    report = report_of([msgspec.structs.replace(differing(DELTA), effects=effects)])
    assert "[numa]" in prove_markdown.markdown_text(report)


@pytest.mark.parametrize(
    ("one", "other"), [("a" * 300 + "x", "a" * 300 + "y"), ("a", "b"), ("", "a" * 300), ("a" * 300, "a" * 301)]
)
def test_two_texts_stay_apart(one: str, other: str) -> None:
    first, second = apart(one, other, 60)
    assert (first == second) == (one == other)
    assert len(first) <= len(one) and len(second) <= len(other)


class _Page(HTMLParser):
    """Which elements are open, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_whole_and_escapes_what_the_subject_says() -> None:
    bad = msgspec.structs.replace(DELTA, message="return '<script>'  ->  return '&'")
    effects = Effects(old=(("return '<script>'", 3),), new=(("return '&'", 4), ("more", 5)))
    results = [agreeing(), msgspec.structs.replace(differing(bad), effects=effects), unsure("<b> & co")]
    left = [Unproved(path="a<b.cfg", lines=3)]
    text = prove_html.html_text(report_of(results, unproved=left, change="step <1>"))
    page = _Page()
    page.feed(text)
    page.close()
    assert page.open == []
    shown = "".join(page.text)
    for words in (
        "1 of 3 pairs agree", "return '<script>'", "(nothing)", "<b> & co", "a<b.cfg", "step <1>", "self.host is None",
        "boot.py:41  rank = pick()", "told apart", "boot.py:3  <= to <",
    ):  # fmt: skip
        assert words in shown, words
    assert "<script" not in text
    assert "http" not in text


def test_totals() -> None:
    totals = report_of(MIXED).totals
    assert (totals.pairs, totals.agrees, totals.differs, totals.inconclusive) == (3, 1, 1, 1)
    assert (totals.exhaustive, totals.paths, totals.killed, totals.mutants) == (1, 2124, 38, 40)
    assert next_move(totals_of([agreeing()])) == ""
    assert "nothing was proved" in next_move(totals_of([]))


def test_json_is_one_document_with_the_promised_keys() -> None:
    found = json.loads(encoded(report_of(MIXED)))
    assert list(found) == list(ProveReport.__struct_fields__)
    assert msgspec.json.decode(encoded(report_of(MIXED)), type=ProveReport) == report_of(MIXED)
    promised = {
        "old", "new", "verdict", "level", "paths", "faults", "cases", "unreached", "deltas", "mutants", "reason",
    }  # fmt: skip
    assert promised <= found["pairs"][0].keys()
    assert {"code", "path", "line", "message", "declared"} <= found["pairs"][1]["deltas"][0].keys()
    assert {"killed", "total", "survivors"} <= found["pairs"][0]["mutants"].keys()
    assert json.loads(encoded(report_of([])))["pairs"] == []


# -- text


def test_a_pair_that_agrees_is_one_line_and_its_open_survivors() -> None:
    lines = plain(pair_lines(pair_row(agreeing(), source))).splitlines()
    assert lines[0].split(maxsplit=1) == [
        "agrees",
        "runner:Runner.check → boot:check  exhaustive, 2,112 paths, 62,880 faults, mutants 38/40, 2.0 s",
    ]
    assert lines[1:] == ["  survived  boot.py:3  <= to <  boundary:f:2f0c1a9b7e:1"]


def test_a_difference_in_full() -> None:
    text = plain(pair_lines(with_test(pair_row(differing(DELTA), source)), width=100))
    assert text == TEXT


TEXT = """\
differs       runner:Runner.start → boot:start  12 paths, 1.2 s
  D3  boot.py:41  self.rank is written after connect()  (where a call raises)
      old  runner.py:12  self.rank = pick()
      new  boot.py:41    rank = pick()
  the smallest world that shows D3
    self.host is None
    connect() raises
  effects
          old                 new
      ... 5 effects before, alike
       6  call step(6)     6  call step(6)
       7  call step(7)     7  call step(7)
       8  call step(8)     8  call step(8)
    > 12  set self.rank       (nothing)
      13  call connect()  42  call connect()
  test  t/test_x.py  fails until it is mended
  next  mend the new side until `pytest t/test_x.py` passes, or declare the difference in a spec with the reason; \
`unmoved explain D3` says what settles it
"""


def test_what_is_inconclusive_says_why_and_what_to_do() -> None:
    lines = plain(pair_lines(pair_row(unsure(), source))).splitlines()
    assert lines[0] == "inconclusive  m:C  class  60.0 s"
    assert lines[1] == "  it took longer than 60 s and was stopped"
    assert lines[2].startswith("  next  give it more with --seconds")


def test_what_no_pair_covers_is_said() -> None:
    text = text_of(report_of([agreeing()], unproved=[Unproved(path="README.md", lines=3)]))
    assert "left to read: 3 changed lines that no pair runs, in README.md" in text


def test_long_lists_are_cut_and_counted() -> None:
    world = tuple(f"decision {number}" for number in range(100))
    deltas = [Delta(code="D8", path="a.py", line=number, message="m" * 999, world=world) for number in range(100)]
    text = plain(pair_lines(pair_row(differing(*deltas), source)))
    assert len(text.splitlines()) < 60
    assert "and 90 more differences" in text
    assert "and 84 more decisions" in text
    assert max(map(len, text.splitlines())) < 250


def test_amounts_leave_out_what_was_not_done() -> None:
    row = msgspec.structs.replace(agreeing(), faults=0, mutants=Mutants(), is_cached=True, bounded=2, paths=1)
    assert amounts(row) == ["exhaustive", "1 path", "2 cut at a bound", "power: none", "from the cache"]


# -- effects side by side


def test_effects_behind_the_first_difference_stand_beside_their_like() -> None:
    effects = Effects(
        old=(("a", 1), ("b", 2), ("c", 3), ("d", 4)), new=(("a", 1), ("c", 7), ("x", 8), ("d", 9)), first=1
    )
    rows = shown_effects(effects).rows
    found = [(row.old[0] if row.old else "", row.new[0] if row.new else "", row.is_first) for row in rows]
    assert found == [("a", "a", False), ("b", "", True), ("c", "c", False), ("", "x", False), ("d", "d", False)]


@pytest.mark.parametrize("first", [0, 3, 99])
@pytest.mark.parametrize(("num_old", "num_new"), [(0, 0), (0, 3), (3, 0), (3, 3), (40, 2)])
def test_no_effect_is_lost(num_old: int, num_new: int, first: int) -> None:
    effects = Effects(
        old=tuple((f"o{number}", number) for number in range(num_old)),
        new=tuple((f"n{number}", number) for number in range(num_new)),
        first=first,
    )
    shown = shown_effects(effects)
    assert shown.above + len(shown.rows) + shown.below >= max(num_old, num_new)
    assert sum(row.is_first for row in shown.rows) <= 1


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_effects_fit_the_width(width: int) -> None:
    effects = Effects(old=(("call f(" + "x, " * 300 + ")", 1234), ("a\nb", 2)), new=(("call g()", 5),), first=0)
    lines = plain(effect_lines(effects, indent=4, width=width)).splitlines()
    assert max(map(len, lines)) <= width
    assert any("a\\nb" in line for line in lines)
    assert sum(line.lstrip().startswith(">") for line in lines) == 1
    assert len(lines) <= 8


# -- Markdown


def test_markdown_puts_what_has_not_passed_first() -> None:
    text = prove_markdown.markdown_text(report_of(MIXED, unproved=[Unproved(path="README.md", lines=3)]))
    assert text.startswith("**1 of 3 pairs agree, 1 differ, 1 inconclusive** (`main` to `HEAD`).\n")
    verdicts = re.findall(r"^\| \**(\w+)\** \| `", text, flags=re.MULTILINE)
    assert verdicts == ["differs", "inconclusive", "agrees"]
    for words in (
        "- **D3** `boot.py:41` self.rank is written after connect() (where a call raises)\n",
        "  - old `runner.py:12` `self.rank = pick()`\n",
        "<details><summary>effects side by side</summary>",
        "| ➤ | **`set self.rank` :12** | **(nothing)** |",
        "3 changed lines that no pair runs, in `README.md`",
        "- survived: `boot.py:3` `<=` to `<`\n",
    ):
        assert words in text


def test_markdown_stays_within_what_a_comment_may_have() -> None:
    deltas = [Delta(code="D8", path="a.py", line=number, message="m" * 999) for number in range(100)]
    text = prove_markdown.markdown_text(report_of([differing(*deltas, new=f"m:f{number}") for number in range(300)]))
    assert len(text) <= MAX_CHARACTERS + 300
    assert "The rest is left out here" in text


def test_nothing_in_code_can_speak_through_markdown() -> None:
    evil = Delta(code="D5", path="a.py", line=1, message="@team <b>#1</b> | `x` ](http://x)", world=("x = '|`'",))
    text = prove_markdown.markdown_text(report_of([differing(evil)]))
    assert "@team" not in text
    assert "<b>" not in text
    assert re.search(r"(?<!\\)\]\(http", text) is None


# -- JUnit


def test_junit_has_a_case_a_pair() -> None:
    suite = ET.fromstring(prove_junit.junit_text(report_of(MIXED)))[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "0", "skipped": "1",
    }  # fmt: skip
    agrees, differs, skipped = suite.findall("testcase")
    assert (agrees.get("classname"), agrees.get("name")) == ("boot", "check (runner:Runner.check)")
    assert agrees.find("failure") is None
    failure = differs.find("failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("D3", "boot.py:41 self.rank is written after connect()")
    assert "> 12  set self.rank" in (failure.text or "")
    found = skipped.find("skipped")
    assert found is not None
    assert found.get("message") == "it took longer than 60 s and was stopped"


def test_junit_is_xml_whatever_the_code_says() -> None:
    evil = Delta(code="D5", path="a.py", line=1, message="\x00<&>\"'\x1b]]>\ud800\uffff", world=("\x0b",))
    ET.fromstring(prove_junit.junit_text(report_of([differing(evil), unsure('\x00\n"<')], change="<&>")))


# -- annotations


def test_annotations_show_every_pair_before_anybodys_second() -> None:
    many = [Delta(code=code, path="a.py", line=1, message=code) for code in ("D5", "D6", "D8")]
    results = [differing(*many, new=f"m:f{number}") for number in range(6)]
    lines = list(prove_github.github_lines(report_of([*results, unsure()])))
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(errors) == 10
    assert [re.findall(r"title=(D\d+) .*f(\d)", line)[0] for line in errors[:7]] == [
        *(("D6", str(number)) for number in range(6)), ("D8", "0"),
    ]  # fmt: skip
    assert sum(line.startswith("::warning ") for line in lines) == 1
    assert lines[-1].startswith("::notice title=unmoved prove::0 of 7 pairs agree, 6 differ, 1 inconclusive")
    assert lines[-1].rstrip().endswith("8 more annotations are left out")
    assert all(line.count("\n") == 1 for line in lines)


def test_an_annotation_stands_at_its_line_and_says_when() -> None:
    first = next(iter(prove_github.github_lines(report_of([differing(DELTA)]))))
    assert first.startswith("::error file=boot.py,line=41,title=D3 runner%3ARunner.start → boot%3Astart::")
    assert "%0Awhen self.host is None; connect() raises%0Aold: runner.py:12 self.rank = pick()" in first


def test_a_stale_declaration_is_an_error_too() -> None:
    stale = report_of([differing(reason="the declared D3 does not occur any more")])
    assert next(iter(prove_github.github_lines(stale))).startswith("::error title=")
    assert [result["ruleId"] for result in results_of(stale)] == [prove_sarif.STALE]


# -- SARIF


def results_of(report: ProveReport) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_of(report)["results"]
    return found


def run_of(report: ProveReport) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(prove_sarif.sarif_bytes(report, "1.0"))["runs"][0]
    return run


def test_sarif_has_a_rule_of_each_code() -> None:
    declared = msgspec.structs.replace(DELTA, code="D10", declared=True)
    run = run_of(report_of([differing(DELTA, declared), unsure()]))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["D3", "D10", "inconclusive"]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("D3", "error"), ("inconclusive", "warning"), ("D10", "note"),
    ]  # fmt: skip
    assert "suppressions" in run["results"][2]
    [location] = run["results"][0]["locations"]
    assert location["physicalLocation"]["region"] == {"startLine": 41}
    assert run["results"][0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "runner.py"


def test_fingerprints_survive_edits_elsewhere_and_tell_codes_apart() -> None:
    def print_of(delta: Delta) -> str:
        return str(results_of(report_of([differing(delta)]))[0]["partialFingerprints"]["unmoved/v1"])

    moved = msgspec.structs.replace(DELTA, line=99, old_line=98, world=())
    assert print_of(moved) == print_of(DELTA)
    assert print_of(msgspec.structs.replace(DELTA, code="D2")) != print_of(DELTA)
    assert print_of(msgspec.structs.replace(DELTA, message="other")) != print_of(DELTA)


def test_sarif_is_bounded_and_keeps_the_open_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove_sarif, "MAX_RESULTS", 3)
    declared = [msgspec.structs.replace(DELTA, message=f"d{number}", declared=True) for number in range(5)]
    run = run_of(report_of([differing(*declared, DELTA), unsure()]))
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    assert "4 results are left out" in json.dumps(run["invocations"])
    assert run["properties"]["results"] == 7


def test_rows_can_be_read_back() -> None:
    row = pair_row(differing(DELTA), source, change="x")
    assert msgspec.json.decode(msgspec.json.encode(row), type=PairRow) == row
