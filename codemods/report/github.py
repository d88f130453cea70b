"""Checked commits as annotations of GitHub Actions, which shows 10 errors and 10 warnings of a step: the findings and
the residue of a commit are one each, ranked, and the rest is counted in a notice."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.report.spool import Spool
from codemods.report.verify_model import CheckedCommit, by_function, counted, share, short_name

MAX_OF_A_LEVEL = 10


def github_lines(spool: Spool) -> Iterator[str]:
    totals = spool.totals
    errors = sorted((len(commit.findings), number) for number, commit in enumerate(spool) if commit.findings)
    warnings = sorted(
        (commit.lines - commit.certified, number) for number, commit in enumerate(spool) if commit.residue
    )
    shown_errors = {number for _, number in errors[-MAX_OF_A_LEVEL:]}
    shown_warnings = {number for _, number in warnings[-MAX_OF_A_LEVEL:]}
    for number, commit in enumerate(spool):
        if number in shown_errors:
            yield _error(commit)
        if number in shown_warnings:
            yield _warning(commit)
    left = max(len(errors) - MAX_OF_A_LEVEL, 0) + max(len(warnings) - MAX_OF_A_LEVEL, 0)
    more = f"; {left} more annotations are left out" if left else ""
    yield (
        f"::notice title=unmoved verify::{totals.passed} of {totals.commits} commits pass; {totals.lines:,} lines, "
        f"{share(totals.certified, totals.lines)} certified; {totals.findings} findings{more}\n"
    )


def _error(commit: CheckedCommit) -> str:
    first = commit.findings[0]
    words = [f"{finding.code} {finding.path}:{finding.line} {finding.message}" for finding in commit.findings[:10]]
    if len(commit.findings) > len(words):
        words.append(f"and {len(commit.findings) - len(words)} more")
    return annotation("error", first.path, first.line, f"{len(commit.findings)} findings in {_name(commit)}", words)


def _warning(commit: CheckedCommit) -> str:
    groups = by_function(commit.residue)
    words = [
        f"{counted(group.lines, 'line')} {group.path}:{group.line} {group.function} {group.why[0]}"
        for group in groups[:10]
    ]
    if len(groups) > len(words):
        words.append(f"and {len(groups) - len(words)} more places")
    first = groups[0]
    title = f"{counted(commit.lines - commit.certified, 'line')} of {_name(commit)} not certified"
    return annotation("warning", first.path, first.line if first.side == "new" else 0, title, words)


def _name(commit: CheckedCommit) -> str:
    return f"{short_name(commit.commit)} {commit.subject}"[:80].rstrip()


def annotation(level: str, path: str, line: int, title: str, words: list[str]) -> str:
    properties = [f"file={_property(path)}"] if path else []
    properties += [f"line={line}"] if path and line else []
    properties.append(f"title={_property(title)}")
    return f"::{level} {','.join(properties)}::{_message(chr(10).join(words))}\n"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
