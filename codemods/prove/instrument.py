"""Source of the subject, rewritten so that what Python decides by itself asks the run instead: `is`, `in`, calls,
attributes, subscripts, f-strings, unpacking, `except`, `raise`, `match` (matching.py), rounds of `while`. Nothing else
changes; lines stay where they are.

Annotations are dropped (they would have to be evaluated), but for those of class fields, which classes read."""

from __future__ import annotations

import ast
import copy
from typing import Any

from codemods.prove.matching import as_conditions
from codemods.prove.reaching import REACHING

# The frame or the compiler gives these their meaning; called through another function they would mean another frame.
_BY_FRAME = frozenset(["super", "locals", "globals", "vars", "dir", "eval", "exec", "__import__", "breakpoint"])
_KEPT_ANNOTATION = ("ClassVar", "InitVar", "KW_ONLY")
_REAL = frozenset(["self", "cls", "logger", "os", "logging", "time"])
_MISSING = frozenset(["AttributeError", "KeyError", "IndexError", "LookupError"])
_IS = {ast.Is: "_u_is", ast.IsNot: "_u_is_not", ast.In: "_u_in", ast.NotIn: "_u_not_in"}


def instrument(tree: ast.Module) -> ast.Module:
    """The tree, changed in place."""
    changed = _Instrument().visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)


def _helper(name: str, *args: ast.expr, at: ast.AST) -> ast.Call:
    made = ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(args), keywords=[])
    return ast.copy_location(made, at)


class _Instrument(ast.NodeTransformer):
    def __init__(self) -> None:
        self._in_class = self._in_function = False
        self._class = ""  # the class whose private names are mangled here
        self._matches = self._guards = 0

    # -- scopes and annotations

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.bases = [self.visit(each) for each in node.bases]
        node.keywords = [self.visit(each) for each in node.keywords]
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        outer = self._in_class, self._class
        self._in_class, self._class = True, node.name.lstrip("_")
        body: list[ast.stmt] = []
        for each in node.body:
            made = self.visit(each)
            body.extend(made if isinstance(made, list) else [made])
        node.body = body
        self._in_class, self._class = outer
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        for each in _all_arguments(node.args):
            each.annotation = None
        outer = self._in_class, self._in_function
        self._in_class, self._in_function = False, True
        self.generic_visit(node)
        self._in_class, self._in_function = outer
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if self._in_class:
            if not any(each in ast.unparse(node.annotation) for each in _KEPT_ANNOTATION):
                node.annotation = ast.copy_location(ast.Name(id="object", ctx=ast.Load()), node)
            if node.value is not None:
                node.value = self.visit(node.value)
            return node
        if node.value is None:
            node.annotation = ast.copy_location(ast.Constant(value=None), node)
            return node
        assign = ast.Assign(targets=[self.visit(node.target)], value=self.visit(node.value))
        return ast.copy_location(assign, node)

    # -- expressions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and (node.func.id in _BY_FRAME or node.func.id.startswith("_u_")):
            return node
        is_plain = not any(isinstance(each, ast.Starred) for each in node.args) and all(
            each.arg is not None for each in node.keywords
        )
        if is_plain:
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name(id="_u_call", ctx=ast.Load()), node)
            return node
        args: list[ast.expr] = []
        for each in node.args:
            is_star = isinstance(each, ast.Starred)
            value = each.value if isinstance(each, ast.Starred) else each
            args.append(ast.Tuple(elts=[ast.Constant(value=is_star), value], ctx=ast.Load()))
        names: list[ast.expr] = [
            ast.Tuple(elts=[ast.Constant(value=each.arg), each.value], ctx=ast.Load()) for each in node.keywords
        ]
        given = ast.List(elts=args, ctx=ast.Load()), ast.List(elts=names, ctx=ast.Load())
        return _helper("_u_call_spread", node.func, *given, at=node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and type(node.ops[0]) in _IS:
            return _helper(_IS[type(node.ops[0])], node.left, node.comparators[0], at=node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        parts: list[ast.expr] = []
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                conversion = "" if each.conversion < 0 else chr(each.conversion)
                spec: ast.expr = ast.Constant(value="")
                if each.format_spec is not None:
                    spec = self.visit(each.format_spec)
                value = self.visit(each.value)
                parts.append(ast.Tuple(elts=[value, ast.Constant(value=conversion), spec], ctx=ast.Load()))
            else:
                parts.append(each)
        return _helper("_u_text", *parts, at=node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or self._is_plain(node):
            return node
        helper = "_u_inner" if node.attr in REACHING else "_u_get"
        return _helper(helper, node.value, ast.Constant(value=self._mangled(node.attr)), at=node)

    @staticmethod
    def _is_plain(node: ast.Attribute) -> bool:
        """A read that is left to Python. An opaque value answers it all the same (`Opaque.__getattr__`), only slower:
        this is for names that nearly always hold something real."""
        is_usual = node.attr[:2] != "__" and node.attr not in REACHING
        return is_usual and isinstance(node.value, ast.Name) and node.value.id in _REAL

    def _mangled(self, name: str) -> str:
        """A private name as the compiler writes it inside of a class."""
        is_private = name.startswith("__") and not name.endswith("__")
        return f"_{self._class}{name}" if is_private and self._class else name

    def visit_Match(self, node: ast.Match) -> Any:
        self._matches += 1
        made = as_conditions(node, f"_u_match_{self._matches}", self._mangled)
        return [self.visit(each) for each in made]

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        self.generic_visit(node)
        node.value = _helper("_u_from", node.value, at=node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _helper("_u_item", node.value, self._key(node.slice), at=node)

    def _key(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Slice):
            nothing = ast.Constant(value=None)
            return _helper("_u_slice", node.lower or nothing, node.upper or nothing, node.step or nothing, at=node)
        if isinstance(node, ast.Tuple):
            node.elts = [self._key(each) for each in node.elts]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        is_text = isinstance(node.op, ast.Mod) and (
            isinstance(node.left, ast.JoinedStr)
            or (isinstance(node.left, ast.Constant) and isinstance(node.left.value, str))
        )
        self.generic_visit(node)
        return _helper("_u_percent", node.left, node.right, at=node) if is_text else node

    # -- statements

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        shapes = [_shape(each) for each in node.targets if isinstance(each, ast.Tuple | ast.List)]
        is_literal = isinstance(node.value, ast.Tuple | ast.List)
        self.generic_visit(node)
        if shapes and not is_literal:
            node.value = _helper("_u_unpack", node.value, _constant(shapes[0]), at=node.value)
        return node

    def _each(self, node: Any) -> None:
        if isinstance(node.target, ast.Tuple | ast.List):
            shape = _constant(_shape(node.target))
            node.iter = _helper("_u_each", node.iter, shape, at=node.iter)

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        self._each(node)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if not node.is_async:
            self._each(node)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(value=_helper("_u_tick", at=node)), node))
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        return self._try(node)

    def visit_TryStar(self, node: Any) -> Any:
        return self._try(node)

    def _try(self, node: Any) -> Any:
        missing = sorted({name for each in node.handlers for name in _MISSING & _named(each)})
        self.generic_visit(node)
        node.body = self._guarded(node.body, *missing)
        if node.finalbody and (node.handlers or node.orelse):
            inner = copy.copy(node)
            inner.finalbody = []
            node.body, node.handlers, node.orelse = self._guarded([inner]), [], []
            return ast.copy_location(ast.Try(body=node.body, handlers=[], orelse=[], finalbody=node.finalbody), node)
        return node

    def _guarded(self, body: list[ast.stmt], *missing: str) -> list[ast.stmt]:
        """A block between a note that whoever is around it sees exceptions pass, and one that it is over."""
        if not self._in_function or self._in_class:
            return body  # what modules and classes do is done before any run
        self._guards += 1
        name = f"_u_guard_{self._guards}"
        names: list[ast.expr] = [ast.Constant(value=each) for each in missing]
        begun = _helper("_u_guard", *names, at=body[0])
        held = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=begun)
        over = ast.Expr(value=_helper("_u_unguard", ast.Name(id=name, ctx=ast.Load()), at=body[-1]))
        inner = ast.Try(body=body, handlers=[], orelse=[], finalbody=[ast.copy_location(over, body[-1])])
        return [ast.copy_location(held, body[0]), ast.copy_location(inner, body[0])]

    def visit_With(self, node: ast.With) -> Any:
        return self._with(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> Any:
        return self._with(node)

    def _with(self, node: Any) -> Any:
        self.generic_visit(node)
        body = self._guarded(node.body)
        for item in reversed(node.items[1:]):
            inner = type(node)(items=[item], body=body)
            body = self._guarded([ast.copy_location(inner, node)])
        node.items, node.body = node.items[:1], body
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        if node.type is not None:
            node.type = _helper("_u_except", node.type, at=node.type)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = _helper("_u_raise", node.exc, at=node.exc)
        if node.cause is not None:
            node.cause = _helper("_u_raise", node.cause, at=node.cause)
        return node


def _named(handler: ast.ExceptHandler) -> set[str]:
    return {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)} if handler.type else set()


def _shape(target: ast.Tuple | ast.List) -> tuple[Any, ...]:
    """The pattern of an unpacking: 0 for one value, -1 for the starred one, a tuple for a nested pattern."""
    found: list[Any] = []
    for each in target.elts:
        if isinstance(each, ast.Tuple | ast.List):
            found.append(_shape(each))
        else:
            found.append(-1 if isinstance(each, ast.Starred) else 0)
    return tuple(found)


def _all_arguments(args: ast.arguments) -> list[ast.arg]:
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return found + [each for each in (args.vararg, args.kwarg) if each is not None]


def _constant(shape: tuple[Any, ...]) -> ast.Constant:
    """A tuple of constants: what the compiler makes of one itself."""
    made = ast.Constant(value=None)
    made.value = shape  # type: ignore[assignment]
    return made
