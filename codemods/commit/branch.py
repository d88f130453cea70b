"""Writes a plan's drafts as commits on a new branch, whole or not at all: the branch is made last, in one step.

The work tree, the index and HEAD stay as they are. Whether the repository is fit is preflight.py's to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from codemods.commit.message import message
from codemods.commit.net import drafts, net_changes, renamed_from
from codemods.commit.preflight import check_repository
from codemods.repo.objects import (
    PLAIN,
    Entry,
    TreeWriter,
    blob_ids,
    check_branch_name,
    create_branch,
    filtered_blob,
    user_identity,
    write_commit,
)
from codemods.repo.state import Repository, find_repository, resolve_commit
from codemods.schema.errors import GitError
from codemods.schema.result import CommitDraft, FileChange, Phase, PlanResult


class NotInBase(GitError):
    """The commit to start from does not hold the file that the plan read."""

    code = "not-in-base"


class WrittenCommit(Struct, frozen=True, kw_only=True):
    """One commit of the new branch; `commit` is the full hash, `step` counts from 1."""

    step: int
    phase: Phase
    commit: str
    subject: str


def write_branch(root: Path, result: PlanResult, name: str, base: str | None = None) -> tuple[WrittenCommit, ...]:
    """One commit for each draft, in order, on top of HEAD or of `base`, then the branch `name`; () for an empty plan.

    Paths in drafts are relative to `root`, which may be any directory of the work tree. Raises a GitError that says
    what is in the way, and then no ref has changed."""
    repository, start = check_repository(root, base)
    check_branch_name(repository.root, name)
    net_changes(result)  # refuses a chain that does not hold together
    numbered = [(number, draft, message(result.plan_id, number, draft)) for number, draft in drafts(result)]
    if not numbered:
        return ()
    identity = user_identity(repository.root)
    plan_drafts = [draft for _, draft, _ in numbered]
    written: list[WrittenCommit] = []
    with TreeWriter(repository.root, start) as tree:
        found = _compare(repository, tree, plan_drafts)
        entries = _entries(repository, found, plan_drafts, renamed_from(result))
        parent = start
        for number, draft, text in numbered:
            for change in draft.changes:
                tree.put(
                    repository.prefix + change.path,
                    None if change.after is None else entries[change.path, change.after],
                )
            parent = write_commit(repository.root, tree=tree.write(), parents=[parent], message=text, identity=identity)
            subject = text.partition("\n")[0]
            written.append(WrittenCommit(step=number, phase=draft.phase, commit=parent, subject=subject))
    why = f"unmoved apply: plan {result.plan_id}"
    create_branch(repository.root, name=name, commit=parent, identity=identity, why=why)
    return tuple(written)


def has_branch(root: Path, name: str) -> bool:
    """Whether the branch is there: for who was interrupted while writing it."""
    repository = find_repository(root)
    return repository is not None and resolve_commit(repository, f"refs/heads/{name}") is not None


class _Start(Struct, frozen=True):
    """What the base holds at the paths of a plan: their modes, and the paths whose bytes git filters on the way in."""

    modes: dict[str, str]
    filtered: frozenset[str]


def _compare(repository: Repository, tree: TreeWriter, plan_drafts: Sequence[CommitDraft]) -> _Start:
    """Raises NotInBase where the plan read something else than the commit to start from holds."""
    first: dict[str, FileChange] = {}
    for draft in plan_drafts:
        for change in draft.changes:
            first.setdefault(change.path, change)
    read = [change.before for change in first.values() if change.before is not None]
    oids = blob_ids(repository.root, read, store=False)
    modes: dict[str, str] = {}
    filtered: set[str] = set()
    for path, change in first.items():
        entry = tree.entry(repository.prefix + path)
        if entry is not None and not entry.is_file:
            fix = "name the real file, or commit it in place of the link"
            raise NotInBase("is no plain file, but a symlink or the like", fix=fix, path=path)
        if change.before is None:
            if entry is not None:
                raise NotInBase("is in the commit to start from, but was not in the tree", fix=_FIX, path=path)
            continue
        if entry is None:
            raise NotInBase(
                "is not a file of the commit to start from",
                fix=f"commit it first (`git add {path} && git commit`), or leave it out: list it in .gitignore",
                path=path,
            )
        modes[path] = entry.mode
        if entry.oid != oids[change.before]:
            if filtered_blob(repository.root, path, change.before) != entry.oid:
                raise NotInBase("differs from the commit to start from", fix=_FIX, path=path)
            filtered.add(path)
    return _Start(modes, frozenset(filtered))


def _entries(
    repository: Repository, start: _Start, plan_drafts: Sequence[CommitDraft], renamed: Mapping[str, str]
) -> dict[tuple[str, bytes], Entry]:
    """The tree entry of each content a path ever has; the blobs are stored. A new file is a plain one, or has the mode
    that its bytes had under their old name."""
    contents = {
        (change.path, change.after) for draft in plan_drafts for change in draft.changes if change.after is not None
    }
    stored = blob_ids(
        repository.root, (raw for path, raw in sorted(contents) if path not in start.filtered), store=True
    )
    return {
        (path, raw): Entry(
            start.modes.get(path) or start.modes.get(renamed.get(path, ""), PLAIN),
            filtered_blob(repository.root, path, raw) if path in start.filtered else stored[raw],
        )
        for path, raw in contents
    }


_FIX = "run the plan again on that commit"
