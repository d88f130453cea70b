"""Which pairs a commit asks for, found once: kept by the ids of its trees, so that a second run of an unchanged range
reads neither. Only where reading found nothing wrong: a reader left behind is looked for anew each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from codemods.cli.prove_derived import Change, derived, merged
from codemods.cli.session import Session
from codemods.prove.cache import Cache, key_of
from codemods.report.prove_model import Unproved
from codemods.schema.prove import Pair
from codemods.verify.change import TreeChange


class Derived(Struct, frozen=True, kw_only=True):
    """What was derived of a commit. verdict: reading alone found nothing."""

    verdict: str = "agrees"
    changed: tuple[str, ...]
    pairs: tuple[Pair, ...]
    unproved: tuple[Unproved, ...]


class Derivations:
    """cache_dir: None for no cache."""

    def __init__(self, session: Session, cache_dir: Path | None) -> None:
        self._cache = Cache(cache_dir)
        self._settings = msgspec.json.encode(session.resolved.settings)

    def derived(
        self, label: str, against: Sequence[TreeChange], trees: Sequence[str], names: tuple[str, str], *,
        takes_all: bool,
    ) -> Change:  # fmt: skip
        """against: the change from each parent. trees: their ids, and the commit's own."""
        key = key_of("derived", *trees, self._settings, "all" if takes_all else "ledger")
        identity = key_of("trees", trees[0], trees[-1], self._settings)
        kept = self._cache.get(key, Derived)
        if kept is not None:
            old, new = against[0].old, against[0].new
            unproved = tuple(msgspec.structs.replace(each, change=label) for each in kept.unproved)
            return Change(label, old, new, kept.changed, kept.pairs, (), unproved, *names, identity)
        if len(against) == 1:
            found = derived(label, against[0], names, takes_all=takes_all)
        else:
            found = merged(label, against, names, takes_all=takes_all)
        if not found.found:
            self._cache.put(key, Derived(changed=found.changed, pairs=found.pairs, unproved=found.unproved))
        return found._replace(identity=identity)
