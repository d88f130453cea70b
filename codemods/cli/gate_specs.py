"""The specs of a tree, as a gate uses them: those without trees of their own say something of pairs that commits ask
for; those with trees are frozen pairs, proved by themselves. A declaration must occur somewhere in the range."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from codemods.cli.prove_trees import with_dotted_names
from codemods.cli.session import Session, UsageProblem
from codemods.prove.spec import Spec, load_spec
from codemods.report.gate_model import Obligation, Status, digest_of
from codemods.schema.prove import DeclaredDelta, Pair, PairKind, PairResult, ProofVerdict
from codemods.source.files import FileSet

_LAPSED = "the accepted mutant "

Prove = Callable[[Pair], PairResult]
_Key = tuple[str, str, PairKind]


def spec_files(session: Session, given: Sequence[Path]) -> list[Path]:
    """given: of the command line, instead of the configured ones. Raises UsageProblem for one that is not there."""
    root, policy = session.root, session.resolved.config.gate
    places = list(given) or [root / each for each in policy.specs]
    is_default = not given and session.resolved.origins["gate.specs"] == "default"
    found: list[Path] = []
    for place in places:
        if place.is_dir():
            found += sorted(place.rglob("*.toml"))
        elif place.is_file():
            found.append(place)
        elif not is_default:
            raise UsageProblem(f"{place} is not there", fix="mend `specs` of [tool.unmoved.gate], or leave it out")
    return found


def load_specs(session: Session, given: Sequence[Path]) -> list[Spec]:
    return [load_spec(path) for path in spec_files(session, given)]


def is_frozen(spec: Spec) -> bool:
    """Whether it names trees, so that it is about no commit."""
    return bool(spec.old_tree or spec.new_tree)


class _Said(NamedTuple):
    """What a spec says of a pair."""

    spec: str
    line: int
    pair: Pair


class Declarations:
    """What specs declare, and what of it has occurred."""

    def __init__(self, specs: Iterable[Spec]) -> None:
        self._said = [
            _Said(spec.path, line, pair)
            for spec in specs
            if not is_frozen(spec)
            for pair, line in zip(spec.pairs, spec.lines, strict=True)
        ]
        self._asked: set[int] = set()  # which of them were proved
        self._deltas: set[tuple[int, DeclaredDelta]] = set()
        self._mutants: set[tuple[int, str]] = set()

    def applied(self, pair: Pair, old: FileSet, new: FileSet) -> tuple[Pair, int]:
        """The pair with what a spec says of it; the number of that, -1 for nothing."""
        for number, said in enumerate(self._said):
            dotted = with_dotted_names(said.pair, old, new)
            if (dotted.old, dotted.new, dotted.kind) == (pair.old, pair.new, pair.kind):
                return replace(dotted, origin=pair.origin), number
        return pair, -1

    def noted(self, number: int, pair: Pair, result: PairResult) -> Pair | None:
        """Remember what occurred. The pair without what is out of date here, where only that keeps it from agreeing."""
        if number < 0:
            return None
        self._asked.add(number)
        occurred = [each for each in pair.deltas if _occurs(each, result)]
        self._deltas |= {(number, each) for each in occurred}
        explained = {each.id for each in result.mutants.survivors if each.why}
        self._mutants |= {(number, each) for each in explained}
        has_open = any(not delta.declared for delta in result.deltas)
        if result.verdict is ProofVerdict.DIFFERS and not has_open and len(occurred) < len(pair.deltas):
            return replace(pair, deltas=tuple(occurred))
        if result.verdict is ProofVerdict.INCONCLUSIVE and result.reason.startswith(_LAPSED):
            return replace(pair, accepted=tuple(each for each in pair.accepted if each.id in explained))
        return None

    def stale(self) -> Iterator[Obligation]:
        """What was declared for pairs that were proved, and never occurred."""
        for number, said in enumerate(self._said):
            if number not in self._asked:
                continue
            for delta in said.pair.deltas:
                if (number, delta) not in self._deltas:
                    words = f"the declared {delta.code} at {delta.where!r} does not occur in any commit"
                    yield _stale(said, words)
            for each in said.pair.accepted:
                if (number, each.id) not in self._mutants:
                    yield _stale(said, f"the accepted mutant {each.id} survives in no commit")


def _occurs(declared: DeclaredDelta, result: PairResult) -> bool:
    return any(
        delta.declared
        and delta.code == declared.code
        and (
            declared.where in delta.message
            or declared.where in (f"{delta.path}:{delta.line}", f"{delta.old_path}:{delta.old_line}")
        )
        for delta in result.deltas
    )


def _stale(said: _Said, words: str) -> Obligation:
    return Obligation(
        kind="specs", rule="stale-declaration", status=Status.FAIL, symbol=said.pair.new, path=said.spec,
        line=said.line, message=f"{words}: take it out", next=f"take it out of {said.spec}",
        digest=digest_of("stale-declaration", said.pair.old, said.pair.new, words),
    )  # fmt: skip
