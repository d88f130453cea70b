"""What is to be inlined: a function whose body is one expression, its parameters, and the names the expression uses.

Decides whether the definition itself can be inlined at all; the places where it is called are not looked at here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from codemods.schema.hazards import Refusal
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.locate import Located
from codemods.source.members import decorator_name
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.scopes import Occurrence, Role, Scope, chain, lookup
from codemods.transforms.rename_report import refusal

_SCOPE_READERS = frozenset({"locals", "vars", "eval", "exec", "dir", "globals"})


class Kind(Enum):
    """How an argument reaches a parameter."""

    POSITIONAL = "positional only"
    EITHER = "positional or keyword"
    KEYWORD = "keyword only"
    REST = "*args"
    REST_KEYWORDS = "**kwargs"


class Parameter(Struct, frozen=True, eq=False):
    name: str
    kind: Kind
    default: ast.expr | None


class Forwarder(Struct, frozen=True, eq=False):
    """A function that can be replaced by its expression.

    is_statement: the body is an expression statement, so a call gives None. receiver: the parameter that the object or
    class is bound to, "" without one; binds_class: it is a class method's. parameters: all others. free: occurrences in
    the expression of names that the module or Python itself binds."""

    located: Located
    expression: ast.expr
    is_statement: bool
    receiver: str
    binds_class: bool
    parameters: tuple[Parameter, ...]
    free: tuple[Occurrence, ...]

    @property
    def source(self) -> Source:
        return self.located.source

    @property
    def function(self) -> Function:
        return self.located.function

    @property
    def statement(self) -> ast.stmt:
        return self.function.body[-1]

    @property
    def scope(self) -> Scope:
        return table(self.source).scope_of(self.function)

    def parameter(self, name: str) -> Parameter | None:
        return next((each for each in self.parameters if each.name == name), None)

    def uses(self, name: str) -> list[ast.Name]:
        """The places in the expression that read a parameter."""
        own = self.scope
        return [
            each.node
            for each in table(self.source).between(self.source.start(self.expression), self.source.end(self.expression))
            if each.name == name and isinstance(each.node, ast.Name) and lookup(each.scope, name) is own
        ]


def forwarder_of(files: FileSet, located: Located) -> Forwarder | list[Refusal]:
    """The definition as something to inline, or every reason why it is none."""
    node = located.node
    if not isinstance(node, FUNCTIONS):
        what = f"{located.ref} is no function or method"
        return [refusal("not-a-function", located.path, node.lineno, what, "name a function, a method or a local")]
    problems = [*_of_definition(files, located, node)]
    statement = _only_statement(node)
    if statement is None:
        what = f"the body of {node.name} is more than one expression"
        problems.append(
            refusal("not-a-forwarder", located.path, node.lineno, what, "inline it by hand, or leave it where it is")
        )
        return problems
    expression = statement.value
    assert expression is not None
    problems.extend(_of_expression(located, expression))
    if problems:
        return problems
    decorators = {getattr(each, "id", "") for each in node.decorator_list}
    binds = located.owner is not None and "staticmethod" not in decorators
    parameters = list(_parameters(node))
    receiver = parameters.pop(0).name if binds and parameters else ""
    source = located.source
    scope = table(source).scope_of(node)
    free = [
        each
        for each in table(source).between(source.start(expression), source.end(expression))
        if each.role is Role.LOAD and not _is_inside(lookup(each.scope, each.name), scope)
    ]
    return Forwarder(
        located=located,
        expression=expression,
        is_statement=isinstance(statement, ast.Expr),
        receiver=receiver,
        binds_class="classmethod" in decorators,
        parameters=tuple(parameters),
        free=tuple(free),
    )


def _is_inside(home: Scope | None, scope: Scope) -> bool:
    return home is not None and any(above is scope for above in chain(home))


def _only_statement(node: Function) -> ast.Return | ast.Expr | None:
    body = list(node.body)
    first = body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
    if has_docstring and len(body) > 1:
        body = body[1:]
    if len(body) != 1:
        return None
    only = body[0]
    if isinstance(only, ast.Return) and only.value is not None:
        return only
    is_call = isinstance(only, ast.Expr) and isinstance(only.value, (ast.Call, ast.Await))
    return only if is_call else None  # type: ignore[return-value]


def _parameters(node: Function) -> Iterator[Parameter]:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults.extend(arguments.defaults)
    for index, (each, default) in enumerate(zip(positional, defaults, strict=True)):
        kind = Kind.POSITIONAL if index < len(arguments.posonlyargs) else Kind.EITHER
        yield Parameter(each.arg, kind, default)
    if arguments.vararg is not None:
        yield Parameter(arguments.vararg.arg, Kind.REST, None)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(each.arg, Kind.KEYWORD, default)
    if arguments.kwarg is not None:
        yield Parameter(arguments.kwarg.arg, Kind.REST_KEYWORDS, None)


def _of_definition(files: FileSet, located: Located, node: Function) -> Iterator[Refusal]:
    def refused(code: str, message: str, settle: str, line: int = node.lineno) -> Refusal:
        return refusal(code, located.path, line, message, settle)

    if isinstance(node, ast.AsyncFunctionDef):
        yield refused("U113", f"{node.name} is a coroutine: its body runs when it is awaited", "leave it as it is")
    if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(node)):
        yield refused("U113", f"{node.name} is a generator: its body runs later than its call", "leave it as it is")
    if node.name.startswith("__") and node.name.endswith("__"):
        yield refused("U104", f"Python itself calls {node.name}, where no call is written", "leave it as it is")
    scope = table(located.source).scope_of(located.owner) if located.owner else table(located.source).module
    for each in node.decorator_list:
        name = decorator_name(files, located.source, each, scope)
        if located.owner is None or name not in {"staticmethod", "classmethod"}:
            written = ast.unparse(each)
            yield refused("U112", f"{node.name} is decorated with @{written}", "inline it by hand", each.lineno)


def _of_expression(located: Located, expression: ast.expr) -> Iterator[Refusal]:
    source = located.source

    def refused(code: str, node: ast.AST, message: str) -> Refusal:
        return refusal(code, located.path, source.line(node), message, "leave the method, or change its body first")

    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and node.id in {"super", "__class__"}:
            yield refused("U105", node, f"{node.id} means the class that the body stands in")
        elif isinstance(node, ast.NamedExpr):
            yield refused("U107", node, f"{node.target.id} would be bound where the call is")
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _SCOPE_READERS:
            name = node.func.id  # type: ignore[attr-defined]
            if not (node.args and name in {"vars", "dir"}):
                yield refused("U107", node, f"{name}() sees the names of the place where it stands")
        elif isinstance(node, (ast.Name, ast.Attribute)):
            called = node.id if isinstance(node, ast.Name) else node.attr
            receiver = getattr(getattr(node, "value", None), "id", "")
            arguments = [*located.function.args.posonlyargs, *located.function.args.args]
            own = {located.owner.name, arguments[0].arg if arguments else ""} if located.owner else {""}
            if called == located.function.name and receiver in own:
                yield refused("recursive", node, f"{called} calls itself")
