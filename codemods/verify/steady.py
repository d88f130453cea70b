"""Whether a function without arguments always gives the same answer, as far as its text says: it is cached, or asks the
machine and installed packages what they are. Anything else may count, roll dice or look at the clock."""

from __future__ import annotations

import ast
import re

from codemods.source.nodes import walk

_PLAIN_CALLS = frozenset(
    {"hasattr", "getattr", "isinstance", "len", "bool", "str", "int", "machine", "system", "lower", "upper", "strip"}
    | {"startswith", "endswith", "find_spec"}
)
_PREDICATE = re.compile(r"_*(is|has|supports)_\w+")
_MAX_LINES = 40


def is_steady(raw: bytes, name: str) -> bool:
    """Whether the module's function of that name, which takes nothing, keeps its answer."""
    found = re.search(rb"^((?:@[^\n]*\n)*)def %b\(\)[^\n]*\n" % re.escape(name.encode()), raw, re.MULTILINE)
    if found is None:
        return False
    if b"cache" in found[1]:
        return True
    rest = raw[found.end() :].split(b"\n")[:_MAX_LINES]
    end = next((at for at, line in enumerate(rest) if line[:1].strip() and line[:1] not in b"#)"), len(rest))
    try:
        tree = ast.parse(b"def _():\n" + b"\n".join(rest[:end]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    return not found[1].strip() and all(_is_plain(node) for node in function.body) and not _reads_state(function, raw)


def _is_plain(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if not isinstance(node, (ast.Assign, ast.Return)) or any(isinstance(inner, ast.NamedExpr) for inner in walk(node)):
        return False
    if isinstance(node, ast.Assign) and not all(isinstance(target, ast.Name) for target in node.targets):
        return False
    return all(_is_plain_call(inner) for inner in walk(node) if isinstance(inner, ast.Call))


def _is_plain_call(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name in _PLAIN_CALLS or _PREDICATE.fullmatch(name) is not None


def _reads_state(function: ast.FunctionDef, raw: bytes) -> bool:
    """Whether it reads a name that some function of the module declares global, or an environment variable."""
    names = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    written = {
        word.decode("utf-8", "replace")
        for line in re.findall(rb"^[ \t]+global[ \t]+([\w, ]+)", raw, re.MULTILINE)
        for word in re.findall(rb"\w+", line)
    }
    return bool(names & written) or any(isinstance(n, ast.Attribute) and n.attr == "environ" for n in walk(function))
