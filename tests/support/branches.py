"""Which way each condition of some functions went, by the bytecode: every operand of `and` and `or`, every `if`, loop,
`assert` and clause of `except`, also in the comprehensions. What no run has shown is named with its line.

The way out of a `with` whose manager may swallow an exception is left out: it is in no text."""

from __future__ import annotations

import dis
import itertools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Condition(NamedTuple):
    """A jump that depends on a value. goes_on, jumps: the offsets of what comes after it."""

    line: int
    goes_on: int
    jumps: int


class Branches:
    """Of some functions, over many runs. text: of the file they come from."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], text: str) -> None:
        self.lines = text.splitlines()
        self.names: dict[types.CodeType, str] = {}
        self.conditions: dict[types.CodeType, dict[int, Condition]] = {}
        self._starts: dict[types.CodeType, dict[int, int]] = {}
        self.seen: set[tuple[types.CodeType, int, bool]] = set()
        self.entered: set[types.CodeType] = set()
        for name, function in functions.items():
            for code in _all_code(function.__code__):
                self.names[code] = name
                self._starts[code], self.conditions[code] = _conditions(code)

    def __call__(self, run: Callable[[], T]) -> T:
        if len(self.seen) == self.number() and len(self.entered) == len(self.conditions):
            return run()  # nothing is left to be seen, and watching costs
        before = sys.gettrace()
        sys.settrace(self._entering)
        try:
            return run()
        finally:
            sys.settrace(before)

    def missing(self) -> list[str]:
        """`function:line: text -> true` or `false`, as the text stands; empty when every way was gone."""
        found = []
        for code, conditions in self.conditions.items():
            if code not in self.entered:
                found.append(f"{self.names[code]}:{code.co_firstlineno}: never run")
                continue
            for offset, each in conditions.items():
                for is_jump in (False, True):
                    if (code, offset, is_jump) not in self.seen:
                        way = "jumps" if is_jump else "goes on"
                        found.append(f"{self.names[code]}:{each.line}: {self.lines[each.line - 1].strip()} -> {way}")
        return sorted(set(found))

    def number(self) -> int:
        return 2 * sum(map(len, self.conditions.values()))

    def _entering(self, frame: types.FrameType, event: str, _value: object) -> Any:
        code = frame.f_code
        if event != "call" or code not in self.conditions:
            return None
        self.entered.add(code)
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        starts, conditions, last = self._starts[code], self.conditions[code], -1

        def step(frame: types.FrameType, event: str, _value: object) -> Any:
            nonlocal last
            if event == "opcode":
                now = starts.get(frame.f_lasti, frame.f_lasti)
                each = conditions.get(last)
                if each is not None and now in (each.goes_on, each.jumps):
                    self.seen.add((code, last, now == each.jumps))
                last = now
            return step

        return step


def _all_code(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _all_code(each)


def _conditions(code: types.CodeType) -> tuple[dict[int, int], dict[int, Condition]]:
    """Offset -> where its instruction begins (a long argument is an instruction before it), and the conditions."""
    starts: dict[int, int] = {}
    listed: list[dis.Instruction] = []
    first: int | None = None
    for each in dis.get_instructions(code):
        first = each.offset if first is None else first
        starts[each.offset] = first
        if each.opname != "EXTENDED_ARG":
            listed.append(each)
            first = None
    found: dict[int, Condition] = {}
    line, lines = code.co_firstlineno, dict(dis.findlinestarts(code))
    is_with = False
    for each, after in itertools.pairwise(listed):
        line = lines.get(each.offset, line)
        is_jump = each.opcode in dis.hasjrel or each.opcode in dis.hasjabs
        if is_jump and ("_IF_" in each.opname or each.opname == "FOR_ITER") and not is_with:
            found[starts[each.offset]] = Condition(line, starts[after.offset], starts[int(each.argval)])
        is_with = each.opname == "WITH_EXCEPT_START"
    return starts, found
