"""What a change removes, renames or moves away and is still read somewhere in the new tree: U119, U120, U121.

Says something only where the reader is known to mean what is gone; a receiver that could be anything is passed over.
Costs nothing beyond the changed files when nothing is gone. Readers of other languages and of pickles are not seen."""

from __future__ import annotations

from codemods.schema.verdict import Problem
from codemods.source.classes import ClassKey
from codemods.source.index import expect
from codemods.verify.change import TreeChange
from codemods.verify.readers_calls import misfit_calls
from codemods.verify.readers_doubles import doubles
from codemods.verify.readers_family import Family
from codemods.verify.readers_gone import Gone, GoneMember, GoneName, gone_in
from codemods.verify.readers_imports import module_readers, name_readers
from codemods.verify.readers_members import member_readers


def left_behind(change: TreeChange) -> list[Problem]:
    """Every reader left behind in the new tree, sorted by place."""
    gone = gone_of(change)
    expect(change.new, words_of(gone))
    found: set[Problem] = set()
    by_class: dict[ClassKey, list[GoneMember]] = {}
    for member in gone.members:
        by_class.setdefault(member.key, []).append(member)
    for key, members in by_class.items():
        family = Family(change.new, key, [each.name for each in members])
        found.update(member_readers(change.new, family, members))
        found.update(doubles(change.new, family, members))
    by_module: dict[str, list[GoneName]] = {}
    for name in gone.names:
        by_module.setdefault(name.path, []).append(name)
    for names in by_module.values():
        found.update(name_readers(change.new, names))
    for module in gone.modules:
        found.update(module_readers(change.new, module))
    for refit in gone.refits:
        found.update(misfit_calls(change.old, change.new, refit))
    return sorted(found)


def gone_of(change: TreeChange) -> Gone:
    """What the change takes away; found once and kept."""
    kept = change.new.notes.get("gone")
    if not isinstance(kept, tuple) or kept[0] is not change:
        kept = change.new.notes["gone"] = (change, gone_in(change))
    gone: Gone = kept[1]
    return gone


def words_of(gone: Gone) -> list[str]:
    """Every word that is sure to be looked for, so that one search of the tree answers for all of them."""
    words = {word for each in gone.members for word in (each.name, each.key.name)}
    words.update(each.module.rpartition(".")[2] for each in gone.names)
    words.update(each.module.rpartition(".")[2] for each in gone.modules)
    words.update(word for each in gone.refits for word in (each.name, each.key.name if each.key else each.name))
    return sorted(words - {""})
