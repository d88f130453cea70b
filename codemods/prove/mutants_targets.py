"""Which code a qualified name stands for, and which nodes of it are worth a mutant: what is run, not what only people
and type checkers read (docstrings, annotations, `__all__`, blocks under TYPE_CHECKING)."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from codemods.prove.mutants_ground import Ground
from codemods.source.locate import UnknownDefinition, flattened
from codemods.source.nodes import children
from codemods.source.parse import DEFINITIONS, FUNCTIONS

_ANNOTATIONS = ("annotation", "returns", "type_params")
_TYPE_CALLS = frozenset({"cast", "TypeVar", "NewType", "ParamSpec", "TypeVarTuple", "assert_type"})
_SKIPPED = (ast.Import, ast.ImportFrom, getattr(ast, "TypeAlias", ast.Import))  # 3.12 has it


def targets(ground: Ground, qualname: str) -> list[ast.AST]:
    """The definitions of a name: one, or several where it is a property or stands in branches. "" is the module.

    Raises UnknownDefinition."""
    found: list[ast.AST] = [ground.tree]
    for part in qualname.split(".") if qualname else ():
        if part == "<locals>":
            continue
        inner = [each for node in found for each in flattened(getattr(node, "body", []))]
        known = {name: None for each in inner for name in _defines(each)}
        found = [each for each in inner if part in _defines(each)]
        if not found:
            near = difflib.get_close_matches(part, known, n=3) or list(known)[:3]
            hint = f"did you mean {', '.join(near)}?" if near else "name a definition that is in the text"
            raise UnknownDefinition(f"the text has no {qualname!r} (no {part!r} there)", fix=hint)
    real = [node for node in found if not _is_overload(node)]
    return real or found


def _defines(statement: ast.stmt) -> list[str]:
    if isinstance(statement, DEFINITIONS):
        return [statement.name]
    named = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in named if isinstance(target, ast.Name)]


def _is_overload(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", ())
    return any("overload" in (getattr(each, "id", ""), getattr(each, "attr", "")) for each in decorators)


def symbol(ground: Ground, node: ast.AST) -> str:
    """The qualified name of the definition that a node is part of, "" at module level."""
    around = [each for each in (node, *ground.source.ancestors(node)) if isinstance(each, DEFINITIONS)]
    return ".".join(each.name for each in reversed(around))


def live(target: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a target that are run, in the order of the text. Of a module: when it is imported."""
    is_import = isinstance(target, ast.Module)
    stack = [target]
    while stack:
        node = stack.pop()
        if isinstance(node, _SKIPPED) or _is_all(node):
            continue
        yield node
        inner = _evaluated(node)
        if is_import and isinstance(node, (*FUNCTIONS, ast.Lambda)):
            inner = [each for each in inner if not isinstance(each, ast.stmt) and each is not node.body]
        stack.extend(reversed(inner))


def _evaluated(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.If) and _is_type_checking(node.test):
        return list(node.orelse)
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _TYPE_CALLS:
            return [*node.args[1:2]] if name == "cast" else []
    silent = [getattr(node, name, None) for name in _ANNOTATIONS]
    kept = [each for each in children(node) if not any(each is one for one in silent)]
    parameters = getattr(node, "type_params", ())
    return [each for each in kept if not any(each is one for one in parameters)]


def _is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def _is_all(node: ast.AST) -> bool:
    """A statement that only sets or grows `__all__`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return getattr(node.value.func.value, "id", "") == "__all__"
    return isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and "__all__" in _defines(node)
