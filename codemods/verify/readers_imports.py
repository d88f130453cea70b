"""Readers of module-level names and modules that are gone: imports, attributes of modules, dotted names in strings and
in configuration, `__all__`, star imports, and bare reads in the module itself.

Text decides which files are parsed. Readers behind a re-export are not listed: the re-export itself is the finding."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.index import has_word, mentioning
from codemods.source.mentions import occurrences
from codemods.source.modules import modules_of
from codemods.source.nodes import below
from codemods.source.parse import Source, load
from codemods.source.scopes import Role, chain, is_unresolved, lookup
from codemods.verify.readers_gone import GoneModule, GoneName, star_names
from codemods.verify.readers_inventory import imports_in, inventory, is_docstring, is_for_types, statements, text_of

_CONFIGURATION = (".toml", ".cfg", ".ini", ".yaml", ".yml")
_DOTTED = re.compile(r"[A-Za-z_][\w]*(?:\.\w+)+(?::[\w.]+)?")
_BY_TEXT = frozenset({"getattr", "hasattr", "object", "setattr", "delattr"})  # patch.object, monkeypatch.setattr


def name_readers(files: FileSet, gone: Sequence[GoneName]) -> Iterator[Problem]:
    """Readers of the names that one module lost; `gone` is of one module."""
    if not gone:
        return
    names = {each.name: each for each in gone}
    module, path = gone[0].module, gone[0].path
    yield from _own(files, path, names)
    taking = _Taking(module, path, names)
    for other in _near(files, module, path):
        if other == path:
            continue
        raw = text_of(files, other)
        if not taking(other, raw):
            continue
        try:
            source = load(files, other)
        except SourceError:
            continue
        yield from _Reader(files, source, path, module, names).problems()
    yield from _configured(files, module, names)


def _near(files: FileSet, module: str, path: str) -> list[str]:
    """The files that may take something from a module: they name it, or stand in its package."""
    found = set(mentioning(files, module.rpartition(".")[2])) if module else set()
    if path.endswith("/__init__.py"):
        directory = path[: -len("__init__.py")]
        found.update(each for each in files.paths() if each.startswith(directory) and each.endswith(".py"))
    return sorted(found)


class _Taking:
    """Whether a file's text may read one of the names through the module."""

    def __init__(self, module: str, path: str, names: dict[str, GoneName]) -> None:
        self.leaf = module.rpartition(".")[2].encode()
        self.directory = path[: -len("__init__.py")] if path.endswith("/__init__.py") else ""
        words = rb"(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")"
        listed = rb"[ \t]+import[ \t]*(?:\*|\([^)]*?\b" + words + rb"\b|[^\n(]*?\b" + words + rb"\b)"
        through = rb"[.:]" + words + rb"\b|\s*,\s*[\"']" + words + rb"[\"']|[ \t]+as[ \t]+\w"
        self.after = re.compile(listed + rb"|" + through)
        self.relative = re.compile(rb"from[ \t]+\.+" + listed)

    def __call__(self, other: str, raw: bytes) -> bool:
        if any(self.after.match(raw, at + len(self.leaf)) for at in occurrences(raw, self.leaf)):
            return True
        return bool(self.directory) and other.startswith(self.directory) and self.relative.search(raw) is not None


class _Reader:
    """What one file reads through the module."""

    def __init__(self, files: FileSet, source: Source, path: str, module: str, names: dict[str, GoneName]) -> None:
        self.files, self.source, self.path, self.module, self.names = files, source, path, module, names
        self.modules = modules_of(files)
        self.holders: set[str] = set()

    def problems(self) -> Iterator[Problem]:
        yield from self.imported()
        dotted = f"{self.module}."
        for node in below(self.source.tree):
            if isinstance(node, ast.Attribute):
                if node.attr in self.names and _dotted(node.value) in self.holders:
                    yield self.problem(node.lineno, node.attr, "read through the module")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and self.module in node.value:
                name = node.value.replace(":", ".").removeprefix(dotted).partition(".")[0]
                is_path = node.value.startswith((dotted, f"{self.module}:")) and _DOTTED.fullmatch(node.value)
                if is_path and name in self.names and not is_docstring(self.source, node):
                    yield self.problem(node.lineno, name, "named in a string")
            elif isinstance(node, ast.Call) and len(node.args) > 1 and self.holders:
                yield from self.asked(node)

    def imported(self) -> Iterator[Problem]:
        for statement in imports_in(self.source.tree):
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    if self.modules.path_of(alias.name, near=self.source.path) == self.path:
                        self.holders.add(alias.asname or alias.name)
                continue
            absolute = self.modules.absolute(self.source.path, statement.level, statement.module)
            target = self.modules.path_of(absolute, near=self.source.path)
            for alias in statement.names:
                if target == self.path and alias.name in self.names:
                    if not (self.names[alias.name].is_for_types and _is_hidden(self.source, statement)):
                        how = "imported, and its failure caught" if _is_caught(self.source, statement) else "imported"
                        yield self.problem(alias.lineno, alias.name, how)
                elif target == self.path and alias.name == "*":
                    yield from self.starred()
                elif self.modules.path_of(f"{absolute}.{alias.name}", near=self.source.path) == self.path:
                    self.holders.add(alias.asname or alias.name)

    def starred(self) -> Iterator[Problem]:
        """Bare reads of what a star import used to bring."""
        wanted = {name for name in self.names if not name.startswith("_") and has_word(self.source.body, name.encode())}
        if not wanted:
            return
        brought = star_names(self.files, self.source.path, frozenset())
        bound = table(self.source).module.bound
        wanted -= {name for name in wanted if name in brought or name in bound}
        if not wanted or None in brought:
            return
        for each in table(self.source).occurrences:
            is_read = each.name in wanted and each.role is Role.LOAD and not each.deferred
            if is_read and all(each.name not in scope.bound for scope in chain(each.scope)):
                yield self.problem(int(each.node.lineno), each.name, "read after a star import")  # type: ignore[attr-defined]

    def asked(self, call: ast.Call) -> Iterator[Problem]:
        """`patch.object(module, "name")`, `getattr(module, "name")`."""
        name, function = call.args[1], getattr(call.func, "attr", getattr(call.func, "id", ""))
        if not isinstance(name, ast.Constant) or name.value not in self.names or function not in _BY_TEXT:
            return
        is_given = function == "setattr" and len(call.args) == 3 and isinstance(call.func, ast.Name)
        if not is_given and _dotted(call.args[0]) in self.holders:
            yield self.problem(call.lineno, str(name.value), f"asked for by {function}")

    def problem(self, line: int, name: str, how: str) -> Problem:
        return Problem(self.source.path, line, "U119", f"{name} is still {how}; {self.module} no longer has it")


def _own(files: FileSet, path: str, names: dict[str, GoneName]) -> Iterator[Problem]:
    """Reads of the names in the module that bound them, and names that its `__all__` still lists."""
    raw = text_of(files, path)
    left = {name for name in names if has_word(raw, name.encode())}
    if not left:
        return
    found = inventory(files, path)
    for name in sorted(left & set(found.exported)):
        yield Problem(path, found.exported[name], "U119", f"__all__ still lists {name}, which the module no longer has")
    try:
        source = load(files, path)
    except SourceError:
        return
    for each in table(source).occurrences:
        if each.name not in left or each.role is not Role.LOAD or each.deferred:
            continue
        is_lost = is_unresolved(each.scope, each.name)
        if names[each.name].is_for_types:
            is_lost = lookup(each.scope, each.name) is table(source).module and not _is_hidden(source, each.node)
        if is_lost:
            line = int(each.node.lineno)  # type: ignore[attr-defined]
            yield Problem(path, line, "U119", f"{each.name} is still read; nothing binds it any more")


def _is_hidden(source: Source, node: ast.AST) -> bool:
    """Whether a node stands under `if TYPE_CHECKING:`."""
    return any(is_for_types(above) for above in source.ancestors(node))


def _is_caught(source: Source, statement: ast.stmt) -> bool:
    """Whether an import stands in a `try` whose handlers go on without it: no crash, but from now on the other way."""
    return any(
        isinstance(above, ast.Try) and above.handlers and any(node is statement for node in statements(above.body))
        for above in source.ancestors(statement)
    )


def _configured(files: FileSet, module: str, names: dict[str, GoneName]) -> Iterator[Problem]:
    """Entry points and the like: `package.module:name` in configuration files."""
    if "." not in module and not module:
        return
    words = b"|".join(re.escape(name.encode()) for name, gone in names.items() if gone.kind != "import")
    if not words:
        return
    entry = re.compile(rb"(?<![\w.])" + re.escape(module.encode()) + rb"[:.](" + words + rb")(?!\w)")
    for path in mentioning(files, module.rpartition(".")[2], suffixes=_CONFIGURATION):
        raw = text_of(files, path)
        for match in entry.finditer(raw):
            if _is_comment(raw, match.start()):
                continue
            line = raw.count(b"\n", 0, match.start()) + 1
            yield Problem(path, line, "U119", f"{match[1].decode()} is still named here; {module} no longer has it")


def _is_comment(raw: bytes, at: int) -> bool:
    """Whether an offset of a configuration file stands in a comment."""
    before = raw[raw.rfind(b"\n", 0, at) + 1 : at]
    return before.lstrip().startswith((b"#", b";")) or b" #" in before


# -- modules


def module_readers(files: FileSet, gone: GoneModule) -> Iterator[Problem]:
    """Whatever still imports or names a module that is gone."""
    if not gone.module:
        return
    leaf = gone.module.rpartition(".")[2]
    near = gone.path.partition("/")[0]
    whole, relative = _naming(gone.module)
    for path in mentioning(files, leaf):
        raw = text_of(files, path)
        if not whole.search(raw) and not (path.startswith(near) and relative.search(raw)):
            continue
        try:
            source = load(files, path)
        except SourceError:
            continue
        yield from _module_in(files, source, gone)
    for path in mentioning(files, leaf, suffixes=_CONFIGURATION):
        raw = text_of(files, path)
        for match in re.finditer(rb"(?<![\w.])" + re.escape(gone.module.encode()) + rb"(?!\w)", raw):
            is_path = raw[match.end() : match.end() + 1] == b"/"
            if not is_path and "." in gone.module and not _is_comment(raw, match.start()):
                line = raw.count(b"\n", 0, match.start()) + 1
                yield Problem(path, line, "U119", f"{gone.module} is still named here; the module is gone")


def _naming(module: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Text that may name a module, and text that may do so from inside its package."""
    package, _, name = module.rpartition(".")
    leaf = re.escape(name.encode())
    listed = rb"[ \t]+import[ \t]*(?:\([^)]*?\b%s\b|[^\n(]*?\b%s\b)" % (leaf, leaf)
    relative = re.compile(rb"from[ \t]+\.+(?:[\w.]*\b%s\b|[\w.]*%s)" % (leaf, listed))
    if not package:
        return re.compile(rb"import[ \t][^\n]*\b%s\b|from[ \t]+%s[ \t.]" % (leaf, leaf)), relative
    dotted = re.escape(module.encode())
    return re.compile(dotted + rb"\b|from[ \t]+" + re.escape(package.encode()) + listed), relative


def _module_in(files: FileSet, source: Source, gone: GoneModule) -> Iterator[Problem]:
    modules = modules_of(files)
    package, _, leaf = gone.module.rpartition(".")
    message = f"{gone.module} is still %s; the module is gone"
    for statement in imports_in(source.tree):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.name == gone.module or alias.name.startswith(f"{gone.module}."):
                    yield Problem(source.path, statement.lineno, "U119", message % "imported")
            continue
        absolute = modules.absolute(source.path, statement.level, statement.module)
        near = modules.path_of(absolute, near=source.path)
        if absolute == gone.module or absolute.startswith(f"{gone.module}."):
            if near is None:
                yield Problem(source.path, statement.lineno, "U119", message % "imported")
        elif absolute == package and any(alias.name == leaf for alias in statement.names):
            is_bound = near is not None and leaf in inventory(files, near).bound
            if not is_bound:
                yield Problem(source.path, statement.lineno, "U119", message % "imported")
    if package:
        for node in below(source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and gone.module in node.value:
                is_it = node.value.replace(":", ".") == gone.module or node.value.replace(":", ".").startswith(
                    f"{gone.module}."
                )
                if is_it and _DOTTED.fullmatch(node.value) and not is_docstring(source, node):
                    yield Problem(source.path, node.lineno, "U119", message % "named in a string")


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
