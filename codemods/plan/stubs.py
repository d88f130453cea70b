"""Type stubs beside modules that a step changes: `m.pyi` hides `m.py` from type checkers, so it has to tell the same.

Only stubs in the tree are seen, and only the name that the step is about. A rename follows into some stubs; what is
left is noted, never changed here."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.schema.errors import PlanError
from codemods.schema.hazards import Hazard, Severity
from codemods.schema.plan import ExtractFunction, ExtractMethod, Move, SplitMethod, Step
from codemods.schema.refs import DefRef
from codemods.source.files import FileSet
from codemods.source.index import has_word
from codemods.source.locate import module_path
from codemods.source.mentions import occurrences
from codemods.source.modules import modules_of

_SETTLE = "change the stub by hand, in the same commit or before it is read again"


def stub_hazards(before: FileSet, after: FileSet, step: Step) -> tuple[Hazard, ...]:
    """Notes on stubs that tell what the step has changed, and on those that say nothing of what it has added."""
    if ":" not in step.target:
        return ()
    return tuple(dict.fromkeys([*_old(before, after, step), *_new(before, after, step)]))


def _old(before: FileSet, after: FileSet, step: Step) -> Iterator[Hazard]:
    """The stub of the module that had the definition."""
    keeps_signature = isinstance(step, (ExtractFunction, SplitMethod)) or (
        isinstance(step, ExtractMethod) and step.wrapper
    )
    ref = DefRef.parse(step.target)
    try:
        path = module_path(before, ref.module)
    except PlanError:
        return
    stub = f"{path}i"
    if keeps_signature or not path.endswith(".py") or stub not in after or after.read(path) == before.read(path):
        return
    raw = after.read(stub)
    place = next(occurrences(raw, ref.name.encode()), None)
    if place is not None:
        line = raw.count(b"\n", 0, place) + 1
        yield _note(stub, line, f"this stub describes {ref.qualname} as it was; type checkers believe it, not {path}")


def _new(before: FileSet, after: FileSet, step: Step) -> Iterator[Hazard]:
    """The stub of the module that has got it."""
    if not isinstance(step, (ExtractMethod, Move, ExtractFunction)) or not step.to:
        return
    ref = DefRef.parse(step.target)
    name = step.name if isinstance(step, ExtractFunction) else getattr(step, "name", "") or ref.name
    path = modules_of(after).path_of(step.to)
    if path is None or not path.endswith(".py") or f"{path}i" not in before:
        return
    if not has_word(after.read(f"{path}i"), name.encode()):
        yield _note(
            f"{path}i", 0, f"this stub says nothing of {name}, which {path} has now: type checkers won't find it"
        )


def _note(path: str, line: int, message: str) -> Hazard:
    return Hazard(code="U119", severity=Severity.NOTE, path=path, line=line, message=message, settle=_SETTLE)
