"""What `unmoved gate` looks at, in order: commits of a range, two directories, what is staged, frozen pairs. Reads
each, proves what the policy asks for within its time, and hands both to report/gate.py."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codemods.cli.gate_read import CommitRead, ReadRequest, read_commits, read_of
from codemods.cli.gate_specs import Declarations, is_frozen
from codemods.cli.prove_changes import named
from codemods.cli.prove_frozen import is_partial, partial_change
from codemods.cli.prove_trees import SourceLines, Trees
from codemods.cli.session import Session, UsageProblem, without_collector
from codemods.prove.cache import key_of
from codemods.prove.options import ProveOptions
from codemods.prove.spec import Spec
from codemods.repo.ranges import Range, resolve_range
from codemods.repo.store import ObjectStore, empty_tree
from codemods.repo.walk import Patterns
from codemods.report.gate import OUT_OF_TIME, ReadCommit, Scope, frozen, is_held, judged, may_be_held, unread, whole_run
from codemods.report.gate_model import GatedCommit
from codemods.report.prove_model import PairRow, pair_row
from codemods.schema.certificate import CertifiedLines
from codemods.schema.prove import Pair, PairResult, inconclusive
from codemods.source.files import FileSet

if TYPE_CHECKING:
    from codemods.verify.change import TreeChange


class Asked(NamedTuple):
    """targets: a range, a commit, or two directories; () for none. proves: whether anything is run."""

    targets: tuple[str, ...]
    is_staged: bool
    is_frozen: bool
    proves: bool
    jobs: int
    options: ProveOptions
    keeps_ledgers: bool = False


class _Sides(NamedTuple):
    """Both trees of a change. identity: of both, where they have one without being read."""

    old: FileSet
    new: FileSet
    changed: tuple[str, ...]
    identity: str = ""


class _Over(Exception):
    """The time is."""


class GateRun:
    """One run. trees: opened, and closed by their owner."""

    def __init__(self, session: Session, asked: Asked, trees: Trees, specs: Sequence[Spec]) -> None:
        policy = session.resolved.config.gate
        self._session, self._asked, self._trees = session, asked, trees
        self._specs, self._declared = specs, Declarations(specs)
        self.entries: dict[str, tuple[CertifiedLines, ...]] = {}  # of each commit, where a page is to show them
        self._end = time.monotonic() + policy.seconds if policy.seconds else float("inf")
        recordings = tuple(f"/{each.strip('/')}" for each in policy.recordings)
        self._patterns = [Patterns(each) for each in (policy.out_of_scope, policy.always, recordings)]
        accept = session.resolved.config.accept
        out, always, recorded = (each.hold for each in self._patterns)
        self._scope = Scope(policy, out, always, recorded, accept)

    def commits(self) -> Iterator[GatedCommit]:
        """Each as it is judged. What is asked of the whole run comes last."""
        asked = self._asked
        if asked.is_staged:
            yield self._staged()
        elif len(asked.targets) == 2:
            yield self._directories(asked.targets[0], asked.targets[1])
        elif asked.targets:
            yield from self._range(asked.targets[0])
        if asked.is_frozen:
            yield from self._frozen()
        stale = list(self._declared.stale())
        if stale:
            yield whole_run("specs", stale, self._scope)

    # -- what is looked at

    def _range(self, text: str) -> Iterator[GatedCommit]:
        if Path(text).is_dir() and ".." not in text.replace("../", ""):
            raise UsageProblem(f"{text} is a directory, and one alone has no change", fix="name the other one")
        found = resolve_range(self._session.root, text)
        store, total = self._trees.store(found.git_dir), len(found.commits)
        with contextlib.ExitStack() as stack:
            progress = stack.enter_context(self._session.progress())
            reads = stack.enter_context(contextlib.closing(read_commits(self._request(found), store, progress)))
            for number, oid in enumerate(found.commits, 1):
                if time.monotonic() > self._end:
                    yield unread(oid, self._scope)
                    continue
                each = next(reads)
                progress.step(min(number + 1, total), total, f"after {oid[:12]}")
                yield self._judged(each, lambda: self._of_commit(found, store, oid))  # noqa: B023 - called at once

    def _request(self, found: Range) -> ReadRequest:
        return ReadRequest(
            git_dir=found.git_dir,
            commits=found.commits,
            settings=self._session.resolved.settings,
            jobs=self._asked.jobs,
            cache_dir=self._asked.options.cache_dir,
            is_proved=lambda message: self._asked.proves and may_be_held(message, self._scope.policy),
        )

    def _of_commit(self, found: Range, store: ObjectStore, oid: str) -> _Sides:
        commit = store.commit(oid)
        old = store.commit(commit.parents[0]).tree if commit.parents else empty_tree(oid)
        return self._between(found.git_dir, old, commit.tree)

    def _between(self, git_dir: Path, old: str, new: str) -> _Sides:
        import msgspec

        change = self._trees.commits(git_dir, old, new)
        identity = key_of("trees", old, new, msgspec.json.encode(self._session.resolved.settings))
        return _sides(change, identity)

    def _staged(self) -> GatedCommit:
        """What the next commit would be: nobody knows its message yet, so nothing is claimed."""
        from codemods.cli.prove_derived import read
        from codemods.repo.staged import staged
        from codemods.verify.certificate import certificate_of
        from codemods.verify.tree_change import between_trees

        found = staged(self._session.root)
        store = self._trees.store(found.git_dir)
        with without_collector():
            change = between_trees(store, found.old_tree, found.commit.tree, self._session.resolved.settings)
            ledger = read(change)
            parent = found.commit.parents[0] if found.commit.parents else ""
            certificate = certificate_of(found.commit, [(parent, found.old_tree, ledger.ledger)])
            made = read_of(certificate, "", [change], [ledger])
        return self._judged(made, lambda: self._between(found.git_dir, found.old_tree, found.commit.tree))

    def _directories(self, old: str, new: str) -> GatedCommit:
        from codemods.cli.prove_derived import read
        from codemods.repo.plain_tree import PlainTree
        from codemods.verify.certificate import certificate_of_directories

        for name in (old, new):
            if not Path(name).is_dir():
                raise UsageProblem(f"{name} is not a directory", fix="name two directories, or one range A..B")
        change = self._trees.change(old, new)
        ledger = read(change)
        certificate = certificate_of_directories(
            f"{old}..{new}", PlainTree(Path(old)), PlainTree(Path(new)), ledger.ledger
        )
        return self._judged(read_of(certificate, "", [change], [ledger]), lambda: _sides(change))

    def _frozen(self) -> Iterator[GatedCommit]:
        """Pairs whose old side is kept: each file of specs that names its trees."""
        specs = [spec for spec in self._specs if is_frozen(spec)]
        if not specs:
            raise UsageProblem(
                "no spec names an `old-tree`, so there are no frozen pairs",
                fix="write specs below `specs` of [tool.unmoved.gate], or leave --frozen out",
            )
        for spec in specs:
            names = (spec.old_tree, spec.new_tree)
            if is_partial(names):
                change = partial_change(self._trees, spec.pairs, names)
            else:
                change = named("", self._trees.change(*names), spec.pairs, names)
            rows = self._rows(change.pairs, _Sides(change.old, change.new, change.changed))
            yield frozen(self._shown(spec.path), rows, self._scope)

    def _shown(self, path: str) -> str:
        place, root = Path(path).resolve(), self._session.root.resolve()
        return place.relative_to(root).as_posix() if place.is_relative_to(root) else path

    # -- one of them

    def _judged(self, each: CommitRead, sides: object) -> GatedCommit:
        read: ReadCommit = each.read
        for patterns in self._patterns:
            patterns.look((*read.changed, *read.altered))
        rows: list[PairRow] = []
        if self._asked.keeps_ledgers:
            self.entries[read.checked.commit] = read.entries
        if self._asked.proves and is_held(read, self._scope):
            if each.pairs:
                assert callable(sides)
                rows = self._rows(each.pairs, sides(), can_declare=True)
            rows += [pair_row(one, lambda *_: "") for one in each.found]
        return judged(read, rows, self._scope, proves=self._asked.proves)

    def _rows(self, pairs: Sequence[Pair], sides: _Sides, *, can_declare: bool = False) -> list[PairRow]:
        """can_declare: specs may say something of pairs that nobody wrote down."""
        source = SourceLines(sides.old, sides.new)
        numbers = [-1] * len(pairs)
        if can_declare:
            said = [self._declared.applied(pair, sides.old, sides.new) for pair in pairs]
            pairs, numbers = [pair for pair, _ in said], [number for _, number in said]
        results = self._proved(pairs, sides)
        for at, (pair, number) in enumerate(zip(pairs, numbers, strict=True)):
            less = self._declared.noted(number, pair, results[at])
            if less is not None:
                [results[at]] = self._proved([less], sides)
                self._declared.noted(number, less, results[at])
        return [pair_row(result, source) for result in results]

    def _proved(self, pairs: Sequence[Pair], sides: _Sides) -> list[PairResult]:
        """In order. What the time does not reach is inconclusive with that as the reason."""
        from codemods.prove.proving import prove_pairs

        found: list[PairResult] = []

        def done(result: PairResult) -> None:
            found.append(result)
            if len(found) < len(pairs) and time.monotonic() > self._end:
                raise _Over

        try:
            if time.monotonic() > self._end:
                raise _Over
            prove_pairs(sides.old, sides.new, sides.changed, pairs, self._asked.options, done, identity=sides.identity)
        except _Over:
            found += [inconclusive(pair, OUT_OF_TIME) for pair in pairs[len(found) :]]
        return found


def _sides(change: TreeChange, identity: str = "") -> _Sides:
    from codemods.cli.prove_derived import changed_paths

    return _Sides(change.old, change.new, tuple(sorted(changed_paths(change))), identity)
