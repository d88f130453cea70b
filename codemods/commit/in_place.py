"""Edits a tree by a plan's result: the net effect of all its drafts, all files or none.

Whether the files may be edited is preflight.py's to say, how an edit survives a crash journal.py's."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from codemods.commit.journal import exclusive, has_journal, roll_back, write_all
from codemods.commit.net import net_changes, renamed_from
from codemods.commit.preflight import check_committed, check_files
from codemods.schema.result import PlanResult


def write_in_place(root: Path, result: PlanResult, allow_dirty: bool = False) -> tuple[str, ...]:
    """The paths that were changed, removed or added, relative to `root`; () when the plan comes to nothing.

    Raises an UnmovedError that says what is in the way, and then nothing has changed. What an interrupted earlier run
    left is taken back first; then the plan must have been made after that (call `recover` before reading the tree)."""
    root = Path(os.path.realpath(root))
    changes = net_changes(result)
    if not changes:
        return ()
    recover(root)
    check_files(root, changes)
    if not allow_dirty:
        check_committed(root, changes)
    modes = {
        new: stat.S_IMODE(os.lstat(root / old).st_mode)
        for new, old in renamed_from(result).items()
        if (root / old).exists()
    }
    with exclusive(root):
        # Anything may have happened since the first look; only now nobody of us writes.
        roll_back(root)
        check_files(root, changes)
        write_all(root, changes, modes)
    return tuple(change.path for change in changes)


def is_written(root: Path, result: PlanResult) -> bool:
    """Whether the files are what the plan makes of them: for who was interrupted while writing them."""
    changes = net_changes(result)
    if not changes or has_journal(root):
        return False
    return all(_content(root / change.path) == change.after for change in changes)


def _content(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def recover(root: Path) -> bool:
    """Takes back what a killed run left half done under `root`, all of it; True when there was any.

    To be called before a tree is read. Raises Busy while another process is writing there, InterruptedWrite when
    somebody has edited one of the files since."""
    root = Path(os.path.realpath(root))
    if not has_journal(root):
        return False
    with exclusive(root):
        return roll_back(root)
