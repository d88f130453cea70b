"""The small data of the kernel: frames, statements in normal form, claims, and what is concluded."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from codemods.source.nodes import below, walk
from codemods.verify.names import Definition
from codemods.verify.scopes import Function, bindings, local_names, parameters, statements

_DRAINS = frozenset({"list", "tuple", "set", "frozenset", "dict", "sum", "any", "all", "min", "max", "sorted"})
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)


class Line(Struct, frozen=True):
    """One conclusion about the lines first..last of a file of one side (0 old, 1 new); a reason makes them residue.
    within: where the statement starts that the lines are a part of, if somebody knows."""

    side: int
    path: str
    first: int
    last: int
    kind: str
    reason: str = ""
    code: str = ""
    function: str = ""
    within: int = 0


class Duty(Struct, frozen=True):
    """Something to be shown by other means before a line counts as explained. what: text, path and class of `self`."""

    kind: str
    side: int
    path: str
    line: int
    what: tuple[str, ...]
    function: str = ""


class Claims(Struct):
    """What the caller says belongs together: definitions (old -> new), modules (old path -> new path), attributes
    (new name -> old name), redirects ((first, last) of the new chain -> old attribute). changed: paths that differ.
    loose: for each side, method name -> the one definition that a receiver of unknown class would reach. unpaired:
    definitions of both trees that share their name and nothing else. ambiguous: names that changed files import from
    more than one module. injected: (path, class, object, its member) -> the attribute of the new class that is given
    in its place, with `()` where that is a getter."""

    pairs: dict[Definition, Definition] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    redirects: dict[tuple[str, str], str] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    loose: tuple[dict[str, Definition], dict[str, Definition]] = field(default_factory=lambda: ({}, {}))
    unpaired: frozenset[Definition] = frozenset()
    ambiguous: frozenset[str] = frozenset()
    injected: dict[tuple[str, str, str, str], str] = field(default_factory=dict)

    def words(self) -> frozenset[str]:
        """Names that have to be followed wherever they lead: of what moved, and of what is imported from two places."""
        moved = {each[1].rpartition(".")[2] for pair in self.pairs.items() for each in pair}
        return frozenset(moved | self.ambiguous | {name for side in self.loose for name in side})


class Frame(Struct, frozen=True, eq=False, dict=True):
    """One activation: the code it runs and where its names live. around: the lexically enclosing one. owner: the class
    whose instance the first parameter is; scope: the class around, for mangling. chain: the calls that led here."""

    side: int
    path: str
    names: frozenset[str]
    number: int
    function: Function | ast.Lambda | None = None
    title: str = ""
    kind: str = ""
    around: Frame | None = None
    owner: str = ""
    scope: str = ""
    is_inlined: bool = False
    is_comprehension: bool = False
    chain: tuple[Definition, ...] = ()

    def home(self, name: str) -> Frame | None:
        """The frame a name is local to; None for a global."""
        at: Frame | None = self
        if name.startswith("<"):
            return self  # a place that normal forms make
        while at is not None and name not in at.names:
            at = at.around
        return at

    @property
    def activation(self) -> Frame:
        return self.around.activation if self.is_comprehension and self.around else self

    @property
    def selfname(self) -> str:
        if not self.owner or self.function is None:
            return ""
        return parameters(self.function)[0].arg

    @cached_property
    def _bound(self) -> Counter[str]:
        if self.function is None:
            return Counter()
        body = [self.function.body] if isinstance(self.function, ast.Lambda) else self.function.body
        found = Counter(name for name, _ in bindings(body))
        found.update(each.arg for each in parameters(self.function))
        found.update(self._rebound)
        return found

    @cached_property
    def _rebound(self) -> Counter[str]:
        """The names that functions inside declare nonlocal."""
        body = self.function.body if isinstance(self.function, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
        return Counter(name for node in statements(body) if isinstance(node, ast.Nonlocal) for name in node.names)

    def is_rebound(self, name: str) -> bool:
        """Whether a function inside this one may bind the name."""
        return name in self._rebound

    def is_settled(self, name: str) -> bool:
        """Whether the name is bound once and for all."""
        return self._bound[name] == 1

    def cell(self, name: str) -> tuple[object, ...]:
        """What a function inside this one reads under the name, whenever it runs."""
        depth, at = 0, self.around
        while at is not None:
            depth, at = depth + 1, at.around
        return ("cell", self.side, self.number, name) if self.is_inlined else ("cell", name, depth)

    @cached_property
    def _readers(self) -> list[tuple[int, frozenset[str]]]:
        """The functions, lambdas, generators and classes inside: where each begins, and the names in it."""
        nodes = list(below(self.function)) if self.function is not None else []
        at_once = {id(each) for node in nodes if isinstance(node, ast.Call) for each in drained(node)}
        return [
            (node.lineno, frozenset(each.id for each in below(node) if isinstance(each, ast.Name)))
            for node in nodes
            if isinstance(node, _LATER) and id(node) not in at_once
        ]

    def is_watched(self, name: str, line: int) -> bool:
        """Whether a function inside may see a store of the name in that line, and see that it was not there before."""
        return not name.startswith("<") and any(
            name in names and (not self.is_settled(name) or first < line) for first, names in self._readers
        )

    @cached_property
    def imports(self) -> dict[str, ast.Import | ast.ImportFrom]:
        """Names that only one import of the function binds."""
        if self.function is None or isinstance(self.function, ast.Lambda):
            return {}
        found = {n: node for n, node in bindings(self.function.body) if isinstance(node, (ast.Import, ast.ImportFrom))}
        return {name: node for name, node in found.items() if self.is_settled(name)}

    def outside(self) -> Frame:
        """Where the definition itself is evaluated: decorators, defaults."""
        return replace(self, names=frozenset(), around=None, owner="", function=None)

    def inner(self, node: ast.AST, number: int) -> Frame:
        """The scope of a comprehension."""
        names = frozenset(n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name))  # type: ignore[attr-defined]
        return replace(self, names=names, number=-number, around=self, is_comprehension=True, owner="", function=None)

    def nested(self, node: ast.AST, number: int) -> Frame:
        """The scope of a function inside a function."""
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        return replace(
            self, names=local_names(node), number=-number, around=self, function=node, owner="", is_comprehension=False
        )


class Item(Struct, frozen=True, eq=False, dict=True):
    """A statement in a frame. source: the frame of its value, where that is another; where: the frame whose lines it
    stands in. targets, value: what it assigns, where that is not what the node says. blocks: what is inside."""

    node: ast.stmt
    frame: Frame
    source: Frame | None = None
    where: Frame | None = None
    targets: tuple[ast.expr, ...] = ()
    value: ast.expr | None = None
    blocks: tuple[list[Item], ...] = ()

    @property
    def is_assignment(self) -> bool:
        return bool(self.targets) or isinstance(self.node, (ast.Assign, ast.AnnAssign))

    def assignment(self) -> tuple[tuple[ast.expr, ...], ast.expr | None]:
        if self.targets:
            return self.targets, self.value
        if isinstance(self.node, ast.Assign):
            return tuple(self.node.targets), self.node.value
        assert isinstance(self.node, ast.AnnAssign)
        return (self.node.target,), self.node.value

    @property
    def value_frame(self) -> Frame:
        return self.source or self.frame

    @property
    def line_frame(self) -> Frame:
        return self.where or self.frame


class If(Item, frozen=True, eq=False):
    """A condition: parts that must all hold, and its two blocks."""

    test: tuple[Literal, ...] = ()


class Glue(Item, frozen=True, eq=False):
    """What carries the result of a body that stands in place of a call."""


class Bind(Item, frozen=True, eq=False):
    """What gives a parameter its value; it has no counterpart."""


class Body(Item, frozen=True, eq=False):
    """A call and, in `inside`, the body that may stand in its place. definition: of the new tree."""

    inside: list[Item] = field(default_factory=list)
    definition: Definition = ("", "")


class Literal(Struct, frozen=True, eq=False):
    """One part of a condition: a truth value, or `node operator right`."""

    node: ast.expr
    frame: Frame
    is_negated: bool
    operator: type | None = None
    right: ast.expr | None = None
    binds: tuple[Item, ...] = ()


class Inner(Struct, frozen=True, eq=False):
    """A call entered: the frame, what binds its parameters, the whole result where the body is one `return`."""

    frame: Frame
    binds: tuple[Bind, ...]
    result: ast.expr | None
    statement: ast.stmt | None = None


def level_frame(side: int, path: str, title: str = "") -> Frame:
    """The frame of a module's own statements, or of a class body's."""
    return Frame(side=side, path=path, names=frozenset(), number=0, title=title, scope=title, kind="format")


def drained(call: ast.Call) -> list[ast.GeneratorExp]:
    """The generators that a call runs to its end, or as far as it wants, before it comes back."""
    func = call.func
    is_text = isinstance(func, ast.Attribute) and func.attr == "join" and isinstance(func.value, ast.Constant)
    is_known = is_text or (isinstance(func, ast.Name) and func.id in _DRAINS)
    return [each for each in call.args if isinstance(each, ast.GeneratorExp)] if is_known else []
