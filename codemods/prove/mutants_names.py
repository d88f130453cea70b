"""Mutants that confuse one name with another: a local variable or parameter with one that is bound by then, an
attribute of an object with another attribute of the same object. Globals and imported names are left alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.prove.mutants_ground import Candidate, Ground, Kind, becomes
from codemods.source.nodes import children, walk
from codemods.source.parse import FUNCTIONS

_OTHERS = 2  # alternatives for one name; one alone may by chance have the same value
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """The names of one function, lambda or comprehension; of modules and classes only that they are in between."""

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node, self.parent = node, parent
        self.bound: dict[str, list[tuple[int, int]]] = {}  # name -> spans in which it has a value
        self.hidden: set[str] = set()  # functions, classes and imports, names from elsewhere
        self.read: set[str] = set()
        self.receiver = ""  # `self` or `cls`

    @property
    def is_function(self) -> bool:
        return not isinstance(self.node, (ast.Module, ast.ClassDef))

    def bind(self, name: str, start: int, end: int) -> None:
        self.bound.setdefault(name, []).append((start, end))

    def since(self, name: str, offset: int) -> int:
        """From where on a name has the value that it has at an offset, -1 when it has none there."""
        return min((start for start, end in self.bound[name] if start <= offset < end), default=-1)

    def chain(self) -> Iterator[Scope]:
        """The function-like scopes whose names are seen from here, the innermost first."""
        at: Scope | None = self
        while at is not None:
            if at.is_function:
                yield at
            at = at.parent

    def owner(self, name: str) -> Scope | None:
        """The scope whose local variable a name is here."""
        for scope in self.chain():
            if name in scope.hidden:
                return None
            if name in scope.bound:
                return scope
        return None


class Names:
    """Which scope every name of a module is in, and what else could stand there."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.scopes: dict[ast.AST, Scope] = {}
        self._attributes: dict[ast.AST, dict[tuple[str, str], list[str]]] = {}
        top = Scope(ground.tree, None)
        for statement in ground.tree.body:
            self._visit(statement, top)

    def swaps(self, node: ast.AST) -> Iterator[Candidate]:
        if isinstance(node, ast.Name):
            yield from self._name(node)
        elif isinstance(node, ast.Attribute):
            yield from self._attribute(node)

    def is_bound_before(self, name: ast.Name) -> bool:
        """Whether a target has had a value already where it is stored: without the store there is still one."""
        scope = self.scopes.get(name)
        owner = scope.owner(name.id) if scope is not None else None
        return owner is None or owner.since(name.id, self.ground.start(name)) >= 0

    def is_local(self, name: ast.Name) -> bool:
        scope = self.scopes.get(name)
        return scope is not None and scope.owner(name.id) is not None

    # ---- swaps

    def _name(self, node: ast.Name) -> Iterator[Candidate]:
        parent = self.ground.parents[node]
        is_callee = isinstance(parent, ast.Call) and parent.func is node
        scope = self.scopes.get(node)
        owner = scope.owner(node.id) if scope is not None else None
        if not isinstance(node.ctx, ast.Load) or is_callee or scope is None or owner is None:
            return
        if node.id == owner.receiver:
            return
        text = node.id.encode()
        if self.ground.segment(node) != text:
            return  # written with other characters that Python takes for the same
        for other in _after(node.id, self._seen(scope, self.ground.start(node)))[:_OTHERS]:
            new = other.encode()
            yield self.ground.replace(Kind.NAME_SWAP, node, new, becomes(text, new))

    def _seen(self, scope: Scope, offset: int) -> list[str]:
        """Names of values at an offset that the code around reads somewhere, in the order in which they appear."""
        found: dict[str, int] = {}
        scopes = list(scope.chain())
        read = set().union(*(each.read for each in scopes))
        for each in scopes:
            for name in each.bound:
                since = each.since(name, offset)
                if since >= 0 and name in read and name != each.receiver and scope.owner(name) is each:
                    found[name] = since
        return sorted(found, key=lambda name: (found[name], name))

    def _attribute(self, node: ast.Attribute) -> Iterator[Candidate]:
        key = self._attribute_key(node)
        function = self._outer_function(node)
        if key is None or function is None or (key[1] == "call" and key[0] not in ("self", "cls")):
            return  # the methods of anything else are those of one type, and a wrong one is only an AttributeError
        text = node.attr.encode()
        end = self.ground.end(node)
        if self.ground.body[end - len(text) : end] != text:
            return
        others = _after(node.attr, self._attributes_of(function).get(key, []))
        for other in others[: _OTHERS if key[1] == "read" else 1]:
            new = other.encode()
            note = becomes(f"{key[0]}.{node.attr}".encode(), f"{key[0]}.{other}".encode())
            yield self.ground.splice(Kind.ATTRIBUTE_SWAP, end - len(text), end, new, note, node)

    def _attributes_of(self, function: ast.AST) -> dict[tuple[str, str], list[str]]:
        """By object and use: its attributes in the function, in the order of the text."""
        if function not in self._attributes:
            found: dict[tuple[str, str], list[str]] = {}
            nodes = [node for node in walk(function) if isinstance(node, ast.Attribute)]
            for node in sorted(nodes, key=self.ground.end):
                key = self._attribute_key(node)
                names = found.setdefault(key, []) if key is not None else []
                if node.attr not in names:
                    names.append(node.attr)
            self._attributes[function] = found
        return self._attributes[function]

    def _attribute_key(self, node: ast.Attribute) -> tuple[str, str] | None:
        """The object, when it is a variable or an attribute of one, and what is done with the attribute."""
        parts: list[str] = []
        at: ast.expr = node.value
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        scope = self.scopes.get(at)
        if not isinstance(at, ast.Name) or scope is None or scope.owner(at.id) is None:
            return None
        parent = self.ground.parents[node]
        use = "call" if isinstance(parent, ast.Call) and parent.func is node else "read"
        if not isinstance(node.ctx, ast.Load):
            use = "write"
        return ".".join([at.id, *reversed(parts)]), use

    def _outer_function(self, node: ast.AST) -> ast.AST | None:
        functions = [each for each in self.ground.source.ancestors(node) if isinstance(each, FUNCTIONS)]
        return functions[-1] if functions else None

    # ---- scopes

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Name):
            self._note(node, scope)
        elif isinstance(node, (*FUNCTIONS, ast.Lambda)):
            self._function(node, scope)
        elif isinstance(node, ast.ClassDef):
            scope.hidden.add(node.name)
            inner = Scope(node, scope)
            for each in [*node.decorator_list, *node.bases, *node.keywords]:
                self._visit(each, scope)
            for each in node.body:
                self._visit(each, inner)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, scope)
        else:
            self._plain(node, scope)

    def _plain(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.hidden.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            scope.hidden.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.NamedExpr):
            outer = scope
            while isinstance(outer.node, _COMPREHENSIONS) and outer.parent is not None:
                outer = outer.parent
            self._visit(node.target, outer)
            self._visit(node.value, scope)
            return
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            owner = node if isinstance(node, ast.ExceptHandler) else self.ground.source.enclosing(node, ast.Match)
            scope.bind(node.name, self.ground.start(node), self.ground.end(owner or node))
        elif isinstance(node, ast.AnnAssign):
            # What it annotates is not evaluated for its value.
            self._visit(node.target, scope)
            if node.value is not None:
                self._visit(node.value, scope)
            return
        for child in children(node):
            self._visit(child, scope)

    def _note(self, node: ast.Name, scope: Scope) -> None:
        self.scopes[node] = scope
        if isinstance(node.ctx, ast.Store):
            scope.bind(node.id, *self._span(node, scope))
        elif isinstance(node.ctx, ast.Load):
            scope.read.add(node.id)

    def _span(self, node: ast.Name, scope: Scope) -> tuple[int, int]:
        """Where a variable surely has the value that is stored here: the rest of the block, the body of a loop."""
        if isinstance(scope.node, _COMPREHENSIONS):
            return self.ground.start(scope.node), self.ground.end(scope.node)
        statement = self.ground.statement(node)
        end = self.ground.block_end(statement)
        if isinstance(self.ground.parents[node], ast.NamedExpr):
            return self.ground.end(self.ground.parents[node]), end
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            end = self.ground.end(statement)
        block = getattr(statement, "body", None)
        return self.ground.first(block[0]) if block else self.ground.end(statement), end

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> None:
        arguments = node.args
        outside = [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]
        inner = Scope(node, scope)
        if not isinstance(node, ast.Lambda):
            scope.hidden.add(node.name)
            outside += node.decorator_list
            is_method = isinstance(scope.node, ast.ClassDef) and not _is_static(node)
            positional = [*arguments.posonlyargs, *arguments.args]
            if positional and (is_method or positional[0].arg in ("self", "cls")):
                inner.receiver = positional[0].arg
        for each in outside:
            self._visit(each, scope)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        for order, argument in enumerate(each for each in every if each is not None):
            inner.bind(argument.arg, self.ground.start(node) + order, self.ground.end(node))
        body: list[ast.AST] = [*node.body] if isinstance(node.body, list) else [node.body]
        for part in body:
            self._visit(part, inner)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: Scope) -> None:
        inner = Scope(node, scope)
        for order, generator in enumerate(node.generators):
            self._visit(generator.iter, scope if order == 0 else inner)
            for each in [generator.target, *generator.ifs]:
                self._visit(each, inner)
        for each in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
            self._visit(each, inner)


def _after(name: str, names: list[str]) -> list[str]:
    """The other names, from the one after `name` on and around."""
    if name not in names:
        return names
    at = names.index(name)
    return [*names[at + 1 :], *names[:at]]


def _is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
