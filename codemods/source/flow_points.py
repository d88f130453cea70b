"""What a flow graph is made of: points in the order a program may reach them, and what each does to which variable.

Only the vocabulary; how text becomes points is flow_expressions.py's and flow_statements.py's, what follows from them
flow.py's."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import Enum, IntEnum

from msgspec import Struct, field

KeyOf = Callable[[ast.expr], "str | None"]


class Kind(Enum):
    """What happens at a point. The last six are where control leaves the block."""

    STEP = "step"
    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    END = "end"
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"
    RAISE = "raise"  # an explicit raise that nothing in the block catches
    ERROR = "error"  # anything else that raises


EXITS = frozenset({Kind.END, Kind.RETURN, Kind.BREAK, Kind.CONTINUE, Kind.RAISE, Kind.ERROR})


class Risk(IntEnum):
    """How much of somebody else's code may run, or raise, at a point.

    NAME: a name that may be unbound. OPERATION: an attribute, an index, an operator, a format. CALL: a call, an import,
    a context manager, an iteration, a suspension. RAISE: `raise` and `assert`."""

    NONE = 0
    NAME = 1
    OPERATION = 2
    CALL = 3
    RAISE = 4


class Point(Struct, eq=False):
    """One thing that happens. `after` follows it; `on_error` follows when it raises, with the state from before it.

    late: not now but whenever a function, lambda or generator made here runs.
    catches: the handlers of a `try` begin here."""

    kind: Kind
    node: ast.AST
    key: str = ""
    risk: Risk = Risk.NONE
    late: bool = False
    catches: bool = False
    after: list[Point] = field(default_factory=list)
    on_error: list[Point] = field(default_factory=list)
    number: int = 0

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.key} line {getattr(self.node, 'lineno', 0)}>"


class Graph(Struct, eq=False):
    """`points` are in the order they were met, which is close to the order of the text. Some can't be reached."""

    entry: Point
    points: list[Point]
    key_of: KeyOf


def names(*known: str) -> KeyOf:
    """Variables are the plain names among `known`, each its own key; without any, every name."""
    wanted = frozenset(known)

    def key_of(node: ast.expr) -> str | None:
        return node.id if isinstance(node, ast.Name) and (not wanted or node.id in wanted) else None

    return key_of


def attributes(owner: str) -> KeyOf:
    """Variables are the attributes of one name: `self.rank` has the key `rank`."""

    def key_of(node: ast.expr) -> str | None:
        is_ours = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == owner
        return node.attr if is_ours else None  # type: ignore[attr-defined]

    return key_of
