"""Mutants of the kernel's modules: which there are, under names that outlive edits elsewhere in a file, and how one
takes the kernel's place for a while. No file is changed: a function gets its mutant's code, a constant its value."""

from __future__ import annotations

import ast
import contextlib
import copy
import hashlib
import importlib
import pickle
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tests.power.rules import Edit, edits

_MATCHING = (
    "kernel",
    "flow",
    "targets",
    "expressions",
    "recursion",
    "injections",
    "meetings",
    "handings",
    "moments",
    "values",
)
MODULES = (*_MATCHING, "canon", "calls", "side", "forms")
_PACKAGE = "codemods.verify"
# Constants that make the kernel more careful, the more is in them.
_WATCHED = frozenset({"EFFECTS", "_ACTIVE", "ACTIVE", "REFLECTS"})


@dataclass(frozen=True, eq=False)
class Mutant:
    """One weakened place. lines: of the file, for who wants to know whether a run comes by; None for a constant."""

    name: str
    module: str
    function: str
    text: str
    first: int
    lines: range | None
    code: CodeType | None = None
    constant: str = ""
    value: object = None

    @property
    def place(self) -> str:
        return f"codemods/verify/{self.module}.py:{self.first} {self.function}"


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{name}")


def file_of(name: str) -> str:
    path = module_of(name).__file__
    assert path is not None
    return path


def mutants(modules: tuple[str, ...] = MODULES) -> Iterator[Mutant]:
    """Every mutant, file by file. Two edits that come to the same code are one mutant."""
    for module in modules:
        tree = ast.parse(Path(file_of(module)).read_text(encoding="utf-8"))
        yield from _constants(module, tree)
        for qualname, function in _functions(tree):
            if function.name != "__init__":
                yield from _of_function(module, qualname, function)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{each.name}", each) for each in node.body if isinstance(each, ast.FunctionDef))


def _of_function(module: str, qualname: str, function: ast.FunctionDef) -> Iterator[Mutant]:
    seen = {ast.dump(function)}
    count: Counter[str] = Counter()
    numbers = {id(node): number for number, node in enumerate(ast.walk(function))}
    frozen = pickle.dumps(function)
    for edit in edits(function):
        changed = _edited(pickle.loads(frozen), edit, numbers)
        if (dump := ast.dump(changed)) in seen:
            continue
        seen.add(dump)
        by = edit.detail or ("nothing" if edit.by is None else ast.unparse(edit.by))
        text = f"{_short(edit.place)} -> {by}"
        key = f"{module}:{qualname}:{edit.rule}:{_digest(ast.unparse(edit.place), by)}"
        count[key] += 1
        name = key if count[key] == 1 else f"{key}:{count[key]}"
        first, last = edit.place.lineno, edit.place.end_lineno  # type: ignore[attr-defined]
        code = _compiled(changed, file_of(module))
        yield Mutant(name, module, qualname, f"{edit.rule}: {text}", first, range(first, last + 1), code)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:8]


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 120 else text[:117] + "..."


def _edited(function: ast.FunctionDef, edit: Edit, numbers: dict[int, int]) -> ast.FunctionDef:
    """Makes the edit in a copy, whose nodes are known by the numbers of those that the edit names."""
    nodes = list(ast.walk(function))
    swaps = {id(nodes[numbers[id(old)]]): new for old, new in ((edit.place, edit.by), *edit.more)}
    made = _Swap(swaps).visit(function)
    assert isinstance(made, ast.FunctionDef)
    return ast.fix_missing_locations(made)


class _Swap(ast.NodeTransformer):
    def __init__(self, swaps: dict[int, ast.AST | None]) -> None:
        self._swaps = swaps

    def visit(self, node: ast.AST) -> ast.AST:
        if id(node) not in self._swaps:
            return self.generic_visit(node)
        by = copy.deepcopy(self._swaps[id(node)])
        return ast.copy_location(ast.Pass() if by is None else by, node)


def _compiled(function: ast.FunctionDef, path: str) -> CodeType:
    bare = copy.copy(function)
    bare.decorator_list, bare.returns = [], None
    bare.args = copy.deepcopy(function.args)
    bare.args.defaults = [ast.copy_location(ast.Constant(None), each) for each in bare.args.defaults]
    bare.args.kw_defaults = [each and ast.copy_location(ast.Constant(None), each) for each in bare.args.kw_defaults]
    for node in ast.walk(bare.args):
        if isinstance(node, ast.arg):
            node.annotation = None
    made = compile(ast.Module([bare], []), path, "exec", dont_inherit=True)
    return next(each for each in made.co_consts if isinstance(each, CodeType))


def _constants(module: str, tree: ast.Module) -> Iterator[Mutant]:
    """What counts as doing something, or as asking where it stands: each set without one of its members."""
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(target, ast.Name) or target.id not in _WATCHED:
            continue
        value = getattr(module_of(module), target.id)
        assert isinstance(value, (tuple, frozenset))
        for each in sorted(value, key=_word):
            less = type(value)(one for one in value if one is not each)
            name = f"{module}:{target.id}:member:{_word(each)}"
            text = f"member: {target.id} without {_word(each)}"
            yield Mutant(name, module, target.id, text, node.lineno, None, constant=target.id, value=less)


def _word(member: object) -> str:
    return member.__name__ if isinstance(member, type) else str(member)


@contextlib.contextmanager
def in_place(mutant: Mutant) -> Iterator[None]:
    """The kernel with the mutant in it."""
    if mutant.code is None:
        yield from _with_constant(mutant)
        return
    found: object = module_of(mutant.module)
    for part in mutant.function.split("."):
        found = vars(found)[part]
    function = found.fget if isinstance(found, property) else found
    assert isinstance(function, FunctionType)
    before = function.__code__
    function.__code__ = mutant.code
    try:
        yield
    finally:
        function.__code__ = before


def _with_constant(mutant: Mutant) -> Iterator[None]:
    before = getattr(module_of(mutant.module), mutant.constant)
    holders = [
        module
        for name, module in sys.modules.items()
        if name.startswith(f"{_PACKAGE}.") and vars(module).get(mutant.constant) is before
    ]
    for module in holders:
        setattr(module, mutant.constant, mutant.value)
    try:
        yield
    finally:
        for module in holders:
            setattr(module, mutant.constant, before)
