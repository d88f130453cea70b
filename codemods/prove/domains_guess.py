"""From facts about a value to its domain, when its type is known and when only its use is.

Where the use tells nothing, or contradicts itself, the value stays opaque."""

from __future__ import annotations

import math
from typing import Any

from msgspec import structs

from codemods.prove.domains import (
    Bool,
    Bytes,
    DictOf,
    Domain,
    Either,
    Float,
    Int,
    ListOf,
    Maybe,
    OneOf,
    Opaque,
    Text,
    Tied,
    TupleOf,
)
from codemods.prove.domains_evidence import Facts, View

_TEXT = frozenset({"str", "is_str"})
_INT = frozenset({"int", "is_int"})
_FLOAT = frozenset({"float", "is_float", "number"})
_MOST = 48
_NAMES = {
    **dict.fromkeys(("host", "hostname", "ip", "addr", "address", "endpoint"), "address"),
    **dict.fromkeys(("path", "dir", "directory", "file", "filename", "folder"), "path"),
    **dict.fromkeys(("json",), "json"),
    **dict.fromkeys(("url", "uri"), "url"),
    **dict.fromkeys(("lines",), "lines"),
}
_DEEPEST = 4


def text_of(view: View) -> Text:
    """The texts that the code at this value and at its parts tells apart."""
    below = [each for each in view.deep("exact", beside=False) if isinstance(each, str)]
    exact = [each for each in view.get("exact") if isinstance(each, str)]
    numbers = [each for each in view.number() if _is_number(each)]
    marks = [each for each in view.deep("mark") if isinstance(each, str) and 0 < len(each) <= 16]
    return Text(
        exact=_few(exact),
        separators=_few([*_short(view.deep("separator")), *marks]),
        starts=_few(_short(view.deep("start"))),
        ends=_few(_short(view.deep("end"))),
        pieces=_few([*below, *(key for key in view.deep("key") if isinstance(key, str))]),
        numbers=_few(numbers),
        styles=_few([str(each) for each in view.deep("style")]),
        patterns=_few([str(each) for each in view.deep("pattern")]),
    )


def int_of(view: View) -> Int:
    hints = [each for each in view.get("exact") if isinstance(each, int) and not isinstance(each, bool)]
    floats = [each for each in view.get("exact") if isinstance(each, float) and math.isfinite(each)]
    divisors = [each * times for each in view.get("divisor") for times in (1, 2)]
    return Int(hints=_few([*hints, *(int(each) for each in floats), *divisors]))


def float_of(view: View) -> Float:
    return Float(hints=_few([float(each) for each in view.get("exact") if _is_number(each) and abs(each) < 1e300]))


def bytes_of(view: View) -> Bytes:
    exact = [each for each in view.deep("exact") if isinstance(each, bytes)]
    return Bytes(exact=_few(exact), text=text_of(view))


def sizes_of(view: View) -> tuple[int, ...]:
    """Lengths that the code compares with."""
    sizes = [each for each in view.below("len").get("exact") if isinstance(each, int) and 0 <= each <= 64]
    indexed = [int(step[1:]) + 1 for step in view.next_steps() if step[:1] == "#"]
    return _few([*sizes, *indexed])


def items_of(view: View) -> View:
    """The facts of all elements of a sequence as those of one value."""
    merged = Facts()
    size = len(view.steps)
    for steps, facts in view.facts.table.get(view.root, {}).items():
        if steps[:size] != view.steps:
            continue
        rest = steps[size:]
        while rest[:1] == ("slice",):
            rest = rest[1:]
        if rest and (rest[0] == "item" or rest[0][:1] == "#"):
            for category, values in facts.items():
                for value in values:
                    merged.add(("item", rest[1:]), category, value)
    return View(merged, "item")


def known_keys(view: View) -> tuple[Any, ...]:
    return _few([*view.get("key"), *view.below("keys", "item").get("exact")])


def guess(view: View, deep: int = 0) -> Domain:
    """The domain of a value without annotation, from its use alone."""
    kinds = set(view.kinds)
    asked = [_asked(kind[3:], view, deep) for kind in view.kinds if kind.startswith("is_")]
    if deep > _DEEPEST or "instance" in kinds or "called" in kinds or view.get("attribute"):
        return Opaque()
    if len(asked) > 1:
        found: Domain = Either(tuple(dict.fromkeys(asked)))
    elif kinds & _TEXT:
        found = text_of(view)
    elif "bytes" in kinds:
        found = bytes_of(view)
    elif "dict" in kinds and not kinds & {"indexed", "sliced"}:
        found = dict_of(view, deep)
    elif "set" in kinds and not kinds & {"list", "indexed", "sliced"}:
        found = ListOf(_item(view, deep), "set", sizes_of(view))
    elif not kinds and _places(view):
        found = _row(view, deep)
    elif kinds & {"list", "tuple", "indexed", "sliced", "iterated", "sized", "contains"}:
        found = _sequence(view, kinds, deep)
    elif "bool" in kinds and not kinds & (_INT | _FLOAT):
        found = Bool()
    elif kinds & _FLOAT and (kinds & {"float"} or not kinds & _INT):
        found = float_of(view)
    elif kinds & _INT:
        found = int_of(view)
    elif "numeric" in kinds:
        found = Either((text_of(view), int_of(View(view.facts, view.root, (*view.steps, "number")))))
    elif "contains_text" in kinds:
        found = text_of(view)
    else:
        return Opaque()
    return Maybe(found) if "none" in kinds else found


def _asked(kind: str, view: View, deep: int) -> Domain:
    """What `isinstance` asks for."""
    simple = {"str": text_of, "int": int_of, "float": float_of, "bytes": bytes_of}
    if kind in simple:
        return simple[kind](view)
    if kind == "bool":
        return Bool()
    if kind == "dict":
        return dict_of(view, deep)
    return ListOf(_item(view, deep), kind, sizes_of(view))


def _item(view: View, deep: int) -> Domain:
    return guess(items_of(view), deep + 1)


def _sequence(view: View, kinds: set[str], deep: int) -> Domain:
    item = _item(view, deep)
    if isinstance(item, Opaque) and "contains_text" in kinds:
        return text_of(view)
    items = items_of(view)
    if isinstance(item, ListOf) and _places(items) and not set(items.next_steps()) & {"item", "slice"}:
        item = _row(items, deep)
    return ListOf(item, "tuple" if "tuple" in kinds and "list" not in kinds else "list", sizes_of(view))


def _places(view: View) -> list[int]:
    """The places of a tuple that the code takes it apart at."""
    return [int(step[1:]) for step in view.next_steps() if step[:1] == "#"]


def _row(view: View, deep: int) -> Domain:
    count = max(_places(view)) + 1
    return TupleOf(tuple(guess(view.below(f"#{index}"), deep + 1) for index in range(count)))


def dict_of(view: View, deep: int = 0) -> Domain:
    """A dictionary by the keys that the code asks for."""
    keys = known_keys(view)
    domains = [guess(view.below(f"[{key!r}]"), deep + 1) for key in keys]
    loose = guess(items_of(view.below("values")), deep + 1)
    value = next((each for each in (loose, *domains) if not isinstance(each, Opaque)), Opaque())
    key_view = items_of(view.below("keys"))
    is_int = bool(keys) and all(isinstance(key, int) for key in keys)
    return DictOf(int_of(key_view) if is_int else text_of(key_view), value, keys)


def by_name(name: str, domain: Domain) -> Domain:
    """A text whose use says nothing of its kind gets the one that its name says: `host`, `model_path`."""
    if isinstance(domain, Maybe):
        return Maybe(by_name(name, domain.inner))
    words = name.rpartition(".")[2].lower().split("_")
    if isinstance(domain, Text) and not domain.styles:
        style = next((_NAMES[word] for word in reversed(words) if word in _NAMES), "")
        return structs.replace(domain, styles=(style,)) if style else domain
    if isinstance(domain, Int) and words[-1] == "port" and not domain.hints:
        return Int((0, 65535), domain.low, domain.high)
    return domain


def with_hints(domain: Domain, inferred: Domain) -> Domain:
    """The kind and bounds that a spec gives, with what the code shows."""
    if isinstance(inferred, Tied):
        done = with_hints(domain, inferred.inner)
        is_fixed = isinstance(done, (OneOf, Bool, Opaque, Tied))
        return done if is_fixed else Tied(done, inferred.ties)
    if isinstance(inferred, Maybe):
        inferred = inferred.inner
    if isinstance(domain, Maybe):
        return Maybe(with_hints(domain.inner, inferred))
    if isinstance(domain, Int) and isinstance(inferred, Int):
        return Int(_few([*domain.hints, *inferred.hints]), domain.low, domain.high)
    if isinstance(domain, Float) and isinstance(inferred, Float):
        return Float(_few([*domain.hints, *inferred.hints]), domain.low, domain.high)
    if isinstance(domain, Text) and isinstance(inferred, Text):
        names = Text.__struct_fields__
        return Text(**{name: _few([*getattr(domain, name), *getattr(inferred, name)]) for name in names})
    if isinstance(domain, ListOf) and isinstance(inferred, ListOf):
        item = with_hints(domain.item, inferred.item)
        return ListOf(item, domain.kind, inferred.sizes, domain.low, domain.high)
    if isinstance(domain, DictOf) and isinstance(inferred, DictOf):
        value = with_hints(domain.value, inferred.value)
        return DictOf(with_hints(domain.key, inferred.key), value, _few([*domain.known, *inferred.known]))
    return domain


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _short(values: list[Any]) -> list[str]:
    return [each for each in values if isinstance(each, str) and each and len(each) <= 64]


def _few(values: list[Any]) -> tuple[Any, ...]:
    return tuple({(type(each), each): each for each in values}.values())[:_MOST]
