"""Whether the tree has a step already, so that a plan that runs twice changes nothing the second time.

A step counts as done only on evidence in the tree: what it makes is there and what it takes away is gone. What an
inlined definition leaves is nothing at all, so there the history of the file has to say that it was there."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from codemods.schema.errors import PlanError
from codemods.schema.plan import (
    ExtractFunction,
    ExtractMethod,
    InlineMethod,
    Move,
    RedirectAttribute,
    Rename,
    ResultStruct,
    SplitMethod,
    Step,
)
from codemods.schema.refs import DefRef
from codemods.source.files import FileSet
from codemods.source.index import has_word
from codemods.source.locate import (
    AmbiguousDefinition,
    Located,
    UnknownDefinition,
    UnknownModule,
    find,
    find_method,
    flattened,
    module_path,
)
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, FUNCTIONS, load
from codemods.source.readers import reader_through
from codemods.source.usage import self_uses
from codemods.transforms.static_names import names_behind


class Past(Protocol):
    """What is known of the files before now."""

    def held(self, path: str, name: str) -> bool | None:
        """Whether the file had the name once; None when nothing tells."""


class NoPast:
    """For trees without a history."""

    def held(self, path: str, name: str) -> bool | None:
        del path, name
        return None


NO_PAST = NoPast()


def is_done(files: FileSet, step: Step, past: Past = NO_PAST) -> bool:
    """Whether applying the step would find its own result."""
    if isinstance(step, InlineMethod):
        return _inline(files, step, past)
    return _TABLE[type(step)](files, step) and not (isinstance(step, Rename) and _is_slip(files, step, past))


class PastOfPlan:
    """The past of a plan's tree, in which a name that an earlier step makes is as good as the one it made it from."""

    def __init__(self, base: Past, files: FileSet, steps: Sequence[Step]) -> None:
        self.base, self.files = base, files
        self._origins = {product: step.target for step in reversed(steps) if (product := _product(step))}

    def held(self, path: str, name: str) -> bool | None:
        answer = self.base.held(path, name)
        seen: set[str] = set()
        for target in self._origins_of(path, name):
            while target in self._origins and target not in seen and answer is False:
                seen.add(target)
                target = self._origins[target]
                prior = DefRef.parse(target)
                home = modules_of(self.files).path_of(prior.module)
                answer = self.base.held(home, prior.name) if home is not None else None
        return answer

    def _origins_of(self, path: str, name: str) -> list[str]:
        """The products of that name in that file."""
        path_of = modules_of(self.files).path_of
        refs = [DefRef.parse(product) for product in self._origins]
        return [str(ref) for ref in refs if ref.name == name and path_of(ref.module) == path]


def consumed_steps(files: FileSet, steps: Sequence[Step], past: Past = NO_PAST) -> frozenset[int]:
    """Positions of steps whose own result is gone again because a later step, which is done, took it further: a rename
    before a move leaves neither name in the old module."""
    found: set[int] = set()
    for position in range(len(steps) - 1, -1, -1):
        step = steps[position]
        product = _product(step)
        if not product or ":" not in step.target or not _is_gone(files, DefRef.parse(step.target)):
            continue
        later = range(position + 1, len(steps))
        takers = [each for each in later if steps[each].target == product]
        if any(each in found or is_done(files, steps[each], past) for each in takers):
            found.add(position)
    return frozenset(found)


def _product(step: Step) -> str:
    """The reference of what the step makes out of its target."""
    ref = DefRef.parse(step.target) if ":" in step.target else None
    if ref is None:
        return ""
    if isinstance(step, Rename):
        return str(DefRef(ref.module, f"{ref.owner}.{step.to}" if ref.owner else step.to))
    if isinstance(step, Move):
        return str(DefRef(step.to, ref.qualname))
    if isinstance(step, ExtractMethod) and step.to:
        return str(DefRef(step.to, step.name or ref.name))
    return ""


def _rename(files: FileSet, step: Rename) -> bool:
    # Not at the top: a third of the package, which a plan without renames does not need (registry.py).
    from codemods.transforms.rename import is_renamed

    return is_renamed(files, step)


def _found(files: FileSet, ref: DefRef) -> Located | None:
    try:
        return find(files, ref)
    except (UnknownDefinition, UnknownModule):
        return None
    except AmbiguousDefinition:
        return None


def _is_gone(files: FileSet, ref: DefRef) -> bool:
    """Its module (and class) is there and the definition is not."""
    try:
        find(files, ref)
    except AmbiguousDefinition:
        return False
    except UnknownDefinition:
        return not ref.owner or _found(files, DefRef(ref.module, ref.owner)) is not None
    return False


def _extract_method(files: FileSet, step: ExtractMethod) -> bool:
    ref = DefRef.parse(step.method)
    name = step.name or ref.name
    if not step.to:
        located = _found(files, DefRef(ref.module, f"{ref.owner}.{name}" if ref.owner else name))
        if step.wrapper:
            return any(_is_behind(files, ref, each) for each in ([step.name] if step.name else names_behind(ref.name)))
        return located is not None and _is_static(located)
    made = _found(files, DefRef(step.to, name))
    if made is None:
        return False
    if not step.wrapper:
        return _is_gone(files, ref)
    wrapper = _method(files, ref)
    if wrapper is None:
        return False
    calls = [node.attr for node in ast.walk(wrapper.node) if isinstance(node, ast.Attribute)]
    names = [node.id for node in ast.walk(wrapper.node) if isinstance(node, ast.Name)]
    return name in calls or name in names


def _method(files: FileSet, ref: DefRef) -> Located | None:
    """As `_found`; of a property the getter."""
    try:
        return find_method(files, ref)
    except PlanError:
        return None


def _is_behind(files: FileSet, ref: DefRef, name: str) -> bool:
    """Whether the method calls a static one of this name in its class."""
    wrapper, static = _method(files, ref), _found(files, DefRef(ref.module, f"{ref.owner}.{name}"))
    if wrapper is None or static is None or not _is_static(static):
        return False
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(wrapper.node))


def _is_static(located: Located) -> bool:
    if not isinstance(located.node, FUNCTIONS):
        return False
    decorators = [ast.unparse(node) for node in located.node.decorator_list]
    return "staticmethod" in decorators and not [
        use for use in self_uses(located.source, located.node) if use.name.id == "self"
    ]


def _move(files: FileSet, step: Move) -> bool:
    ref = DefRef.parse(step.definition)
    return _is_gone(files, ref) and _found(files, DefRef(step.to, ref.qualname)) is not None


def _is_slip(files: FileSet, step: Rename, past: Past) -> bool:
    """Whether the old name is probably a slip of the pen for one that is there, and the new one is another thing."""
    if ":" not in step.definition:
        return False
    ref = DefRef.parse(step.definition)
    around = _found(files, DefRef(ref.module, ref.owner)) if ref.owner else None
    path = module_path(files, ref.module)
    body = load(files, path).tree.body if around is None else getattr(around.node, "body", [])
    names = [node.name for node in flattened(body) if isinstance(node, DEFINITIONS) and node.name != step.to]
    return _is_near(ref.name, names) and past.held(path, ref.name) is False


def _inline(files: FileSet, step: InlineMethod, past: Past) -> bool:
    """Nothing of it is left in its file, nobody takes it from there, and the file had it once. Where nothing tells what
    the file had, it must not be a typo of a neighbour at least."""
    ref = DefRef.parse(step.method)
    if not _is_gone(files, ref):
        return False
    path = module_path(files, ref.module)
    held = past.held(path, ref.name)
    if held is False:
        return False
    scope = load(files, path).tree.body
    if ref.owner:
        around = _found(files, DefRef(ref.module, ref.owner))
        if around is not None and isinstance(around.node, FUNCTIONS):
            locals_left = {node.id for node in ast.walk(around.node) if isinstance(node, ast.Name)}
            return ref.name not in locals_left and (held is True or not _is_near(ref.name, sorted(locals_left)))
        scope = around.node.body if around is not None and hasattr(around.node, "body") else []
    names = [node.name for node in flattened(scope) if isinstance(node, DEFINITIONS)]
    is_named = has_word(files.read(path), ref.name.encode()) or bool(reader_through(files, path, ref.name))
    return not is_named and (held is True or not _is_near(ref.name, names))


def _is_near(name: str, others: Sequence[str]) -> bool:
    """Whether the name is probably meant to be one of the others."""
    return bool(difflib.get_close_matches(name, others, n=1, cutoff=0.8))


def _extract_function(files: FileSet, step: ExtractFunction) -> bool:
    ref = DefRef.parse(step.function)
    owner = ref.owner if step.kind != "function" else ""
    made = _found(files, DefRef(step.to or ref.module, f"{owner}.{step.name}" if owner else step.name))
    around = _found(files, ref)
    if made is None or around is None:
        return False
    source = around.source
    calls = [node for node in ast.walk(around.node) if isinstance(node, ast.Call) and _called(node) == step.name]
    text = source.segment(around.node).decode()
    for call in calls:  # `return f()` has the beginning of the block `return …`, and `x: T = f()` that of `x: T = …`
        text = text.replace(source.segment(source.statement_of(call)).decode(), "")
    wanted = step.first or step.expression
    return bool(calls) and wanted.strip() not in text


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _split(files: FileSet, step: SplitMethod) -> bool:
    ref = DefRef.parse(step.method)
    made = [_found(files, DefRef(ref.module, f"{ref.owner}.{piece.name}")) for piece in step.pieces]
    return bool(made) and all(each is not None for each in made)


def _result_struct(files: FileSet, step: ResultStruct) -> bool:
    ref = DefRef.parse(step.function)
    made = _found(files, DefRef(ref.module, step.name))
    function = _found(files, ref)
    if made is None or function is None or not isinstance(made.node, ast.ClassDef):
        return False
    return any(isinstance(node, ast.Name) and node.id == step.name for node in ast.walk(function.node))


def _redirect(files: FileSet, step: RedirectAttribute) -> bool:
    ref = DefRef.parse(step.attribute)
    around = _found(files, DefRef(ref.module, ref.owner)) if ref.owner else None
    if around is None:
        return False
    leaf = step.to or ref.name
    chains = {ast.unparse(node) for node in ast.walk(around.node) if isinstance(node, ast.Attribute)}
    return f"self.{step.via}.{leaf}" in chains and f"self.{ref.name}" not in chains


_TABLE: dict[type, Callable[[FileSet, Any], bool]] = {
    ExtractMethod: _extract_method,
    Move: _move,
    Rename: _rename,
    ExtractFunction: _extract_function,
    SplitMethod: _split,
    ResultStruct: _result_struct,
    RedirectAttribute: _redirect,
}
