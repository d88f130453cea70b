"""Where objects of a class become data that goes by the names of their attributes, or are made from such data.

`asdict(x)`, `x._asdict()`, `fields(x)`, `vars(x)`, `x.__dict__`, `A(**d)`, `replace(x, **d)`, and encoders that get the
object or the class. An `asdict` of something unknown is noted; `vars` and encoders count where the type is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from codemods.schema.hazards import Hazard
from codemods.source.classes import ClassKey, class_at, key_of, mro, resolve_class, subclasses
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.nodes import walk
from codemods.source.parse import Source, light_tree, load
from codemods.source.receiver_kinds import ClassObject, Known, Unknown
from codemods.source.receivers import receiver_type, scope_at
from codemods.source.string_use import callee
from codemods.transforms.rename_report import note, stop

REPLACERS = frozenset({"replace", "_replace", "evolve"})
_BY_FIELD = frozenset({"asdict", "_asdict", "fields", "_fields", "__dataclass_fields__", "__annotations__"})
_BY_ATTRIBUTE = frozenset({"vars", "__dict__"})
_CODERS = frozenset(
    {"dumps", "dump", "encode", "decode", "to_builtins", "convert", "structure", "unstructure", "TypeAdapter"}
)
_DATA = re.compile(
    rb"\b(?:asdict|_asdict|vars|fields)\s*\(|\b(?:__dict__|_fields|__dataclass_fields__)\b|"
    rb"\b(?:replace|_replace|evolve)\s*\([^()]*\*\*"
)
_MAKES = re.compile(rb"\*\*|\b(?:" + "|".join(sorted(_CODERS)).encode() + rb")\b")
_WORDS = ("asdict", "_asdict", "fields", "_fields", "__dataclass_fields__", "replace", "_replace", "evolve")
_CLASS_LIKE = re.compile(r"^_*[A-Z]|(?:cls|class_*|klass|type|factory|partial|partialmethod|__init__)\Z")
_SETTLE = "change what reads or writes the old key, then accept U119"


class AsData:
    """One attribute, and the classes whose objects have it. is_field: their constructors take it as a parameter."""

    def __init__(self, files: FileSet, owners: Iterable[ClassKey], name: str, *, is_field: bool) -> None:
        self.files, self.name, self.is_field = files, name, is_field
        self.made = {heir for key in owners for heir in (key, *subclasses(files, key))}
        self._names = {key.name for key in self.made}
        self._holders: dict[ClassKey, bool] = {}

    def hazards(self) -> Iterator[Hazard]:
        """The places, file by file."""
        for path in self._paths():
            if not any(self._may_be(node) for node in walk(light_tree(self.files, path)[1])):
                continue
            source = load(self.files, path)
            for node in walk(source.tree):
                if self._may_be(node):
                    yield from self._at(source, node)

    def _may_be(self, node: ast.AST) -> bool:
        """A first look without types. Classes are called by names that look like one, or by their own."""
        if isinstance(node, ast.Attribute):
            return node.attr == "__dict__" or (self.is_field and node.attr in _BY_FIELD)
        if not isinstance(node, ast.Call):
            return False
        last = (callee(node) or [""])[-1]
        if last == "vars":
            return bool(node.args)
        if not self.is_field:
            return False
        if last in {"asdict", "fields"} or last in _CODERS:
            given = [*node.args, *(each.value for each in node.keywords)]
            return not all(isinstance(each, (ast.Constant, ast.JoinedStr)) for each in given)
        is_spread = any(each.arg is None for each in node.keywords)
        is_maker = last in self._names or last in REPLACERS or bool(_CLASS_LIKE.search(last))
        return is_spread and is_maker

    def _paths(self) -> list[str]:
        words = (*_BY_ATTRIBUTE, *(_WORDS if self.is_field else ()))
        found = {path for word in words for path in mentioning(self.files, word) if _DATA.search(self.files.read(path))}
        if self.is_field:
            own = {path for name in self._names for path in mentioning(self.files, name)}
            found.update(path for path in own if _MAKES.search(self.files.read(path)))
        return sorted(path for path in found if path.endswith(".py"))

    def _at(self, source: Source, node: ast.AST) -> Iterator[Hazard]:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            is_data = node.attr == "__dict__" or (self.is_field and node.attr in _BY_FIELD - {"asdict", "fields"})
            called = source.parents.get(node)
            is_call = isinstance(called, ast.Call) and called.func is node
            if is_data and (node.attr != "_asdict" or is_call) and not self._is_fixed(source, node):
                yield from self._handed(source, node, node.value, f"{node.attr} of it")
        elif isinstance(node, ast.Call):
            yield from self._call(source, node)

    def _call(self, source: Source, node: ast.Call) -> Iterator[Hazard]:
        last = (callee(node) or [""])[-1]
        if last == "vars" and node.args and not self._is_fixed(source, node):
            yield from self._handed(source, node, node.args[0], "vars() of it")
        if not self.is_field:
            return
        if last in {"asdict", "fields"} and node.args:
            yield from self._handed(source, node, node.args[0], f"{last}() of it")
        elif last in _CODERS:
            given = [*node.args, *(each.value for each in node.keywords if each.arg in {"type", "cl", "cls"})]
            for each in given:
                if self._is_ours(source, each):
                    yield self._stop(source, node, f"{last}() goes by the names of its fields")
        if any(each.arg is None for each in node.keywords) and self.makes(source, node):
            yield self._stop(source, node, "the keys of `**` are the names of its fields")

    def _handed(self, source: Source, node: ast.AST, what: ast.expr, how: str) -> Iterator[Hazard]:
        """An object that is handed to something that goes by names."""
        if self._is_ours(source, what):
            yield self._stop(source, node, f"{how} goes by the names of its attributes")
            return
        found = receiver_type(self.files, source, what)
        is_recursive = how.startswith("asdict")
        if is_recursive and isinstance(found, Known) and any(self._holds(key) for key in found.keys):
            yield self._stop(source, node, "asdict() goes into what it holds, by the names of its fields")
        elif is_recursive and isinstance(found, Unknown):
            message = f"this may be an object whose field {self.name} becomes a key of data"
            yield note("U119", source, source.start(node), message, "check what reads the key")

    def _is_ours(self, source: Source, what: ast.expr) -> bool:
        found = receiver_type(self.files, source, what)
        keys = found.keys if isinstance(found, Known) else (found.key,) if isinstance(found, ClassObject) else ()
        return any(key in self.made or self._is_above(key) for key in keys)

    def _is_above(self, key: ClassKey) -> bool:
        """A base of ours: an object that is annotated with it may be ours."""
        return any(key in mro(self.files, each).classes for each in self.made)

    def _holds(self, key: ClassKey) -> bool:
        """Whether a field of the class, or of what its fields hold, may be one of ours by its annotation."""
        if key not in self._holders:
            self._holders[key] = False  # meanwhile: a class that holds itself
            self._holders[key] = any(each in self.made or self._holds(each) for each in self._parts(key))
        return self._holders[key]

    def _parts(self, key: ClassKey) -> Iterator[ClassKey]:
        for each in mro(self.files, key).classes:
            located = class_at(self.files, each)
            if located is None:
                continue
            source, node = located
            scope = scope_at(source, node.body[0])
            for field in node.body:
                for name in _named(field.annotation) if isinstance(field, ast.AnnAssign) else ():
                    found = resolve_class(self.files, source, name, scope)
                    yield from (part for part in found if isinstance(part, ClassKey))

    def _is_fixed(self, source: Source, node: ast.AST) -> bool:
        """`vars(x)["a"]`: one attribute, by a text that names it, which is found among the strings."""
        above = source.parents.get(node)
        return isinstance(above, ast.Subscript) and above.value is node and isinstance(above.slice, ast.Constant)

    def makes(self, source: Source, call: ast.Call) -> bool:
        """Whether a call takes fields of ours as keywords: a constructor, `replace`, `partial`, `super().__init__`."""
        last = (callee(call) or [""])[-1]
        if last in REPLACERS:
            holder = call.func.value if last == "_replace" and isinstance(call.func, ast.Attribute) else None
            what = receiver_type(self.files, source, holder or call.args[0]) if holder or call.args else None
            return isinstance(what, Known) and all(each in self.made for each in what.keys)
        if last == "__init__" and isinstance(call.func, ast.Attribute):
            return self._initializes(source, call.func.value)
        maker: ast.expr = call.args[0] if last in {"partial", "partialmethod"} and call.args else call.func
        if isinstance(maker, ast.Call):
            return False
        what = receiver_type(self.files, source, maker)
        return isinstance(what, ClassObject) and what.key in self.made

    def _initializes(self, source: Source, owner: ast.expr) -> bool:
        """`super().__init__(…)` below one of ours, `A.__init__(self, …)`."""
        if isinstance(owner, ast.Call) and callee(owner) == ["super"]:
            around = source.enclosing(owner, ast.ClassDef)
            if not isinstance(around, ast.ClassDef):
                return False
            line = mro(self.files, key_of(self.files, source, around, scope_at(source, around))).classes[1:]
            return bool(line) and line[0] in self.made
        found = receiver_type(self.files, source, owner)
        if isinstance(found, ClassObject):
            return found.key in self.made
        return isinstance(found, Known) and any(key in self.made for key in found.keys)

    def _stop(self, source: Source, node: ast.AST, why: str) -> Hazard:
        return stop("U119", source, source.start(node), f"{self.name} is a key of data here: {why}", _SETTLE)


def _named(annotation: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """The names in an annotation, also in quoted parts of it."""
    for node in ast.walk(annotation):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                quoted = ast.parse(node.value.strip(), mode="eval").body
            except SyntaxError:  # the text of a Literal or of Annotated
                continue
            yield from (each for each in ast.walk(quoted) if isinstance(each, (ast.Name, ast.Attribute)))
