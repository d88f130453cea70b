"""Which names a function or a module uses, and as what: words, annotations, bases, names that are its own. Reads one
piece of one tree; what the names mean is for others (pairs_affected.py)."""

from __future__ import annotations

import ast
import copy

from codemods.prove.sides import DefNode, FunctionNode, ModuleFacts


def made_of(facts: ModuleFacts, name: str) -> list[str]:
    """The names at the top level that are imported by a name, and the values that are made of those."""
    found = dict.fromkeys(bound for bound, (_, alias) in facts.imports.items() if alias.name == name)
    if facts.stars:
        found.setdefault(name)
    values = {bound: at for bound, at in facts.bindings.items() if bound not in facts.imports}
    words = {
        bound: {each.id for index in at for each in ast.walk(facts.tree.body[index]) if isinstance(each, ast.Name)}
        for bound, at in values.items()
        if found and bound not in facts.definitions
    }
    size = -1
    while size != len(found):
        size = len(found)
        found.update(dict.fromkeys(bound for bound, used in words.items() if not used.isdisjoint(found)))
    return list(found)


def words(node: ast.AST) -> set[str]:
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.alias):
            found.update(each.name.split("."))
    return found


def bound_names(node: ast.AST | None) -> dict[str, str]:
    """What a class and its methods bind: methods (whatever they do), values with their text, attributes of objects."""
    found: dict[str, str] = {}
    for statement in getattr(node, "body", ()):
        if isinstance(statement, DefNode):
            found[statement.name] = ""
            continue
        for each in ast.walk(statement):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                found[each.id] = ast.dump(statement)
    for each in ast.walk(node) if node is not None else ():
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            found.setdefault(each.attr, "")
    return found


def in_annotations(node: DefNode) -> set[ast.AST]:
    """The nodes of what only says of which type something is: of parameters, of the result, of local variables."""
    found: list[ast.AST | None] = []
    if isinstance(node, FunctionNode):
        found.extend([node.returns, *(each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg))])
    found.extend(
        each.annotation
        for each in ast.walk(node)
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    )
    return {inner for each in found if each is not None for inner in ast.walk(each)}


def is_base(name: ast.Name, node: DefNode) -> bool:
    classes = [each for each in ast.walk(node) if isinstance(each, ast.ClassDef)]
    return any(inner is name for each in classes for base in each.bases for inner in ast.walk(base))


def frame(node: ast.ClassDef) -> ast.ClassDef:
    """A class without its plain methods."""
    made = copy.copy(node)
    made.body = [
        each
        for each in node.body
        if not isinstance(each, FunctionNode) or each.decorator_list or each.name.startswith("__")
    ]
    return made


def bound_inside(node: ast.AST) -> set[str]:
    """Names that are the function's own: parameters, and what it writes or imports."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.arg):
            found.add(each.arg)
        elif isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, ast.alias):
            found.add(each.asname or each.name.partition(".")[0])
        elif isinstance(each, ast.Global):
            found.difference_update(each.names)
    return found
