"""What a gate has to know of a commit before anything is run: its ledger, the readers left behind, the pairs that the
residue asks for, and which findings those pairs settle. Each commit is read once, in one of several processes, and kept
by the ids of its trees and its message where nothing was left behind."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from codemods.cli.prove_derived import Change, Read, changed_paths, derived, merged, read
from codemods.prove.cache import Cache, key_of
from codemods.repo.store import Commit, ObjectStore, empty_tree
from codemods.report.gate import Noted, ReadCommit
from codemods.report.prove_model import Unproved
from codemods.report.verify_model import FindingRow, checked_commit
from codemods.schema.certificate import Certificate
from codemods.schema.config import Settings
from codemods.schema.errors import UnmovedError
from codemods.schema.progress import Progress
from codemods.schema.prove import Pair, PairKind, PairResult
from codemods.schema.verdict import Problem
from codemods.source.files import FileSet
from codemods.verify.certificate import certificate_of
from codemods.verify.chain import Request, each_of_chain
from codemods.verify.change import TreeChange
from codemods.verify.tree_change import between_trees

_OLD_LINE = "(line of the old file)"


class CommitRead(Struct, frozen=True, kw_only=True):
    """A commit that was read. verdict: `agrees` where reading alone found nothing that fails; only that is kept.

    found: pairs that are settled, or can't be, without a run."""

    verdict: str
    read: ReadCommit
    pairs: tuple[Pair, ...]
    found: tuple[PairResult, ...]


def read_commit(
    store: ObjectStore, oid: str, settings: Settings, *, proved: frozenset[str] | None = None
) -> CommitRead:
    """The ledger and what follows from it, against each parent. proved: the commits whose pairs are wanted; None for
    all. Raises UnmovedError for what can't be read."""
    commit = store.commit(oid)
    parents = commit.parents or ("",)
    trees = [store.commit(parent).tree if parent else empty_tree(oid) for parent in parents]
    changes = [between_trees(store, tree, commit.tree, settings) for tree in trees]
    reads = [read(change) for change in changes]
    ledgers = [(parent, tree, each.ledger) for parent, tree, each in zip(parents, trees, reads, strict=True)]
    derives = proved is None or oid in proved
    return read_of(certificate_of(commit, ledgers), commit.message, changes, reads, derives=derives)


def read_of(
    certificate: Certificate, message: str, changes: Sequence[TreeChange], reads: Sequence[Read], *,
    derives: bool = True,
) -> CommitRead:  # fmt: skip
    """changes, reads: of each parent, in order. derives: whether the pairs that the residue asks for are looked for."""
    names = ("", "")
    if not derives:
        change = Change("", changes[0].old, changes[0].new, tuple(sorted(changed_paths(changes[0]))), ())
    elif len(changes) == 1:
        change = derived("", changes[0], names, takes_all=False, known=reads[0])
    else:
        change = merged("", changes, names, takes_all=False, known=reads)
    noted = tuple(_noted(certificate, change, changes[0], reads))
    found = tuple(each for each in change.found if each.kind is not PairKind.READER)
    is_clean = not found and not any(each.is_reader or each.finding.code == "gave-up" for each in noted)
    return CommitRead(
        verdict="agrees" if is_clean else "differs",
        read=ReadCommit(
            checked=checked_commit(certificate),
            message=message,
            noted=noted,
            altered=_altered(changes),
            changed=change.changed,
            unproved=change.unproved,
            digests=tuple(_digest(change.old, change.new, each) for each in change.unproved),
            entries=tuple(certificate.against[0].entries),
        ),
        pairs=change.pairs,
        found=found,
    )


def _noted(
    certificate: Certificate, change: Change, whole: TreeChange, reads: Sequence[Read]
) -> Generator[Noted, None, None]:
    """Findings against every parent: what only one of them differs in is that branch's own. Readers of what is gone
    against any: it may have gone on one branch, and come to be read on the other."""
    left = {(each.code, each.path, each.line) for one in reads for each in one.left}
    common = set.intersection(*({*one.problems} for one in certificate.against))
    kept = {*certificate.problems, *common}
    for one in certificate.against:
        kept |= {each for each in one.problems if (each.code, each.path, each.line) in left}
    waiting = sorted(kept)
    covered = _covered(waiting, change, whole)
    for each in waiting:
        is_reader = (each.code, each.path, each.line) in left
        finding = FindingRow(code=each.code, path=each.path, line=each.line, message=each.message)
        yield Noted(finding=finding, is_reader=is_reader, is_covered=not is_reader and each in covered)


def _covered(problems: Sequence[Problem], change: Change, whole: TreeChange) -> set[Problem]:
    """Those whose line some pair runs."""
    from codemods.prove.pairs_covered import uncovered

    places = {
        each: ("old" if _OLD_LINE in each.message else "new", each.path)
        for each in problems
        if each.path.endswith(".py") and each.line and (each.code == "differs" or each.code[:1] == "U")
    }
    if not places or not change.pairs:
        return set()
    lines: dict[tuple[str, str], set[int]] = {}
    for each, key in places.items():
        lines.setdefault(key, set()).add(each.line)
    try:
        left = uncovered(whole.old, whole.new, change.changed, change.pairs, lines)
    except UnmovedError:
        return set()
    return {each for each, key in places.items() if each.line not in left.get(key, ())}


def _altered(changes: Sequence[TreeChange]) -> tuple[str, ...]:
    """Files that every parent had, and that are not as any of them had it."""
    found = [
        {each.path for each in change.changes if each.before is not None}
        | {each.path for each in change.opaque if each.old_lines}
        for change in changes
    ]
    return tuple(sorted(set.intersection(*found)))


def _digest(old: FileSet, new: FileSet, each: Unproved) -> str:
    """Of the lines themselves, in any order and place."""
    texts = []
    for side, files in (("new", new), ("old", old)):
        lines = files.read(each.path).split(b"\n") if each.path in files else []
        numbers = _numbers(each.at, side) if each.at else range(1, len(lines) + 1)
        texts += [lines[number - 1].strip() for number in numbers if 0 < number <= len(lines)]
    return hashlib.sha256(b"\n".join(sorted(texts))).hexdigest()[:16]


def _numbers(at: str, side: str) -> list[int]:
    """`3-5, 9 (old 2)`: the lines of one side."""
    new, _, old = at.partition("old ")
    text = (new if side == "new" else old).strip(" ()")
    spans = [part.split("-") for part in text.split(", ") if part]
    return [number for span in spans for number in range(int(span[0]), int(span[-1]) + 1)]


class ReadRequest(Struct, frozen=True, kw_only=True):
    """Which commits of which repository. cache_dir: the root whose cache is used; None for none. is_proved: by the
    message of a commit, whether its pairs may be wanted."""

    git_dir: Path
    commits: tuple[str, ...]
    settings: Settings
    jobs: int
    cache_dir: Path | None
    is_proved: Callable[[str], bool]


def read_commits(request: ReadRequest, store: ObjectStore, progress: Progress) -> Generator[CommitRead, None, None]:
    """Each commit in order: what is known from before, and the others read a few ahead."""
    cache, settings = Cache(request.cache_dir), msgspec.json.encode(request.settings)
    proved = frozenset(oid for oid in request.commits if request.is_proved(store.commit(oid).message))
    keys = {oid: key_for(store, store.commit(oid), settings, derives=oid in proved) for oid in request.commits}
    known = {oid: cache.get(key, CommitRead) for oid, key in keys.items()}
    asked = Request(
        git_dir=request.git_dir,
        commits=tuple(oid for oid in request.commits if known[oid] is None),
        settings=request.settings,
        caches=request.cache_dir is not None,
        work=partial(read_commit, proved=proved),
    )
    with contextlib.closing(each_of_chain(asked, request.jobs, progress)) as fresh:
        for oid in request.commits:
            found = known.pop(oid)
            if found is None:
                made = next(fresh)
                assert isinstance(made, CommitRead)
                cache.put(keys[oid], made)
                found = made
            yield _named(found, oid, store)


def key_for(store: ObjectStore, commit: Commit, settings: bytes, *, derives: bool) -> str:
    """By trees and message, so that what was read survives a rebase onto the same."""
    trees = [store.commit(parent).tree for parent in commit.parents]
    return key_of("gate", "pairs" if derives else "ledger", commit.tree, *trees, commit.message, settings)


def _named(found: CommitRead, oid: str, store: ObjectStore) -> CommitRead:
    """With the names that the commit has now."""
    checked = msgspec.structs.replace(found.read.checked, commit=oid, parents=list(store.commit(oid).parents))
    return msgspec.structs.replace(found, read=msgspec.structs.replace(found.read, checked=checked))
