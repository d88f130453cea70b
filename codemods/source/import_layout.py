"""Where a new import goes in a file, and what it looks like beside its neighbours. Text only; whether an import is
needed, and which, is decided by transforms/adjust_imports.py."""

from __future__ import annotations

import ast
import re
import sys

from msgspec import Struct

from codemods.source.locate import is_shebang
from codemods.source.parse import Source
from codemods.source.splice import Edit, with_newline

_NAME = re.compile(rb"[^\W\d]\w*")


class Line(Struct, frozen=True, order=True):
    """One import to add: `from module import name as alias`, or `import module as alias` when name is empty.

    `module` is written as it stands (with its dots when relative)."""

    module: str
    name: str = ""
    alias: str = ""

    def text(self) -> str:
        end = f" as {self.alias}" if self.alias else ""
        return f"from {self.module} import {self.name}{end}" if self.name else f"import {self.module}{end}"


def leading_imports(source: Source) -> list[ast.Import | ast.ImportFrom]:
    """The import statements at the top of a file: after the docstring, up to the first other statement."""
    found: list[ast.Import | ast.ImportFrom] = []
    for index, statement in enumerate(source.tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            found.append(statement)
        elif not (index == 0 and _is_docstring(statement)):
            break
    return found


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


def add_lines(source: Source, lines: list[Line], *, line_length: int, own: str) -> list[Edit]:
    """Edits that add the imports at the top of the file: into a statement that is there, else as new lines in order.

    own: the top-level package the file belongs to, whose imports stand apart from third parties'."""
    edits: list[Edit] = []
    fresh: list[Line] = []
    merged: dict[ast.ImportFrom, list[Line]] = {}
    for line in sorted(set(lines), key=lambda line: _sort_key(line.module, bool(line.name))):
        home = _mergeable(source, line)
        if home is None:
            fresh.append(line)
        else:
            merged.setdefault(home, []).append(line)
    for statement, additions in merged.items():
        edits.append(_merge(source, statement, additions, line_length))
    edits.extend(_insert(source, _grouped(fresh, line_length), own))
    return edits


def _grouped(lines: list[Line], line_length: int) -> list[tuple[Line, str]]:
    """One statement for all plain names that come from one module."""
    out: list[tuple[Line, str]] = []
    by_module: dict[str, list[Line]] = {}
    for line in lines:
        if line.name:
            by_module.setdefault(line.module, []).append(line)
        else:
            out.append((line, line.text()))
    for module, group in by_module.items():
        names = sorted({_one(line) for line in group}, key=_name_key)
        text = f"from {module} import {', '.join(names)}"
        if len(text) > line_length:
            text = f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
        out.append((group[0], text))
    return sorted(out, key=lambda pair: _sort_key(pair[0].module, bool(pair[0].name)))


def _one(line: Line) -> str:
    return f"{line.name} as {line.alias}" if line.alias else line.name


def section(module: str, own: str = "") -> int:
    """0 for __future__, 1 for the standard library, 2 for third parties, 3 for the own top-level package, 4 relative."""
    if module.startswith("."):
        return 4
    top = module.partition(".")[0]
    if top == own:
        return 3
    return 0 if top == "__future__" else 1 if top in sys.stdlib_module_names else 2


def _sort_key(module: str, is_from: bool) -> tuple[int, bool, str]:
    return section(module), is_from, module.lower()


def _name_key(name: str) -> tuple[int, str]:
    """CONSTANTS, Classes, functions: the order of isort and ruff."""
    plain = name.partition(" ")[0]
    kind = 0 if plain.isupper() and len(plain) > 1 else 1 if plain[:1].isupper() else 2
    return kind, plain


def _mergeable(source: Source, line: Line) -> ast.ImportFrom | None:
    """A top-level `from module import …` in the leading block that can take one more name as it is laid out."""
    if not line.name:
        return None
    for statement in leading_imports(source):
        if not isinstance(statement, ast.ImportFrom) or written_module(statement) != line.module:
            continue
        text = source.segment(statement)
        tail = source.body[source.end(statement) : source.text.line_end(source.end(statement) - 1)]
        multi = statement.lineno != statement.end_lineno
        shares_line = b";" in tail or _starts_mid_line(source, statement)
        if shares_line or b"\\" in text or any(alias.name == "*" for alias in statement.names):
            continue
        if multi and not _one_per_line(statement):
            continue
        if not multi and (b"#" in tail or (b"(" in text and b"#" in text)):
            continue
        return statement
    return None


def written_module(statement: ast.ImportFrom) -> str:
    """The module as the statement writes it, dots included."""
    return "." * statement.level + (statement.module or "")


def _starts_mid_line(source: Source, statement: ast.stmt) -> bool:
    start = source.start(statement)
    return bool(source.body[source.text.line_start(start) : start].strip())


def _one_per_line(statement: ast.ImportFrom) -> bool:
    lines = [alias.lineno for alias in statement.names]
    return len(set(lines)) == len(lines) and statement.lineno not in lines and statement.end_lineno not in lines


def _merge(source: Source, statement: ast.ImportFrom, additions: list[Line], line_length: int) -> Edit:
    names = [_one(line) for line in additions]
    newline = source.text.newline
    if statement.lineno != statement.end_lineno:
        return _merge_lines(source, statement, names, newline)
    present = [source.segment(alias).decode() for alias in statement.names]
    merged = _in_order(present, names)
    start = source.start(statement)
    text = f"from {written_module(statement)} import {', '.join(merged)}"
    if b"(" in source.segment(statement):
        text = f"from {written_module(statement)} import ({', '.join(merged)})"
    if len(text) > line_length:
        text = f"from {written_module(statement)} import (\n" + "".join(f"    {name},\n" for name in merged) + ")"
    return Edit(start, source.end(statement), with_newline(text.encode(), newline))


def _in_order(present: list[str], names: list[str]) -> list[str]:
    """New names go where they belong when the list is sorted (one way or the other), else to its end."""
    fresh = [name for name in names if name not in present]
    for key in (_name_key, str.lower, str):
        if sorted(present, key=key) == present:
            return sorted([*present, *fresh], key=key)
    return [*present, *fresh]


def _merge_lines(source: Source, statement: ast.ImportFrom, names: list[str], newline: bytes) -> Edit:
    present = [source.segment(alias).decode() for alias in statement.names]
    merged = _in_order(present, names)
    last = statement.names[-1]
    indent = source.text.indent_at(source.start(last))
    start = source.text.line_start(source.start(statement.names[0]))
    end = source.text.line_end(source.end(last))
    lines = {
        text: source.body[source.text.line_start(source.start(alias)) : source.text.line_end(source.end(alias))]
        for text, alias in zip(present, statement.names, strict=True)
    }
    # comment lines between the names stay with the name below them
    at = start
    for text, alias in zip(present, statement.names, strict=True):
        own = source.text.line_start(source.start(alias))
        lines[text] = source.body[at:own] + lines[text]
        at = source.text.line_end(source.end(alias))
    after = source.end(last)
    rest = source.body[after : source.text.line_end(after)]
    if not rest.lstrip().startswith(b","):
        tail = lines[present[-1]]
        cut = len(tail) - len(rest)
        lines[present[-1]] = tail[:cut] + b"," + rest
    fresh = {name: indent + name.encode() + b"," + newline for name in merged if name not in lines}
    return Edit(start, end, b"".join({**lines, **fresh}[name] for name in merged))


def _insert(source: Source, grouped: list[tuple[Line, str]], own: str) -> list[Edit]:
    if not grouped:
        return []
    newline = source.text.newline
    leading = leading_imports(source)
    ordinary = [node for node in leading if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    if not ordinary:
        sections: dict[int, list[str]] = {}
        for line, text in grouped:
            sections.setdefault(section(line.module, own), []).append(f"{text}\n")
        block = "\n".join("".join(sections[key]) for key in sorted(sections)).encode()
        return [_first_import(source, block, newline)]
    edits = []
    for line, text in grouped:
        offset, before, after = _place(source, ordinary, line, own)
        edits.append(Edit(offset, offset, with_newline(f"{before}{text}\n{after}".encode(), newline)))
    return edits


def _place(source: Source, ordinary: list[ast.Import | ast.ImportFrom], line: Line, own: str) -> tuple[int, str, str]:
    """Offset for a new line among the imports, and blank lines that go before and after it."""
    key = _sort_key(line.module, bool(line.name))
    first_module = {node: _module_of(node) for node in ordinary}
    alike = [node for node in ordinary if _same_group(first_module[node], line.module, own)]
    if alike:
        for node in alike:
            if _sort_key(first_module[node], isinstance(node, ast.ImportFrom)) > key:
                return _before(source, node), "", ""
        return _after(source, alike[-1]), "", ""
    later = [node for node in ordinary if section(first_module[node], own) > section(line.module, own)]
    earlier = [node for node in ordinary if section(first_module[node], own) <= section(line.module, own)]
    if earlier:
        return _after(source, earlier[-1]), "\n", ""
    return _before(source, later[0]), "", "\n"


def _module_of(node: ast.Import | ast.ImportFrom) -> str:
    return written_module(node) if isinstance(node, ast.ImportFrom) else node.names[0].name


def _same_group(module: str, other: str, own: str) -> bool:
    """Same section; within third party and own code, the same top-level package when such a neighbour exists."""
    if section(module, own) != section(other, own):
        return False
    return section(module, own) != 2 or module.partition(".")[0] == other.partition(".")[0]


def _before(source: Source, node: ast.stmt) -> int:
    """Offset of the line of an import, above the comments that stand directly over it."""
    start = source.text.line_start(source.start(node))
    while start > 0:
        above = source.text.line_start(start - 1)
        if not source.body[above:start].startswith(b"#") or is_shebang(source, above):
            break
        start = above
    return start


def _after(source: Source, node: ast.stmt) -> int:
    return source.text.line_end(source.end(node) - 1)


def top_offset(source: Source) -> int:
    """Where the first ordinary import of a file goes: after cookie, comments, docstring and `__future__`."""
    above = _head_statement(source)
    return _after_header(source) if above is None else _after(source, above)


def _head_statement(source: Source) -> ast.stmt | None:
    leading = leading_imports(source)
    if leading:
        return leading[-1]
    return source.tree.body[0] if source.tree.body and _is_docstring(source.tree.body[0]) else None


def _first_import(source: Source, text: bytes, newline: bytes) -> Edit:
    """The first ordinary imports of a file."""
    body, offset = source.body, top_offset(source)
    if _head_statement(source) is not None:
        glue = b"" if body[:offset].endswith((b"\n", b"\r")) else b"\n"
        rest = body[offset:]
        tail = b"" if not rest.strip() or rest.lstrip(b" \t").startswith((b"\n", b"\r")) else b"\n"
        return Edit(offset, offset, with_newline(glue + b"\n" + text + tail, newline))
    tail = b"" if not body[offset:].strip() or body[offset : offset + 1] in (b"\n", b"\r") else b"\n\n"
    return Edit(offset, offset, with_newline(text + tail, newline))


def _after_header(source: Source) -> int:
    """Offset after the comment block at the top when a blank line ends it; else after shebang and cookie."""
    text, offset, line = source.text, 0, 1
    while line <= len(text.line_starts) and text.line_text(line).startswith(b"#"):
        offset = text.line_end(text.line_starts[line - 1])
        line += 1
    is_block = line <= len(text.line_starts) and not text.line_text(line).strip() and offset < len(source.body)
    if offset and is_block:
        return text.line_end(text.line_starts[line - 1])
    if offset and not source.tree.body:
        return offset
    offset, line = 0, 1
    while line <= 2 and is_shebang(source, text.line_starts[line - 1]):
        offset = text.line_end(text.line_starts[line - 1])
        line += 1
    return offset
