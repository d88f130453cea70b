"""Data flow against programs that really run: what a run does is not missing, and nothing is claimed that none does."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.source.flow import Flow, attributes, flow_of, may_swallow


def flow(program: str, swallows: Callable[[ast.withitem], bool] = may_swallow) -> Flow:
    return flow_of(ast.parse(program).body, attributes("self"), swallows=swallows)


class Stop(Exception):
    """Ends a run that goes on too long."""


class Failed(Exception):
    """What an oracle raises."""


class Recorder:
    """`self` of a generated program: every access is written down. With an oracle it can fail, and gives any value."""

    def __init__(self, oracle: Oracle | None = None) -> None:
        vars(self).update(trace=[], oracle=oracle)

    def __getattr__(self, name: str) -> int:
        trace, oracle = vars(self)["trace"], vars(self)["oracle"]
        trace.append(("try", name))
        if oracle is not None:
            oracle.may()
        trace.append(("read", name))
        return int(oracle is not None and oracle.yes())

    def __setattr__(self, name: str, value: object) -> None:
        if vars(self)["oracle"] is not None:
            vars(self)["oracle"].may()
        vars(self)["trace"].append(("write", name))


class Oracle:
    """Decides conditions and failures by a row of bits; asked for more than there are it says no, then ends the run."""

    def __init__(self, bits: Sequence[int], patience: int = 40) -> None:
        self.bits, self.steps, self.patience, self.is_cut = bits, 0, patience, False

    def yes(self) -> bool:
        self.steps += 1
        if self.steps > len(self.bits) + self.patience:
            self.is_cut = True
            raise Stop
        return bool(self.bits[self.steps - 1]) if self.steps <= len(self.bits) else self.steps % 2 == 1

    def may(self, *_: object) -> int:
        if self.yes():
            raise Failed
        return 1

    def items(self) -> Any:
        while self.yes():
            yield 1

    def manager(self) -> Any:
        return _Manager(self)


class _Manager:
    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle

    def __enter__(self) -> int:
        return 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not Stop and kind is not None and self.oracle.yes()


_keys = st.sampled_from("abc")
_values = st.one_of(
    _keys.map("self.{}".format),
    st.just("o.may()"),
    st.just("1"),
    st.tuples(_keys, _keys).map("(self.{0[0]} if o.yes() else self.{0[1]})".format),
    st.tuples(_keys, _keys).map("(o.yes() and self.{0[0]} or self.{0[1]})".format),
    _keys.map("[self.{} for _ in o.items()]".format),
    _keys.map("o.may(self.{})".format),
)
_simple = st.one_of(
    st.tuples(_keys, _values).map("self.{0[0]} = {0[1]}".format),
    _keys.map("self.{} += 1".format),
    _values,
    st.just("raise Failed"),
    st.just("return"),
    st.just("LEAVE break"),
    st.just("LEAVE continue"),
)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    block = st.lists(inner, min_size=1, max_size=3).map(lambda lines: textwrap.indent("\n".join(lines), "    "))
    return st.one_of(
        st.tuples(block, block).map("if o.yes():\n{0[0]}\nelse:\n{0[1]}".format),
        st.tuples(_values, block).map("if o.yes() and {0[0]}:\n{0[1]}".format),
        st.tuples(block, block).map("while o.yes():\n{0[0]}\nelse:\n{0[1]}".format),
        block.map("while True:\n    o.may()\n{}".format),
        st.tuples(_keys, block).map("for self.{0[0]} in o.items():\n{0[1]}".format),
        st.tuples(block, block).map("try:\n{0[0]}\nexcept Failed:\n{0[1]}".format),
        st.tuples(block, block, block).map("try:\n{0[0]}\nexcept Failed:\n{0[1]}\nelse:\n{0[2]}".format),
        st.tuples(block, block).map("try:\n{0[0]}\nfinally:\n{0[1]}".format),
        block.map("with o.manager() as self.a:\n{}".format),
        st.tuples(block, block).map("match o.yes():\n    case True:\n{0[0]}\n    case _:\n{0[1]}".format).map(_deeper),
    )


def _deeper(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(line if line.startswith(("match", "    case")) else "    " + line for line in lines)


_statements = st.recursive(_simple, _compound, max_leaves=8)
_programs = st.lists(_statements, min_size=1, max_size=4).map("\n".join)
_few = st.lists(st.recursive(_simple, _compound, max_leaves=3), min_size=1, max_size=2).map("\n".join)
# Handlers count as reachable also where nothing in the body can raise.
_small_programs = _few.filter(
    lambda program: program.count("\n") < 4 and not re.search(r"try:\n *(return|LEAVE|1)\b", program)
)


def _leaves_only_in_loops(program: str) -> str:
    """Turns break and continue outside any loop into `pass`."""
    while "LEAVE " in program:
        bare = program.replace("LEAVE ", "", 1)
        try:
            compiled(bare.replace("LEAVE ", "pass #"))
            program = bare
        except SyntaxError:
            program = program.replace("LEAVE ", "pass #", 1)
    return program


Trace = list[tuple[str, str]]


def compiled(program: str) -> Callable[[Recorder, Oracle], str | None]:
    code = "def f(self, o):\n" + textwrap.indent(program, "    ") + "\n    return 'end'"
    space: dict[str, Any] = {"Failed": Failed}
    exec(compile(code, "generated", "exec"), space)
    return space["f"]  # type: ignore[no-any-return]


def run(
    program: Callable[[Recorder, Oracle], str | None], oracle: Oracle, *, accesses_fail: bool = False
) -> tuple[str, Trace]:
    """How the program ended ("end", "return", "raise", "cut") and what it did to `self`."""
    recorder = Recorder(oracle if accesses_fail else None)
    ended = ""
    try:
        ended = program(recorder, oracle) or "return"
    except Failed:
        ended = "raise"
    except Stop:
        pass
    if oracle.is_cut:  # a `finally` may have put another exception in its place
        ended = "cut"
    return ended, vars(recorder)["trace"]


def first_touch(trace: Trace, *, tries: bool = False) -> dict[str, str]:
    """What the run did to each key first. tries: a read that failed is a read."""
    found: dict[str, str] = {}
    for what, key in trace:
        if what != "try":
            found.setdefault(key, what)
        elif tries:
            found.setdefault(key, "read")
    return found


@settings(max_examples=150, deadline=None)
@given(program=_programs.map(_leaves_only_in_loops), bits=st.lists(st.integers(0, 1), max_size=14))
def test_what_a_run_does_the_flow_allows(program: str, bits: list[int]) -> None:
    ended, trace = run(compiled(program), Oracle(bits))
    found = flow(program)
    first = first_touch(trace)
    written = {key for what, key in trace if what == "write"}
    assert {key for what, key in trace if what == "read"} <= found.reads
    assert written <= found.writes
    assert {key for key, what in first.items() if what == "read"} <= found.reads_before_write
    if ended == "end":
        assert found.definite_writes <= written
    if ended in ("end", "return"):
        assert found.definite_at_returns <= written
        assert found.read_on_every_path <= {key for key, what in first.items() if what == "read"}


def all_runs(program: str, depth: int) -> Iterator[tuple[str, Trace]]:
    """Every run of at most `depth` decisions."""
    function = compiled(program)
    rows: list[tuple[int, ...]] = [()]
    while rows:
        row = rows.pop()
        oracle = Oracle(row, patience=0)
        ended, trace = run(function, oracle, accesses_fail=True)
        if ended == "cut":
            rows += [(*row, 0), (*row, 1)] if len(row) < depth else []
        else:
            yield ended, trace


class Seen:
    """What all runs of up to some number of decisions did."""

    def __init__(self, program: str, depth: int, keys: Iterable[str]) -> None:
        self.exposed: set[str] = set()
        self.written: set[str] = set()
        self.every, self.always, self.ends = set(keys), set(keys), False
        for ended, trace in all_runs(program, depth):
            self.exposed |= {key for key, what in first_touch(trace).items() if what == "read"}
            written = {key for what, key in trace if what == "write"}
            self.written |= written
            if ended == "end":
                self.ends = True
                self.always &= written
            if ended in ("end", "return"):
                self.every &= {key for key, what in first_touch(trace, tries=True).items() if what == "read"}


@settings(max_examples=60, deadline=None)
@given(program=_small_programs.map(_leaves_only_in_loops))
def test_the_flow_claims_nothing_that_no_run_does(program: str) -> None:
    """Exact, not only safe: with conditions and failures free, what the flow says may happen is seen in some run."""
    found = flow(program, swallows=lambda _: True)
    for depth in (6, 9, 12, 16):  # the shallower ones are cheap and show nearly always all there is
        seen = Seen(program, depth, found.keys)
        assert seen.exposed <= found.reads_before_write
        assert seen.written <= found.writes  # it has those of statements that nothing reaches too
        assert found.read_on_every_path <= seen.every
        assert not seen.ends or found.definite_writes <= seen.always
        if seen.exposed == found.reads_before_write and (not seen.ends or seen.always == found.definite_writes):
            return
    pytest.fail("the flow says that something may happen which no run showed")
