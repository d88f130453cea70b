"""Which calls are made on an instance of a class: as the old class takes them, since that is what callers do. Each
public method alone, then each pair of them, a method after itself too; bounded."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from msgspec import Struct

from codemods.prove.sides import DefNode, FunctionNode, Side
from codemods.prove.stable import Twins

_MOST_ALONE = 40
_MOST_IN_PAIRS = 7
_PROTOCOLS = (
    "__call__",
    "__enter__",
    "__exit__",
    "__aenter__",
    "__aexit__",
    "__iter__",
    "__next__",
    "__len__",
    "__str__",
)
_REST, _NAMED = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
_ERROR_NAMES = ("kind", "error", "traceback")


class Call(Struct, frozen=True):
    """names: of the arguments, in order; keywords: those given by name; defaults: those that may be left out.
    is_called: False for a property, which is read."""

    names: tuple[str, ...] = ()
    keywords: frozenset[str] = frozenset()
    defaults: frozenset[str] = frozenset()
    is_called: bool = True


class Plan(Struct, frozen=True):
    """name: of the class. making: how an instance is made. sequences: of names of `calls`. tested: what of the new
    class these calls are for, by module and qualified name."""

    name: str = ""
    making: Call = Call()
    calls: dict[str, Call] = {}
    sequences: tuple[tuple[str, ...], ...] = ((),)
    tested: tuple[tuple[str, str], ...] = ()


def plan_of(twins: Twins, old: type, new: type) -> Plan:
    """For a class and what it became. Methods that are what they were, and run none that is not, say nothing that what
    an instance holds does not say; of the others, what differs comes first where there is too much."""
    calls = {name: _call(old, name) for name in _names(old)}
    other = Altered(twins, old, new)
    order = sorted(
        [name for name in calls if name in other.reaching],
        key=lambda name: (name not in other.names, name[:2] == "__", name),
    )
    return Plan(
        name=old.__name__,
        making=_making(old),
        calls=calls,
        sequences=((), *((name,) for name in order[:_MOST_ALONE]), *product(order[:_MOST_IN_PAIRS], repeat=2)),
        tested=other.tested,
    )


class Altered:
    """names: what of a class and of its bases in the tree is not on both sides alike; reaching: these, and what may use
    one of them. By the text of the methods and the meaning of the names in it."""

    def __init__(self, twins: Twins, old: type, new: type) -> None:
        self._twins = twins
        mine, theirs = _members(twins.old, old), _members(twins.new, new)
        self.names = {name for name in {*mine, *theirs} if not self._is_alike(mine.get(name), theirs.get(name))}
        used = {name: _words(node for *_, node in found) for name, found in mine.items()}
        for name, found in theirs.items():
            used[name] = used.get(name, set()) | _words(node for *_, node in found)
        self._theirs = theirs
        made = _made_of([node for found in (*mine.values(), *theirs.values()) for *_, node in found])
        self.reaching = set(self.names)
        size = -1
        while size != len(self.reaching):
            size = len(self.reaching)
            for known in (used, made):
                self.reaching.update(name for name, words in known.items() if not words.isdisjoint(self.reaching))

    @property
    def tested(self) -> tuple[tuple[str, str], ...]:
        """The methods of the new class that are what they were not, or may use one that is not."""
        found = [
            (module, f"{owner}.{name}")
            for name, members in sorted(self._theirs.items())
            for module, owner, node in members
            if name in self.reaching and isinstance(node, FunctionNode)
        ]
        return tuple(dict.fromkeys(found))

    def _is_alike(self, old: _Member | None, new: _Member | None) -> bool:
        if not old or not new or len(old) != len(new):
            return False
        return all(
            self._twins.is_same_text(there, a, here, b) for (there, _, a), (here, _, b) in zip(old, new, strict=True)
        )


_Member = list[tuple[str, str, ast.stmt]]  # module, class and text of all that binds a name: a property has three


def _members(side: Side, kind: type) -> dict[str, _Member]:
    """What binds each name of a class: methods, values, inner classes; of the nearest base that does."""
    found: dict[str, _Member] = {}
    for each in kind.__mro__:
        node = side.definition(each.__module__, each.__qualname__)[0] if "_u_tree" in each.__dict__ else None
        own: dict[str, _Member] = {}
        for statement in node.body if isinstance(node, ast.ClassDef) else ():
            for name in _bound(statement):
                own.setdefault(name, []).append((each.__module__, each.__qualname__, statement))
        found = own | found
    return found


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, DefNode):
        yield statement.name
        return
    for each in ast.walk(statement):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id


def _words(nodes: Iterable[ast.AST]) -> set[str]:
    """The attributes that something uses; the names too, where it is a statement of the class itself."""
    found: set[str] = set()
    for node in nodes:
        is_of_class = not isinstance(node, FunctionNode)
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute):
                found.add(each.attr)
            elif is_of_class and isinstance(each, ast.Name):
                found.add(each.id)
    return found


def _made_of(nodes: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Of the attributes that methods set, what they are made of: a generator shows what it does when it is asked."""
    found: dict[str, set[str]] = {}
    for each in (inner for node in nodes for inner in ast.walk(node)):
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
            for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                if isinstance(target, ast.Attribute):
                    found.setdefault(target.attr, set()).update(_words([each.value]))
    return found


def _names(kind: type) -> list[str]:
    """Public methods and properties of the class and of its bases in the tree."""
    found: dict[str, None] = {}
    for each in kind.__mro__:
        if "_u_tree" not in each.__dict__:
            continue
        for name, value in each.__dict__.items():
            if (name[:1] != "_" or name in _PROTOCOLS) and _is_method(value):
                found.setdefault(name)
    return list(found)


def _is_method(value: Any) -> bool:
    if isinstance(value, type):
        return False
    return callable(value) or isinstance(value, property | staticmethod | classmethod) or _is_cached(value)


def _is_cached(value: Any) -> bool:
    return type(value).__name__ == "cached_property"


def _call(kind: type, name: str) -> Call:
    value = inspect.getattr_static(kind, name)
    if isinstance(value, property) or _is_cached(value):
        return Call(is_called=False)
    is_bound = not isinstance(value, staticmethod)
    return _call_of(getattr(value, "__func__", value), drops_first=is_bound)


def _making(kind: type) -> Call:
    """How an instance is made. What an initialiser takes only to hand it on (`*args, **kwargs`) is what those of the
    bases take."""
    made = _call_of(kind)
    own = kind.__dict__.get("__init__")
    handed = {each.kind for each in _parameters(own)} & {_REST, _NAMED}
    makers = (each for each in kind.__mro__[1:] if "_u_tree" in each.__dict__ and "__init__" in each.__dict__)
    above = next(makers, None)
    if own is None or not handed or above is None:
        return made
    rest = {each.name for each in _parameters(own) if each.kind is _REST}
    inner = _making(above)
    more = tuple(name for name in inner.names if name not in made.names)
    by_name = _NAMED in handed
    keywords = frozenset(more) if by_name else inner.keywords & frozenset(more)
    return Call(
        tuple(name for name in made.names if name not in rest) + more,
        made.keywords | keywords,
        (made.defaults - rest) | (inner.defaults & frozenset(more)),
    )


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _call_of(function: Any, *, drops_first: bool = False) -> Call:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return Call()
    if drops_first:
        parameters = parameters[1:]
    names: list[str] = []
    keywords: set[str] = set()
    defaults: set[str] = set()
    for each in parameters:
        if each.kind is each.VAR_KEYWORD:
            continue
        if each.kind is each.VAR_POSITIONAL:
            names.extend(_ERROR_NAMES if getattr(function, "__name__", "").endswith("exit__") else (each.name,))
            defaults.update((each.name,) if each.name in names else ())
            continue
        names.append(each.name)
        if each.kind is each.KEYWORD_ONLY:
            keywords.add(each.name)
        if each.default is not each.empty:
            defaults.add(each.name)
    return Call(tuple(names), frozenset(keywords), frozenset(defaults))
