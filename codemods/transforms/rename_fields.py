"""Fields of dataclasses and the like: the same name is a parameter of the constructor, and sometimes a key of data.

Keyword arguments of constructors and of `replace` follow for dataclasses and named tuples. Where a field's name is also
what is written to JSON or a dictionary, the step is stopped."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard
from codemods.source.classes import ClassKey, class_at, mro, provider, subclasses
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.members import decorator_name
from codemods.source.parse import Source, load
from codemods.source.receiver_kinds import ClassObject, Known
from codemods.source.receivers import receiver_type, scope_at
from codemods.source.splice import Edit
from codemods.source.string_use import callee
from codemods.transforms.rename_report import stop

_DATACLASSES = frozenset({"dataclasses.dataclass", "attr.s", "attr.define", "attrs.define", "attrs.frozen"})
_TUPLES = frozenset({"typing.NamedTuple", "NamedTuple"})
_KEYED = ("msgspec.Struct", "pydantic.BaseModel", "typing.TypedDict", "typing_extensions.TypedDict")
_REPLACERS = frozenset({"replace", "_replace", "evolve"})


class FieldKeywords(Struct, frozen=True):
    """`spans`: keywords that pass the field, by file."""

    spans: dict[str, list[tuple[int, int]]]
    hazards: tuple[Hazard, ...]

    def edits(self, new: str) -> dict[str, list[Edit]]:
        return {path: [Edit(start, end, new.encode()) for start, end in found] for path, found in self.spans.items()}


def field_keywords(files: FileSet, owners: Iterable[ClassKey], name: str) -> FieldKeywords:
    """The keyword arguments that name a field of one of the classes, and what else goes by the field's name."""
    hazards: list[Hazard] = []
    having = [key for key in owners if _is_field(files, key, name)]
    for key in having:
        hazards.extend(_keyed(files, key, name))
    spans: dict[str, list[tuple[int, int]]] = {}
    if any(_is_generated(files, key) for key in having):
        made = {heir for key in having for heir in (key, *subclasses(files, key))}
        for path in mentioning(files, name):
            source = load(files, path) if b"(" in files.read(path) else None
            for node in ast.walk(source.tree) if source is not None else ():
                if isinstance(node, ast.Call) and source is not None:
                    given = next((each for each in node.keywords if each.arg == name), None)
                    if given is not None and _makes(files, source, node, made):
                        start = source.start(given)
                        spans.setdefault(path, []).append((start, start + len(name.encode())))
    return FieldKeywords(spans, tuple(hazards))


def is_constructor_field(files: FileSet, key: ClassKey, name: str) -> bool:
    """Whether the class gets a constructor that takes the name as a parameter."""
    return _is_field(files, key, name) and _is_generated(files, key)


def _is_field(files: FileSet, key: ClassKey, name: str) -> bool:
    located = class_at(files, key)
    return located is not None and any(
        isinstance(each, ast.AnnAssign) and getattr(each.target, "id", "") == name for each in located[1].body
    )


def _is_generated(files: FileSet, key: ClassKey) -> bool:
    """Whether the constructor is made from the fields, so that their names are its parameters."""
    if isinstance(provider(files, key, "__init__"), ClassKey):
        return False
    if any(base.name in _TUPLES or base.name.endswith(_KEYED) for base in mro(files, key).external):
        return True
    for each in mro(files, key).classes:
        located = class_at(files, each)
        if located is None:
            continue
        source, node = located
        scope = scope_at(source, node)
        names = [decorator_name(files, source, decorator, scope) for decorator in node.decorator_list]
        if any(name in _DATACLASSES or name.rpartition(".")[2] == "dataclass" for name in names):
            return True
    return False


def _keyed(files: FileSet, key: ClassKey, name: str) -> Iterator[Hazard]:
    located = class_at(files, key)
    bases = [base.name for base in mro(files, key).external if base.name.endswith(_KEYED)]
    if located is not None and bases:
        source, node = located
        message = f"{name} is a field of a {bases[0]}: it is also a key of the data that is read and written"
        settle = f"keep the key, for example with a rename of the field to {name!r}, then accept U119"
        yield stop("U119", source, source.start(node), message, settle)


def _makes(files: FileSet, source: Source, call: ast.Call, made: set[ClassKey]) -> bool:
    last = callee(call)[-1:]
    if last and last[0] in _REPLACERS:
        holder = call.func.value if last[0] == "_replace" and isinstance(call.func, ast.Attribute) else None
        what = receiver_type(files, source, holder or call.args[0]) if holder or call.args else None
        return isinstance(what, Known) and all(each in made for each in what.keys)
    if isinstance(call.func, ast.Call):
        return False
    what = receiver_type(files, source, call.func)
    return isinstance(what, ClassObject) and what.key in made
