"""What is used while a module is loaded before it is bound, and what running code reads that is there for type checkers
only. By names alone: a module is read from top to bottom, and functions it calls on the way are entered."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from codemods.source.nodes import walk
from codemods.verify.scopes import bindings, local_names, parameters

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BUILTINS = frozenset(dir(__import__("builtins"))) | {"__name__", "__file__", "__doc__"}


def used_too_early(tree: ast.Module) -> dict[str, int]:
    """Names of the module that its loading reads before they are bound -> the line of the reading statement."""
    own = {name for name, _ in bindings(tree.body)}
    functions = {node.name: node for node in tree.body if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
    is_lazy = has_lazy_annotations(tree)
    bound: set[str] = set()
    found: dict[str, int] = {}
    for node in tree.body:
        here = {name for name, _ in bindings([node])}
        missing = own - bound
        itself = frozenset() if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) else frozenset(here)
        for name in reads_at_load(node, functions, is_lazy):
            if name in missing and name not in itself:
                found.setdefault(name, node.lineno)
        bound |= here
    return found


def reads_at_load(node: ast.AST, functions: Mapping[str, ast.stmt], is_lazy: bool) -> set[str]:
    """The names that are read when a statement runs; of a definition, when it is made."""
    found: set[str] = set()
    todo: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    entered: set[str] = set()
    while todo:
        at, local = todo.pop()
        if isinstance(at, ast.Name) and isinstance(at.ctx, ast.Load) and at.id not in local:
            found.add(at.id)
        called = at.func if isinstance(at, ast.Call) else None
        names = [called.id] if isinstance(called, ast.Name) else []
        if isinstance(at, (*_FUNCTIONS, ast.ClassDef)):
            names += [each.id for each in at.decorator_list if isinstance(each, ast.Name)]
        for name in names:
            if name in functions and name not in entered and name not in local:
                entered.add(name)
                todo += [(inner, local_names(each)) for each in _run(functions[name]) for inner in each.body]
        todo += [(inner, local | extra) for inner, extra in _evaluated_parts(at, is_lazy)]
    return found


def _run(node: ast.stmt) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that calling a function or a class runs."""
    if isinstance(node, _FUNCTIONS):
        yield node
    elif isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, _FUNCTIONS) and each.name in ("__init__", "__new__", "__post_init__"):
                yield each


def _evaluated_parts(node: ast.AST, is_lazy: bool) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """The parts of a node that are evaluated with it, and the names that are local in them."""
    nothing: frozenset[str] = frozenset()
    if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        parts: list[ast.AST] = [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]
        if not isinstance(node, ast.Lambda):
            parts += node.decorator_list
            if not is_lazy:
                parts += [each.annotation for each in parameters(node) if each.annotation]
                parts += [node.returns] if node.returns else []
        yield from ((part, nothing) for part in parts)
        return
    if isinstance(node, ast.ClassDef):
        own = frozenset(name for name, _ in bindings(node.body))
        yield from ((part, nothing) for part in [*node.bases, *node.keywords, *node.decorator_list])
        yield from ((part, own) for part in node.body)
        return
    extra = nothing
    if isinstance(node, _COMPREHENSIONS):
        extra = frozenset(n.id for each in node.generators for n in walk(each.target) if isinstance(n, ast.Name))
    for name, value in ast.iter_fields(node):
        if name == "annotation" and is_lazy:
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield each, extra


def has_lazy_annotations(tree: ast.Module) -> bool:
    """Whether annotations are kept as text and not evaluated."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )


# ---- what is there for type checkers only


def missing_at_run_time(tree: ast.Module, raw: bytes) -> dict[str, int]:
    """Names that running code reads and that are imported for type checkers only, or that an evaluated annotation
    names and nothing binds -> the line of the first reader."""
    typed = {name for node in tree.body if _is_for_checkers(node) for name, _ in bindings(node.body)}  # type: ignore[attr-defined]
    is_lazy = has_lazy_annotations(tree)
    if is_lazy and not typed:
        return {}
    bound = {name for name, _ in bindings([node for node in tree.body if not _is_for_checkers(node)])}
    bound |= {name for part in re.findall(rb"\bglobal ([\w, ]+)", raw) for name in re.findall(r"\w+", part.decode())}
    found = readers(tree, raw, typed - bound)
    if not is_lazy and "*" not in bound:
        for note, line in _annotations(tree.body):
            for each in walk(note):
                if isinstance(each, ast.Name) and each.id not in bound and each.id not in BUILTINS:
                    found.setdefault(each.id, line)
    return found


def readers(tree: ast.Module, raw: bytes, candidates: set[str]) -> dict[str, int]:
    """The names among these that running code of the module reads as globals -> the line of the first reader."""
    found: dict[str, int] = {}
    if not candidates:
        return found
    words = re.compile(rb"\b(?:" + b"|".join(re.escape(each.encode()) for each in sorted(candidates)) + rb")\b")
    lines = raw.split(b"\n")
    for node, local in _units(tree.body, frozenset()):
        start = node.body[0].lineno if isinstance(node, _FUNCTIONS) else getattr(node, "lineno", 1)
        if words.search(b"\n".join(lines[start - 1 : getattr(node, "end_lineno", start)])):
            for name, line in _run_time_reads(node, local):
                if name in candidates:
                    found[name] = min(line, found.get(name, line))
    return found


def _units(body: list[ast.stmt], local: frozenset[str]) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Functions, and what else stands in modules and classes, each with the names that are local around it."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            own = local | {name for name, _ in bindings(node.body)}
            yield from ((each, local) for each in [*node.bases, *node.keywords, *node.decorator_list])
            for each, names in _units(node.body, own):
                yield each, local if isinstance(each, _FUNCTIONS) else names
        elif not _is_for_checkers(node):
            yield node, local


def _is_for_checkers(node: ast.stmt) -> bool:
    """`if TYPE_CHECKING:` with whatever in it."""
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    )


def _annotations(body: list[ast.stmt]) -> Iterator[tuple[ast.expr, int]]:
    """The annotations that are evaluated when modules and classes are made."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            own = {name for name, _ in bindings(node.body)}
            for each, line in _annotations(node.body):
                if not (isinstance(each, ast.Name) and each.id in own):
                    yield each, line
        elif isinstance(node, _FUNCTIONS):
            notes = [*(each.annotation for each in parameters(node)), node.returns]
            yield from ((each, node.lineno) for each in notes if each is not None)
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation, node.lineno


def _run_time_reads(start: ast.AST, around: frozenset[str]) -> Iterator[tuple[str, int]]:
    """The names that running a unit reads and that are not local to it, without those in annotations."""
    todo: list[tuple[ast.AST, frozenset[str]]] = [(start, around)]
    while todo:
        node, local = todo.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and node.id not in local:
                yield node.id, node.lineno
            continue
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            todo += [(part, local) for part, _ in _evaluated_parts(node, True)]
            inner = local | local_names(node)
            todo += [(each, inner) for each in ([node.body] if isinstance(node, ast.Lambda) else node.body)]
            continue
        extra = frozenset(
            n.id for each in getattr(node, "generators", ()) for n in walk(each.target) if isinstance(n, ast.Name)
        )
        for name, value in ast.iter_fields(node):
            if name != "annotation":
                parts = value if isinstance(value, list) else [value]
                todo += [(each, local | extra) for each in parts if isinstance(each, ast.AST)]
