"""A gate as SARIF 2.1.0: what fails is an error, what warns or is unknown a warning, what the policy or the baseline
lets pass is suppressed with the reason. Fingerprints hold no line numbers. At most MAX_RESULTS, the gravest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from codemods.report.gate_baseline import BASELINED
from codemods.report.gate_model import GatedCommit, GateReport, Obligation, Status, digest_of, ranked
from codemods.report.sarif import MAX_RESULTS, log_bytes, page_rule
from codemods.schema.gate import RULES
from codemods.schema.pages import PAGES
from codemods.schema.pages_deltas import DELTA_PAGES

_LEVELS = {
    Status.FAIL: "error",
    Status.ERROR: "error",
    Status.WARN: "warning",
    Status.INCONCLUSIVE: "warning",
    Status.EXEMPT: "note",
}


def sarif_text(report: GateReport, version: str) -> str:
    every = list(_results(report))
    results = every[:MAX_RESULTS]
    rules = sorted({result["ruleId"] for result in results}, key=lambda rule: (len(rule), rule))
    verdict = {"target": report.target, "verdict": report.verdict.value}
    return log_bytes(
        "gate",
        version,
        [_rule(rule) for rule in rules],
        results,
        total=len(every),
        properties={**verdict, **msgspec.to_builtins(report.totals)},
        automationDetails={"id": "unmoved/gate"},
    ).decode("utf-8")


def _rule(rule: str) -> dict[str, Any]:
    page = DELTA_PAGES.get(rule) or PAGES.get(rule)
    if page is None:
        return {"id": rule, "shortDescription": {"text": RULES.get(rule, rule.replace("-", " "))}}
    return page_rule(rule, page)


def _results(report: GateReport) -> Iterator[dict[str, Any]]:
    for statuses in ((Status.FAIL, Status.ERROR), (Status.INCONCLUSIVE, Status.WARN), (Status.EXEMPT,)):
        for commit in report.commits:
            for each in ranked(commit.of(*statuses)):
                if each.rule:  # what is merely not demanded has none
                    yield _result(commit, each)


def _result(commit: GatedCommit, each: Obligation) -> dict[str, Any]:
    about = f"{each.symbol}: " if each.symbol and each.symbol != each.path else ""
    world = f" When: {'; '.join(each.world)}." if each.world else ""
    following = f" Next: {each.next}." if each.next else ""
    result: dict[str, Any] = {
        "ruleId": each.rule,
        "level": _LEVELS[each.status],
        "message": {"text": f"{about}{each.message}.{world}{following}"},
        "partialFingerprints": {"unmoved/v1": each.digest or digest_of(each.rule, each.symbol, each.message)},
        "properties": {"commit": commit.commit, "kind": each.kind, "status": each.status.value, "symbol": each.symbol},
    }
    if each.status is Status.EXEMPT:
        result["suppressions"] = [{"kind": "external", "justification": each.why or "not demanded"}]
        if each.why == BASELINED:
            result["baselineState"] = "unchanged"
    if each.path:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(each.path), "uriBaseId": "%SRCROOT%"}}
        if each.line:
            place["region"] = {"startLine": each.line}
        result["locations"] = [{"physicalLocation": place}]
    return result
