"""How calls of functions and classes that stand as one thing on both sides are written: by position or by name, with a
default given or left out, means the same call. Kept by the term that stands for the callee; dropped with the terms."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from codemods.prove.opaque import OP, Opaque, forgetting
from codemods.prove.sides import DefNode, FunctionNode

_NONE: Any = object()


class Shape(Struct, frozen=True):
    """positional: parameters that may be given by position, with the default where it is a constant. by_position: how
    many of them may be given only so. named: those that are only given by name."""

    name: str
    positional: tuple[tuple[str, Any], ...]
    by_position: int
    named: tuple[tuple[str, Any], ...]
    has_rest: bool
    has_names: bool
    required: frozenset[str]


known: dict[Opaque, Shape] = {}
forgetting.append(known.clear)


def register(callee: Opaque, node: DefNode, *, is_bound: bool = False) -> None:
    """Remember the parameters of a definition. is_bound: the first one is not given by callers."""
    if callee in known:
        return
    if isinstance(node, ast.ClassDef):
        made = next((each for each in node.body if isinstance(each, FunctionNode) and each.name == "__init__"), None)
        if (
            made is None
            or node.keywords
            or any(isinstance(each, FunctionNode) and each.name == "__new__" for each in node.body)
        ):
            return
        if made.decorator_list or node.decorator_list:
            return
        known[callee] = shape_of(made, node.name, drops_first=True)
    elif not node.decorator_list:
        known[callee] = shape_of(node, node.name, drops_first=is_bound)


def shape_of(node: FunctionNode, name: str, *, drops_first: bool) -> Shape:
    args = node.args
    both = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(both) - len(args.defaults)) + list(args.defaults)
    start = 1 if drops_first else 0
    positional = tuple((each.arg, _constant(value)) for each, value in zip(both, defaults, strict=True))[start:]
    named = tuple((each.arg, _constant(value)) for each, value in zip(args.kwonlyargs, args.kw_defaults, strict=True))
    required = [each.arg for each, value in zip(both, defaults, strict=True) if value is None][start:]
    required += [each.arg for each, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is None]
    return Shape(
        name=name,
        positional=positional,
        by_position=max(0, len(args.posonlyargs) - start),
        named=named,
        has_rest=args.vararg is not None,
        has_names=args.kwarg is not None,
        required=frozenset(required),
    )


def _constant(node: ast.expr | None) -> Any:
    is_plain = isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool | None)
    return node.value if is_plain else _NONE  # type: ignore[union-attr]


def bound(
    callee: Opaque, args: tuple[Any, ...], kwargs: dict[str, Any], freeze: Callable[[Any], Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The frozen arguments in one way of writing. Raises TypeError where Python would."""
    shape = known[callee]
    if any(type(each) is Opaque and each._u_kind is OP and each._u_parts[0] in ("*", "**") for each in args):
        return args, kwargs
    left = dict(kwargs)
    given = list(args)
    names = [name for name, _ in shape.positional]
    _check(shape, names, given, left)
    for name, default in shape.positional[len(given) :]:
        if name in left:
            given.append(left.pop(name))
        elif default is not _NONE:
            given.append(freeze(default))
        else:
            break
    for name, default in shape.named:
        if name not in left and default is not _NONE:
            left[name] = freeze(default)
    return tuple(given), left


def _check(shape: Shape, names: list[str], given: list[Any], left: dict[str, Any]) -> None:
    if len(given) > len(names) and not shape.has_rest:
        raise TypeError(f"{shape.name}() takes {len(names)} positional arguments but {len(given)} were given")
    filled = names[: len(given)]
    for name in left:
        if name in filled[shape.by_position :]:
            raise TypeError(f"{shape.name}() got multiple values for argument {name!r}")
        is_known = name in names[shape.by_position :] or any(name == each for each, _ in shape.named)
        if not is_known and not shape.has_names:
            raise TypeError(f"{shape.name}() got an unexpected keyword argument {name!r}")
    missing = [name for name in shape.required if name not in filled and name not in left]
    if missing:
        raise TypeError(f"{shape.name}() misses the arguments {', '.join(sorted(missing))}")
