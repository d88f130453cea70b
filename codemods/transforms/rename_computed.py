"""Module names that code puts together (`import_module("pkg." + name)`) and that may come to the one that is renamed.

The known part of the text has to fit; of texts that are not known at all only their number is told. Texts that start
from the module's own `__name__` or `__package__` follow by themselves where the module moves along."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.modules import modules_of
from codemods.source.nodes import walk
from codemods.source.parse import Source, light_tree, load
from codemods.source.receivers import scope_at
from codemods.source.string_text import WILD, text_of
from codemods.source.string_use import (
    IMPORTERS,
    RESOURCES,
    Kind,
    Reads,
    Use,
    callee,
    use_as_argument,
    use_as_key,
    use_as_keyword,
)
from codemods.transforms.rename_imports import NewName
from codemods.transforms.rename_report import note, stop

_PATCHERS = ("patch", "setattr", "modules")
_TOGETHER = re.compile(rb"\b[fF][rR]?['\"]|['\"]\s*\+|\+\s*[rRfF]*['\"]|['\"]\s*%|\.\s*(?:format|join)\s*\(")
_TOGETHER_NODES = (ast.JoinedStr, ast.BinOp, ast.Call)
# What string_use.py takes for a path, beside the importers.
_TAKES_PATHS = re.compile(
    rb"\bpatch\b|\.\s*(?:setattr|delattr)\s*\(|\.\s*modules\b|\b(?:" + "|".join(sorted(RESOURCES)).encode() + rb")\s*\("
)
_SETTLE = "change where the last part comes from, or accept U111 when it is never this module"


class _Name(Struct, frozen=True):
    """What is known of a name that is put together. value: with WILD. base: the module or package whose own name it
    starts from, "" when it does not."""

    value: str
    base: str


def computed_names(files: FileSet, moved: NewName) -> Iterator[Hazard]:
    """A STOP for every text that may come to the module, and one NOTE for all that nothing is known of."""
    unknown: list[tuple[Source, ast.AST]] = []
    for path in sorted({path for word in (*IMPORTERS, *_PATCHERS) for path in mentioning(files, word)}):
        raw = files.read(path)
        is_reader = any(word.encode() in raw for word in IMPORTERS)
        if not is_reader and not (_TAKES_PATHS.search(raw) and _TOGETHER.search(raw)):
            continue
        if not any(_texts(light_tree(files, path)[1])):  # most files end here, without positions and parents
            continue
        source = load(files, path)
        for node, kind, package in _texts(source.tree):
            name = _name_of(files, source, node, package)
            if name is None or not re.search(r"\w", name.value.replace(WILD, "")):
                if kind == "import":
                    unknown.append((source, node))
            elif _may_be(name.value, moved, kind) and not (name.base and moved.covers(name.base)):
                shown = source.segment(node).decode()
                certainty = "may come to" if WILD in name.value else "names"
                message = f"{shown} {certainty} {moved.old}, which is now {moved.new}"
                yield stop("U111", source, source.start(node), message, _SETTLE)
    if unknown:
        source, first = unknown[0]
        rest = f" (and {len(unknown) - 1} more places like this)" if unknown[1:] else ""
        message = f"a module is imported here by a name that the code does not tell; it may be {moved.old}{rest}"
        yield note("U111", source, source.start(first), message, "check where the name comes from")


def _texts(tree: ast.Module) -> Iterator[tuple[ast.expr, Kind, ast.expr | None]]:
    """Expressions that are read as a dotted path, other than whole literals, with the package that a relative one
    starts from."""
    for node in walk(tree):
        given: ast.expr | None = None
        taken: list[tuple[ast.expr, Use]] = []
        if isinstance(node, ast.Call):
            given, package = _imported(node)
            if given is not None and (not isinstance(given, ast.Constant) or str(given.value).startswith(".")):
                yield given, "import", package
            taken = [(each, use_as_argument(node, 0)) for each in node.args[:1] if isinstance(each, _TOGETHER_NODES)]
            taken += [(each.value, use_as_keyword(node, "target")) for each in node.keywords if each.arg == "target"]
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, _TOGETHER_NODES):
            taken = [(node.slice, use_as_key(node.value))]
        for text, use in taken:
            is_path = use.reads is Reads.PATH and use.kind in {"patch-target", "setattr-name", "import"}
            if is_path and text is not given and isinstance(text, _TOGETHER_NODES):
                yield text, use.kind, None


def _imported(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """What a call imports by name, and from which package."""
    if (callee(call) or [""])[-1] not in IMPORTERS:
        return None, None
    named = {each.arg: each.value for each in call.keywords}
    name = call.args[0] if call.args else named.get("name")
    return name, call.args[1] if len(call.args) > 1 else named.get("package")


def _name_of(files: FileSet, source: Source, node: ast.expr, package: ast.expr | None) -> _Name | None:
    """The text as far as it is known; None when the expression is no text."""
    modules = modules_of(files)
    own = {"__name__": modules.module_of(source.path), "__package__": modules.package_of(source.path)}

    def text(each: ast.expr) -> str | None:
        if isinstance(each, ast.Name) and each.id in own:
            return own[each.id]
        found = text_of(source, each, scope_at(source, each), module=own["__name__"])
        return found.value if found is not None else None

    value = text(node)
    if value is None:
        return None
    start: ast.AST = node
    if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.FormattedValue):
        start = node.values[0].value
    while isinstance(start, ast.BinOp):
        start = start.left
    base = own.get(start.id, "") if isinstance(start, ast.Name) else ""
    if base and value.startswith(WILD):
        value = base + value[1:]
    if value.startswith(".") and package is not None:
        level = len(value) - len(value.lstrip("."))
        parts = (text(package) or WILD).split(".")
        kept = parts[: len(parts) - level + 1]
        base = own.get(package.id, "") if isinstance(package, ast.Name) else ""
        value = ".".join([*kept, value[level:]])
    return _Name(value, base)


def _may_be(value: str, moved: NewName, kind: Kind) -> bool:
    """Whether a text can be the dotted name, or (for a package, or the path of a patch) something below it."""
    pattern = ".*".join(map(re.escape, value.split(WILD)))
    if re.fullmatch(pattern, moved.old, re.DOTALL):
        return True
    head = value.partition(WILD)[0]
    is_below = head.startswith(f"{moved.old}.") or (WILD in value and bool(head) and moved.old.startswith(head))
    has_more = kind != "import" or any("/__init__." in f"/{path}" for path in moved.paths)
    return is_below and has_more
