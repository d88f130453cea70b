"""The name of the static method, and what about a method's shape can't be made static whatever a plan accepts."""

from __future__ import annotations

import keyword

from codemods.schema.hazards import Refusal
from codemods.schema.plan import ExtractMethod
from codemods.source import foreign
from codemods.source.classes import ClassKey, External, defines, mro, names_of
from codemods.source.files import FileSet
from codemods.source.locate import Located
from codemods.source.members import instance_attributes
from codemods.source.modules import modules_of
from codemods.source.parse import Function
from codemods.transforms.parameters import Needs
from codemods.transforms.static_receiver import is_private


def static_name(files: FileSet, step: ExtractMethod, located: Located) -> str:
    """The name of the static method in prep. With a wrapper the method's own name is taken by the wrapper."""
    own = located.ref.name
    wanted = step.name or own
    if not step.wrapper or wanted != own:
        return wanted
    key = ClassKey(modules_of(files).module_of(located.path), located.ref.owner)
    names = names_behind(own)
    return next((name for name in names if not _holders(files, key, name)), names[0])


def names_behind(own: str) -> list[str]:
    """What the static method behind a wrapper is called, in the order in which the names are tried."""
    bare = own.lstrip("_")
    return [f"_{own}", f"_{bare}_impl"] if bare == own else [f"{own}_impl", f"_{bare}_static"]


def shape_refusals(
    files: FileSet, step: ExtractMethod, located: Located, function: Function, key: ClassKey, needs: Needs
) -> list[Refusal]:
    """Names that are taken or can't be, a receiver that is missing, results that are not those of the method."""

    def refusal(code: str, message: str, settle: str) -> Refusal:
        return Refusal(code=code, path=located.path, line=located.node.lineno, message=message, settle=settle)

    found: list[Refusal] = []
    if not needs.receiver:
        found.append(refusal("no-receiver", f"{function.name} has no first parameter", "use it as it is"))
    if step.returns is not None and set(step.returns) != set(needs.written):
        written = ", ".join(needs.written) or "none"
        message = f"`returns` lists {', '.join(step.returns) or 'none'}, but {function.name} writes {written}"
        found.append(refusal("returns-mismatch", message, f"write returns = {list(needs.written)}"))
    name = static_name(files, step, located)
    settle = 'give the function another name: name = "…"'
    if not name.isidentifier() or keyword.iskeyword(name):
        found.append(refusal("not-a-name", f"{name!r} is no name for a function", settle))
    elif name != function.name and (holders := _holders(files, key, name)):
        found.append(refusal("name-taken", f"{holders} has {name} already", settle))
    elif step.to and is_private(step.name or function.name):
        message = f"{step.name or function.name} would be mangled where methods of a class call it from outside"
        found.append(refusal("U105", message, settle))
    return found


def _holders(files: FileSet, key: ClassKey, name: str) -> str:
    """The classes for which a new member of this name would not be new, in words."""
    if name in instance_attributes(files, key):
        return key.name
    order = mro(files, key).order
    taken = [
        each
        for each in order
        if (foreign.defines(each.name, name) if isinstance(each, External) else defines(files, each, name))
    ]
    return names_of(taken)
