"""From a ledger to a certificate and back: one commit, or two directories, checked and written down; and a certificate
checked again, with the kernel in place of the search for explanations."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from codemods import __version__
from codemods.repo.plain_tree import PlainTree
from codemods.repo.store import Commit, ObjectStore, empty_tree
from codemods.schema.certificate import Against, Certificate, CertifiedLines
from codemods.schema.config import Settings
from codemods.schema.errors import SourceError
from codemods.schema.verdict import Explained, Ledger, Problem
from codemods.verify.change import TreeChange
from codemods.verify.ledger import account
from codemods.verify.limits import MAX_COMMIT_S
from codemods.verify.message_claims import refuted
from codemods.verify.python_lines import python_version
from codemods.verify.time_limit import TookTooLong, time_limit
from codemods.verify.tree_change import between_directories, between_trees

Explain = Callable[[TreeChange], Explained]
Readers = Callable[[TreeChange], Sequence[Problem]]
_Result = TypeVar("_Result")


def certify(store: ObjectStore, commit: str, settings: Settings, explain: Explain, readers: Readers) -> Certificate:
    """The commit against each of its parents; one without parents against nothing."""
    found = store.commit(commit)
    against = []
    for parent in found.parents or ("",):
        old = store.commit(parent).tree if parent else empty_tree(commit)
        change = between_trees(store, old, found.tree, settings)
        against.append((parent, old, examine(change, explain, readers)))
    return certificate_of(found, against)


def certificate_of(found: Commit, ledgers: Sequence[tuple[str, str, Ledger]]) -> Certificate:
    """ledgers: of each comparison, with the parent ("" for none) and the tree it is with."""
    against = [_against(parent, tree, ledger) for parent, tree, ledger in ledgers]
    return Certificate(
        tool=__version__,
        python=python_version(),
        commit=found.oid,
        subject=_shown(found.subject),
        tree=found.tree,
        parents=list(found.parents),
        against=against,
        problems=refuted(found.message, against),
    )


def certify_directories(
    label: str, old: PlainTree, new: PlainTree, settings: Settings, explain: Explain, readers: Readers
) -> Certificate:
    """Two directories as one commit."""
    change = between_directories(old, new, settings)
    return certificate_of_directories(label, old, new, examine(change, explain, readers))


def certificate_of_directories(label: str, old: PlainTree, new: PlainTree, ledger: Ledger) -> Certificate:
    trees = [directory_digest(tree) for tree in (old, new)]
    return Certificate(
        tool=__version__,
        python=python_version(),
        commit=_shown(label),
        subject="",
        tree=trees[1],
        parents=[trees[0]],
        against=[_against(trees[0], trees[0], ledger)],
    )


def examine(change: TreeChange, explain: Explain, readers: Readers) -> Ledger:
    """The ledger of a change. What explain or the readers can't get through is a finding, and their lines residue."""
    problems: list[Problem] = []
    explained = (_guarded(lambda: explain(change), problems) if change.changes else None) or Explained()
    found = _guarded(lambda: readers(change), problems) or ()
    explained.problems = [*explained.problems, *found, *problems]
    return account(change, explained)


def _guarded(work: Callable[[], _Result], problems: list[Problem]) -> _Result | None:
    """The result; None, with a problem said, for code that can't be got through."""
    try:
        with time_limit(MAX_COMMIT_S):
            return work()
    except TookTooLong:
        problems.append(_gave_up("", 0, f"the commit takes more than {MAX_COMMIT_S} s to look through"))
    except SourceError as error:
        problems.append(_gave_up(error.path, error.line, error.message))
    except (RecursionError, MemoryError) as error:
        what = type(error).__name__
        problems.append(_gave_up("", 0, f"the code is nested too deep, or too large, to look through ({what})"))
    return None


def _gave_up(path: str, line: int, message: str) -> Problem:
    return Problem(path, line, "gave-up", message)


def _against(parent: str, tree: str, ledger: Ledger) -> Against:
    return Against(
        parent=parent,
        tree=tree,
        verdict=ledger.verdict,
        lines=ledger.lines,
        certified=ledger.certified,
        claims=[_shown(claim) for claim in ledger.claims],
        entries=[
            CertifiedLines(
                path=_shown(entry.path),
                side="old" if entry.side.value == "old" else "new",
                line=entry.line,
                lines=entry.lines,
                kind=entry.mark.kind,
                reason=_shown(entry.mark.reason),
                code=entry.mark.code,
                function=_shown(entry.mark.function),
            )
            for entry in ledger.entries
        ],
        problems=[
            msgspec.structs.replace(problem, path=_shown(problem.path), message=_shown(problem.message))
            for problem in ledger.problems
        ],
    )


def _shown(text: str) -> str:
    """Bytes of a name that are not UTF-8, and control characters, escaped: JSON has no place for the former, and a
    terminal obeys the latter."""
    plain = text if text.isascii() else _bytes(text).decode("utf-8", "backslashreplace")
    if plain.isprintable():
        return plain
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in plain)


def _bytes(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:  # half of a pair, from a string of the code
        return text.encode("utf-8", "backslashreplace")


def directory_digest(tree: PlainTree) -> str:
    """Equal for directories with the same files, modes and links."""
    digest = hashlib.sha256()
    for path in sorted(tree.modes()):
        entry = tree.entry(path)
        assert entry is not None
        digest.update(b"%s\0%s %s\n" % (os.fsencode(path), entry.mode.encode(), entry.oid.encode()))
    return f"sha256:{digest.hexdigest()}"
