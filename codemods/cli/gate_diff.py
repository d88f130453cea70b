"""The diff of a judged commit with what the ledger says of each changed line, for a page that shows it. Only read where
somebody asks for that page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codemods.cli.prove_trees import Trees
from codemods.cli.session import Session
from codemods.repo.ranges import resolve_range
from codemods.repo.store import empty_tree
from codemods.report.gate_html import DiffFile, DiffRow
from codemods.report.gate_model import GatedCommit
from codemods.schema.certificate import CertifiedLines
from codemods.schema.errors import UnmovedError
from codemods.schema.result import FileChange
from codemods.verify.change import TreeChange, hunks_of
from codemods.verify.line_diff import split_lines

_MOST_LINES = 3_000  # of a commit
_CONTEXT = 2

Entries = Sequence[CertifiedLines]
_Marks = dict[tuple[str, str, int], CertifiedLines]


class Diffs:
    """entries: the ledger of each commit against its first parent."""

    def __init__(self, session: Session, trees: Trees, entries: Mapping[str, Entries]) -> None:
        self._session, self._trees, self._entries = session, trees, entries

    def of(self, commit: GatedCommit) -> list[DiffFile]:
        """Nothing for what is no commit, and for what can't be read again."""
        entries = self._entries.get(commit.commit)
        if commit.checked is None or entries is None:
            return []
        try:
            change = self._change(commit)
        except UnmovedError:
            return []
        marks: _Marks = {
            (each.path, each.side, line): each for each in entries for line in range(each.line, each.line + each.lines)
        }
        left, found = _MOST_LINES, []
        for file in change.changes:
            rows = _rows(change, file, marks)[:left]
            left -= len(rows)
            found.append(DiffFile(file.path, rows, is_cut=left <= 0))
            if left <= 0:
                break
        return found

    def _change(self, commit: GatedCommit) -> TreeChange:
        if not commit.commit.isalnum() or commit.commit == "staged":
            old, _, new = commit.commit.partition("..")
            return self._trees.change(old, new)
        found = resolve_range(self._session.root, commit.commit)
        store = self._trees.store(found.git_dir)
        made = store.commit(found.commits[0])
        old = store.commit(made.parents[0]).tree if made.parents else empty_tree(made.oid)
        return self._trees.commits(found.git_dir, old, made.tree)


def _rows(change: TreeChange, file: FileChange, marks: _Marks) -> list[DiffRow]:
    old, new = split_lines(file.before or b""), split_lines(file.after or b"")
    found: list[DiffRow] = []
    for hunk in hunks_of(change, file):
        if found:
            found.append(DiffRow("gap", 0, "", "", "", ""))
        start = max(hunk.new_start - _CONTEXT, 0)
        found += [DiffRow("same", at + 1, _text(new[at]), "", "", "") for at in range(start, hunk.new_start)]
        for side, lines, first, end in (
            ("old", old, hunk.old_start, hunk.old_end),
            ("new", new, hunk.new_start, hunk.new_end),
        ):
            found += [_row(file.path, side, at, lines[at], marks) for at in range(first, end)]
    return found


def _row(path: str, side: str, at: int, raw: bytes, marks: _Marks) -> DiffRow:
    mark = marks.get((path, side, at + 1))
    if mark is None:
        return DiffRow(side, at + 1, _text(raw), "", "", "")
    return DiffRow(side, at + 1, _text(raw), mark.kind, f"{mark.code} {mark.reason}".strip(), mark.function)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").rstrip("\r\n").expandtabs()
