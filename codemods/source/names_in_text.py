"""Names that a file reads without spelling them as code: in `__all__`, in strings that are looked up or evaluated, in
type comments, and as parameters that ask pytest for a fixture. Errs towards more names."""

from __future__ import annotations

import ast
import posixpath
import re

from codemods.source.exports import exports_of
from codemods.source.nodes import walk
from codemods.source.parse import FUNCTIONS, Source

# Calls and names that turn text into a lookup of a module-level name.
_LOOKUPS = re.compile(rb"\b(globals|locals|vars|eval|exec|__import__|sys\s*\.\s*modules|import_module)\b")
_TYPE_COMMENT = re.compile(rb"#\s*type:\s*(?!ignore)([^\r\n#]*)")
_TYPE_CALLS = frozenset({"cast", "TypeVar", "NewType", "ForwardRef", "TypeAliasType", "NamedTuple", "TypedDict"})
_WORD = re.compile(r"[^\W\d]\w*")


def names_in_text(source: Source) -> frozenset[str]:
    """The names, kept with the file."""
    kept = source.notes.get("names in text")
    if not isinstance(kept, frozenset):
        kept = source.notes["names in text"] = frozenset(_collect(source))
    return kept


def _collect(source: Source) -> set[str]:
    found = {export.name for export in exports_of(source)}
    for match in _TYPE_COMMENT.finditer(source.body):
        found.update(_WORD.findall(match[1].decode("utf-8", "replace")))
    is_test = _is_test(source.path)
    is_looked_up = _LOOKUPS.search(source.body) is not None
    for node in walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if is_looked_up:
                found.update(_WORD.findall(node.value))
            elif is_test:
                found.add(node.value)  # usefixtures("name"), getfixturevalue("name")
        elif isinstance(node, ast.Call) and _leaf(node.func) in _TYPE_CALLS:
            found.update(_quoted(node))
        elif isinstance(node, ast.Subscript):
            found.update(_quoted(node.slice))
        elif is_test and isinstance(node, FUNCTIONS):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            found.update(argument.arg for argument in arguments)
    return found


def _leaf(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _quoted(node: ast.AST) -> set[str]:
    texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return {word for text in texts for word in _WORD.findall(text)}


def _is_test(path: str) -> bool:
    base = posixpath.basename(path)
    return base.startswith("test_") or base.endswith("_test.py") or "tests/" in path or "test/" in path
