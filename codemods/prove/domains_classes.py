"""The class around a function, the class that an annotation names, and what its attributes are annotated with. Reads
only."""

from __future__ import annotations

import ast

from codemods.prove.domains import Definition
from codemods.prove.domains_harvest import parameters_of
from codemods.prove.domains_home import Home, member
from codemods.prove.domains_types import lineage
from codemods.source.nodes import statements
from codemods.source.parse import FUNCTIONS, Function


def owner_of(function: Function, module: ast.Module) -> tuple[ast.ClassDef | None, str]:
    """The class whose method a function is, and its qualified name."""

    def search(body: list[ast.stmt], owner: ast.ClassDef | None, qual: str) -> tuple[ast.ClassDef | None, str] | None:
        for node in body:
            if node is function:
                return owner, qual
            if isinstance(node, ast.ClassDef):
                found = search(node.body, node, f"{qual}.{node.name}".lstrip("."))
            else:
                inner = [
                    each for name in ("body", "orelse", "handlers", "finalbody") for each in getattr(node, name, ())
                ]
                kept = None if isinstance(node, FUNCTIONS) else owner
                found = search(inner, kept, qual if kept is not None else "") if inner else None
            if found is not None:
                return found
        return None

    return search(module.body, None, "") or (None, "")


def is_static(function: Function) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)


def class_of(node: ast.expr | None, home: Home) -> Definition | None:
    """The class of the tree that an annotation names, optional or quoted too."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            return None
    if isinstance(node, ast.Subscript) and home.dotted(node.value).rpartition(".")[2] == "Optional":
        return class_of(node.slice, home)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return class_of(node.left, home) or class_of(node.right, home)
    name = home.dotted(node) if node is not None else ""
    found = home.find(name) if name else None
    return found if found is not None and isinstance(found.node, ast.ClassDef) else None


def attribute_of(owner: Definition, home: Home, name: str) -> tuple[ast.expr | None, Home]:
    """The annotation of an attribute: in the class body, at an assignment in a method, or of the parameter assigned."""
    for node, inside in reversed(lineage(owner, home)):
        found = member(node, name)
        if isinstance(found, ast.AnnAssign):
            return found.annotation, inside
        if node not in home.assigned:
            home.assigned[node] = _assigned(node)
        annotation = home.assigned[node].get(name)
        if annotation is not None:
            return annotation, inside
    return None, home


def _assigned(owner: ast.ClassDef) -> dict[str, ast.expr]:
    """Attribute -> annotation, for what the methods assign to `self`; the first one that has an annotation counts."""
    found: dict[str, ast.expr] = {}
    for method in owner.body:
        if not isinstance(method, FUNCTIONS):
            continue
        parameters = {each.arg: each.annotation for each in parameters_of(method.args)}
        for node in statements(ast.Module(method.body, [])):
            target: ast.expr | None = node.target if isinstance(node, ast.AnnAssign) else None
            annotation: ast.expr | None = node.annotation if isinstance(node, ast.AnnAssign) else None
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Name):
                target, annotation = node.targets[0], parameters.get(node.value.id)
            is_own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
            if is_own and annotation is not None and target.value.id == "self":  # type: ignore[union-attr]
                found.setdefault(target.attr, annotation)  # type: ignore[union-attr]
    return found
