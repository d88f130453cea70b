"""A certificate's claims put to the kernel again, without guessing anything anew."""

from __future__ import annotations

from collections.abc import Sequence

from codemods.schema.verdict import Explained
from codemods.verify.change import TreeChange
from codemods.verify.claims import read
from codemods.verify.explain import check, readable_paths
from codemods.verify.names import Names


def recheck(change: TreeChange, claims: Sequence[str]) -> Explained:
    """What the kernel makes of these claims. Raises BadClaim."""
    old, new = Names(change.old), Names(change.new)
    paths = readable_paths(change, old, new)
    return check(change, read(claims, frozenset(paths)), old, new)
