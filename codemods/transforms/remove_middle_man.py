"""Whether a method may go away once its calls are inlined: who overrides it, whom it overrides, who names it by text.

The other half of removing a middle man, putting its body where it is called, is inline_function.py's."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source import foreign
from codemods.source.classes import ClassKey, class_at, declarers, mro, names_of, overriders
from codemods.source.files import FileSet
from codemods.source.locate import Located
from codemods.source.modules import modules_of
from codemods.source.strings import StringMention, mentions
from codemods.transforms.rename_report import hazard, refusal

_LOOKUPS = frozenset({"patch-target", "setattr-name", "getattr", "entry-point", "import", "pickle", "slots"})


def dispatch_hazards(files: FileSet, located: Located) -> Iterator[Hazard]:
    """U104 for a method that others override, or that overrides others'."""
    if located.owner is None:
        return
    key = ClassKey(modules_of(files).module_of(located.path), located.ref.owner)
    name, line = located.ref.name, located.node.lineno
    settle = "leave the method, or say why the other classes never meet these calls"
    above = declarers(files, key, name)
    if above:
        message = f"{key.qualname}.{name} stands in for that of {names_of(above)}, which would be called instead"
        yield hazard("U104", Severity.STOP, located.path, line, message, settle)
    unknown = [each for each in mro(files, key).external if foreign.defines(each.name, name) is None]
    if unknown and not above:
        what = "come" if len(unknown) > 1 else "comes"
        message = (
            f"{names_of(unknown)} {what} from outside this tree, and may have a {name} that this one stands in for"
        )
        severity = Severity.NOTE if name.startswith("_") else Severity.STOP
        yield hazard("U104", severity, located.path, line, message, settle)
    for each in overriders(files, key, name):
        at = class_at(files, each, name)
        path, where = (at[0].path, at[1].lineno) if at is not None else (located.path, line)
        message = f"{each.qualname} has its own {name}, which calls of that of {key.qualname} may mean"
        yield hazard("U104", Severity.STOP, path, where, message, settle)


def named_by_text(files: FileSet, located: Located) -> tuple[list[Hazard], list[Refusal]]:
    """Text by which the definition is looked up (U111), a note for text that only tells of it, and lists of exports,
    which would promise what is gone."""
    module = modules_of(files).module_of(located.path)
    hazards: list[Hazard] = []
    refusals: list[Refusal] = []
    for each in mentions(files, module, located.ref.qualname):
        if each.kind == "dunder-all":
            message = f"__all__ promises {located.ref.name} to whoever imports this module"
            refusals.append(refusal("U119", each.path, each.line, message, "take it out of __all__ first"))
        else:
            hazards.append(_of_text(each, located.ref.name))
    return hazards, refusals


def _of_text(each: StringMention, name: str) -> Hazard:
    if each.kind in _LOOKUPS and each.is_sure:
        message = f"{each.text!r} looks up {name}, which goes away"
        return hazard("U111", Severity.STOP, each.path, each.line, message, "change or delete this place first")
    message = f"{each.text!r} may tell of {name}, which goes away"
    return hazard("U111", Severity.NOTE, each.path, each.line, message, "read it, and change it where it does")
