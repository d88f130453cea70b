"""Proved pairs as JUnit XML: a testcase a pair; `failure` where it differs, `skipped` where it is inconclusive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from codemods.report.lines import plain
from codemods.report.prove_model import PairRow, ProveReport
from codemods.report.prove_text import pair_lines
from codemods.schema.prove import ProofVerdict

# What XML 1.0 has no place for, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(report: ProveReport) -> str:
    return "".join(_parts(report))


def _parts(report: ProveReport) -> Iterator[str]:
    totals = report.totals
    counts = (
        f'tests="{totals.pairs}" failures="{totals.differs}" errors="0" skipped="{totals.inconclusive}" '
        f'time="{totals.seconds:.3f}"'
    )
    yield f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="unmoved" {counts}>\n'
    yield f'<testsuite name="unmoved prove" {counts}>\n'
    if report.old or report.new:
        yield f"<properties>\n{property_of('old', report.old)}{property_of('new', report.new)}</properties>\n"
    for row in report.pairs:
        yield from _case(row)
    yield "</testsuite>\n</testsuites>\n"


def _case(row: PairRow) -> Iterator[str]:
    """The class is the module of the new side, as test runners group by it."""
    module, _, qualname = row.new.partition(":")
    name = qualname or f"import {module}"
    name += f" ({row.old})" if row.old != row.new else ""
    name += f" [{row.change}]" if row.change else ""
    kind = "" if row.kind.value == "callable" else f"{row.kind.value} "
    yield f'<testcase classname={attribute(module)} name={attribute(kind + name)} time="{row.seconds:.3f}"'
    body = "".join(_outcome(row)) or passed_properties(row)
    yield f">\n{body}</testcase>\n" if body else "/>\n"


def _outcome(row: PairRow) -> Iterator[str]:
    if row.verdict is ProofVerdict.INCONCLUSIVE:
        yield f"<skipped message={attribute(row.reason or 'inconclusive')}/>\n"
        yield f"<system-out>{element_text(plain(pair_lines(row)))}</system-out>\n"
    elif row.verdict is ProofVerdict.DIFFERS:
        first = row.open[0] if row.open else None
        code, message = (first.code, f"{first.path}:{first.line} {first.message}") if first else ("stale", row.reason)
        yield f"<failure type={attribute(code)} message={attribute(message)}>"
        yield f"{element_text(plain(pair_lines(row)))}</failure>\n"


def passed_properties(row: PairRow) -> str:
    numbers = {
        "level": row.level.value,
        "paths": row.paths,
        "faults": row.faults,
        "cases": row.cases,
        "mutants": f"{row.mutants.killed}/{row.mutants.total}",
    }
    return f"<properties>\n{''.join(property_of(key, str(value)) for key, value in numbers.items())}</properties>\n"


def property_of(name: str, value: str) -> str:
    return f"<property name={attribute(name)} value={attribute(value)}/>\n"


def attribute(text: str) -> str:
    return quoteattr(_ILLEGAL.sub("\ufffd", text), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def element_text(text: str) -> str:
    return escape(_ILLEGAL.sub("\ufffd", text))
