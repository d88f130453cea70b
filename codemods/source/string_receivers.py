"""Whether an attribute of some expression, looked up by name, is one of the things looked for: yes, no or perhaps.

The type of the expression is receivers.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.source.classes import ClassKey, is_subclass, provider
from codemods.source.files import FileSet
from codemods.source.imports import origin
from codemods.source.parse import Source
from codemods.source.receiver_kinds import ClassObject, Known, ModuleObject, Unknown
from codemods.source.receivers import receiver_type

Target = tuple[str, str]


def holds(files: FileSet, source: Source, expr: ast.expr, leaf: str, targets: Iterable[Target]) -> bool | None:
    """Whether `expr.<leaf>` is one of the targets; None when the code does not tell."""
    found = receiver_type(files, source, expr)
    if isinstance(found, ModuleObject):
        home = origin(files, found.module, leaf)
        return (home.module, home.name) in set(targets)
    if isinstance(found, Unknown):
        return None
    if isinstance(found, (Known, ClassObject)):
        keys = found.keys if isinstance(found, Known) else (found.key,)
        owners = [ClassKey(module, owner) for module, qualname in targets if (owner := qualname.rpartition(".")[0])]
        answers = {_is_member(files, key, leaf, owners, is_exact=found.is_exact) for key in keys}
        return answers.pop() if len(answers) == 1 else None
    return found.is_external and (found.what, leaf) in set(targets)


def is_module(files: FileSet, source: Source, expr: ast.expr, module: str) -> bool:
    """Whether an expression is this module of the tree."""
    found = receiver_type(files, source, expr)
    return isinstance(found, ModuleObject) and found.module == module


def _is_member(files: FileSet, key: ClassKey, leaf: str, owners: list[ClassKey], *, is_exact: bool) -> bool | None:
    above = [owner for owner in owners if is_subclass(files, key, owner)]
    if above:
        nearest = provider(files, key, leaf)
        return nearest is None or nearest in above
    may_be_below = not is_exact and any(is_subclass(files, owner, key) for owner in owners)
    return None if may_be_below else False
