"""Checked commits as SARIF 2.1.0: a finding is an error, a residue a warning. Fingerprints hold no line numbers, so
they survive edits elsewhere. At most MAX_RESULTS, findings first; how many are left out is said."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote

import msgspec

from codemods.report.spool import Spool
from codemods.report.verify_model import CheckedCommit, FindingRow, ResidueRow
from codemods.schema.page import Page

MAX_RESULTS = 5_000
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RESIDUE = "residue"


def sarif_bytes(spool: Spool, version: str) -> bytes:
    results = list(islice(_results(spool), MAX_RESULTS))
    total = spool.totals.findings + sum(len(commit.residue) for commit in spool)
    rules = sorted({result["ruleId"] for result in results})
    properties = {"commits": spool.totals.commits, "passed": spool.totals.passed}
    described = [{"id": rule, "shortDescription": {"text": _rule_text(rule)}} for rule in rules]
    return log_bytes("verify", version, described, results, total=total, properties=properties)


def log_bytes(
    command: str,
    version: str,
    rules: list[dict[str, Any]],
    results: list[dict[str, Any]],
    *,
    total: int,
    properties: dict[str, Any],
    **more: Any,
) -> bytes:
    """A log of one run. total: of the results, of which some may be left out. more: other parts of the run."""
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "unmoved", "version": version, "rules": rules}},
        **more,
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {**properties, "results": total},
    }
    if total > len(results):
        text = f"{total - len(results):,} results are left out; `unmoved {command} --format json` has all"
        notification = {"level": "warning", "message": {"text": text}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notification]}]
    return msgspec.json.format(msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})) + b"\n"


def page_rule(rule: str, page: Page) -> dict[str, Any]:
    """A rule that has a page of its own."""
    ways = "; ".join(way.how for way in page.settle)
    return {
        "id": rule,
        "shortDescription": {"text": page.title[:1].upper() + page.title[1:]},
        "fullDescription": {"text": page.text},
        "help": {"text": f"{page.text} What settles it: {ways}."},
    }


def _rule_text(rule: str) -> str:
    if rule == _RESIDUE:
        return "Changed lines that no operation explains"
    return f"See `unmoved explain {rule}`" if rule[:1] == "U" and rule[1:].isdigit() else rule.replace("-", " ")


def _results(spool: Spool) -> Iterator[dict[str, Any]]:
    for commit in spool:
        for finding in commit.findings:
            yield _finding(commit, finding)
    for commit in spool:
        for row in commit.residue:
            yield _residue(commit, row)


def _finding(commit: CheckedCommit, finding: FindingRow) -> dict[str, Any]:
    parts = (finding.code, finding.path, finding.message)
    return _result(commit, finding.code, "error", finding.message, finding.path, finding.line, 1, parts)


def _residue(commit: CheckedCommit, row: ResidueRow) -> dict[str, Any]:
    side = "removed" if row.side == "old" else "added"
    where = f" in {row.function}" if row.function else ""
    text = f"{row.lines} {side} lines{where}: {row.code} {row.reason}".replace(":  ", ": ")
    # A removed line has no place in the file that is there now.
    line, lines = (row.line, row.lines) if row.side == "new" else (0, 1)
    parts = (_RESIDUE, row.path, row.function, row.side, row.reason)
    return _result(commit, row.code or _RESIDUE, "warning", text, row.path, line, lines, parts)


def _result(
    commit: CheckedCommit, rule: str, level: str, text: str, path: str, line: int, lines: int, parts: tuple[str, ...]
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "partialFingerprints": {"unmoved/v1": hashlib.sha256("\0".join(parts).encode()).hexdigest()},
        "properties": {"commit": commit.commit},
    }
    if path:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"}}
        if line:
            place["region"] = {"startLine": line, "endLine": line + lines - 1}
        result["locations"] = [{"physicalLocation": place}]
    return result
