"""The globals that functions of a module bind anew: by `global`, through `globals()`, or through the module itself.

What cannot be told by name is told as ANY: a name that is put together, the namespace handed on, a text that is run.
What other modules do to it is not asked here, and what the module does while it is loaded is no binding anew."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator

from codemods.source.nodes import children, first_line
from codemods.verify.scopes import statements
from codemods.verify.store_text import keys_stored

ANY = "*"
_SAID = b"global"
_HINTS = (b"globals", b"sys.modules[__name__]", b"exec(", b"import_module(__name__)", b" = vars()", b" = locals()")
_WORDS = rb"__dict__|__globals__|vars|globals|locals|exec|__name__|[^\x00-\x7f]"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_READS = frozenset({"get", "items", "keys", "values", "copy", "__contains__", "__getitem__", "__iter__", "__len__"})
_MODULE = frozenset({"sys.modules[__name__]", "import_module(__name__)", "importlib.import_module(__name__)"})


def rebound_in(raw: bytes, tree: ast.Module) -> frozenset[str]:
    """raw: the text of the tree."""
    said = [node.names for node in statements(tree.body) if isinstance(node, ast.Global)] if _SAID in raw else []
    found = {name for names in said for name in names}
    if any(each in raw for each in _HINTS):
        aliases = _aliases(tree)
        found.update(_found(tree, aliases, _Touched(raw, aliases)))
    return frozenset(found)


def may_rebind(raw: bytes) -> bool:
    """Whether a module has what it takes, as far as words tell."""
    return _SAID in raw or any(each in raw for each in _HINTS)


def _aliases(tree: ast.Module) -> frozenset[str]:
    """The names that stand for the module itself."""
    found = set()
    for node in statements(tree.body):
        if isinstance(node, ast.Assign) and _is_module(node.value, frozenset()):
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return frozenset(found)


class _Touched:
    """The statements that say one of the words by which a namespace is had. A line that is not of ASCII may say any."""

    def __init__(self, raw: bytes, aliases: frozenset[str]) -> None:
        words = b"|".join([_WORDS, *(re.escape(each.encode()) for each in sorted(aliases))])
        self._lines: list[int] | None = None  # for odd line ends: not known
        if b"\r" not in raw and b"\f" not in raw:
            pattern = re.compile(words)
            self._lines = [at for at, line in enumerate(raw.split(b"\n"), 1) if pattern.search(line) is not None]

    def __contains__(self, node: ast.stmt) -> bool:
        if self._lines is None:
            return True
        at = bisect_left(self._lines, first_line(node))
        return at < len(self._lines) and self._lines[at] <= (node.end_lineno or node.lineno)


def _found(tree: ast.Module, aliases: frozenset[str], touched: _Touched) -> Iterator[str]:
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
        below = [each for each in children(node) if not isinstance(each, ast.stmt) or each in touched]
        todo += [(each, node, above, inner) for each in below]


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
