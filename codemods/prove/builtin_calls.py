"""Builtin functions and methods where an argument is opaque: what Python would compute is asked of the run, or becomes
a term. A pure function that is given an opaque value is uninterpreted: equal arguments, equal results, or a fault."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

from codemods.prove import texts
from codemods.prove.errors import Fault, OpaqueError
from codemods.prove.opaque import ATTR, OP, TEXT, Opaque, current, length_of, term
from codemods.prove.reaching import refuse_to_reach

MANY_BUILTINS: tuple[type, ...] = (type({}.keys()), type({}.values()))
_NONE: Any = object()


def with_opaque(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an opaque value is among the arguments."""
    for each in args:
        if type(each) is Opaque:
            return True
    return bool(kwargs) and any(type(each) is Opaque for each in kwargs.values())


# Of these modules, everything may be given opaque values: they hand them on and do not look at them.
_BLIND = frozenset(
    """
        functools contextlib contextvars _contextvars dataclasses typing enum abc collections itertools
        operator copy types _operator _functools _collections msgspec weakref codemods
    """.split()
)


def outside_call(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of the standard library, or a method of a builtin value, that is given opaque values."""
    owner = getattr(callee, "__self__", None)
    if owner is not None and not isinstance(owner, type | type(builtins)):
        return _method(owner, callee, args, kwargs)
    module = getattr(callee, "__module__", None) or "builtins"
    if module in ("dataclasses", "msgspec.structs", "attr", "copy") and args and type(args[0]) is Opaque:
        return pure(f"{module}.{callee.__name__}", args, kwargs)  # they look into what they are given
    if module.partition(".")[0] in _BLIND or _is_subject(callee):
        return callee(*args, **kwargs)
    if isinstance(callee, type) and (issubclass(callee, BaseException) or _is_of_tree(callee)):
        return callee(*args, **kwargs)
    name = getattr(callee, "__qualname__", repr(callee))
    return pure(f"{module}.{name}", args, kwargs)


def with_inner_opaque(callee: Any, error: TypeError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same where opaque values are inside what it is given: `", ".join([value])`. error: what Python made of it;
    raised again where it is of anything else."""
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, str) and callee.__name__ == "join" and "Opaque" in str(error):
        return _method(owner, callee, args, kwargs)
    raise error


def _is_subject(callee: Any) -> bool:
    """A function of the trees under a decorator."""
    while callee is not None:
        if "_u_side" in getattr(callee, "__globals__", {}):
            return True
        callee = getattr(callee, "__dict__", {}).get("__wrapped__")
    return False


def _is_of_tree(kind: type) -> bool:
    return any("_u_tree" in each.__dict__ for each in kind.__mro__)


def pure(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function that has no effect but may raise."""
    run = current.run
    freeze = run.freezer.freeze
    for each in args:
        if type(each) is Opaque:
            run.need(each, f"{name}()")
    named = frozenset((key, freeze(value)) for key, value in kwargs.items())
    result = term(OP, name, *[freeze(each) for each in args], *([named] if named else []))
    run.record("pure", result)
    if result is run.world.fault:
        raise Fault(result)
    return result


def _method(owner: Any, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = callee.__name__
    if isinstance(owner, str):
        if name == "format":
            return texts.format_text(owner, args, kwargs)
        if name == "join":
            return texts.join_text(owner, *args)
        return pure(f"str.{name}", (owner, *args), kwargs)
    if isinstance(owner, dict) and name in ("get", "pop", "setdefault") and type(args[0]) is Opaque:
        key = next((each for each in owner if each is args[0] or bool(args[0] == each)), _NONE)
        return callee(*args) if key is _NONE else callee(key, *args[1:])
    if isinstance(owner, bytes | int | float):
        return pure(f"{type(owner).__name__}.{name}", (owner, *args), kwargs)
    return callee(*args, **kwargs)


def _isinstance(value: Any, kind: Any) -> bool:
    if isinstance(kind, tuple):
        return any(_isinstance(value, each) for each in kind)
    # An opaque class is one class, whatever it might answer if it were a union.
    parts = None if type(kind) is Opaque else getattr(kind, "__args__", None)
    if parts and not isinstance(kind, type):
        return any(_isinstance(value, each) for each in parts)
    run = current.run
    if type(value) is Opaque or type(kind) is Opaque:
        return run.is_a(value, kind)
    if isinstance(value, Fault | OpaqueError):
        from codemods.prove.runtime import raised_is

        return raised_is(value, kind)
    return isinstance(value, kind)


def _label(value: Any, name: str) -> Opaque | None:
    """The term of a value whose attributes are opaque until they are written, where this one is."""
    if type(value) is Opaque:
        return value
    label = getattr(value, "__dict__", {}).get("_u_term")
    if label is None or name in value.__dict__ or any(name in each.__dict__ for each in type(value).__mro__):
        return None
    assert isinstance(label, Opaque)
    return label


def _getattr(value: Any, name: Any, *default: Any) -> Any:
    if type(name) is Opaque:
        return _named_later(value, name, default)
    refuse_to_reach(value, name)
    label = _label(value, name)
    if label is None or not default:
        return getattr(value, name, *default)
    return getattr(value, name) if current.run.has(label, name) else default[0]


def _named_later(value: Any, name: Opaque, default: tuple[Any, ...]) -> Any:
    """An attribute whose name is put together: the world says which of the class's it is, or that it is none of
    them."""
    if name._u_kind is TEXT and any("_u_tree" in each.__dict__ for each in type(value).__mro__):
        ends = [each if isinstance(each, str) else "" for each in (name._u_parts[0], name._u_parts[-1])]
        for each in sorted(dir(type(value))):
            is_like = each.startswith(ends[0]) and each.endswith(ends[1]) and not each.startswith(("__", "_u_"))
            if is_like and bool(name == each):
                return getattr(value, each)
        if default:
            return default[0]
    return term(OP, "getattr", current.run.freezer.freeze(value), name)


def _hasattr(value: Any, name: Any) -> bool:
    label = _label(value, name) if type(name) is not Opaque else None
    return hasattr(value, name) if label is None else current.run.has(label, name)


def _setattr(value: Any, name: Any, new: Any) -> None:
    if type(name) is Opaque:
        freeze = current.run.freezer.freeze
        current.run.record("setattr", freeze(value), name, freeze(new))
    else:
        setattr(value, name, new)


def _len(value: Any) -> Any:
    if type(value) is not Opaque:
        return len(value)
    run = current.run
    run.need(value, "object of type 'NoneType' has no len():")
    base = run.latest(value)
    about = run.world.known(base)
    return about.size if about is not None and about.size is not None else length_of(base)


def _type(value: Any, *more: Any) -> Any:
    if more:
        return type(value, *more)
    return term(OP, "type", value) if type(value) is Opaque else type(value)


def _print(*values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False) -> None:  # noqa: ARG001
    made = texts.join_text(sep or " ", [texts.as_text(each) for each in values])
    if file is None:
        current.run.record("output", texts.join_text("", [made, end]))
    else:
        file.write(texts.join_text("", [made, end]))


def _made(name: str, kind: Callable[..., Any]) -> Callable[..., Any]:
    """A class or function of the builtins that can't look into an opaque argument."""

    def made(*args: Any, **kwargs: Any) -> Any:
        return pure(name, args, kwargs) if with_opaque(args, kwargs) else kind(*args, **kwargs)

    return made


def _dict(*args: Any, **kwargs: Any) -> Any:
    return pure("dict", args, kwargs) if args and type(args[0]) is Opaque else dict(*args, **kwargs)


def _str(*args: Any, **kwargs: Any) -> Any:
    return texts.as_text(args[0]) if len(args) == 1 and not kwargs else str(*args, **kwargs)


def _bool(*args: Any) -> bool:
    return current.run.truth(args[0]) if args and type(args[0]) is Opaque else bool(*args)


def _repr(value: Any) -> Any:
    if not texts.has_opaque(value):
        return repr(value)
    from codemods.prove.freeze import joined

    return joined([(current.run.freezer.freeze(value), "!r")])


def _range(*args: Any) -> Iterable[Any]:
    if not with_opaque(args, {}):
        return range(*args)
    return iter(current.run.iterate(term(OP, "range", *args)))


def _callable(value: Any) -> bool:
    return current.run.truth(term(OP, "callable", value)) if type(value) is Opaque else callable(value)


def _unary(name: str, kind: Callable[..., Any]) -> Callable[..., Any]:
    def made(value: Any, *more: Any) -> Any:
        return term(OP, name, value, *more) if type(value) is Opaque else kind(value, *more)

    return made


def _next(value: Any, *default: Any) -> Any:
    if type(value) is not Opaque:
        return next(value, *default)
    return current.run.call(term(ATTR, value, "__next__", None), (), {})


def _open(*args: Any, **kwargs: Any) -> Any:
    from codemods.prove.opaque import GLOBAL

    return current.run.call(term(GLOBAL, "builtins.open"), args, kwargs)


HANDLERS: dict[Any, Callable[..., Any]] = {
    isinstance: _isinstance,
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    len: _len,
    type: _type,
    print: _print,
    int: _made("int", int),
    float: _made("float", float),
    bytes: _made("bytes", bytes),
    str: _str,
    bool: _bool,
    repr: _repr,
    range: _range,
    callable: _callable,
    next: _next,
    open: _open,
    sorted: _made("sorted", sorted),
    dict: _dict,
    ord: _made("ord", ord),
    chr: _made("chr", chr),
    hash: _unary("hash", hash),
    id: _unary("id", id),
    iter: _unary("iter", iter),
}
