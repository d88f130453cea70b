"""Whether a proposed change makes a mutant: Python still parses what is around it, and the tree there is another one.

Only the statement or the header around the change is parsed, so that large modules cost nothing; where the compiler may
refuse what the parser takes (`global`, `nonlocal`, `except*`), the whole function is compiled."""

from __future__ import annotations

import ast
import hashlib
import warnings

from msgspec import Struct

from codemods.prove.mutants_ground import Candidate, Ground, Kind, num_yields
from codemods.source.nodes import walk
from codemods.source.parse import FUNCTIONS

_DELICATE: tuple[type[ast.AST], ...] = (ast.Global, ast.Nonlocal, getattr(ast, "TryStar", ast.Nonlocal))  # 3.11 has it
_SWAPS = (Kind.STATEMENT_SWAP, Kind.ARGUMENT_SWAP)


class Unit(Struct, frozen=True):
    """start:end of the body, with what makes a text of its own out of it."""

    start: int
    end: int
    before: bytes = b""
    after: bytes = b""


class _Parsed(Struct, frozen=True):
    dump: str
    num_yields: int


class Units:
    """The units of one ground, each parsed once."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._originals: dict[Unit, _Parsed | None] = {}
        self._outer: dict[ast.AST, tuple[ast.AST | None, bool]] = {}
        self._whole = Unit(0, len(ground.body))
        names = {
            alias.name
            for node in ground.tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
            for alias in node.names
        }
        self._future = b"".join(b"from __future__ import " + name.encode() + b"\n" for name in sorted(names))

    def judge(self, candidate: Candidate) -> tuple[Unit, str] | None:
        """The unit around the change and a digest of its new tree; None when that is no mutant."""
        unit = self._fitting(candidate)
        original = self._original(unit)
        assert original is not None
        mutated = self._parse(self._text(unit, candidate))
        if mutated is None or mutated.dump == original.dump:
            return None
        if mutated.num_yields < original.num_yields and self._ends_yielding(candidate, original, mutated):
            return None
        if candidate.span is not None and not self._compiles(candidate):
            return None
        return unit, hashlib.sha256(mutated.dump.encode("utf-8", "surrogatepass")).hexdigest()

    def words(self, unit: Unit, candidate: Candidate) -> bytes:
        """The unit with the change in its place, without comments and layout: what a mutant is known by."""
        # What changes places is told by its place; what stands between goes along and may be a comment.
        new = b"swap" if candidate.kind in _SWAPS else b"".join(candidate.text.split())
        places = ((unit.start, candidate.start), (candidate.start, candidate.end), (candidate.end, unit.end))
        return b"\0".join([*(self.ground.words(*place) for place in places), new])

    def _text(self, unit: Unit, candidate: Candidate | None = None) -> bytes:
        body = self.ground.body
        inner = body[unit.start : unit.end]
        if candidate is not None:
            inner = body[unit.start : candidate.start] + candidate.text + body[candidate.end : unit.end]
        return unit.before + inner + unit.after

    def _fitting(self, candidate: Candidate) -> Unit:
        """The smallest unit that has the change in it and is a text of its own."""
        unit = self._spanned(*candidate.span) if candidate.span is not None else self._around(candidate.node)
        holds = unit.start <= candidate.start and candidate.end <= unit.end
        return unit if holds and self._original(unit) is not None else self._whole

    def _around(self, node: ast.AST) -> Unit:
        at = node
        while not isinstance(at, (ast.stmt, ast.ExceptHandler)):
            at = self.ground.parents[at]
        if isinstance(at, ast.Match):
            return self._spanned(self.ground.start(at), self.ground.end(at))
        first = self.ground.first(at)
        block = getattr(at, "body", None)
        if block is None:
            return self._spanned(first, self.ground.end(at))
        indent = self._indent(first)
        before = b"if 1:\n" + indent if indent else b""
        if isinstance(at, ast.ExceptHandler):
            before += b"try: pass\n" + indent
        elif self.ground.body.startswith(b"elif", first):
            before += b"if 0: pass\n" + indent
        return Unit(first, self.ground.first(block[0]), before, b"pass")

    def _spanned(self, start: int, end: int) -> Unit:
        indent = self._indent(start)
        before = b"if 1:\n" + indent if indent else b""
        if self.ground.body.startswith(b"elif", start):
            before += b"if 0: pass\n" + indent
        return Unit(start, end, before)

    def _indent(self, start: int) -> bytes:
        """The blanks before `start` when nothing else is on its line."""
        if not self.ground.starts_line(start):
            return b""
        return self.ground.body[self.ground.source.text.line_start(start) : start]

    def _original(self, unit: Unit) -> _Parsed | None:
        if unit not in self._originals:
            self._originals[unit] = self._parse(self._text(unit))
        return self._originals[unit]

    def _parse(self, text: bytes) -> _Parsed | None:
        try:
            tree = ast.parse(text.decode("utf-8"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        dump = ast.dump(tree)
        return _Parsed(dump, num_yields(tree) if "Yield" in dump else 0)

    def _ends_yielding(self, candidate: Candidate, original: _Parsed, mutated: _Parsed) -> bool:
        """Whether the function would be a generator no more: another kind of thing, not another behaviour."""
        function = self.ground.function(candidate.node)
        lost = original.num_yields - mutated.num_yields
        return function is not None and self.ground.yields(function) <= lost

    def _compiles(self, candidate: Candidate) -> bool:
        outer, is_delicate = self._outermost(candidate.node)
        if outer is None or not is_delicate:
            return True
        unit = self._spanned(self.ground.first(outer), self.ground.end(outer))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = self._future + self._text(unit, candidate)
                compile(text.decode("utf-8"), "<mutated>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return True

    def _outermost(self, node: ast.AST) -> tuple[ast.AST | None, bool]:
        """The outermost function around a node, and whether it has anything that only the compiler refuses."""
        functions = [each for each in (node, *self.ground.source.ancestors(node)) if isinstance(each, FUNCTIONS)]
        if not functions:
            return None, False
        outer = functions[-1]
        if outer not in self._outer:
            self._outer[outer] = (outer, any(isinstance(each, _DELICATE) for each in walk(outer)))
        return self._outer[outer]
