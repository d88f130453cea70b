"""What the target module must or must not have for a definition to live there: a free name, a logger, imports."""

from __future__ import annotations

import ast

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import Line, leading_imports, top_offset
from codemods.source.imports import imports_of, origin
from codemods.source.index import mentioning
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load
from codemods.source.scopes import BUILTINS, Role
from codemods.source.splice import Edit, with_newline


def conflicts(files: FileSet, source: Source, target: Source, name: str) -> list[Hazard]:
    """Whatever the name already means in the target, or in those who import everything from it."""
    found: list[str] = []
    bound = table(target).module.bound.get(name, [])
    modules = modules_of(files)
    own = modules.module_of(source.path)
    for occurrence in bound:
        imported = [each for each in imports_of(files, target) if each.alias is occurrence.node]
        if imported and modules.path_of(imported[0].module, near=target.path) == source.path:
            continue  # the target imports the very thing that comes to it
        found.append(f"line {target.text.line_of(occurrence.start)} binds it")
    for star in imports_of(files, target):
        if star.attribute == "*" and star.at_module_level and not bound:
            path = modules.path_of(star.module, near=target.path)
            if path is None:
                found.append(f"`from {star.module} import *` may bring it")
            elif name in table(load(files, path)).module.bound:
                here = origin(files, modules.module_of(path), name)
                if (here.module, here.name) != (own, name):
                    found.append(f"`from {star.module} import *` brings it")
    reads = [each for each in table(target).named(name) if each.role is Role.LOAD]
    if name in BUILTINS and any(table(target).resolve(each) is None for each in reads):
        found.append("the module uses the builtin of that name")
    return [_conflict(target, name, why) for why in found] + _star_readers(files, target, name)


def _conflict(target: Source, name: str, why: str) -> Hazard:
    return Hazard(
        code="U107",
        severity=Severity.STOP,
        path=target.path,
        line=0,
        message=f"{target.path} already has {name}: {why}",
        settle='give the function another name (name = "…"), or choose another destination',
    )


def _star_readers(files: FileSet, target: Source, name: str) -> list[Hazard]:
    """Modules that import everything from the target get the name too, over one they had before."""
    if name.startswith("_"):
        return []
    modules = modules_of(files)
    leaf = modules.module_of(target.path).rpartition(".")[2]
    found = []
    for path in mentioning(files, leaf, name):
        if path == target.path or b"import *" not in files.read(path):
            continue
        reader = load(files, path)
        stars = [each for each in imports_of(files, reader) if each.attribute == "*"]
        reads = any(modules.path_of(each.module, near=path) == target.path for each in stars)
        if reads and name in table(reader).module.bound:
            found.append(_conflict(reader, name, f"it imports everything from {target.path} over its own"))
    return found


def logger_edit(target: Source, name: str) -> Edit:
    """`name = logging.getLogger(__name__)` under the imports."""
    leading = leading_imports(target)
    text = f"\n{name} = logging.getLogger(__name__)\n".encode()
    at = target.text.line_end(target.end(leading[-1]) - 1) if leading else top_offset(target)
    return Edit(at, at, with_newline(text, target.text.newline))


def typing_edit(target: Source, lines: list[Line]) -> tuple[Edit, bool]:
    """Imports under `if TYPE_CHECKING:`, in the block that is there or in a new one (then TYPE_CHECKING is needed)."""
    newline = target.text.newline
    for statement in target.tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            at = target.text.line_end(target.end(statement.body[-1]) - 1)
            indent = target.text.indent_at(target.start(statement.body[0]))
            text = b"".join(indent + line.text().encode() + b"\n" for line in sorted(set(lines)))
            return Edit(at, at, with_newline(text, newline)), False
    leading = leading_imports(target)
    at = target.text.line_end(target.end(leading[-1]) - 1) if leading else top_offset(target)
    block = "".join(f"    {line.text()}\n" for line in sorted(set(lines)))
    return Edit(at, at, with_newline(f"\nif TYPE_CHECKING:\n{block}".encode(), newline)), True
