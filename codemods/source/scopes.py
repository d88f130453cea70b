"""Who binds and who reads each name of a file: Python's scoping rules over one syntax tree.

Decides which scope an occurrence belongs to; what an import stands for is imports.py's, what a module exports is
modules.py's. Names in string annotations count (they are read when somebody evaluates them)."""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_left
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct, field

BUILTINS = frozenset(dir(builtins)) | {"__file__", "__builtins__", "__path__", "__annotations__", "__debug__"}
MODULE_NAMES = frozenset({"__name__", "__file__", "__doc__", "__package__", "__spec__", "__loader__", "__path__"})


class ScopeKind(Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    COMPREHENSION = "comprehension"
    TYPE_PARAMETERS = "type parameters"


class Role(Enum):
    """What an occurrence does with its name."""

    LOAD = "load"
    STORE = "store"
    DELETE = "delete"
    DEFINE = "define"
    IMPORT = "import"
    PARAMETER = "parameter"
    DECLARE = "declare"  # global, nonlocal


BINDING = frozenset({Role.STORE, Role.DELETE, Role.DEFINE, Role.IMPORT, Role.PARAMETER})


class Scope(Struct, eq=False):
    """One namespace. `node` is the definition, lambda or comprehension that makes it; None for the module."""

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    occurrences: list[Occurrence] = field(default_factory=list)
    bound: dict[str, list[Occurrence]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    children: list[Scope] = field(default_factory=list)
    has_star_import: bool = False

    def __repr__(self) -> str:
        return f"<{self.kind.value} {getattr(self.node, 'name', '')}>"


class Occurrence(Struct, eq=False):
    """One appearance of a name. start:end is the name's own text (inside a string annotation too).

    deferred: not evaluated where it stands (an annotation under PEP 563, of a local, or in quotes)."""

    name: str
    start: int
    end: int
    node: ast.AST
    scope: Scope
    role: Role
    deferred: bool = False
    in_annotation: bool = False


class ScopeTable:
    """The scopes of one file and every occurrence of every name, in the order of the text."""

    def __init__(self, module: Scope, occurrences: list[Occurrence], scopes: dict[ast.AST, Scope]) -> None:
        self.module = module
        self.occurrences = sorted(occurrences, key=lambda occurrence: (occurrence.start, occurrence.end))
        self._starts = [occurrence.start for occurrence in self.occurrences]
        self._scopes = scopes

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope that a definition, lambda, comprehension or module node makes."""
        return self._scopes[node]

    def between(self, start: int, end: int) -> list[Occurrence]:
        """Occurrences whose text lies in start:end."""
        return self.occurrences[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def named(self, name: str) -> Iterator[Occurrence]:
        return (occurrence for occurrence in self.occurrences if occurrence.name == name)

    def resolve(self, occurrence: Occurrence) -> Scope | None:
        """The scope whose binding the occurrence means; None for a builtin or a name nobody binds."""
        home = lookup(occurrence.scope, occurrence.name)
        if home is occurrence.scope and home.kind is ScopeKind.CLASS and _is_early(home, occurrence):
            return _beyond(home, occurrence.name)
        return home

    def same(self, occurrence: Occurrence) -> list[Occurrence]:
        """Every occurrence in the file that means the same variable, this one included."""
        home = self.resolve(occurrence)
        return [other for other in self.named(occurrence.name) if self.resolve(other) is home]


def _is_early(scope: Scope, occurrence: Occurrence) -> bool:
    """Whether a class body reads a name before it binds it (`time = time.time()`): then it means the name outside."""
    if occurrence.role is not Role.LOAD or occurrence.deferred:
        return False
    first = min(scope.bound[occurrence.name], key=lambda each: each.start)
    if occurrence.start < first.start:
        return True
    place, read = _place(first.node), _place(occurrence.node)
    statements = getattr(scope.node, "body", [])
    around = next((each for each in statements if _place(each) <= place <= _place_of_end(each)), None)
    if around is None or isinstance(around, (ast.If, ast.For, ast.While, ast.Try, ast.With)):
        return False  # the order inside a compound statement is not followed
    return _place(around) <= read <= _place_of_end(around)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _place_of_end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _beyond(scope: Scope, name: str) -> Scope | None:
    """As `lookup`, from outside a class body."""
    at = scope.parent
    while at is not None:
        if at.kind is not ScopeKind.CLASS and name in at.bound and name not in at.nonlocal_names:
            return at
        at = at.parent
    return None


def lookup(scope: Scope, name: str) -> Scope | None:
    """Where a name read in `scope` is bound; None for a builtin or a name nobody binds."""
    at: Scope | None = scope
    first = True
    while at is not None:
        if name in at.global_names:
            module = at
            while module.parent is not None:
                module = module.parent
            return module if name in module.bound else None
        skipped = at.kind is ScopeKind.CLASS and not first  # a class body is invisible to the scopes inside it
        if not skipped and name in at.bound and name not in at.nonlocal_names:
            return at
        first = first and at.kind is ScopeKind.TYPE_PARAMETERS
        at = at.parent
    return None


def is_unresolved(scope: Scope, name: str) -> bool:
    """True when nothing binds the name: no scope, no builtin, no star import that might."""
    if name in BUILTINS or lookup(scope, name) is not None:
        return False
    if name in {"__class__", "__qualname__", "__module__"}:
        return not any(above.kind is ScopeKind.CLASS for above in chain(scope))
    top = scope
    while top.parent is not None:
        top = top.parent
    return not top.has_star_import


def chain(scope: Scope) -> Iterator[Scope]:
    """The scope and everything around it, inside out."""
    at: Scope | None = scope
    while at is not None:
        yield at
        at = at.parent
