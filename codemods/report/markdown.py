"""Checked commits as Markdown for a pull request: a table of commits, then what is left of those that don't pass.

Stays below MAX_CHARACTERS, which is what a comment on GitHub may have; what is left out is counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codemods.report.spool import Spool
from codemods.report.verify_model import CheckedCommit, by_function, counted, next_move, share, short_name

MAX_CHARACTERS = 60_000
_MAX_ROWS, _MAX_GROUPS, _MAX_FINDINGS, _MAX_WORDS = 200, 20, 20, 160


def markdown_text(spool: Spool) -> str:
    totals = spool.totals
    head = (
        f"**{totals.mechanical} of {totals.commits} commits mechanical**, {totals.mixed} mixed, {totals.other} other; "
        f"{totals.lines:,} changed lines, {share(totals.certified, totals.lines)} certified; "
        f"{totals.findings} findings.\n\n"
        "| commit | verdict | lines | certified | findings | subject |\n|---|---|---:|---:|---:|---|\n"
    )
    return within(head, _parts(spool), next_move(totals))


def within(head: str, parts: Iterable[str], move: str) -> str:
    """A report that fits: its parts as far as they do, and the next move, if there is one."""
    taken, size = [head], len(head)
    for part in parts:
        size += len(part)
        if size > MAX_CHARACTERS:
            taken.append("\nThe rest is left out here; `--format json` has all.\n")
            break
        taken.append(part)
    if move:
        taken.append(f"\nNext: {move}.\n")
    return "".join(taken)


def _parts(spool: Spool) -> Iterator[str]:
    for number, commit in enumerate(spool):
        if number == _MAX_ROWS:
            yield f"| … | {len(spool) - _MAX_ROWS} more | | | | |\n"
            break
        yield (
            f"| {as_code(short_name(commit.commit))} | {commit.verdict.value} | {commit.lines:,} "
            f"| {share(commit.certified, commit.lines)} | {len(commit.findings)} | {as_text(commit.subject)} |\n"
        )
    for commit in spool:
        if not commit.passes:
            yield from _details(commit)


def _details(commit: CheckedCommit) -> Iterator[str]:
    yield f"\n### {as_code(short_name(commit.commit))} {as_text(commit.subject)}\n\n"
    if len(commit.parents) > 1:
        yield f"A merge, checked against each of its {len(commit.parents)} parents.\n\n"
    if commit.operations:
        done = ", ".join(
            f"{as_text(row.kind)} ({row.count}×, {counted(row.lines, 'line')})" for row in commit.operations
        )
        yield f"Certified: {done}.\n\n"
    for finding in commit.findings[:_MAX_FINDINGS]:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        yield f"- **{as_text(finding.code)}** {as_code(place) if place else ''} {as_text(finding.message)}\n"
    yield from _more(len(commit.findings) - _MAX_FINDINGS, "findings")
    groups = by_function(commit.residue)
    if groups:
        yield "\n| residue | function | lines | why |\n|---|---|---:|---|\n"
    for group in groups[:_MAX_GROUPS]:
        side = "" if group.side == "new" else " (old)"
        function = as_code(group.function) if group.function else ""
        why = as_text("; ".join(group.why))
        yield f"| {as_code(f'{group.path}:{group.line}')}{side} | {function} | {group.lines} | {why} |\n"
    yield from _more(len(groups) - _MAX_GROUPS, "places")


def _more(number: int, noun: str) -> Iterator[str]:
    if number > 0:
        yield f"\nand {number} more {noun}\n"


def as_code(text: str) -> str:
    """As code; a text with backquotes, bars or line breaks can't leave its cell."""
    return "`" + text.replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`"


def as_text(text: str) -> str:
    """Text without markup of its own, and without mentions of people or issues."""
    short = text if len(text) <= _MAX_WORDS else f"{text[:_MAX_WORDS]}…"
    out = short.replace("\\", "\\\\").replace("\n", " ").replace("&", "&amp;").replace("<", "&lt;")
    for char in "`*_[]|~":
        out = out.replace(char, f"\\{char}")
    return out.replace("@", "@\u200b").replace("#", "#\u200b")
