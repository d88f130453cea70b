"""Builds the scope table: one walk over a tree that opens scopes and records every occurrence of every name.

What the rules mean is in scopes.py; where a name's own text stands is in name_spans.py."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable

from codemods.source import name_spans
from codemods.source.nodes import children
from codemods.source.parse import FUNCTIONS, Source
from codemods.source.scopes import BINDING, Occurrence, Role, Scope, ScopeKind, ScopeTable

_DECLARES = re.compile(rb"\b(?:global|nonlocal)\b")
_CONTEXTS = {ast.Load: Role.LOAD, ast.Store: Role.STORE, ast.Del: Role.DELETE}


def table(source: Source) -> ScopeTable:
    """The scope table of one file, made once per parsed file."""
    found = source.notes.get("scopes")
    if not isinstance(found, ScopeTable):
        binder = _Binder(source)
        binder.body(source.tree.body)
        found = source.notes["scopes"] = ScopeTable(binder.module, binder.occurrences, binder.scopes)
    return found


class _Binder:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.module = Scope(kind=ScopeKind.MODULE, node=source.tree, parent=None)
        self.scope = self.module
        self.scopes: dict[ast.AST, Scope] = {source.tree: self.module}
        self.occurrences: list[Occurrence] = []
        self.postponed = any(
            isinstance(statement, ast.ImportFrom)
            and statement.module == "__future__"
            and any(alias.name == "annotations" for alias in statement.names)
            for statement in source.tree.body
        )
        self.in_annotation = False
        self.deferred = False
        self.declaring = [source.text.line_of(match.start()) for match in _DECLARES.finditer(source.body)]
        self.handlers: dict[type[ast.AST], Callable[[ast.AST], None]] = {
            getattr(ast, name[1:]): getattr(self, name)
            for name in dir(self)
            if name[:2] in _HANDLER_PREFIXES and hasattr(ast, name[1:])
        }

    # -- recording

    def record(self, name: str, span: tuple[int, int], node: ast.AST, role: Role, scope: Scope | None = None) -> None:
        home = scope or self.scope
        occurrence = Occurrence(
            name, span[0], span[1], node, home, role, deferred=self.deferred, in_annotation=self.in_annotation
        )
        self.occurrences.append(occurrence)
        home.occurrences.append(occurrence)
        if role in BINDING:
            target = home
            if name in home.global_names:
                target = self.module
            elif name in home.nonlocal_names:
                target = self._nonlocal_home(home, name)
            target.bound.setdefault(name, []).append(occurrence)

    @staticmethod
    def _nonlocal_home(scope: Scope, name: str) -> Scope:
        at = scope.parent
        while at is not None:
            if at.kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA) and name in at.bound and name not in at.nonlocal_names:
                return at
            at = at.parent
        return scope

    def open(self, kind: ScopeKind, node: ast.AST) -> Scope:
        scope = Scope(kind=kind, node=node, parent=self.scope)
        self.scope.children.append(scope)
        if kind is not ScopeKind.TYPE_PARAMETERS:
            self.scopes[node] = scope
        self.scope = scope
        return scope

    def close(self) -> None:
        assert self.scope.parent is not None
        self.scope = self.scope.parent

    # -- walking

    def visit(self, node: ast.AST | None) -> None:
        if node is None:
            return
        handler = self.handlers.get(type(node))
        if handler is not None:
            handler(node)
            return
        for child in children(node):
            self.visit(child)

    def each(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            self.visit(node)

    def body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.visit(statement)

    def annotation(self, node: ast.AST | None, *, never_evaluated: bool = False) -> None:
        if node is None:
            return
        before = (self.in_annotation, self.deferred)
        self.in_annotation, self.deferred = True, self.deferred or self.postponed or never_evaluated
        self.visit(node)
        self.in_annotation, self.deferred = before

    # -- handlers, one per node type: `_` + the name of the class

    def _Name(self, node: ast.Name) -> None:
        start = self.source.start(node)
        role = _CONTEXTS[type(node.ctx)]
        self.record(node.id, (start, start + len(node.id.encode())), node, role)

    # The most frequent nodes by hand: `children` makes a list for each.

    def _Attribute(self, node: ast.Attribute) -> None:
        self.visit(node.value)

    def _Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        for each in node.args:
            self.visit(each)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def _Expr(self, node: ast.Expr) -> None:
        self.visit(node.value)

    def _Assign(self, node: ast.Assign) -> None:
        for each in node.targets:
            self.visit(each)
        self.visit(node.value)

    def _Constant(self, node: ast.Constant) -> None:
        if self.in_annotation and isinstance(node.value, str):
            for name, start, end in name_spans.names_in_string(self.source, node):
                before, self.deferred = self.deferred, True
                self.record(name, (start, end), node, Role.LOAD)
                self.deferred = before

    def _Subscript(self, node: ast.Subscript) -> None:
        # Literal["x"] and Annotated[T, "text"] hold text, not names
        head = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        self.visit(node.value)
        if head == "Literal":
            return
        if head == "Annotated" and isinstance(node.slice, ast.Tuple) and node.slice.elts:
            self.visit(node.slice.elts[0])
            before, self.in_annotation = self.in_annotation, False
            self.each(node.slice.elts[1:])
            self.in_annotation = before
            return
        self.visit(node.slice)

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.each(node.decorator_list)
        self.record(node.name, name_spans.definition(self.source, node), node, Role.DEFINE)
        opened = self._type_parameters(node)
        arguments = node.args
        self.each([*arguments.defaults, *arguments.kw_defaults])
        for argument in _arguments(arguments):
            self.annotation(argument.annotation)
        self.annotation(node.returns)
        self.open(ScopeKind.FUNCTION, node)
        self._parameters(arguments)
        self._declarations(node.body)
        self.body(node.body)
        self.close()
        if opened:
            self.close()

    _AsyncFunctionDef = _FunctionDef

    def _Lambda(self, node: ast.Lambda) -> None:
        self.each([*node.args.defaults, *node.args.kw_defaults])
        self.open(ScopeKind.LAMBDA, node)
        self._parameters(node.args)
        self.visit(node.body)
        self.close()

    def _ClassDef(self, node: ast.ClassDef) -> None:
        self.each(node.decorator_list)
        self.record(node.name, name_spans.definition(self.source, node), node, Role.DEFINE)
        opened = self._type_parameters(node)
        self.each([*node.bases, *(keyword.value for keyword in node.keywords)])
        self.open(ScopeKind.CLASS, node)
        self._declarations(node.body)
        self.body(node.body)
        self.close()
        if opened:
            self.close()

    def _type_parameters(self, node: ast.AST) -> bool:
        parameters = getattr(node, "type_params", [])
        if parameters:
            self.open(ScopeKind.TYPE_PARAMETERS, node)
            for parameter in parameters:
                start = self.source.start(parameter) + (0 if type(parameter).__name__ == "TypeVar" else 1)
                start += 1 if type(parameter).__name__ == "ParamSpec" else 0
                self.record(parameter.name, (start, start + len(parameter.name.encode())), parameter, Role.STORE)
                self.each(ast.iter_child_nodes(parameter))
        return bool(parameters)

    def _TypeAlias(self, node: ast.AST) -> None:
        self.visit(node.name)  # type: ignore[attr-defined]
        opened = self._type_parameters(node)
        self.annotation(node.value, never_evaluated=True)  # type: ignore[attr-defined]
        if opened:
            self.close()

    def _parameters(self, arguments: ast.arguments) -> None:
        for argument in _arguments(arguments):
            start = self.source.start(argument)
            self.record(argument.arg, (start, start + len(argument.arg.encode())), argument, Role.PARAMETER)

    def _declarations(self, statements: list[ast.stmt]) -> None:
        """`global` and `nonlocal` hold for the whole scope, also above the statement."""
        at = bisect_left(self.declaring, statements[0].lineno)
        if at == len(self.declaring) or self.declaring[at] > (statements[-1].end_lineno or 0):
            return
        stack: list[ast.AST] = list(statements)
        while stack:
            node = stack.pop()
            if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
                continue
            if isinstance(node, ast.Global):
                self.scope.global_names.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                self.scope.nonlocal_names.update(node.names)
            elif isinstance(node, (ast.stmt, ast.ExceptHandler)) or type(node).__name__ == "match_case":
                stack.extend(ast.iter_child_nodes(node))

    def _Global(self, node: ast.Global | ast.Nonlocal) -> None:
        for name, start, end in name_spans.declared(self.source, node):
            self.record(name, (start, end), node, Role.DECLARE)

    _Nonlocal = _Global

    def _comprehension_scope(self, node: ast.AST) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.visit(generators[0].iter)  # the outermost iterable belongs to the scope around
        self.open(ScopeKind.COMPREHENSION, node)
        for index, generator in enumerate(generators):
            self.visit(generator.target)
            if index:
                self.visit(generator.iter)
            self.each(generator.ifs)
        if isinstance(node, ast.DictComp):
            self.each([node.key, node.value])
        else:
            self.visit(node.elt)  # type: ignore[attr-defined]
        self.close()

    _ListComp = _SetComp = _GeneratorExp = _DictComp = _comprehension_scope

    def _NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        home = self.scope
        while home.kind is ScopeKind.COMPREHENSION and home.parent is not None:
            home = home.parent
        start = self.source.start(node.target)
        self.record(node.target.id, (start, start + len(node.target.id.encode())), node.target, Role.STORE, home)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        is_local = self.scope.kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA)
        self.annotation(node.annotation, never_evaluated=is_local)
        self.visit(node.value)
        self.visit(node.target)

    def _Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.scope.has_star_import = True
                self.module.has_star_import = True
                continue
            name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            self.record(name, name_spans.alias(self.source, alias), alias, Role.IMPORT)

    _ImportFrom = _Import

    def _ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.visit(node.type)
        if node.name:
            self.record(node.name, name_spans.handler(self.source, node), node, Role.STORE)
        self.body(node.body)

    def _MatchAs(self, node: ast.AST) -> None:
        self.each(ast.iter_child_nodes(node))
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name:
            self.record(name, name_spans.capture(self.source, node, name), node, Role.STORE)

    _MatchStar = _MatchMapping = _MatchAs


_HANDLER_PREFIXES = frozenset(f"_{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        found.append(arguments.vararg)
    found.extend(arguments.kwonlyargs)
    if arguments.kwarg:
        found.append(arguments.kwarg)
    return found
