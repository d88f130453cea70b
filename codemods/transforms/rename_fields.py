"""Fields of dataclasses and the like: the same name is a parameter of the constructor, and sometimes a key of data.

Keyword arguments of constructors and of `replace` follow for dataclasses and named tuples. Where a field's name is also
what is written to JSON or a dictionary, the step is stopped; where objects become data is rename_data.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard
from codemods.source.classes import ClassKey, class_at, mro, provider
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.members import decorator_name
from codemods.source.parse import load
from codemods.source.receivers import scope_at
from codemods.source.splice import Edit
from codemods.transforms.rename_data import AsData
from codemods.transforms.rename_report import note, stop

_DATACLASSES = frozenset({"dataclasses.dataclass", "attr.s", "attr.define", "attrs.define", "attrs.frozen"})
_TUPLES = frozenset({"typing.NamedTuple", "NamedTuple"})
_KEYED = ("msgspec.Struct", "pydantic.BaseModel", "typing.TypedDict", "typing_extensions.TypedDict")


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
    generated = [key for key in having if _is_generated(files, key)]
    data = AsData(files, generated, name, is_field=True)
    for path in mentioning(files, name) if generated else ():
        source = load(files, path) if b"(" in files.read(path) else None
        for node in ast.walk(source.tree) if source is not None else ():
            if isinstance(node, ast.Call) and source is not None:
                given = next((each for each in node.keywords if each.arg == name), None)
                if given is not None and data.makes(source, node):
                    start = source.start(given)
                    spans.setdefault(path, []).append((start, start + len(name.encode())))
    if generated and not hazards:
        hazards.extend(data.hazards())
    for key in generated:
        hazards.extend(_shown(files, key, name))
    return FieldKeywords(spans, tuple(hazards))


def plain_as_data(files: FileSet, owners: Iterable[ClassKey], name: str) -> tuple[Hazard, ...]:
    """Where an attribute that is no field of a made-up constructor becomes a key of data all the same."""
    plain = [key for key in owners if not is_constructor_field(files, key, name)]
    return tuple(AsData(files, plain, name, is_field=False).hazards()) if plain else ()


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


def _shown(files: FileSet, key: ClassKey, name: str) -> Iterator[Hazard]:
    """The generated `__repr__` spells the field's name."""
    located = class_at(files, key)
    if located is not None and not isinstance(provider(files, key, "__repr__"), ClassKey):
        source, node = located
        message = (
            f"repr() of {key.name} shows the field {name} under its new name, and pickles made before have the old one"
        )
        yield note("U110", source, source.start(node), message, "look for texts and pickles with the old name")
