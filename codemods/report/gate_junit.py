"""A gate as JUnit XML: a suite a commit, a testcase an obligation. `failure` where the check says no, `error` where it
could not look, `skipped` where nothing is known, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from codemods.report.gate_model import GatedCommit, GateReport, Obligation, Status
from codemods.report.lines import plain
from codemods.report.prove_junit import attribute, element_text, passed_properties, property_of
from codemods.report.prove_text import pair_lines
from codemods.report.verify_model import short_name

_COUNTED = ((Status.FAIL, "failures"), (Status.ERROR, "errors"), (Status.INCONCLUSIVE, "skipped"))


def junit_text(report: GateReport) -> str:
    return "".join(_parts(report))


def _parts(report: GateReport) -> Iterator[str]:
    found = [each for commit in report.commits for each in commit.obligations]
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<testsuites name="unmoved" {_counts(found)} time="{report.totals.seconds:.3f}">\n'
    for commit in report.commits:
        seconds = sum(row.seconds for row in commit.pairs)
        name = f"{short_name(commit.commit)} {commit.subject}".strip()
        yield f'<testsuite name={attribute(name)} {_counts(commit.obligations)} time="{seconds:.3f}">\n'
        yield f"<properties>\n{property_of('commit', commit.commit)}</properties>\n"
        names: Counter[str] = Counter()
        for each in commit.obligations:
            name = " ".join(part for part in (each.kind, each.rule, each.symbol) if part)
            names[name] += 1
            again = f" ({names[name]})" if names[name] > 1 else ""
            yield from _case(commit, each, name + again)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _counts(found: list[Obligation]) -> str:
    counts = [f'{word}="{sum(each.status is status for each in found)}"' for status, word in _COUNTED]
    return f'tests="{len(found)}" {" ".join(counts)}'


def _case(commit: GatedCommit, each: Obligation, name: str) -> Iterator[str]:
    row = commit.pairs[each.pair] if 0 <= each.pair < len(commit.pairs) else None
    seconds = row.seconds if row is not None else 0.0
    yield f'<testcase classname={attribute(short_name(commit.commit))} name={attribute(name)} time="{seconds:.3f}">\n'
    told = plain(pair_lines(row)) if row is not None else "\n".join((*each.world, each.next))
    place = f"{each.path}:{each.line} " if each.path else ""
    if each.status in (Status.FAIL, Status.ERROR):
        tag = "failure" if each.status is Status.FAIL else "error"
        yield f"<{tag} type={attribute(each.rule)} message={attribute(place + each.message)}>"
        yield f"{element_text(told)}</{tag}>\n"
    elif each.status is Status.INCONCLUSIVE:
        yield f"<skipped message={attribute(each.message)}/>\n<system-out>{element_text(told)}</system-out>\n"
    else:
        if row is not None and each.status is Status.PASS:
            yield passed_properties(row)
        why = f" ({each.why})" if each.why else ""
        yield f"<system-out>{element_text(f'{each.status.value}: {place}{each.message}{why}')}</system-out>\n"
    yield "</testcase>\n"
