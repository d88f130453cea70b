"""An extraction that is not refused changes nothing that a run can show: programs are made, cut anywhere, and run."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from codemods.schema.hazards import Severity
from codemods.schema.plan import ExtractFunction
from codemods.source.files import FileSet, MemoryTree
from codemods.source.parse import load
from codemods.transforms import extract_function
from codemods.transforms.block_find import suites


class Stop(BaseException):
    """Ends a run that goes on too long."""


class Failed(Exception):
    """What an oracle raises."""


class Oracle:
    """Decides by a row of bits, and writes down everything that is shown to it."""

    def __init__(self, bits: list[int]) -> None:
        self.bits, self.seen, self.made = bits, [], []  # type: ignore[var-annotated]

    def yes(self) -> bool:
        if len(self.seen) > 80:
            raise Stop
        self.seen.append("?")
        asked = sum(1 for each in self.seen if each == "?")
        return bool(self.bits[asked - 1]) if asked <= len(self.bits) else asked % 3 == 0

    def may(self, *values: object) -> int:
        self.seen.append(values)
        if self.yes():
            raise Failed
        return len(self.seen)

    def items(self) -> Any:
        while self.yes():
            yield len(self.seen)

    def keep(self, function: Any) -> None:
        """Remembers a function and runs all that were made so far."""
        self.made.append(function)
        self.run()

    def run(self) -> None:
        for function in self.made:
            self.seen.append(function())

    def __enter__(self) -> int:
        return len(self.seen)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is Failed and self.yes()


_names = st.sampled_from("abc")
_values = st.one_of(
    _names,
    st.just("o.may()"),
    _names.map("o.may({})".format),
    st.tuples(_names, _names).map("({0[0]} if o.yes() else {0[1]})".format),
    st.tuples(_names, _names).map("(o.yes() and {0[0]} or {0[1]})".format),
    st.tuples(_names, _names).map("[{0[0]} for {0[0]} in o.items() if {0[1]}]".format),
    st.tuples(_names, _names).map("[{0[0]} := x for x in o.items() if {0[1]}]".format),
    st.tuples(_names, _names).map("sum({0[0]} + x for x in o.items() if {0[1]})".format),
    _names.map("({} := o.may())".format),
)
_simple = st.one_of(
    st.tuples(_names, _values).map("{0[0]} = {0[1]}".format),
    st.tuples(_names, _values).map("{0[0]}: int = {0[1]}".format),
    _names.map("{} += 1".format),
    st.tuples(_names, _names, _names).map("{0[0]}, {0[1]} = {0[2]}, o.may()".format),
    _names.map("o.may({})".format),
    _names.map("del {}".format),
    _values.map("return {}".format),
    _names.map("o.keep(lambda: {})".format),
    st.just("o.run()"),
    st.just("return"),
    st.just("raise Failed"),
    st.just("LEAVE break"),
    st.just("LEAVE continue"),
)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    block = st.lists(inner, min_size=1, max_size=3).map(lambda lines: textwrap.indent("\n".join(lines), "    "))
    return st.one_of(
        st.tuples(block, block).map("if o.yes():\n{0[0]}\nelse:\n{0[1]}".format),
        st.tuples(_values, block).map("if {0[0]} or o.yes():\n{0[1]}".format),
        st.tuples(block, block).map("while o.yes():\n{0[0]}\nelse:\n{0[1]}".format),
        block.map("while True:\n    o.may()\n{}".format),
        st.tuples(_names, block).map("for {0[0]} in o.items():\n{0[1]}".format),
        st.tuples(block, block).map("try:\n{0[0]}\nexcept Failed:\n{0[1]}".format),
        st.tuples(block, _names, block).map("try:\n{0[0]}\nexcept Failed as {0[1]}:\n{0[2]}".format),
        st.tuples(block, block).map("try:\n{0[0]}\nfinally:\n{0[1]}".format),
        st.tuples(_names, block).map("with o as {0[0]}:\n{0[1]}".format),
        st.tuples(_names, block).map("def g():\n    return {0[0]}\no.keep(g)\n{0[1]}".format).map(_flat),
        st.tuples(_names, block)
        .map("def g():\n    nonlocal {0[0]}\n    {0[0]} = 7\no.keep(g)\n{0[1]}".format)
        .map(_flat),
        st.tuples(_names, _names).map("def g():\n    x = {0[0]}\n    return lambda: x + {0[1]}\no.keep(g())".format),
        st.tuples(_names, block).map("match o.may():\n    case {0[0]} if o.yes():\n{0[1]}\n".format).map(_deeper),
    )


def _flat(text: str) -> str:
    """The block behind `o.keep(g)` at the depth of the definition."""
    head, _, body = text.partition("o.keep(g)\n")
    return f"{head}o.keep(g)\n{textwrap.dedent(body)}"


def _deeper(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    return "\n".join(line if line.startswith(("match", "    case")) else "    " + line for line in lines)


_statements = st.recursive(_simple, _compound, max_leaves=6)
_programs = st.lists(_statements, min_size=2, max_size=5).map("\n".join)


def module(program: str) -> str:
    """The program as a module, with `break` and `continue` only where Python takes them."""
    while "LEAVE " in program:
        bare = program.replace("LEAVE ", "", 1)
        try:
            compile(module(bare.replace("LEAVE ", "pass #")), "generated", "exec")
            program = bare
        except SyntaxError:
            program = program.replace("LEAVE ", "pass #", 1)
    return f"def f(o, a, b):\n{textwrap.indent(program, '    ')}\n    return a, b, c\n"


def outcome(text: str, bits: list[int]) -> tuple[object, list[object]]:
    """What a run of `f` comes to and everything it did to the oracle. An unbound local is an unbound name."""
    space: dict[str, Any] = {"Failed": Failed}
    exec(compile(text, "generated", "exec"), space)
    return outcome_of(space["f"], bits)


def outcome_of(function: Callable[..., object], bits: list[int]) -> tuple[object, list[object]]:
    oracle = Oracle(bits)
    try:
        ended: object = function(oracle, 1, 2)
    except (Failed, NameError, TypeError, AttributeError, AssertionError) as error:
        ended = NameError if isinstance(error, NameError) else type(error)
    except Stop:
        ended = "stopped"
    return _shown(ended), [_shown(each) for each in oracle.seen]


def _shown(value: object) -> str:
    """A value without its address."""
    return re.sub(r" at 0x\w+|\b(f|taken)\.<locals>\.", "", repr(value))


def extracted(text: str, row: int, kind: str = "") -> str | None:
    """The module with one of its blocks taken out; None when that is refused or needs somebody's consent or a proof.

    kind: for a block of the method C.f, what it becomes."""
    files = FileSet(MemoryTree({"m.py": text.encode()}))
    source = load(files, "m.py")
    outer = source.tree.body[0]
    function = outer.body[-1] if isinstance(outer, ast.ClassDef) else outer
    assert isinstance(function, ast.FunctionDef)
    rows = [
        (suite, low, high) for suite in suites(function) for low in range(len(suite)) for high in range(low, len(suite))
    ]
    suite, low, high = rows[row % len(rows)]
    step = ExtractFunction(
        function="m:C.f" if kind else "m:f",
        name="taken",
        kind=kind or "function",  # type: ignore[arg-type]
        first=source.segment(suite[low]).decode(),
        last=source.segment(suite[high]).decode(),
    )
    planned = extract_function.plan(files, step)
    if planned.files is None:
        event(f"refused: {planned.refusals[0].code}")
        return None
    if any(hazard.severity is not Severity.NOTE for hazard in planned.hazards):
        event(f"stopped: {planned.hazards[0].code}")
        return None
    event("taken")
    return planned.files.read("m.py").decode()


@settings(max_examples=100, deadline=None)
@given(
    program=_programs,
    row=st.integers(0, 60),
    rows=st.lists(st.lists(st.integers(0, 1), max_size=12), min_size=4, max_size=6),
)
def test_what_is_taken_out_does_the_same(program: str, row: int, rows: list[list[int]]) -> None:
    text = module(program)
    try:
        compile(text, "generated", "exec")
    except SyntaxError:  # a comprehension's name and a walrus, say
        return
    taken = extracted(text, row)
    if taken is not None:
        for bits in rows:
            assert outcome(taken, bits) == outcome(text, bits), taken


# -- methods

CLASS = """\
class C:
    def __init__(self):
        self.p, self.q, self.k = 3, 4, 5

    def grow(self):
        self.p += 1

    def get(self):
        return self.q

    def f(self, o, a, b):
        args = self.k
"""

_reads = st.sampled_from(["self.p", "self.q", "self.k", "args", "self.get()", "(lambda: self.p)()"])
_in_methods = st.one_of(
    st.tuples(_names, _reads).map("{0[0]} = {0[1]}".format),
    st.tuples(_reads, _reads).map("o.may({0[0]}, {0[1]})".format),
    _reads.map("o.keep(lambda: {})".format),
    _names.map("self.p = {}".format),
    st.just("self.grow()"),
    st.just("o.seen.append(f'{self.k=}')"),
    _simple,
)
_methods = st.lists(st.recursive(_in_methods, _compound, max_leaves=6), min_size=2, max_size=5).map("\n".join)


def method_module(program: str) -> str:
    function = module(program).partition("\n")[2]
    return CLASS + textwrap.indent(function, "    ")


def method_outcome(text: str, bits: list[int]) -> tuple[object, list[object], object]:
    space: dict[str, Any] = {"Failed": Failed}
    exec(compile(text, "generated", "exec"), space)
    made = space["C"]()
    ended, seen = outcome_of(made.f, bits)
    return ended, seen, vars(made)


@settings(max_examples=60, deadline=None)
@given(
    program=_methods,
    row=st.integers(0, 60),
    kind=st.sampled_from(["function", "method", "staticmethod"]),
    rows=st.lists(st.lists(st.integers(0, 1), max_size=12), min_size=4, max_size=6),
)
def test_what_is_taken_out_of_a_method_does_the_same(program: str, row: int, kind: str, rows: list[list[int]]) -> None:
    text = method_module(program)
    try:
        compile(text, "generated", "exec")
    except SyntaxError:
        return
    taken = extracted(text, row, kind)
    if taken is not None:
        for bits in rows:
            assert method_outcome(taken, bits) == method_outcome(text, bits), taken
