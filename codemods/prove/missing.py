"""A pair names what a tree does not have: what there is instead, and how to name it."""

from __future__ import annotations

import ast
from typing import Literal

from codemods.prove.partners import definitions
from codemods.prove.sides import FunctionNode, Side
from codemods.schema.errors import UnmovedError
from codemods.schema.toml_check import nearest

_MOST_NAMES = 12


class NoSuchCallable(UnmovedError):
    """A pair names what a tree does not have."""

    code = "no-such-callable"


def no_such(side: Side, reference: str, wanted: Literal["function", "class", "module"]) -> NoSuchCallable:
    """Raises SourceError where the module can't be parsed."""
    module, _, qualname = reference.partition(":")
    facts = side.facts(module)
    if facts is None:
        found = f"the {side.label} tree has no module {module}"
        owner, _, name = module.rpartition(".")
        if owner and not qualname and side.facts(owner) is not None:
            return NoSuchCallable(found, fix=f"write {owner}:{name} for what a module defines")
        return NoSuchCallable(found, fix="name a module that it has, as package.module or path/to/file.py")
    known = definitions(facts)
    node = known.get(qualname)
    if node is not None:
        is_class = isinstance(node, ast.ClassDef)
        found = f"{reference} is a {'class' if is_class else 'function'} of the {side.label} tree and no {wanted}"
        return NoSuchCallable(found, fix="name two functions, or two classes")
    kind = FunctionNode if wanted == "function" else ast.ClassDef
    names = [name for name, each in known.items() if isinstance(each, kind)]
    close = nearest(qualname, names) or next((name for name in names if name.rpartition(".")[2] == qualname), "")
    if close:
        fix = f"did you mean {module}:{close}?"
    elif names:
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        fix = f"{facts.path} has {', '.join(names[:_MOST_NAMES])}{more}"
    else:
        fix = f"{facts.path} has no {wanted} at all"
    return NoSuchCallable(f"the {side.label} tree has no {wanted} {reference}", fix=fix)
