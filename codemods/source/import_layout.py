"""Where a new import goes in a file, and what it looks like beside its neighbours. Text only; whether an import is
needed, and which, is decided by transforms/adjust_imports.py; names that join a statement are import_merge.py's."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise

from msgspec import Struct

from codemods.source.locate import header_end, tail_end
from codemods.source.parse import DEFINITIONS, Source
from codemods.source.splice import Edit, with_newline

Statement = ast.Import | ast.ImportFrom
Owns = Callable[[str], bool]  # whether a top-level name is a package or module of the tree

_BLANKS = re.compile(rb"(?:[ \t]*(?:\r\n|\n|\r))*")
_EXCUSED = re.compile(rb"#\s*noqa:[\s\w,]*\bE402\b")


class Line(Struct, frozen=True, order=True):
    """One import to add: `from module import name as alias`, or `import module as alias` when name is empty.

    `module` is written as it stands (with its dots when relative). mark: a comment for the line (`noqa: F401`)."""

    module: str
    name: str = ""
    alias: str = ""
    mark: str = ""

    def text(self) -> str:
        end = f" as {self.alias}" if self.alias else ""
        return f"from {self.module} import {self.name}{end}" if self.name else f"import {self.module}{end}"

    @property
    def one(self) -> str:
        return f"{self.name} as {self.alias}" if self.alias else self.name


def leading_imports(source: Source) -> list[Statement]:
    """The import statements at the top of a file: after the docstring, up to the first other statement."""
    blocks = import_blocks(source)
    return blocks[0] if blocks else []


def import_blocks(source: Source) -> list[list[Statement]]:
    """The module-level imports, in runs without another statement between; the first one is the leading block (it is
    empty when the file begins with something else)."""
    blocks: list[list[Statement]] = [[]]
    is_new = False
    for index, statement in enumerate(source.tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            if is_new:
                blocks.append([])
            blocks[-1].append(statement)
            is_new = False
        elif not (index == 0 and _is_docstring(statement)):
            is_new = True
    return blocks


def future_imports(source: Source) -> list[ast.ImportFrom]:
    leading = [node for node in leading_imports(source) if isinstance(node, ast.ImportFrom)]
    return [node for node in leading if node.module == "__future__"]


def has_postponed_annotations(source: Source) -> bool:
    """Whether `from __future__ import annotations` holds in the file."""
    return any(alias.name == "annotations" for node in future_imports(source) for alias in node.names)


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


# -- order


def section(module: str, owns: Owns) -> int:
    """0 for __future__, 1 the standard library, 2 third parties, 3 the tree's own packages and modules, 4 relative."""
    if module.startswith("."):
        return 4
    top = module.partition(".")[0]
    if top == "__future__":
        return 0
    return 3 if owns(top) else 1 if top in sys.stdlib_module_names else 2


def sort_key(module: str, is_from: bool) -> tuple[bool, str]:
    """Inside a section: plain imports first, then by module, more dots first, without regard to case."""
    name = module.lstrip(".")
    dots = len(module) - len(name)
    return is_from, "." * dots + ("_" if dots else "") + name.lower()


def module_of(node: Statement) -> str:
    """The module as the statement writes it, dots included."""
    return "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name


def _key_of(node: Statement) -> tuple[bool, str]:
    return sort_key(module_of(node), isinstance(node, ast.ImportFrom))


def top_name(module: str) -> str:
    return "." if module.startswith(".") else module.partition(".")[0]


# -- which block


def block_for(source: Source, line: Line, owns: Owns, needed_at: int) -> list[Statement]:
    """The run of imports that a new one joins: the leading one, unless its package is imported in a later one only.

    That one must still stand above the first need; the path may be set up in between."""
    leading, *rest = import_blocks(source)
    later = [block for block in rest if tail_end(source, block[-1]) <= needed_at]

    def first(is_like: Callable[[str], bool]) -> list[Statement] | None:
        blocks = [_ordinary(leading), *later]
        found = next((block for block in blocks if any(is_like(module_of(node)) for node in block)), None)
        return leading if found == blocks[0] else found

    found = first(lambda module: module == line.module)
    if found is None and section(line.module, owns) > 1:
        found = first(lambda module: top_name(module) == top_name(line.module))
    return leading if found is None else found


def _ordinary(block: list[Statement]) -> list[Statement]:
    return [node for node in block if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]


# -- new statements


def insertions(source: Source, wanted: Mapping[Line, int], *, line_length: int, owns: Owns) -> list[Edit]:
    """Edits that add the imports as statements of their own. wanted: each with the offset that first needs it."""
    first: dict[int, list[tuple[Line, str]]] = {}
    edits: list[Edit] = []
    for line, text, needed_at in _statements(wanted, line_length, owns):
        block = _ordinary(block_for(source, line, owns, needed_at))
        if not block:
            first.setdefault(section(line.module, owns), []).append((line, text))
            continue
        offset, before, after = _place(source, block, line, owns)
        text += _excuse(source, block)
        edits.append(Edit(offset, offset, with_newline(f"{before}{text}\n{after}".encode(), source.text.newline)))
    if first:
        groups = ["".join(f"{text}\n" for _, text in first[key]) for key in sorted(first)]
        edits.append(_first_imports(source, "\n".join(groups).encode()))
    return edits


def _statements(wanted: Mapping[Line, int], line_length: int, owns: Owns) -> list[tuple[Line, str, int]]:
    """One statement for all plain names that come from one module, in order."""
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for line in sorted(wanted):
        key = (line.module, "", line.mark) if line.name else (line.module, line.alias or "import", line.mark)
        groups.setdefault(key, []).append(line)
    found = []
    for group in groups.values():
        head = group[0]
        text = from_statement(head.module, [line.one for line in group], head.mark, line_length)
        found.append(
            (head, text if head.name else _marked(head.text(), head.mark), min(wanted[each] for each in group))
        )
    return sorted(
        found, key=lambda each: (section(each[0].module, owns), *sort_key(each[0].module, bool(each[0].name)))
    )


def _marked(text: str, mark: str) -> str:
    return f"{text}  # {mark}" if mark else text


def from_statement(module: str, names: list[str], mark: str, line_length: int, *, in_order: bool = False) -> str:
    """`from module import a, b`, in brackets with one name a line where that is too long."""
    names = names if in_order else sorted(set(names), key=name_key)
    text = _marked(f"from {module} import {', '.join(names)}", mark)
    if len(text) <= line_length or (mark and len(names) == 1):
        return text
    return _marked(f"from {module} import (", mark) + "\n" + "".join(f"    {name},\n" for name in names) + ")"


def name_key(name: str) -> tuple[int, str, str]:
    """CONSTANTS, Classes, functions: the order of isort and ruff."""
    plain = name.partition(" ")[0]
    kind = 0 if plain.isupper() and len(plain) > 1 else 1 if plain[:1].isupper() else 2
    return kind, plain, name  # the whole text last: the order may not depend on that of a set


def _excuse(source: Source, block: list[Statement]) -> str:
    """The mark that imports below other code carry in this file."""
    if block[0] in leading_imports(source):
        return ""
    lines = [source.text.line_text(node.lineno) for node in block]
    return "  # noqa: E402" if all(_EXCUSED.search(line) for line in lines) else ""


def _place(source: Source, block: list[Statement], line: Line, owns: Owns) -> tuple[int, str, str]:
    """Offset for a new line among the imports, and blank lines that go before and after it."""
    offset, before, after = _sorted_into(source, block, line, owns)
    stars = [node for node in block if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    below = tail_end(source, stars[-1]) if stars else 0  # a star import may bind the name, so a new one stands below it
    return (offset, before, after) if offset >= below else (below, "", "")


def _sorted_into(source: Source, block: list[Statement], line: Line, owns: Owns) -> tuple[int, str, str]:
    key, own_section = sort_key(line.module, bool(line.name)), section(line.module, owns)
    tops = [node for node in block if top_name(module_of(node)) == top_name(line.module)]
    alike = [node for node in block if section(module_of(node), owns) == own_section]
    if alike:
        keys = [_key_of(node) for node in alike]
        if keys == sorted(keys):
            return _sorted_place(source, alike, key)
        by_module = [(key[1], key[0]) for key in keys]
        if by_module == sorted(by_module):
            return _sorted_place(source, alike, key, by_module=True)
        same_kind = [node for node in tops if isinstance(node, ast.ImportFrom) == bool(line.name)]
        return tail_end(source, (same_kind or tops or alike)[-1]), "", ""
    gap = "\n" if _has_gaps(source, block, owns) else ""
    earlier = [node for node in block if section(module_of(node), owns) < own_section]
    if earlier:
        at = tail_end(source, earlier[-1])
        after = gap if source.body[at:].strip() and not _is_blank_at(source, at) else ""
        return at, gap, after
    return _before(source, block[0]), "", gap


def _sorted_place(
    source: Source, alike: list[Statement], key: tuple[bool, str], *, by_module: bool = False
) -> tuple[int, str, str]:
    def order(each: tuple[bool, str]) -> tuple[object, ...]:
        return (each[1], each[0]) if by_module else each

    for node in alike:
        if order(_key_of(node)) > order(key):
            return _before(source, node), "", ""
    return tail_end(source, alike[-1]), "", ""


def _has_gaps(source: Source, block: list[Statement], owns: Owns) -> bool:
    """Whether blank lines part the sections here; so it is assumed where the block has only one."""
    parted = False
    pairs = 0
    for first, second in pairwise(block):
        if section(module_of(first), owns) != section(module_of(second), owns):
            pairs += 1
            parted = parted or _is_blank_at(source, tail_end(source, first))
    return parted or not pairs


def _is_blank_at(source: Source, at: int) -> bool:
    return not source.body[at : source.text.line_end(at)].strip()


def _before(source: Source, node: ast.stmt) -> int:
    """Offset of the line of an import, above the comments that stand directly over it (but below the file's header)."""
    start = source.text.line_start(source.start(node))
    floor = header_end(source)
    while start > floor:
        above = source.text.line_start(start - 1)
        line = source.body[above:start]
        if not line.startswith(b"#") and line.strip() != b"\\":
            break
        start = above
    return start


# -- the first import of a file


def top_offset(source: Source) -> int:
    """Where the first ordinary import of a file goes: after cookie, comments, docstring and `__future__`."""
    above = _head_statement(source)
    return header_end(source) if above is None else tail_end(source, above)


def _head_statement(source: Source) -> ast.stmt | None:
    leading = leading_imports(source)
    if leading:
        return leading[-1]
    return source.tree.body[0] if source.tree.body and _is_docstring(source.tree.body[0]) else None


def _first_imports(source: Source, text: bytes) -> Edit:
    """The first ordinary imports of a file, with the blank lines that set them apart."""
    offset = top_offset(source)
    above, rest = source.body[:offset], source.body[offset:]
    num_blank = _BLANKS.match(rest).group().count(source.text.newline)  # type: ignore[union-attr]
    glue = b"" if not above or above.endswith((b"\n", b"\r")) else b"\n"
    is_apart = bool(above) and (_head_statement(source) is not None or num_blank > 0 or not rest.strip())
    below = max(0, _num_below(source) - num_blank) if rest.strip() else 0
    whole = glue + b"\n" * is_apart + text + b"\n" * below
    return Edit(offset, offset, with_newline(whole, source.text.newline))


def _num_below(source: Source) -> int:
    """Blank lines between the imports and what comes next: two above a definition, else one."""
    for statement in source.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or _is_docstring(statement):
            continue
        return 2 if isinstance(statement, DEFINITIONS) else 1
    return 1
