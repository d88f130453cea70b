"""A gate as JSON, a commit a line: short enough to look at, and quick to write; or each commit alone as a line."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from codemods.report.gate_model import GateReport


def json_parts(report: GateReport) -> Iterator[bytes]:
    raw = msgspec.json.encode
    yield b'{"schema_version": %d,\n"target": %s,\n"verdict": %s,\n"policy": %s,\n"commits": [\n' % (
        report.schema_version, raw(report.target), raw(report.verdict), raw(report.policy),
    )  # fmt: skip
    for number, commit in enumerate(report.commits):
        yield (b",\n" if number else b"") + raw(commit)
    yield b'\n],\n"totals": %s,\n"next": %s}\n' % (raw(report.totals), raw(report.next))


def jsonl_parts(report: GateReport) -> Iterator[bytes]:
    return (msgspec.json.encode(commit) + b"\n" for commit in report.commits)
