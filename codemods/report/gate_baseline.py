"""What may fail for now: entries by rule, symbol and digest of what was found, never by line. A baseline only shrinks:
an entry that is of nothing any more fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from codemods.report.gate_model import GatedCommit, Obligation, Status, verdict_of

BASELINED = "it stands in the baseline"


class BaselineEntry(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    rule: str
    symbol: str
    digest: str


class BaselineFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of `--baseline`. of: what it was written of, `commits` or `frozen` pairs; it is held against those."""

    schema: Literal[1] = 1
    of: Literal["commits", "frozen"] = "commits"
    entries: tuple[BaselineEntry, ...]


def entry_of(each: Obligation) -> BaselineEntry:
    return BaselineEntry(each.rule, each.symbol, each.digest)


def allowed(commit: GatedCommit, entries: Iterable[BaselineEntry]) -> GatedCommit:
    """The commit, with what the baseline has as exempt."""
    known = set(entries)
    found = [
        replace(each, status=Status.EXEMPT, why=BASELINED)
        if each.status is Status.FAIL and entry_of(each) in known
        else each
        for each in commit.obligations
    ]
    return replace(commit, obligations=found, verdict=verdict_of(found))


def stale(entries: Iterable[BaselineEntry], used: Iterable[BaselineEntry], path: str) -> Iterator[Obligation]:
    for each in sorted(set(entries) - set(used)):
        yield Obligation(
            kind="baseline", rule="stale-baseline", status=Status.FAIL, symbol=each.symbol, path=path,
            message=f"{each.rule} of {each.symbol} does not fail any more, or not as it did",
            next=f"run it with `--baseline {path} --write-baseline`, which takes out what is mended",
            digest=each.digest,
        )  # fmt: skip
