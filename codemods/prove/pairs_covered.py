"""Which changed lines no pair runs: new functions that nothing calls, code that was gone unused, interfaces, and what
is no Python. They are neither certified nor proved: left to read."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping

from codemods.prove.partners import Partners
from codemods.prove.sides import DefNode, Side
from codemods.prove.stable import Twins
from codemods.schema.errors import SourceError
from codemods.schema.prove import Pair, PairKind
from codemods.source.files import FileSet
from codemods.source.nodes import first_line

_Spans = list[tuple[int, int]]


def uncovered(
    old: FileSet,
    new: FileSet,
    changed: Collection[str],
    pairs: Iterable[Pair],
    lines: Mapping[tuple[str, str], Collection[int]],
) -> dict[tuple[str, str], list[int]]:
    """lines: by side (`old`, `new`) and path. Those of them that hold code and that no pair runs."""
    twins = Twins(Side("old", old), Side("new", new), changed)
    partners = Partners(twins, sorted(path for path in changed if path.endswith(".py")))
    known = list(pairs)
    spans = {side.label: _by_path(partners, side, known) for side in (twins.old, twins.new)}
    found: dict[tuple[str, str], list[int]] = {}
    for (label, path), numbers in sorted(lines.items()):
        left = sorted(numbers)
        if path.endswith(".py"):
            side = twins.old if label == "old" else twins.new
            code = _code(side, path)
            left = [each for each in left if each in code and not _is_in(each, spans[label].get(path, []))]
        if left:
            found[label, path] = left
    return found


def _by_path(partners: Partners, side: Side, pairs: list[Pair]) -> dict[str, _Spans]:
    is_old = side is partners.old
    keys = {kind: {each.old if is_old else each.new for each in pairs if each.kind is kind} for kind in PairKind}
    found: dict[str, _Spans] = {}
    try:
        for key, node in partners.definitions(side).items():
            facts = side.facts(key.partition(":")[0])
            if facts is not None and _is_run(partners, side, key, node, keys):
                first = first_line(node)
                found.setdefault(facts.path, []).append((first, node.end_lineno or node.lineno))
    except SourceError:
        return {}  # who proves it has the words for that
    for module in keys[PairKind.IMPORT]:
        facts = side.facts(module)
        if facts is not None:
            found.setdefault(facts.path, []).extend(_run_by_import(facts.tree))
    return found


def _is_run(partners: Partners, side: Side, key: str, node: DefNode, keys: Mapping[PairKind, Collection[str]]) -> bool:
    if isinstance(node, ast.ClassDef):
        return key in keys[PairKind.CLASS]
    paired = keys[PairKind.CALLABLE]
    return key in paired or bool(partners.reach(side).runners(key, paired.__contains__))


def _run_by_import(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """All but what is in functions; of those, what is evaluated when they are made."""
    pending = list(tree.body)
    while pending:
        each = pending.pop()
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield first_line(each), each.body[0].lineno - 1
        elif isinstance(each, ast.ClassDef):
            yield first_line(each), each.body[0].lineno - 1
            pending.extend(each.body)
        else:
            yield each.lineno, each.end_lineno or each.lineno


def _code(side: Side, path: str) -> set[int]:
    """The lines of a file that are neither blank nor a comment alone; none where there is no such file."""
    if path not in side.files:
        return set()
    raw = side.files.read(path).split(b"\n")
    return {at for at, line in enumerate(raw, 1) if line.strip() and not line.strip().startswith(b"#")}


def _is_in(line: int, spans: _Spans) -> bool:
    return any(first <= line <= last for first, last in spans)
