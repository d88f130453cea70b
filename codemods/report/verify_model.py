"""What `unmoved verify` says of a commit, made of its certificate: residue, operations with counts, findings. Published
as schema/verify.schema.json; keys are only ever added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from codemods.schema.certificate import Against, Certificate
from codemods.schema.verdict import Problem, Verdict


class ResidueRow(Struct, frozen=True, kw_only=True):
    """A run of changed lines that nothing certifies. side: `old` lines were removed, of that parent; `new` ones added.

    code: the hazard that stands in the way, "" when there is none. function: "" at module level."""

    path: str
    line: int
    lines: int
    function: str
    reason: str
    code: str
    side: str
    parent: str


class OperationRow(Struct, frozen=True, kw_only=True):
    """What explains certified lines: how many runs of lines of that kind, and how many lines they have."""

    kind: str
    count: int
    lines: int


class FindingRow(Struct, frozen=True, kw_only=True):
    """Something found beside the residue. path: "" and line: 0 where it has no place."""

    code: str
    path: str
    line: int
    message: str


class CheckedCommit(Struct, frozen=True, kw_only=True):
    """One commit. A merge is checked against each of its parents: lines are the sum, the verdict is the worst.

    commit: the full hash; of two directories, `DIR_A..DIR_B`. lines = certified + the lines of the residue."""

    commit: str
    subject: str
    parents: list[str]
    verdict: Verdict
    lines: int
    certified: int
    residue: list[ResidueRow]
    operations: list[OperationRow]
    findings: list[FindingRow]

    @property
    def passes(self) -> bool:
        return self.verdict is Verdict.MECHANICAL and not self.findings


class VerifyTotals(Struct, kw_only=True):
    """Sums over all commits. passed: mechanical and without findings."""

    commits: int = 0
    passed: int = 0
    mechanical: int = 0
    mixed: int = 0
    other: int = 0
    lines: int = 0
    certified: int = 0
    findings: int = 0

    def add(self, commit: CheckedCommit) -> None:
        self.commits += 1
        self.passed += commit.passes
        setattr(self, commit.verdict.value, getattr(self, commit.verdict.value) + 1)
        self.lines += commit.lines
        self.certified += commit.certified
        self.findings += len(commit.findings)


class VerifyReport(Struct, frozen=True, kw_only=True):
    """`unmoved verify` and `unmoved check`. next: what to do now, "" when everything passed."""

    commits: list[CheckedCommit]
    totals: VerifyTotals
    next: str


def checked_commit(certificate: Certificate) -> CheckedCommit:
    return CheckedCommit(
        commit=certificate.commit,
        subject=certificate.subject,
        parents=certificate.parents,
        verdict=certificate.verdict,
        lines=sum(one.lines for one in certificate.against),
        certified=sum(one.certified for one in certificate.against),
        residue=[row for one in certificate.against for row in _residue(one)],
        operations=_operations(certificate.against),
        findings=[_finding(problem) for problem in certificate.findings],
    )


def with_differences(commit: CheckedCommit, differences: Iterable[str]) -> CheckedCommit:
    """The commit, with a finding for each thing that its certificate says and that is not so."""
    more = [FindingRow(code="certificate-refuted", path="", line=0, message=text) for text in differences]
    return replace(commit, findings=[*more, *commit.findings])


def _residue(against: Against) -> Iterable[ResidueRow]:
    return (
        ResidueRow(
            path=entry.path,
            line=entry.line,
            lines=entry.lines,
            function=entry.function,
            reason=entry.reason,
            code=entry.code,
            side=entry.side,
            parent=against.parent,
        )
        for entry in against.entries
        if entry.reason
    )


def _operations(against: Iterable[Against]) -> list[OperationRow]:
    """By lines, most first. A run that went and one that came are one operation, so the larger number counts."""
    runs: dict[str, dict[str, int]] = {}
    lines: dict[str, int] = {}
    for one in against:
        for entry in one.entries:
            if not entry.reason:
                sides = runs.setdefault(entry.kind, {"old": 0, "new": 0})
                sides[entry.side] += 1
                lines[entry.kind] = lines.get(entry.kind, 0) + entry.lines
    rows = [OperationRow(kind=kind, count=max(sides.values()), lines=lines[kind]) for kind, sides in runs.items()]
    return sorted(rows, key=lambda row: (-row.lines, row.kind))


def _finding(problem: Problem) -> FindingRow:
    return FindingRow(code=problem.code, path=problem.path, line=problem.line, message=problem.message)


class Group(Struct, frozen=True, kw_only=True):
    """The residue of one function of one file. why: hazard codes and reasons, most lines first."""

    path: str
    function: str
    line: int
    side: str
    lines: int
    why: list[str]


def by_function(residue: Iterable[ResidueRow]) -> list[Group]:
    """Most lines first. line: of the first piece, of the new side if it has one."""
    found: dict[tuple[str, str], list[ResidueRow]] = {}
    for row in residue:
        found.setdefault((row.path, row.function), []).append(row)
    groups = []
    for (path, function), rows in found.items():
        weights: dict[str, int] = {}
        for row in rows:
            why = f"{row.code} {row.reason}".strip()
            weights[why] = weights.get(why, 0) + row.lines
        first = min(rows, key=lambda row: (row.side != "new", row.line))
        groups.append(
            Group(
                path=path,
                function=function,
                line=first.line,
                side=first.side,
                lines=sum(row.lines for row in rows),
                why=_heaviest(weights),
            )
        )
    return sorted(groups, key=lambda group: (-group.lines, group.path, group.line))


def _heaviest(weights: Mapping[str, int]) -> list[str]:
    return sorted(weights, key=lambda why: (-weights[why], why))


def share(certified: int, lines: int) -> str:
    """Never rounded up to 100 %."""
    if not lines:
        return "no lines"
    tenths = certified * 1000 // lines
    return f"{tenths // 10}.{tenths % 10} %" if tenths < 1000 else "100 %"


def next_move(totals: VerifyTotals) -> str:
    if totals.passed == totals.commits:
        return ""
    if totals.findings:
        return "look at the findings first: each is a reader or an effect that the change left behind"
    return "read the residue, or prove it: it is all that is not certified"


def short_name(commit: str, digits: int = 12) -> str:
    """A hash shortened; anything else, as the names of two directories, whole."""
    is_hash = len(commit) in (40, 64) and all(each in "0123456789abcdef" for each in commit)
    return commit[:digits] if is_hash else commit


def counted(number: int, word: str) -> str:
    """`1 line`, `2,000 lines`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
