"""A difference as a pytest file: it fails as long as the two differ and passes once they agree. Where the trees are can
be changed at its head; what runs it is cli/asserting.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from codemods.schema.prove import Delta, Pair, PairKind, PairResult, gravity

_PAIR = """# {title}
#
# Written by `unmoved prove`, which it needs besides pytest. It fails as long as the two differ, and passes once they
# agree. {shows}
{world}

from codemods.cli.asserting import assert_agrees

# Where the trees are: a directory, "git:REVISION" in the repository at ROOT, or "" for the files at ROOT as they are.
ROOT = {root!r}
OLD_TREE = {old_tree!r}
NEW_TREE = {new_tree!r}

# What is meant to differ, as (code, part of the message or `path:line`, reason). What does not occur fails too.
MEANT = {meant}


def test_{name}() -> None:
    assert_agrees(
{arguments}
    )
"""
_READER = """# {title}
#
# Written by `unmoved prove`, which it needs besides pytest. It fails as long as a reader of what is gone is left in the
# file, and passes once there is none.

from codemods.cli.asserting import assert_no_reader

# Where the trees are: a directory, "git:REVISION" in the repository at ROOT, or "" for the files at ROOT as they are.
ROOT = {root!r}
OLD_TREE = {old_tree!r}
NEW_TREE = {new_tree!r}


def test_{name}() -> None:
    assert_no_reader({path!r}, root=ROOT, old_tree=OLD_TREE, new_tree=NEW_TREE{config})
"""
_MOST_DECISIONS = 40


class Place(NamedTuple):
    """Where a pair was proved: trees as assert_agrees() takes them. options, config: of the command line, where
    they are not the usual ones."""

    root: str
    old_tree: str
    new_tree: str
    options: Mapping[str, float] = {}
    config: tuple[str, ...] = ()


def reproduction(pair: Pair, result: PairResult, place: Place) -> str:
    """The text of the file; "" for a pair that does not differ at any place. Texts of `result` are printable ones."""
    found = sorted((each for each in result.deltas if not each.declared), key=gravity)
    if not found:
        return ""
    first, shared = found[0], {"root": place.root, "old_tree": place.old_tree, "new_tree": place.new_tree}
    title = f"{_named(pair)}: {first.code} {first.path}:{first.line}"
    if result.kind is PairKind.READER:
        config = f", config={place.config!r}" if place.config else ""
        name = _identifier(f"no reader is left in {result.new}")
        return _READER.format(title=f"{title}: {first.message}", path=result.new, name=name, config=config, **shared)
    return _PAIR.format(
        title=title,
        shows=f"The smallest world that shows {first.code}:" if first.world else f"Every world shows {first.code}.",
        world=_world(first),
        meant=_meant(pair),
        name=_identifier(f"{pair.new.rpartition(':')[2]} agrees"),
        arguments="\n".join(f"        {key}={value}," for key, value in _arguments(pair, place)),
        **shared,
    )


def _named(pair: Pair) -> str:
    return pair.new if pair.old == pair.new else f"{pair.old} and {pair.new}"


def _world(delta: Delta) -> str:
    more = len(delta.world) - _MOST_DECISIONS
    shown = [*delta.world[:_MOST_DECISIONS], *([f"and {more} more decisions"] if more > 0 else [])]
    return "\n".join(f"#   {each}" for each in [*shown, f"There: {delta.message}"])


def _meant(pair: Pair) -> str:
    if not pair.deltas:
        return "()"
    return "(\n" + "".join(f"    ({each.code!r}, {each.where!r}, {each.why!r}),\n" for each in pair.deltas) + ")"


def _arguments(pair: Pair, place: Place) -> list[tuple[str, str]]:
    found = [("old", repr(pair.old)), ("new", repr(pair.new))]
    found += [("kind", repr(pair.kind.value))] if pair.kind is not PairKind.CALLABLE else []
    found += [("root", "ROOT"), ("old_tree", "OLD_TREE"), ("new_tree", "NEW_TREE"), ("meant", "MEANT")]
    found += [("domains", repr(dict(pair.domains)))] if pair.domains else []
    found += [("same", repr(dict(pair.same)))] if pair.same else []
    found += [("real", repr(tuple(pair.real)))] if pair.real else []
    found += [("config", repr(place.config))] if place.config else []
    return found + [(key, repr(value)) for key, value in place.options.items()]


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower()
