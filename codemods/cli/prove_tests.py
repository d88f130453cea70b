"""The pytest files of pairs that differ: their text for the report, and files where somebody asked for them. What is in
one is prove/reproduce.py's."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from codemods.cli.prove_derived import Change
from codemods.cli.prove_trees import Trees
from codemods.cli.session import Session, UsageProblem
from codemods.prove.options import ProveOptions
from codemods.prove.reproduce import Place, reproduction
from codemods.schema.prove import ProofVerdict

if TYPE_CHECKING:
    from codemods.report.prove_model import PairRow
    from codemods.schema.prove import Pair

_BUDGETS = ("paths", "faults", "seconds", "seed")


class ReproducingTests:
    """folder: where the files go; None for nowhere."""

    def __init__(self, session: Session, trees: Trees, folder: Path | None, options: ProveOptions) -> None:
        self._session, self._trees, self._folder = session, trees, folder
        usual = ProveOptions()
        self._options = {key: getattr(options, key) for key in _BUDGETS if getattr(options, key) != getattr(usual, key)}
        self._places: dict[tuple[str, str, str], Place] = {}

    def added(self, row: PairRow, pair: Pair, change: Change) -> PairRow:
        """The row with the test that reproduces it, where it differs."""
        from codemods.report.prove_model import next_of_pair

        if row.verdict is not ProofVerdict.DIFFERS:
            return row
        text = reproduction(pair, row, self._place(change))
        if not text or self._folder is None:
            return replace(row, test=text)
        place = self._written(self._folder / f"test_{_file_name(pair, change)}.py", text)
        return replace(row, test=text, test_file=place, next=next_of_pair(row, place))

    def _place(self, change: Change) -> Place:
        key = (change.label, change.old_name, change.new_name)
        if key not in self._places:
            trees = self._trees
            new = trees.pinned(change.new_name)
            # What is on disk can be mended, and what is in a commit can't: a test of that would fail for ever.
            if new.startswith("git:") and trees.holds(change.changed, change.new):
                new = ""
            self._places[key] = Place(
                root=os.path.abspath(trees.root),
                old_tree=trees.pinned(change.old_name),
                new_tree=new,
                options=self._options,
                config=self._session.config_options,
            )
        return self._places[key]

    def _written(self, place: Path, text: str) -> str:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageProblem(
                f"the test can't be written: {error.strerror}", fix="name another --tests", path=os.fspath(place)
            ) from error
        self._session.written = f"tests were written to {place.parent}"
        return os.fspath(place)


def _file_name(pair: Pair, change: Change) -> str:
    """The same for the same pair of the same change; no two pairs share one."""
    digest = hashlib.sha256("\0".join((pair.old, pair.new, pair.kind.value, change.label)).encode()).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9]+', '_', pair.new).strip('_')[:80].lower()}_{digest[:8]}"
