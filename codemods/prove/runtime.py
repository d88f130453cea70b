"""What instrumented code calls in place of what Python does by itself. See instrument.py for where each stands.

Real values behave as ever; only where an opaque value takes part is the run asked."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Generator, Iterator
from typing import Any, cast

from codemods.prove.builtin_calls import HANDLERS, MANY_BUILTINS, outside_call, with_inner_opaque, with_opaque
from codemods.prove.errors import Fault, NeverRaised, OpaqueError, raise_unsupported
from codemods.prove.freeze import joined, mark, text_parts
from codemods.prove.opaque import GLOBAL, ITEM, OP, Opaque, current, forgetting, term
from codemods.prove.patterns import PATTERNS
from codemods.prove.reaching import refuse_to_reach
from codemods.prove.tables import OPEN, OpenDict
from codemods.prove.texts import converted, percent

_FUNCTION, _METHOD = types.FunctionType, types.MethodType
_BUILTIN = types.BuiltinFunctionType


def call(callee: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`callee(*args, **kwargs)`."""
    kind = type(callee)
    if kind is Opaque:
        return current.run.call(callee, args, kwargs)
    if kind is _FUNCTION:
        if "_u_side" in callee.__globals__:
            return callee(*args, **kwargs)
        return outside_call(callee, args, kwargs) if with_opaque(args, kwargs) else _outside(callee, args, kwargs)
    if kind is _METHOD:
        return callee(*args, **kwargs)
    if kind is _BUILTIN or kind is type:
        handler = HANDLERS.get(callee)
        if handler is not None:
            return handler(*args, **kwargs)
        if with_opaque(args, kwargs):
            return outside_call(callee, args, kwargs)
        return _outside(callee, args, kwargs) if kind is _BUILTIN else callee(*args, **kwargs)
    return callee(*args, **kwargs)


def _outside(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function outside the trees that is given nothing opaque itself, but may find it inside of what it is given."""
    try:
        return callee(*args, **kwargs)
    except TypeError as error:
        return with_inner_opaque(callee, error, args, kwargs)


def call_spread(callee: Any, given: list[tuple[bool, Any]], named: list[tuple[str | None, Any]]) -> Any:
    """`callee(a, *b, c=d, **e)`. A collaborator is given what is opaque as it is."""
    is_outside = type(callee) is Opaque
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for is_star, value in given:
        if not is_star:
            args.append(value)
        elif is_outside and type(value) is Opaque:
            args.append(term(OP, "*", value))
        else:
            args.extend(value)
    for name, value in named:
        if name is not None:
            kwargs[name] = value
        elif type(value) is Opaque:
            if not is_outside:
                raise_unsupported("** of an opaque value")
            args.append(term(OP, "**", value))
        else:
            kwargs.update(value)
    return call(callee, *args, **kwargs)


def get(value: Any, name: str) -> Any:
    """`value.name`."""
    if type(value) is Opaque:
        run = current.run
        found = value._u_attrs.get(name)
        if found in run.fresh or (found is not None and found._u_kind is GLOBAL and found not in run.heap):
            return found
        return run.read(value, name)
    if name == "__dict__" and "_u_term" in value.__dict__:
        raise_unsupported("__dict__ of an object whose attributes are not all known")
    return getattr(value, name)


def inner(value: Any, name: str) -> Any:
    """`value.name`, where the name is one by which code gets at the interpreter, and at the prover in it."""
    refuse_to_reach(value, name)
    return get(value, name)


def is_(a: Any, b: Any) -> bool:
    if type(a) is Opaque or type(b) is Opaque:
        return current.run.is_same(a, b)
    return a is b


def is_not(a: Any, b: Any) -> bool:
    return not is_(a, b)


_HASHED: tuple[type, ...] = (set, frozenset, dict, *MANY_BUILTINS)
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def in_(item: Any, container: Any) -> bool:
    if type(container) is Opaque:
        return current.run.contains(container, item)
    if type(item) is Opaque and isinstance(container, _HASHED) and type(container) not in OPEN:
        held: list[Any] = list(cast(Any, container))
        if any(each is item for each in held):
            return True
        return any(bool(item == each) for each in sorted(held, key=repr))
    return item in container


def not_in(item: Any, container: Any) -> bool:
    return not in_(item, container)


_texts: dict[tuple[Any, ...], Opaque] = {}
forgetting.append(_texts.clear)


def text(*parts: Any) -> Any:
    """An f-string: pieces, and (value, conversion, spec) triples."""
    for each in parts:
        if type(each) is not str and (type(each[0]) is not Opaque or type(each[2]) is not str):
            return _text(parts)
    found = _texts.get(parts)
    if found is None:
        made = _text(parts)
        if type(made) is not Opaque:
            return made
        found = _texts[parts] = made
    return found


def _text(parts: tuple[Any, ...]) -> Any:
    pieces: list[Any] = []
    is_plain = True
    for part in parts:
        if type(part) is str:
            pieces.append(part)
            continue
        value, conversion, spec = part
        if type(value) is Opaque or isinstance(value, Fault | OpaqueError):
            is_plain = False
            pieces.append((current.run.freezer.freeze(value), converted(conversion, spec)))
            continue
        if conversion:
            value = _CONVERSIONS[conversion](value)
        made = format(value, spec)
        is_plain = is_plain and "\ue000" not in made
        pieces.append(made)
    if is_plain:
        return "".join(pieces)
    return joined(_remade(pieces))


def _remade(pieces: list[Any]) -> list[Any]:
    found: list[Any] = []
    for piece in pieces:
        found.extend(text_parts(piece) if isinstance(piece, str) else [piece])
    return found


def item(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if type(container) is Opaque:
        return current.run.item(container, key)
    if type(key) is Opaque and type(container) is not OpenDict:
        if isinstance(container, dict):
            for each in container:
                if each is key or bool(key == each):
                    return container[each]
            raise KeyError(key)
        if isinstance(container, list | tuple | str):
            if not container:
                raise IndexError(f"{type(container).__name__} index out of range")
            return term(ITEM, current.run.freezer.freeze(container), key, None)
    if type(key) is slice and any(type(each) is Opaque for each in (key.start, key.stop, key.step)):
        return term(ITEM, current.run.freezer.freeze(container), frozen_slice(key), None)
    return container[key]


def frozen_slice(key: slice) -> Any:
    freeze = current.run.freezer.freeze
    return ("slice", freeze(key.start), freeze(key.stop), freeze(key.step))


def unpack(value: Any, shape: tuple[Any, ...]) -> Any:
    """A value about to be unpacked: an opaque one has as many items as are wanted."""
    if type(value) is not Opaque:
        nested = [each for each in shape if each.__class__ is tuple]
        if not nested or -1 in shape:
            return value
        items = list(value)
        if len(items) != len(shape):
            return items
        return [unpack(each, inner) if type(inner) is tuple else each for each, inner in zip(items, shape, strict=True)]
    run = current.run
    run.need(value, "cannot unpack")
    base = run.latest(value)
    about = run.world.known(base)
    if about is not None and about.size is not None and about.size != len(shape) and -1 not in shape:
        return list(run.iterate(value))
    found: list[Any] = []
    for index, inner in enumerate(shape):
        if inner == -1:
            after = len(shape) - index - 1
            found.append(term(OP, "rest", base, index, after))
            continue
        each = term(ITEM, base, index if -1 not in shape[:index] else index - len(shape), None)
        found.append(unpack(each, inner) if type(inner) is tuple else each)
    return found


def each(values: Any, shape: tuple[Any, ...]) -> Iterator[Any]:
    """The items of a loop that unpacks each of them."""
    return (unpack(value, shape) for value in values)


def tick() -> None:
    current.run.tick()


def delegated(value: Any) -> Any:
    """What `yield from` is given."""
    return _delegated(value) if type(value) is Opaque else value


def _delegated(value: Opaque) -> Generator[Any, None, Opaque]:
    yield from current.run.iterate(value)
    return term(OP, "yielded from", value)  # what a generator gives back, others can't know


def guard(*missing: str) -> Any:
    """Code begins that would see an exception pass. missing: those that it expects of attributes and items that are
    not there. Gives what `unguard` needs."""
    run = current.run
    run.guard += 1
    before = run.expected
    if missing:
        run.expected = before | frozenset(missing)
    return run, before


def unguard(held: Any) -> None:
    run, run.expected = held
    run.guard -= 1


def handles(kind: Any) -> Any:
    """The class that an `except` clause names, such that it matches what is being raised or does not."""
    error = sys.exc_info()[1]
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(error, Fault | OpaqueError):
        return tuple(each for each in kinds if type(each) is not Opaque) or NeverRaised
    return type(error) if any(raised_is(error, each) for each in kinds) else NeverRaised


def raised_is(error: BaseException, kind: Any) -> bool:
    """Whether an exception of the world, or one of a class outside the trees, is of a class."""
    if kind in (BaseException, object):
        return True
    run = current.run
    if isinstance(error, Fault):
        raised = term(OP, "raised", error._u_fault)
        is_other = isinstance(kind, type) and not issubclass(kind, Exception)
        if kind is Exception or is_other:
            is_usual = not run.is_wide() or bool(run.world.ask(("isa", raised, Exception)))
            if kind is Exception or is_usual:
                return is_usual and not is_other
        frozen = kind if isinstance(kind, type) and kind.__module__ == "builtins" else run.freezer.freeze(kind)
        return bool(run.world.ask(("isa", raised, frozen)))
    if type(kind) is Opaque:
        return run.is_instance(error, kind)
    return isinstance(error, kind)


def raised(error: Any) -> Any:
    """What `raise` is given."""
    return OpaqueError(error) if type(error) is Opaque else error


NAMES = {
    **PATTERNS,
    "_u_from": delegated,
    "_u_get": get,
    "_u_inner": inner,
    "_u_has": HANDLERS[hasattr],
    "_u_call": call,
    "_u_call_spread": call_spread,
    "_u_is": is_,
    "_u_is_not": is_not,
    "_u_in": in_,
    "_u_not_in": not_in,
    "_u_text": text,
    "_u_item": item,
    "_u_slice": slice,
    "_u_percent": percent,
    "_u_unpack": unpack,
    "_u_each": each,
    "_u_tick": tick,
    "_u_guard": guard,
    "_u_unguard": unguard,
    "_u_except": handles,
    "_u_raise": raised,
    "_u_mark": mark,
}
