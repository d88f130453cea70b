"""Verdicts kept by what they depended on: the files of either side that were read for them, and the names of all.
Wherever those are the same, in another commit or behind another edit, the verdict is too. Only what agrees is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from codemods.prove.cache import Cache, key_of
from codemods.prove.packed import names_of
from codemods.schema.errors import UnmovedError
from codemods.schema.prove import Pair, PairResult, ProofVerdict
from codemods.source.files import FileSet

Reads = Mapping[str, str]  # path -> digest of its text


class Answer(Struct, frozen=True, kw_only=True):
    """What a worker gives back: the result, and the paths of each side that it read for it."""

    result: PairResult
    old: tuple[str, ...]
    new: tuple[str, ...]


class Trace(Struct, frozen=True, kw_only=True):
    """A verdict with all that it was read from."""

    verdict: ProofVerdict
    result: PairResult
    old: dict[str, str]
    new: dict[str, str]


class Traces:
    """Of pairs between two trees. costs: what of the options a verdict depends on."""

    def __init__(self, cache: Cache, old: FileSet, new: FileSet, changed: Collection[str], costs: bytes) -> None:
        self._cache, self._sides = cache, {"old": old, "new": new}
        self._changed, self._costs = tuple(sorted(changed)), costs
        self._base = ""
        self._digests: dict[tuple[str, str], str] = {}

    def get(self, pair: Pair) -> PairResult | None:
        if self._cache.why_not:
            return None
        found = self._cache.get(self._key(pair), Trace)
        if found is None or not (self._holds("old", found.old) and self._holds("new", found.new)):
            return None
        return found.result

    def put(self, pair: Pair, answer: Answer) -> None:
        if self._cache.why_not or answer.result.verdict is not ProofVerdict.AGREES:
            return
        made = Trace(
            verdict=answer.result.verdict,
            result=replace(answer.result, test=""),
            old=self._read("old", answer.old),
            new=self._read("new", answer.new),
        )
        self._cache.put(self._key(pair), made)

    def _key(self, pair: Pair) -> str:
        if not self._base:
            names = [list(names_of(self._sides[side])) for side in ("old", "new")]
            roots = self._sides["new"].source_roots
            self._base = key_of("trace", msgspec.json.encode([*names, self._changed, roots]), self._costs)
        return key_of(self._base, msgspec.json.encode(pair))

    def _holds(self, side: str, reads: Reads) -> bool:
        return all(self._digest(side, path) == digest for path, digest in reads.items())

    def _read(self, side: str, paths: Iterable[str]) -> dict[str, str]:
        return {path: self._digest(side, path) for path in paths}

    def _digest(self, side: str, path: str) -> str:
        """ "" for what is not there, or can't be read: equal to no text's."""
        key = (side, path)
        if key not in self._digests:
            files = self._sides[side]
            try:
                raw = files.read(path) if path in files else None
            except (UnmovedError, OSError):
                raw = None
            self._digests[key] = "" if raw is None else hashlib.blake2b(raw, digest_size=16).hexdigest()
        return self._digests[key]
