"""Strings that name a place from which something moved: pointed at the new place, or reported.

A patch is only worth its reach: where the code that reads the name stayed, the string stays; where all of it moved, the
string follows; where both are left, the step is stopped. `__all__` is move_definition.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.schema.result import Finding
from codemods.source.classes import ClassKey, defines, exists
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.parse import Source, load
from codemods.source.splice import Edit
from codemods.source.string_use import callee, calls_through
from codemods.source.strings import StringMention, mentions, mentions_through
from codemods.transforms.rename_report import Edits, hazard, shortened
from codemods.transforms.rename_strings import left_behind
from codemods.transforms.repath_reach import Reader, binds, readers_of

Target = tuple[str, str]  # module, qualname
Mode = Literal["rewrite", "keep"]

_PATCHES = frozenset({"patch-target", "setattr-name"})
# Markup of a method that is a function now.
_MARKUP = re.compile(rb":(meth):`[~!]*\Z|\.\. (?:py:)?(?:auto)?(method)::[ \t]+\Z")


class Repath(Struct, frozen=True, eq=False):
    """`edits` by path, for the files that were passed in (offsets of the body; of the raw bytes for a document)."""

    edits: dict[str, tuple[Edit, ...]]
    hazards: tuple[Hazard, ...] = ()
    findings: tuple[Finding, ...] = ()

    def applied(self, files: FileSet) -> FileSet:
        collected = Edits(files)
        for path, edits in self.edits.items():
            collected.add_to(path, edits)
        return collected.applied()


def repath(
    files: FileSet, old: Target, new: Target, *, mode: Mode = "rewrite", before: FileSet | None = None
) -> Repath:
    """Strings that name `old`, after it has become `new`. files: the tree after the move; before: the tree that tells
    what a dotted path named (by default the same).

    old, new: (module, qualname); a method may become a function."""
    work = _Work(files, mode)
    found = [each for each in mentions(files, *old, tree=before) if each.kind != "dunder-all"]
    if found:  # looking for all readers of a name costs a look at every file that has it
        reach = _Reach(files, old, new)
        for each in found:
            work.handle(each, reach)
    return work.result()


def repath_reads(
    files: FileSet,
    function_module: str,
    free_names: Mapping[str, str] | Iterable[str],
    new_module: str,
    *,
    mode: Mode = "rewrite",
    before: FileSet | None = None,
) -> Repath:
    """Patches of the names that a moved function reads: `src.time` must become `dst.time`.

    files: the tree after the move, before imports that are no longer used are dropped. free_names: the names, or
    name -> how the function reads it now (`numa.f`), "" for one that it still reads through its old module."""
    work = _Work(files, mode)
    spelt = free_names if isinstance(free_names, Mapping) else {name: name for name in free_names}
    for name, text in spelt.items():
        if not text or not _may_be_patched(files, function_module, name):
            continue
        found = [each for each in mentions_through(files, function_module, name, tree=before) if each.kind in _PATCHES]
        if found:
            reach = _Reach(files, (function_module, name), (new_module, text), moved_reads=True)
            for each in found:
                work.handle(each, reach)
    return work.result()


def _may_be_patched(files: FileSet, module: str, name: str) -> bool:
    """Whether some file has the module, the name and a word that patches with."""
    leaf = module.rpartition(".")[2]
    return any(mentioning(files, leaf, name, word) for word in ("patch", "setattr", "delattr", "mocker", "object"))


class _Reach:
    """Whom a patch of the old place reaches now, and whom it would have to reach at the new one."""

    def __init__(self, files: FileSet, old: Target, new: Target, *, moved_reads: bool = False) -> None:
        self.files, self.old, self.new, self.moved_reads = files, old, new, moved_reads
        module, qualname = old
        self.owner = qualname.rpartition(".")[0]
        if self.owner:
            key = ClassKey(module, self.owner)
            self.is_there = exists(files, key) and defines(files, key, qualname.rpartition(".")[2])
            self.stayed = self.is_there  # whoever calls it through an object still does
        else:
            self.is_there = binds(files, module, qualname)
            self.stayed = bool(readers_of(files, module, qualname))
        self.moved = moved_reads or bool(self._readers_at_new())

    def _readers_at_new(self) -> list[Reader]:
        """Reads at the new place; those of the wrapper that stands at the old one do not count."""
        module, qualname = self.new
        found = readers_of(self.files, module, qualname) if "." not in qualname else []
        if not self.owner or not self.is_there:
            return found
        return [each for each in found if not self._is_in_wrapper(each)]

    def _is_in_wrapper(self, reader: Reader) -> bool:
        source = load(self.files, reader.path)
        name = self.old[1].rpartition(".")[2]
        return any(
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name == name
            and source.start(node) <= reader.start < source.end(node)
            for node in ast.walk(source.tree)
        )

    @property
    def text(self) -> str:
        return ".".join(self.new)


class _Work:
    def __init__(self, files: FileSet, mode: Mode) -> None:
        self.files, self.mode = files, mode
        self.edits = Edits(files)
        self.hazards: list[Hazard] = []
        self.findings: list[Finding] = []

    def result(self) -> Repath:
        found = {path: tuple(self.edits.of(path)) for path in self.edits.paths}
        return Repath(found, tuple(shortened(self.hazards)), tuple(self.findings))

    # -- one mention

    def handle(self, each: StringMention, reach: _Reach) -> None:
        if each.holder and each.holder != reach.old[0] and binds(self.files, each.holder, each.name):
            return  # another module's own import of it: that name is still there, and still what its code reads
        if each.kind in _PATCHES and each.is_sure:
            is_half = reach.is_there and reach.stayed and reach.moved and not each.rest
            if is_half:
                self.hazards.append(self._half(each, reach))
            if is_half or (reach.is_there and (reach.stayed or not reach.moved)):
                return
        elif reach.is_there and (reach.owner or not each.is_sure or each.kind == "getattr"):
            text = f"{each.kind}: {each.text} still finds it"
            self.findings.append(Finding(topic="strings", text=text, path=each.path, line=each.line))
            return
        edits = self._edits(each, reach) if each.is_sure and self.mode == "rewrite" else None
        if edits is None:
            self.hazards.append(self._left(each, reach))
            return
        self.edits.add_to(each.path, edits)
        text = f"{each.kind}: {each.text}{each.rest} is {reach.text}{each.rest} now"
        self.findings.append(Finding(topic="strings", text=text, path=each.path, line=each.line))

    def _half(self, each: StringMention, reach: _Reach) -> Hazard:
        what = "the moved code" if reach.moved_reads else "other code"
        message = f"the patch of {each.text} reaches only the code that stayed; {what} reads {reach.text} now"
        settle = f"patch {reach.text} as well where the test needs it, then accept U111"
        return hazard("U111", Severity.STOP, each.path, each.line, message, settle)

    def _left(self, each: StringMention, reach: _Reach) -> Hazard:
        found = left_behind(each, f"what is {reach.text} now", mode=self.mode)
        if not reach.is_there or found.severity is not Severity.STOP:
            return found
        return hazard(found.code, Severity.NOTE, found.path, found.line, found.message, found.settle)

    def _edits(self, each: StringMention, reach: _Reach) -> list[Edit] | None:
        """The edits that point one mention at the new place; None when it can't be written there."""
        if not each.is_verbatim and each.kind not in _PATCHES:
            return None
        if not each.holder and each.kind in _PATCHES | {"getattr"}:
            return self._as_path(each, reach)
        if self._takes_object(each, reach):
            return None
        if not each.is_verbatim:
            return (
                [Edit(each.start, each.end, f'"{reach.text}{each.rest}"'.encode())] if each.kind in _PATCHES else None
            )
        separator = ":" if ":" in each.text else "."
        text = separator.join(reach.new)
        return [Edit(each.start, each.end, text.encode()), *self._markup(each, reach)]

    def _markup(self, each: StringMention, reach: _Reach) -> Iterator[Edit]:
        """`:meth:` becomes `:func:`, `automethod` becomes `autofunction`, where a method is a function now."""
        if each.kind != "document" or not reach.owner or "." in reach.new[1]:
            return
        body = load(self.files, each.path).body if each.path.endswith(".py") else self.files.read(each.path)
        match = _MARKUP.search(body[max(0, each.start - 60) : each.start])
        if match is not None:
            base = max(0, each.start - 60)
            group = 1 if match[1] else 2
            word = b"func" if match[1] else b"function"
            yield Edit(base + match.start(group), base + match.end(group), word)

    def _as_path(self, each: StringMention, reach: _Reach) -> list[Edit] | None:
        """`patch.object(src, "f", …)` as `patch("dst.f", …)`; the same for `monkeypatch.setattr`."""
        source = load(self.files, each.path)
        call = _call_at(source, each.start)
        if call is None or len(call.args) < 2 or self._takes_object(each, reach):
            return None
        names = callee(call)
        head = Edit(source.start(call.args[0]), source.end(call.args[1]), f'"{reach.text}"'.encode())
        if names[-2:] == ["patch", "object"]:
            assert isinstance(call.func, ast.Attribute)
            return [Edit(source.end(call.func.value), source.end(call.func), b""), head]
        is_fixture = each.kind == "setattr-name" and isinstance(call.func, ast.Attribute) and len(names) == 2
        return [head] if is_fixture and names[1] in {"setattr", "delattr"} else None

    def _takes_object(self, each: StringMention, reach: _Reach) -> bool:
        """Whether what replaces a method expects the object first, which a function in its place would not get."""
        if each.kind not in _PATCHES or not reach.owner or each.rest:
            return False
        calls = _calls_at(load(self.files, each.path), each.start)
        return not calls or any(_gives_method(call, 1 if each.holder else 2) for call in calls)


def _gives_method(call: ast.Call, first: int) -> bool:
    """Whether a patching call, from its argument `first` on, gives something made to be called with the object."""
    given = call.args[first:]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given += [named[name] for name in ("new", "side_effect", "value", "wraps", "new_callable") if name in named]
    autospec = named.get("autospec")
    is_spec = autospec is not None and not (isinstance(autospec, ast.Constant) and not autospec.value)
    return is_spec or any(not _is_plain(value) for value in given)


def _is_plain(node: ast.expr) -> bool:
    """A replacement that takes any arguments: a mock, or no function at all."""
    if isinstance(node, ast.Call):
        return callee(node)[-1:] in (["Mock"], ["MagicMock"], ["AsyncMock"], ["PropertyMock"])
    return isinstance(node, ast.Constant)


def _calls_at(source: Source, offset: int) -> list[ast.Call]:
    """The call that takes the string at the offset, or those that take the name it is assigned to."""
    call = _call_at(source, offset)
    if call is not None:
        return [call]
    assigned = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and source.start(node.value) <= offset < source.end(node.value)
    ]
    return [call for node in assigned for call, _ in calls_through(source, node)]


def _call_at(source: Source, offset: int) -> ast.Call | None:
    """The innermost call one of whose arguments holds the offset."""
    calls = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and any(source.start(each) <= offset < source.end(each) for each in (*node.args, *node.keywords))
    ]
    return max(calls, key=source.start, default=None)
