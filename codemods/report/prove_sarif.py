"""Proved pairs as SARIF 2.1.0: a difference is an error under its code, a declared one is suppressed, what is
inconclusive is a warning. Fingerprints hold no line numbers. At most MAX_RESULTS, the open ones first."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from codemods.report.prove_model import DeltaRow, PairRow, ProveReport
from codemods.report.sarif import MAX_RESULTS, log_bytes, page_rule
from codemods.schema.pages_deltas import DELTA_PAGES
from codemods.schema.prove import ProofVerdict

INCONCLUSIVE, STALE = "inconclusive", "stale-declaration"
_TEXTS = {
    INCONCLUSIVE: "A pair that could not be compared, so it has not passed",
    STALE: "A declaration of a spec that is out of date",
}
_LINE_NUMBERS = re.compile(r"(?<=:)\d+")


def sarif_bytes(report: ProveReport, version: str) -> bytes:
    every = [*_open(report), *_declared(report)]
    results = every[:MAX_RESULTS]
    rules = sorted({result["ruleId"] for result in results}, key=lambda rule: (len(rule), rule))
    return log_bytes(
        "prove",
        version,
        [_rule(rule) for rule in rules],
        results,
        total=len(every),
        properties=msgspec.to_builtins(report.totals),
        automationDetails={"id": "unmoved/prove"},
    )


def _rule(rule: str) -> dict[str, Any]:
    page = DELTA_PAGES.get(rule)
    if page is None:
        return {"id": rule, "shortDescription": {"text": _TEXTS.get(rule, f"See `unmoved explain {rule}`")}}
    return page_rule(rule, page)


def _open(report: ProveReport) -> Iterator[dict[str, Any]]:
    for row in report.pairs:
        for delta in row.open:
            yield _difference(row, delta, "error")
        if row.verdict is ProofVerdict.DIFFERS and not row.open:
            yield _result(row, STALE, "error", row.reason, (row.reason,))
    for row in report.pairs:
        if row.verdict is ProofVerdict.INCONCLUSIVE:
            text = f"{row.name}: {row.reason or 'could not be compared'}"
            yield _result(row, INCONCLUSIVE, "warning", text, ())


def _declared(report: ProveReport) -> Iterator[dict[str, Any]]:
    for row in report.pairs:
        for delta in row.deltas:
            if delta.declared:
                made = _difference(row, delta, "note")
                made["suppressions"] = [{"kind": "external", "justification": f"declared in the spec of {row.name}"}]
                yield made


def _difference(row: PairRow, delta: DeltaRow, level: str) -> dict[str, Any]:
    world = f" When: {'; '.join(delta.world)}." if delta.world else ""
    made = _result(row, delta.code, level, f"{row.name}: {delta.message}.{world}", (delta.path, delta.message))
    if delta.path:
        made["locations"] = [_location(delta.path, delta.line)]
    if delta.old_path:
        before = _location(delta.old_path, delta.old_line)
        made["relatedLocations"] = [{**before, "id": 1, "message": {"text": "the old side"}}]
    return made


def _result(row: PairRow, rule: str, level: str, text: str, parts: tuple[str, ...]) -> dict[str, Any]:
    identity = "\0".join((rule, row.old, row.new, *(_LINE_NUMBERS.sub("", part) for part in parts)))
    properties: dict[str, Any] = {"old": row.old, "new": row.new, "kind": row.kind.value}
    if row.change:
        properties["change"] = row.change
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "partialFingerprints": {"unmoved/v1": hashlib.sha256(identity.encode()).hexdigest()},
        "properties": properties,
    }


def _location(path: str, line: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"}}
    if line:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}
