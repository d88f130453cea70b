"""Claims as text, for certificates: what `infer` guessed and a later check has to take as given, one claim a line.

Each is a JSON list that starts with its kind. What can't be read back is an error: a claim that is left out would make
another statement of the certificate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from codemods.schema.errors import UnmovedError
from codemods.verify.frames import Claims

_SIDES = ("old", "new")


class BadClaim(UnmovedError):
    """A certificate makes a claim that this version does not know."""

    code = "bad-claim"

    def __init__(self, text: str) -> None:
        super().__init__(
            f"the claim {text[:200]!r} can't be read",
            fix="check the certificate with the version of unmoved that made it, or make it anew",
        )


def spelled(claims: Claims) -> list[str]:
    """Every claim, sorted; `changed` is known from the trees and not told."""
    return sorted(msgspec.json.encode(each).decode() for each in _parts(claims))


def _parts(claims: Claims) -> Iterator[list[str]]:
    yield from (["definition", *old, *new] for old, new in claims.pairs.items())
    yield from (["module", old, new] for old, new in claims.modules.items())
    yield from (["attribute", old, new] for new, old in claims.attributes.items())
    yield from (["attribute", old, *new] for new, old in claims.redirects.items())
    yield from (["injected", *key, name] for key, name in claims.injected.items())
    yield from (["unpaired", *definition] for definition in claims.unpaired)
    yield from (["several", name] for name in claims.ambiguous)
    for side, known in zip(_SIDES, claims.loose, strict=True):
        yield from (["method", side, name, *definition] for name, definition in known.items())


def read(texts: Iterable[str], changed: frozenset[str]) -> Claims:
    """The claims again. changed: the paths that differ between the two trees. Raises BadClaim."""
    claims = Claims(changed=changed)
    unpaired, ambiguous = set(), set()
    for text in texts:
        try:
            kind, *words = msgspec.json.decode(text, type=list[str])
        except (msgspec.DecodeError, ValueError) as error:
            raise BadClaim(text) from error
        if kind == "definition" and len(words) == 4:
            claims.pairs[words[0], words[1]] = (words[2], words[3])
        elif kind == "module" and len(words) == 2:
            claims.modules[words[0]] = words[1]
        elif kind == "attribute" and len(words) == 2:
            claims.attributes[words[1]] = words[0]
        elif kind == "attribute" and len(words) == 3:
            claims.redirects[words[1], words[2]] = words[0]
        elif kind == "method" and len(words) == 4 and words[0] in _SIDES:
            claims.loose[_SIDES.index(words[0])][words[1]] = (words[2], words[3])
        elif kind == "injected" and len(words) == 5:
            claims.injected[words[0], words[1], words[2], words[3]] = words[4]
        elif kind == "unpaired" and len(words) == 2:
            unpaired.add((words[0], words[1]))
        elif kind == "several" and len(words) == 1:
            ambiguous.add(words[0])
        else:
            raise BadClaim(text)
    claims.unpaired, claims.ambiguous = frozenset(unpaired), frozenset(ambiguous)
    return claims
