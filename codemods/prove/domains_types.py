"""From an annotation to a domain: built-in and typing forms, aliases, enums, and classes of the tree that only hold
data.

A class that does anything when it is made, or holds much, stays opaque: its attributes that the code reads have
domains of their own. An annotation that is not understood gives way to what the use shows."""

from __future__ import annotations

import ast

from codemods.prove.domains import (
    Bool,
    Definition,
    DictOf,
    Domain,
    Field,
    ListOf,
    Maybe,
    Member,
    OneOf,
    Opaque,
    Record,
    Text,
    TupleOf,
    unite,
)
from codemods.prove.domains_evidence import View
from codemods.prove.domains_guess import (
    bytes_of,
    float_of,
    guess,
    int_of,
    items_of,
    known_keys,
    sizes_of,
    text_of,
)
from codemods.prove.domains_home import MISSING, SCALARS, Home
from codemods.source.parse import FUNCTIONS

_DEEPEST = 6
_MOST_FIELDS = 16
_LISTS = {
    "list": "list List Sequence MutableSequence Iterable Collection Reversible",
    "tuple": "tuple Tuple",
    "set": "set Set MutableSet AbstractSet",
    "frozenset": "frozenset FrozenSet",
    "deque": "deque Deque",
}
LIST_KINDS = {name: kind for kind, names in _LISTS.items() for name in names.split()}
_DICTS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"})
_WRAPPERS = frozenset({"Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar"})
_PATHS = frozenset({"Path", "PurePath", "PosixPath", "PurePosixPath"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_DATA_BASES = frozenset({"NamedTuple", "TypedDict", "Struct", "BaseModel", "BaseSettings"})
_DATA_DECORATORS = frozenset({"dataclass", "define", "frozen", "attrs", "s", "mutable"})
_RUNS = frozenset({"__init__", "__post_init__", "__new__", "model_post_init", "__attrs_post_init__"})


def typed(node: ast.expr | None, home: Home, view: View, deep: int = 0) -> Domain:
    """The domain of a value with this annotation (None: without), sharpened by the facts of `view`."""
    if node is None or deep > _DEEPEST:
        return guess(view)
    if isinstance(node, ast.Constant):
        return _constant(node, home, view, deep)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return unite([typed(side, home, view, deep + 1) for side in (node.left, node.right)])
    if isinstance(node, ast.Subscript):
        return _subscripted(node, home, view, deep)
    name = home.dotted(node)
    found = home.find(name) if name else None
    if found is not None:
        return _defined(found, home, view, deep)
    return _plain(home.meant(node).rpartition(".")[2], view)


def _constant(node: ast.Constant, home: Home, view: View, deep: int) -> Domain:
    if node.value is None:
        return OneOf((None,))
    if not isinstance(node.value, str):
        return guess(view)
    try:
        inner = ast.parse(node.value.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return guess(view)
    return typed(inner, home, view, deep + 1)


def _plain(leaf: str, view: View) -> Domain:
    """A name without arguments that no module of the tree defines."""
    if leaf in {"str", "Text", "AnyStr", "LiteralString"}:
        return _mistyped(text_of(view), view)
    if leaf == "int":
        return _mistyped(int_of(view), view)
    if leaf in {"float", "Real", "Number"}:
        return float_of(view)
    if leaf == "bool":
        return Bool()
    if leaf in {"bytes", "bytearray", "ByteString"}:
        return bytes_of(view)
    if leaf == "None":
        return OneOf((None,))
    if leaf in LIST_KINDS:
        return ListOf(guess(items_of(view)), LIST_KINDS[leaf], sizes_of(view))
    if leaf in _DICTS:
        return DictOf(Text(), guess(items_of(view.below("values"))), known_keys(view))
    if leaf in _PATHS:
        return Record((), "pathlib:Path")
    return guess(view) if leaf in {"Any", "object", ""} else Opaque()


def _mistyped(domain: Domain, view: View) -> Domain:
    """An annotation says str, the code asks for None: the code knows better."""
    return Maybe(domain) if "none" in view.kinds else domain


def _subscripted(node: ast.Subscript, home: Home, view: View, deep: int) -> Domain:
    leaf = home.leaf(node.value)
    given = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if leaf == "Optional":
        return unite([OneOf((None,)), typed(given[0], home, view, deep + 1)])
    if leaf == "Union":
        return unite([typed(each, home, view, deep + 1) for each in given])
    if leaf == "Literal":
        return _literal(given, home, view)
    if leaf in _WRAPPERS:
        return typed(given[0], home, view, deep + 1)
    if leaf in {"tuple", "Tuple"}:
        is_uniform = len(given) == 2 and isinstance(given[1], ast.Constant) and given[1].value is Ellipsis
        if is_uniform:
            return ListOf(typed(given[0], home, items_of(view), deep + 1), "tuple", sizes_of(view))
        return TupleOf(tuple(typed(each, home, view.below(f"#{at}"), deep + 1) for at, each in enumerate(given)))
    if leaf in LIST_KINDS:
        return ListOf(typed(given[0], home, items_of(view), deep + 1), LIST_KINDS[leaf], sizes_of(view))
    if leaf in _DICTS and len(given) == 2:
        key = typed(given[0], home, items_of(view.below("keys")), deep + 1)
        value = typed(given[1], home, items_of(view.below("values")), deep + 1)
        return DictOf(key, value, known_keys(view))
    found = home.find(home.dotted(node.value))
    return _defined(found, home, view, deep) if found is not None else Opaque()


def _literal(given: list[ast.expr], home: Home, view: View) -> Domain:
    """The values that are written, and those that the code asks for beside them: annotations lie."""
    values = [home.constant(each) for each in given]
    values = [value for value in values if value is not MISSING and isinstance(value, SCALARS)]
    asked = [each for each in view.get("exact") if any(type(each) is type(value) for value in values)]
    known = {(type(each), each): each for each in [*values, *asked]}
    if not known:
        return Opaque()
    rest = tuple(value for value in known.values() if value is not None)
    found: Domain = OneOf(rest)
    return Maybe(found) if None in values or "none" in view.kinds else found


def _defined(found: Definition, home: Home, view: View, deep: int) -> Domain:
    """What a name of the tree stands for."""
    inside, node = home.of(found), found.node
    if isinstance(node, ast.ClassDef):
        return class_domain(found, inside, view, deep)
    value = getattr(node, "value", None)
    if not isinstance(value, ast.expr):
        return Opaque()
    if isinstance(value, ast.Call):
        leaf = inside.meant(value.func).rpartition(".")[2]
        if leaf == "NewType" and len(value.args) == 2:
            return typed(value.args[1], inside, view, deep + 1)
        if leaf == "TypeVar":
            bound = next((each.value for each in value.keywords if each.arg == "bound"), None)
            choices = [typed(each, inside, view, deep + 1) for each in value.args[1:]]
            return unite(choices) if choices else typed(bound, inside, view, deep + 1)
        return Opaque()
    return typed(value, inside, view, deep + 1)


# ---- classes of the tree


def class_domain(found: Definition, home: Home, view: View, deep: int = 0) -> Domain:
    """An enum's members, a data class' fields, else opaque."""
    node = found.node
    assert isinstance(node, ast.ClassDef)
    bases = {home.meant(each).rpartition(".")[2] for each in node.bases}
    if bases & _ENUMS:
        members = enum_members(node)
        return OneOf(tuple(Member(found.ref, name) for name in members)) if members else Opaque()
    lines = lineage(found, home)
    if not is_data(lines):
        return Opaque()
    is_dict = any(_is_typed_dict(cls, inside) for cls, inside in lines)
    fields = [each for cls, inside in lines for each in _fields(cls, inside, view, deep, is_dict)]
    named = {each.name: each for each in fields}
    if len(named) > _MOST_FIELDS or deep > 2:
        return Opaque()
    return Record(tuple(named.values()), "" if is_dict else found.ref)


def lineage(found: Definition, home: Home, deep: int = 0) -> list[tuple[ast.ClassDef, Home]]:
    """The classes of the tree that a class consists of, bases first."""
    node = found.node
    if not isinstance(node, ast.ClassDef):
        return []
    lines: list[tuple[ast.ClassDef, Home]] = []
    for base in node.bases:
        name = home.dotted(base)
        above = home.find(name) if name and name != node.name else None
        if above is not None and deep < _DEEPEST:
            lines.extend(each for each in lineage(above, home.of(above), deep + 1) if each not in lines)
    return [*lines, (node, home)]


def enum_members(node: ast.ClassDef) -> list[str]:
    names = [
        target.id
        for each in node.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    ]
    return list(dict.fromkeys(names))


def is_data(lines: list[tuple[ast.ClassDef, Home]]) -> bool:
    """Whether making an instance only stores what it is given."""
    declared = False
    for node, home in lines:
        names = {home.meant(each).rpartition(".")[2] for each in node.bases}
        decorators = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
        names.update(home.meant(each).rpartition(".")[2] for each in decorators)
        declared = declared or bool(names & (_DATA_BASES | _DATA_DECORATORS))
        if any(isinstance(each, FUNCTIONS) and each.name in _RUNS for each in node.body):
            return False
    return declared


def _is_typed_dict(node: ast.ClassDef, home: Home) -> bool:
    return any(home.meant(each).rpartition(".")[2] == "TypedDict" for each in node.bases)


def _fields(node: ast.ClassDef, home: Home, view: View, deep: int, is_dict: bool) -> list[Field]:
    total = next((home.constant(each.value) for each in node.keywords if each.arg == "total"), True)
    found: list[Field] = []
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        leaf = home.leaf(each.annotation.value) if isinstance(each.annotation, ast.Subscript) else ""
        if leaf == "ClassVar" or _is_made_inside(each.value):
            continue
        name = each.target.id
        below = view.below(f"[{name!r}]") if is_dict else view.attribute(name)
        domain = typed(each.annotation, home, below, deep + 1)
        found.append(Field(name, domain, leaf == "NotRequired" or (total is False and leaf != "Required")))
    return found


def _is_made_inside(value: ast.expr | None) -> bool:
    """`field(init=False)`."""
    return isinstance(value, ast.Call) and any(
        each.arg == "init" and isinstance(each.value, ast.Constant) and each.value.value is False
        for each in value.keywords
    )
