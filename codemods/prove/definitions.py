"""What a statement of a module is, as far as slicing asks: classes that only hold data, names that code reads, what is
run when the module is imported."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Mapping, Sequence

from codemods.prove.sides import FunctionNode, ModuleFacts

_DATA_BASES = frozenset("Struct NamedTuple TypedDict Enum IntEnum StrEnum Flag IntFlag Protocol ABC".split())


def is_data(node: ast.ClassDef) -> bool:
    """A class that only holds fields, or an exception: making one has no effect."""
    if any(
        isinstance(each, FunctionNode) and each.name in ("__init__", "__post_init__", "__new__") for each in node.body
    ):
        return False
    bases = [ast.unparse(each).rpartition(".")[2].partition("[")[0] for each in node.bases]
    if any("dataclass" in ast.unparse(each) for each in node.decorator_list):
        return all(base in _DATA_BASES or base in ("object", "Generic") for base in bases)
    return bool(bases) and all(
        base in _DATA_BASES or (base.endswith(("Error", "Exception", "Warning")) and hasattr(builtins, base))
        for base in bases
    )


def class_slice(node: ast.ClassDef, wanted: set[str] | None) -> ast.ClassDef:
    """A class with these methods alone (None: all)."""
    if wanted is None:
        return node
    wanted = wanted | _used_in_body(node)
    kept = [each for each in node.body if _is_kept(each, wanted)]
    sliced = copy.copy(node)
    sliced.body = kept or [ast.copy_location(ast.Pass(), node)]
    return sliced


def _used_in_body(node: ast.ClassDef) -> set[str]:
    """What statements of the class itself, and decorators of its methods, name: `size = property(_size)`."""
    found: set[str] = set()
    for each in node.body:
        for part in each.decorator_list if isinstance(each, FunctionNode) else [each]:
            found.update(inner.id for inner in ast.walk(part) if isinstance(inner, ast.Name))
    return found


def _is_kept(node: ast.stmt, wanted: set[str]) -> bool:
    """Not the slots: an instance that stands for a term keeps that in its dictionary."""
    if not isinstance(node, FunctionNode):
        targets = node.targets if isinstance(node, ast.Assign) else []
        return not any(isinstance(each, ast.Name) and each.id == "__slots__" for each in targets)
    return node.name in wanted or any(
        isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in wanted
        for each in node.decorator_list
    )


def names_used(statements: list[ast.stmt]) -> set[str]:
    """Names that code reads, annotations aside, since they are dropped."""
    found: set[str] = set()
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Global):
            found.update(node.names)
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns"):
                continue
            if isinstance(value, ast.AST):
                pending.append(value)
            elif isinstance(value, list):
                pending.extend(each for each in value if isinstance(each, ast.AST))
    return found


def makes_own(owner: ast.ClassDef, methods: Mapping[str, ast.AST], wanted: set[str]) -> bool:
    """Whether one of these methods may make an instance of its class, or has to do with how one is made."""
    for name in wanted & methods.keys():
        for each in ast.walk(methods[name]):
            if isinstance(each, ast.Name) and each.id in (owner.name, "cls", "type"):
                return True
            if isinstance(each, ast.Attribute) and each.attr == "__class__":
                return True
    return False


def top_level(facts: ModuleFacts) -> list[str]:
    """What importing a module does, as text: its statements, of definitions only what is run when they are made."""
    found: list[str] = []
    for each in facts.tree.body:
        if isinstance(each, FunctionNode):
            made = [
                *each.decorator_list,
                *each.args.defaults,
                *(value for value in each.args.kw_defaults if value is not None),
            ]
            if not all(isinstance(part, ast.Constant) for part in made):
                found.append(f"def {each.name} {[ast.dump(part) for part in made]}")
        elif isinstance(each, ast.ClassDef):
            parts: list[Sequence[ast.AST]] = [
                each.bases,
                each.keywords,
                each.decorator_list,
                [x for x in each.body if not isinstance(x, FunctionNode)],
            ]
            found.append(f"class {each.name} {[ast.dump(part) for some in parts for part in some]}")
        elif not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)):
            found.append(ast.dump(each))
    return found
