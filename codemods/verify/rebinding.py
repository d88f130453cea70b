"""The globals that functions of a module bind anew: by `global`, through `globals()`, or through the module itself.

What cannot be told by name is told as ANY: a name that is put together, the namespace handed on, a text that is run.
What other modules do to it is not asked here, and what the module does while it is loaded is no binding anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.source.nodes import children, walk
from codemods.verify.scopes import statements
from codemods.verify.store_text import keys_stored

ANY = "*"
_SAID = b"global"
_HINTS = (b"globals", b"sys.modules[__name__]", b"exec(", b"import_module(__name__)", b" = vars()", b" = locals()")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_READS = frozenset({"get", "items", "keys", "values", "copy", "__contains__", "__getitem__", "__iter__", "__len__"})
_MODULE = frozenset({"sys.modules[__name__]", "import_module(__name__)", "importlib.import_module(__name__)"})


def rebound_in(raw: bytes, tree: ast.Module) -> frozenset[str]:
    """raw: the text of the tree."""
    said = [node.names for node in statements(tree.body) if isinstance(node, ast.Global)] if _SAID in raw else []
    found = {name for names in said for name in names}
    if any(each in raw for each in _HINTS):
        found.update(_found(tree, _aliases(tree)))
    return frozenset(found)


def may_rebind(raw: bytes) -> bool:
    """Whether a module has what it takes, as far as words tell."""
    return _SAID in raw or any(each in raw for each in _HINTS)


def _aliases(tree: ast.Module) -> frozenset[str]:
    """The names that stand for the module itself."""
    found = set()
    for node in walk(tree):
        if isinstance(node, ast.Assign) and _is_module(node.value, frozenset()):
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return frozenset(found)


def _found(tree: ast.Module, aliases: frozenset[str]) -> Iterator[str]:
    todo: list[tuple[ast.AST, ast.AST, ast.AST, bool]] = [(tree, tree, tree, False)]
    while todo:
        node, above, further, is_inside = todo.pop()
        if _is_namespace(node, aliases, is_inside):
            yield from _by_namespace(node, above, further, is_inside)
        elif isinstance(node, ast.expr) and is_inside and _is_module(node, aliases):
            yield from _by_module(above)
        elif isinstance(node, ast.Call) and is_inside and len(node.args) == 1 and _is_exec(node.func):
            yield ANY
        inner = is_inside or isinstance(node, _FUNCTIONS)
        todo += [(each, node, above, inner) for each in children(node)]


def _is_exec(node: ast.expr) -> bool:
    return "exec" in (getattr(node, "id", ""), getattr(node, "attr", "") if "builtins" in ast.dump(node) else "")


def _is_module(node: ast.AST, aliases: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in aliases
    return isinstance(node, (ast.Subscript, ast.Call)) and ast.unparse(node) in _MODULE


def _is_namespace(node: ast.AST, aliases: frozenset[str], is_inside: bool) -> bool:
    """Whether it is the dictionary of the module's names."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("__dict__", "__globals__") and (
            node.attr == "__globals__" or _is_module(node.value, aliases)
        )
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        return False
    if node.args:
        return node.func.id == "vars" and _is_module(node.args[0], aliases)
    return node.func.id == "globals" or (node.func.id in ("vars", "locals") and not is_inside)


def _by_namespace(node: ast.AST, above: ast.AST, further: ast.AST, is_inside: bool) -> Iterator[str]:
    """What is done with the dictionary. above: what it is in; further: what that is in."""
    if isinstance(above, ast.Subscript) and above.value is node:
        is_read = isinstance(above.ctx, ast.Load)
    elif isinstance(above, ast.Attribute):
        is_read = above.attr in _READS
    elif isinstance(above, ast.Call):
        is_read = keys_stored(node, above, further) is None
    else:
        is_read = isinstance(above, (ast.Compare, ast.For, ast.comprehension, ast.Expr))
    if is_read:
        return
    is_here = isinstance(above, (ast.Subscript, ast.Attribute, ast.AugAssign))
    if is_here and not is_inside:
        return  # while the module is loaded
    keys = keys_stored(node, above, further)
    yield from (key or ANY for key in (keys or [""]))


def _by_module(above: ast.AST) -> Iterator[str]:
    """What is done with the module itself, as an object."""
    if isinstance(above, ast.Attribute):
        if not isinstance(above.ctx, ast.Load):
            yield above.attr
    elif isinstance(above, ast.Call) and ast.unparse(above.func).rpartition(".")[2] in ("setattr", "delattr"):
        name = above.args[1] if len(above.args) > 1 else None
        yield name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ANY
