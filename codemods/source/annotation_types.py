"""What kind of value an annotation promises. A Protocol promises nothing about the class of the value."""

from __future__ import annotations

import ast

from codemods.source.class_names import qualname_of
from codemods.source.classes import Base, ClassKey, mro, resolve_class
from codemods.source.files import FileSet
from codemods.source.modules import modules_of
from codemods.source.parse import Source
from codemods.source.receiver_kinds import NONE, ClassObject, Known, NotIn, Receiver, Unknown, instance_of, unite
from codemods.source.scopes import Scope, ScopeKind, chain, lookup

_WRAPPERS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly"})
_WAITED = frozenset({"Awaitable", "Coroutine"})
_SEQUENCES = frozenset({"list", "List", "Sequence", "MutableSequence", "deque", "Deque", "UserList"})
_ITERABLES = frozenset(
    {"Iterable", "Iterator", "Collection", "set", "Set", "frozenset", "FrozenSet", "AbstractSet", "Generator"}
)
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"})


def annotated(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> Receiver:
    """The value that a name with this annotation has. `scope` is where the annotation's names are looked up."""
    if isinstance(node, ast.Constant):
        if node.value is None:
            return NONE
        inner = _quoted(node.value)
        return annotated(files, source, inner, scope) if inner is not None else Unknown("an unreadable annotation")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return unite(annotated(files, source, side, scope) for side in (node.left, node.right))
    if isinstance(node, ast.Subscript):
        return _subscripted(files, source, node, scope)
    leaf = _leaf(node)
    if leaf == "Self":
        return _self_type(files, source, scope)
    if leaf in {"Any", "object"} and (not isinstance(node, ast.Name) or lookup(scope, leaf) is None or leaf == "Any"):
        return Unknown("annotated as anything")
    return unite(_promised(files, base) for base in resolve_class(files, source, node, scope))


def _quoted(value: object) -> ast.expr | None:
    if not isinstance(value, str):
        return None
    try:
        inner = ast.parse(value.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return None if isinstance(inner, ast.Constant) and isinstance(inner.value, str) else inner


def _leaf(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _promised(files: FileSet, base: Base) -> Receiver:
    if isinstance(base, ClassKey) and is_protocol(files, base):
        return Unknown(f"{base.name} is a protocol")
    return instance_of(base)


def is_protocol(files: FileSet, key: ClassKey) -> bool:
    """Whether a class describes a shape that others have without deriving from it."""
    return any(each.name in {"typing.Protocol", "typing_extensions.Protocol"} for each in mro(files, key).external)


def _subscripted(files: FileSet, source: Source, node: ast.Subscript, scope: Scope) -> Receiver:
    leaf = _leaf(node.value)
    arguments = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    kinds = [annotated(files, source, each, scope) for each in arguments] if leaf not in {"Literal", "Callable"} else []
    first, last = (kinds[0], kinds[-1]) if kinds else (None, None)
    if leaf == "Union":
        return unite(kinds)
    if leaf in _WRAPPERS and first is not None:
        return first
    if leaf in _WAITED and last is not None:
        return last
    if leaf in {"type", "Type"} and first is not None:
        is_one = isinstance(first, Known) and len(first.keys) == 1
        return ClassObject(first.key, is_exact=False) if is_one else Unknown("one of several classes")  # type: ignore[union-attr]
    if leaf in {"tuple", "Tuple"}:
        is_uniform = len(arguments) == 2 and isinstance(arguments[1], ast.Constant) and arguments[1].value is Ellipsis
        each = first if is_uniform else unite(kinds)
        return NotIn("tuple", element=each, item=each)
    if leaf in _SEQUENCES:
        return NotIn(leaf, element=first, item=first)
    if leaf in _ITERABLES:
        return NotIn(leaf, element=first)
    if leaf in _MAPPINGS:
        return NotIn(leaf, element=first, item=last)
    if leaf in {"Literal", "Callable"}:
        return NotIn(leaf)
    return unite(_promised(files, base) for base in resolve_class(files, source, node.value, scope))


def _self_type(files: FileSet, source: Source, scope: Scope) -> Receiver:
    around = next((at for at in chain(scope) if at.kind is ScopeKind.CLASS), None)
    if around is None:
        return Unknown("Self outside a class")
    return Known((ClassKey(modules_of(files).module_of(source.path), qualname_of(around)),))
