"""What a call of a function, method or record has to fit, read from the statement that defines it.

Records are dataclasses, Structs and named tuples without bases that could bring more fields. Decorators that may change
a signature are the caller's to know."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.source.parse import Function

_RECORD_BASES = frozenset({"Struct", "NamedTuple"})
_PLAIN_BASES = frozenset({"ABC", "Protocol", "Generic", "object"})


class Signature(Struct, frozen=True):
    """Parameters of a callable, the receiver left out. positional: in order; the first `posonly` have no keyword.
    required: those without a default."""

    positional: tuple[str, ...] = ()
    posonly: int = 0
    keyword: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()
    has_args: bool = False
    has_kwargs: bool = False


def signature_of(node: Function, *, is_method: bool) -> Signature:
    """What a call has to fit; of a method without the receiver."""
    a = node.args
    positional = [*a.posonlyargs, *a.args]
    required = {each.arg for each in positional[: len(positional) - len(a.defaults)]}
    required |= {each.arg for each, default in zip(a.kwonlyargs, a.kw_defaults, strict=True) if default is None}
    is_static = any(getattr(each, "id", "") == "staticmethod" for each in node.decorator_list)
    skipped = 1 if is_method and not is_static and positional else 0
    names = tuple(each.arg for each in positional)
    return Signature(
        names[skipped:],
        max(len(a.posonlyargs) - skipped, 0),
        tuple(each.arg for each in a.kwonlyargs),
        frozenset(required - set(names[:skipped])),
        a.vararg is not None,
        a.kwarg is not None,
    )


def record_of(node: ast.ClassDef) -> Signature | None:
    """What a dataclass, Struct or NamedTuple is made of; None when bases may bring more, or it is none of them."""
    leaves = [last_name(base) for base in node.bases]
    makers = [each for each in node.decorator_list if last_name(each) == "dataclass"]
    if not (makers or set(leaves) & _RECORD_BASES) or not set(leaves) <= _RECORD_BASES | _PLAIN_BASES:
        return None
    options = [*node.keywords, *(each for maker in makers for each in getattr(maker, "keywords", []))]
    switches = {each.arg: ast.unparse(each.value) for each in options}
    if switches.get("init") == "False" or "rename" in switches:
        return None
    names: list[str] = []
    required: set[str] = set()
    for field_node in node.body:
        if not isinstance(field_node, ast.AnnAssign) or not isinstance(field_node.target, ast.Name):
            continue
        value = ast.unparse(field_node.value) if field_node.value is not None else ""
        if "ClassVar" in ast.unparse(field_node.annotation) or "init=False" in value:
            continue
        if "KW_ONLY" in ast.unparse(field_node.annotation) or "kw_only" in value:
            return None
        names.append(field_node.target.id)
        if not value or (value.startswith(("field(", "dataclasses.field(")) and "default" not in value):
            required.add(field_node.target.id)
    if switches.get("kw_only") == "True":
        return Signature(keyword=tuple(names), required=frozenset(required))
    return Signature(tuple(names), required=frozenset(required))


def last_name(node: ast.expr) -> str:
    """The last name of a decorator or base, without arguments."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
