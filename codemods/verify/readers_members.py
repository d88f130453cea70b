"""Readers of members that a class no longer has: `x.name` and `getattr(x, "name")` where `x` can be such an object.

`x` is one by its type (receivers.py), as `self` of a class of the family, or by a name that the tree gives to nothing
else (readers_family.py). Where that can't be told nothing is said. Doubles in tests are readers_doubles.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.classes import ClassKey, mro
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.index import mentioning
from codemods.source.members import self_name
from codemods.source.mentions import Mention, attributes, occurrences
from codemods.source.modules import modules_of
from codemods.source.nodes import below
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function, Source
from codemods.source.receiver_kinds import ClassObject, Known, Unknown
from codemods.source.receivers import receiver_type, scope_at
from codemods.source.scopes import Role, Scope, lookup
from codemods.verify.readers_family import Family, class_around, is_test_path, receiver_before
from codemods.verify.readers_gone import GoneMember, has_member
from codemods.verify.readers_inventory import inventory, text_of

_BY_TEXT = re.compile(rb"\b(\w*attr|object)\(\s*([\w.]+(?:\(\))?)\s*,\s*[\"']\Z")
_DOUBLES = re.compile(rb"\b\w*(?:Mock|SimpleNamespace|Fake|Stub|Dummy|create_autospec)\w*\b")
_ASKS = frozenset({"getattr", "hasattr", "delattr", "setattr", "object"})
_DEEPEST = 4


class _Place(Struct, frozen=True):
    """A reader: where, how the receiver is written, and how it asks ("" for plain access)."""

    path: str
    line: int
    receiver: str
    asks: str = ""


def member_readers(files: FileSet, family: Family, gone: Iterable[GoneMember]) -> Iterator[Problem]:
    """The readers of one class's lost members that are left in the tree."""
    searches = [_Search(files, family, member) for member in gone]
    wanted: dict[str, list[tuple[_Search, set[int]]]] = {}
    for search in searches:
        for path in mentioning(files, search.name):
            found = set(search.candidates(path, text_of(files, path)))
            if found:
                wanted.setdefault(path, []).append((search, found))
    for path, several in sorted(wanted.items()):
        for search, offsets in several:
            search.read(path, offsets)
    for search in searches:
        if not search.is_set_outside:
            yield from (search.problem(place) for place in search.places)


class _Search:
    def __init__(self, files: FileSet, family: Family, gone: GoneMember) -> None:
        self.files, self.family, self.gone = files, family, gone
        self.name = gone.name
        self.dotted = f"{family.key.name}.{gone.name}"
        self.places: list[_Place] = []
        self.is_set_outside = False
        self._lost: dict[ClassKey, bool] = {}

    def problem(self, place: _Place) -> Problem:
        owner, name = self.family.key.name, self.name
        if place.asks in {"getattr", "hasattr"}:
            text = f"{place.asks}({place.receiver}, {name!r}) still asks for what {owner} no longer has"
        elif place.asks:
            text = f"{name!r} of {place.receiver} is still named; {owner} no longer has it"
        else:
            text = f"{place.receiver}.{name} is still read; {owner} no longer has {name}"
        return Problem(place.path, place.line, "U119", text)

    # -- by text, so that few files are parsed

    def candidates(self, path: str, raw: bytes) -> Iterator[int]:
        """Offsets of the name where its receiver may be one of the family."""
        for at in occurrences(raw, self.name.encode()):
            receiver = receiver_before(raw, at)
            if receiver is None and raw[at - 1 : at] in (b'"', b"'"):
                asked = _BY_TEXT.search(raw, max(at - 120, 0), at)
                receiver = asked[2] if asked is not None else None
            if receiver is None:
                continue
            if self.may_be_one(path, raw, at, receiver):
                yield at

    def may_be_one(self, path: str, raw: bytes, at: int, receiver: bytes) -> bool:
        if receiver in (b"self", b"cls"):
            return class_around(raw, at) in self.family.names
        if receiver == b"super()":
            return class_around(raw, at) in self.family.names
        return self.family.may_hold(path, raw, receiver)

    def read(self, path: str, offsets: set[int]) -> None:
        """Keeps the readers of one file; offsets: where the name stands behind a receiver that may be one."""
        try:
            source = glimpse(self.files, path, self.name)
        except SourceError:
            return
        length = len(self.name.encode())
        for mention in attributes(source.text, source.tree, self.name):
            if source.end(mention.node) - length in offsets:
                self.places.extend(self.access(source, mention))
        if any(source.body[at - 1 : at] in (b'"', b"'") for at in offsets) or self.dotted.encode() in source.body:
            self.places.extend(self.texts(source, self.dotted))

    # -- one place

    def access(self, source: Source, mention: Mention) -> Iterator[_Place]:
        node = mention.node
        if not self.is_one(source, node.value, mention):
            return
        is_update = isinstance(source.parents.get(node), ast.AugAssign)
        if isinstance(node.ctx, ast.Store) and not is_update:
            self.is_set_outside |= not is_test_path(source.path)
            return
        yield _Place(source.path, source.line(node), _text(node.value))

    def texts(self, source: Source, dotted: str) -> Iterator[_Place]:
        """Places that name the member in a string: getattr and its like, and dotted names of the class."""
        for node in below(source.tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if node.value.endswith(f".{dotted}") and not self.family.has_rival:
                if re.fullmatch(r"[\w.]+", node.value):
                    yield _Place(source.path, node.lineno, dotted.partition(".")[0], "text")
            elif node.value == self.name:
                yield from self.asked(source, node)

    def asked(self, source: Source, node: ast.Constant) -> Iterator[_Place]:
        call = source.parents.get(node)
        if not isinstance(call, ast.Call) or len(call.args) < 2 or call.args[1] is not node:
            return
        asks = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if asks not in _ASKS or not self.is_one(source, call.args[0], _around(source, call)):
            return
        if asks == "setattr" and len(call.args) == 3 and isinstance(call.func, ast.Name):
            self.is_set_outside |= not is_test_path(source.path)
            return
        yield _Place(source.path, node.lineno, _text(call.args[0]), asks)

    def is_one(self, source: Source, receiver: ast.expr, mention: Mention) -> bool:
        around = ClassKey(modules_of(self.files).module_of(source.path), mention.classes)
        method = mention.method
        if isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super":
            return bool(mention.classes) and self.is_lost_above(around)
        is_self = method is not None and isinstance(receiver, ast.Name) and receiver.id == self_name(method)
        if method is not None and is_self and _is_plain(method):
            return self.is_lost_in(around, method.name)
        is_alone = not self.family.has_rival and not is_test_path(source.path)
        if is_alone and _annotation_of(receiver, mention) == self.family.key.name:
            return self.is_lost(self.family.key)  # as receiver_type would say, without the scopes of the file
        what = receiver_type(self.files, source, receiver)
        if isinstance(what, Known):
            return all(self.is_lost(key) for key in what.keys)
        if isinstance(what, ClassObject):
            return self.gone.on_class and self.is_lost(what.key)
        if not isinstance(what, Unknown) or what.is_double:
            return False
        if is_test_path(source.path) and _DOUBLES.search(source.body):
            return False
        return not self.has_stand_in and self.is_named(source, receiver, scope_at(source, receiver), _DEEPEST)

    # -- which classes lost it

    def is_lost(self, key: ClassKey) -> bool:
        """Whether an instance of the class, as far as its annotation goes, had the member and has it no more."""
        if key not in self._lost:
            if self.family.key in mro(self.files, key).classes:
                lost = not has_member(self.files, key, self.name)
                self._lost[key] = lost and not (key == self.family.key and self.has_stand_in)
            else:
                self._lost[key] = False
        return self._lost[key]

    def is_lost_in(self, key: ClassKey, method: str) -> bool:
        """As `is_lost`, for `self` in a method; a mixin's `self` is an object of the class that mixes it in."""
        if key not in self.family.above:
            return self.is_lost(key)
        if has_member(self.files, key, self.name) or not self.is_lost(self.family.key):
            return False
        for each in mro(self.files, self.family.key).classes:
            path = modules_of(self.files).path_of(each.module) or ""
            found = inventory(self.files, path).classes.get(each.qualname)
            if found is not None and method in found.members:
                return each == key
        return False

    def is_lost_above(self, key: ClassKey) -> bool:
        """Whether `super().name` in the class meant the member: it derives from the class that lost it."""
        order = mro(self.files, key).classes[1:]
        return self.family.key in order and not any(has_member(self.files, each, self.name) for each in order)

    @property
    def has_stand_in(self) -> bool:
        """Whether heirs have the member and the class itself is only a base that nobody makes objects of."""
        for heir in self.family.heirs:
            if heir.is_test or not re.search(
                rb"\b" + re.escape(self.name.encode()) + rb"\b", text_of(self.files, heir.path)
            ):
                continue
            found = inventory(self.files, heir.path).classes.values()
            if any(each.name == heir.name and self.name in each.names for each in found):
                return not self.family.is_made
        return False

    # -- by name

    def is_named(self, source: Source, node: ast.expr, scope: Scope, depth: int) -> bool:
        """Whether the tree calls objects of the class by the name that stands here, or that its value comes from."""
        if depth == 0:
            return False
        if isinstance(node, ast.Attribute):
            return self.held(source, node.attr)
        if not isinstance(node, ast.Name):
            return False
        home = lookup(scope, node.id)
        if home is None:
            return False
        given = [each for each in home.bound[node.id] if each.role is not Role.DELETE]
        values: list[ast.expr] = []
        for each in given:
            above = source.parents.get(each.node)
            if each.role is Role.PARAMETER and isinstance(each.node, ast.arg) and each.node.annotation is None:
                continue
            if not isinstance(above, ast.Assign):
                return False
            values.append(above.value)
        if values:
            return all(self.is_named(source, value, scope, depth - 1) for value in values)
        return self.held(source, node.id)

    def held(self, source: Source, name: str) -> bool:
        return self.family.holds(name) and not self.family.denies(source.body, name.lstrip("_"))


def _is_plain(method: Function) -> bool:
    """Whether the first parameter is an object of the class around in the whole method."""
    argument = [*method.args.posonlyargs, *method.args.args][0]
    decorators = {getattr(each, "id", "") for each in method.decorator_list}
    if argument.annotation is not None or "classmethod" in decorators or method.name.startswith("__init_subclass"):
        return False
    return not any(
        (isinstance(node, ast.Name) and node.id == argument.arg and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == argument.arg and node is not argument)
        for node in below(method)
    )


def _annotation_of(receiver: ast.expr, mention: Mention) -> str:
    """The annotation of the parameter that a bare name is, in plain words; "" when it may be anything else."""
    if not isinstance(receiver, ast.Name):
        return ""
    for function in reversed(mention.around):
        if not isinstance(function, FUNCTIONS):
            continue
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        found = [each for each in arguments if each.arg == receiver.id]
        nodes = below(function)
        names = [each for each in nodes if isinstance(each, ast.Name) and each.id == receiver.id]
        is_guarded = any(isinstance(each, ast.Call) and getattr(each.func, "id", "") == "isinstance" for each in nodes)
        if is_guarded or not all(isinstance(each.ctx, ast.Load) for each in names):
            return ""
        if found:
            annotation = found[0].annotation
            is_other = any(
                isinstance(each, ast.arg) and each.arg == receiver.id and each is not found[0] for each in nodes
            )
            return "" if annotation is None or is_other else ast.unparse(annotation).strip("'\"")
    return ""


def _around(source: Source, node: ast.AST) -> Mention:
    """The definitions around any node, in the form that mentions.py gives for attributes."""
    found: list[ast.AST] = []
    below = node
    for above in source.ancestors(node):
        if isinstance(above, DEFINITIONS) and below in above.body:
            found.append(above)
        below = above
    return Mention(ast.Attribute(ast.Name("", ast.Load()), "", ast.Load()), tuple(reversed(found)))


def _text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."
