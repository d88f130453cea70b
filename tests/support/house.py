"""What a source file of ours does that the house restricts: its size, printing, starting processes, importing.

Reads syntax trees only, so an import inside a function counts like one at the top. What is allowed where is decided by
the tests in tests/architecture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]

_STARTERS = frozenset({"subprocess", "multiprocessing", "pty"})
_OS_STARTERS = ("system", "popen", "fork", "forkpty", "exec", "spawn", "posix_spawn", "startfile")
_STREAMS = frozenset({"stdout", "stderr", "__stdout__", "__stderr__"})


class Source(msgspec.Struct, frozen=True, eq=False):
    """One parsed file; `path` is relative to the root of the tree, with `/`."""

    path: str
    text: str
    tree: ast.Module

    @classmethod
    def of(cls, path: str, text: str) -> Source:
        return cls(path, text, ast.parse(text, path))


def sources(*packages: str) -> list[Source]:
    """Every Python file of the named top-level packages of this repository."""
    files = (file for package in packages for file in sorted((ROOT / package).rglob("*.py")))
    return [Source.of(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")) for file in files]


def num_lines(source: Source) -> int:
    return len(source.text.splitlines())


def functions(source: Source) -> Iterator[tuple[str, int]]:
    """Each function or method as (place, lines), decorators not counted."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None  # set by the parser on every statement
            yield f"{source.path}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def imported(source: Source) -> Iterator[tuple[int, str]]:
    """Each absolute import as (line, dotted name), also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def printing(source: Source) -> list[str]:
    """Places that write to the terminal, or import what exists to do so."""
    found = [f"{source.path}:{line} imports {name}" for line, name in imported(source) if _prints(name)]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            found.append(f"{source.path}:{node.lineno} print()")
        elif isinstance(node, ast.Attribute) and _prints(name := _dotted(node)):
            found.append(f"{source.path}:{node.lineno} {name}")
    return found


def starting(source: Source) -> list[str]:
    """Places that start a process, or import what exists to do so."""
    found = [f"{source.path}:{line} imports {name}" for line, name in imported(source) if _starts(name)]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and _starts(name := _dotted(node)):
            found.append(f"{source.path}:{node.lineno} {name}")
    return found


def _prints(name: str) -> bool:
    top, _, rest = name.partition(".")
    return top in {"typer", "click"} or name == "rich.print" or (top == "sys" and rest in _STREAMS)


def _starts(name: str) -> bool:
    top, _, rest = name.partition(".")
    if top == "os":
        return rest.startswith(_OS_STARTERS)
    if top == "asyncio":
        return rest.startswith("create_subprocess")
    return top in _STARTERS or name == "concurrent.futures.ProcessPoolExecutor"


def _dotted(node: ast.Attribute) -> str:
    """`sys.stdout` of `sys.stdout.write`; "" when the value is not a plain name."""
    return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""
