"""What the target module must or must not have for a definition to live there: a free name, a logger, imports."""

from __future__ import annotations

import ast

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import Line, from_statement, leading_imports, module_of, top_offset
from codemods.source.imports import imports_of, origin
from codemods.source.locate import is_main_guard, shares_line, tail_end
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, Source, load
from codemods.source.readers import reader_through
from codemods.source.scopes import BUILTINS, Role
from codemods.source.splice import Edit, with_newline
from codemods.source.star_imports import star_bringing, star_readers, unknown_star


def conflicts(files: FileSet, source: Source, target: Source, name: str, before: FileSet) -> list[Hazard]:
    """Whatever the name already means in the target, or in those who import everything from it.

    before: the files in which the target's own uses of the definition are still spelled as they were."""
    found: list[str] = []
    bound = table(target).module.bound.get(name, [])
    modules = modules_of(files)
    own = modules.module_of(source.path)
    for occurrence in bound:
        imported = [each for each in imports_of(files, target) if each.alias is occurrence.node]
        if imported and imported[0].attribute == name:
            holder = modules.path_of(imported[0].module, near=target.path)
            here = origin(files, modules.module_of(holder) if holder else imported[0].module, name)
            if (here.module, here.name) == (own, name):
                continue  # the target imports the very thing that comes to it
        found.append(f"line {target.text.line_of(occurrence.start)} binds it")
    star = star_bringing(files, target, name) if not bound else ""
    if star:
        path = modules.path_of(star, near=target.path)
        brought = origin(files, modules.module_of(path) if path else star, name)
        if (brought.module, brought.name) != (own, name):
            found.append(f"`from {star} import *` brings it")
    if target.path in before:
        found += _read_already(before, load(before, target.path), name)
    return [_conflict(target, name, why) for why in found] + _star_readers(files, target, name)


def _read_already(files: FileSet, target: Source, name: str) -> list[str]:
    """A builtin, or what a star import from outside the tree may bring, that is used under the name."""
    scopes = table(target)
    is_read = any(each.role is Role.LOAD and scopes.resolve(each) is None for each in scopes.named(name))
    if name in BUILTINS and is_read:
        return ["the module uses the builtin of that name"]
    star = unknown_star(files, target)
    if star and (is_read or reader_through(files, target.path, name)):
        return [f"`from {star} import *` may bring it, and it is read here"]
    return []


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
    readers = [each for each in star_readers(files, target.path) if name in table(each).module.bound]
    why = f"it imports everything from {target.path} over its own"
    return [_conflict(reader, name, why) for reader in readers]


def needed_above(target: Source, uses: list[int]) -> ast.stmt | None:
    """The first statement of the target that the definition must stand above, because code that names it may run there.

    uses: offsets at which the target names it. None where nothing but definitions follows."""
    if not uses:
        return None
    statements = target.tree.body
    first = next((each for each in statements if min(uses) < target.end(each)), None)
    if first is None:
        return None
    after = statements[statements.index(first) :]
    return first if any(_runs(target, each, uses) for each in after) else None


def _runs(target: Source, statement: ast.stmt, uses: list[int]) -> bool:
    """Whether a statement may name or call something when the module is imported."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)) or is_main_guard(statement):
        return False
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        head = [*statement.decorator_list, *statement.args.defaults, *filter(None, statement.args.kw_defaults)]
        spans = [(target.start(each), target.end(each)) for each in head]
        return any(start <= use < end for start, end in spans for use in uses) or any(
            isinstance(each, ast.Call) for each in head
        )
    if isinstance(statement, ast.ClassDef):
        return any(_runs(target, each, uses) for each in statement.body) or bool(statement.decorator_list)
    return any(target.start(statement) <= use < target.end(statement) for use in uses) or any(
        isinstance(each, ast.Call) for each in ast.walk(statement)
    )


def bound_below(target: Source, names: list[str], above: ast.stmt) -> str:
    """The first of the names that the target binds only below a statement."""
    limit = target.start(above)
    for name in names:
        bound = table(target).module.bound.get(name, [])
        if bound and all(each.start >= limit for each in bound):
            return name
    return ""


def logger_edit(target: Source, assignment: str) -> Edit:
    """`logger = logging.getLogger(__name__)` under the imports."""
    leading = leading_imports(target)
    at = tail_end(target, leading[-1]) if leading else top_offset(target)
    below = target.body[at:]
    is_tight = bool(below.strip()) and not below.startswith((b"\n", b"\r"))
    gap = "\n\n" if is_tight and isinstance(_next_statement(target, at), DEFINITIONS) else "\n" if is_tight else ""
    text = f"\n{assignment}\n{gap}".encode()
    return Edit(at, at, with_newline(text, target.text.newline))


def _next_statement(target: Source, at: int) -> ast.stmt | None:
    return next((each for each in target.tree.body if target.start(each) >= at), None)


def typing_edits(target: Source, lines: list[Line], line_length: int) -> tuple[list[Edit], bool]:
    """Imports under `if TYPE_CHECKING:`, in the block that is there or in a new one (then TYPE_CHECKING is needed)."""
    groups: dict[str, list[Line]] = {}
    for line in sorted(set(lines)):
        groups.setdefault(line.module if line.name else line.text(), []).append(line)
    for statement in target.tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            return _into_block(target, statement, groups, line_length), False
    leading = leading_imports(target)
    at = tail_end(target, leading[-1]) if leading else top_offset(target)
    block = "".join(_indented(group, "    ", line_length) for group in groups.values())
    return [Edit(at, at, with_newline(f"\nif TYPE_CHECKING:\n{block}".encode(), target.text.newline))], True


def _indented(group: list[Line], indent: str, line_length: int) -> str:
    text = group[0].text()
    if group[0].name:
        text = from_statement(group[0].module, [line.one for line in group], "", line_length - len(indent))
    return "".join(f"{indent}{line}\n" for line in text.split("\n"))


def _into_block(target: Source, block: ast.If, groups: dict[str, list[Line]], line_length: int) -> list[Edit]:
    """Names join a statement of their module that fits on its line; the rest goes below."""
    indent = target.text.indent_at(target.start(block.body[0])).decode()
    edits: list[Edit] = []
    below = ""
    for module, group in groups.items():
        home = next((each for each in block.body if _can_take(target, each, module)), None)
        if home is None:
            below += _indented(group, indent, line_length)
            continue
        assert isinstance(home, ast.ImportFrom)
        names = [target.segment(alias).decode() for alias in home.names] + [line.one for line in group]
        text = from_statement(module, names, "", line_length - len(indent)).replace("\n", f"\n{indent}")
        edits.append(Edit(target.start(home), target.end(home), with_newline(text.encode(), target.text.newline)))
    if below:
        at = tail_end(target, block.body[-1])
        edits.append(Edit(at, at, with_newline(below.encode(), target.text.newline)))
    return edits


def _can_take(target: Source, node: ast.stmt, module: str) -> bool:
    is_alike = isinstance(node, ast.ImportFrom) and module_of(node) == module and node.lineno == node.end_lineno
    return is_alike and b"#" not in target.text.line_text(node.lineno) and not shares_line(target, node)
