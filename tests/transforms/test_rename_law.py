"""A law: a rename that is neither refused nor stopped leaves a program printing what it printed.

Drawn are two modules full of scopes that share a handful of names, so that most new names are in somebody's way."""

from __future__ import annotations

import contextlib
import re
import sys
import types
from collections import Counter
from random import Random

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from codemods.schema.errors import UnmovedError
from codemods.schema.hazards import Severity
from codemods.schema.plan import Rename
from codemods.source.files import FileSet
from codemods.transforms.rename import TRANSFORM
from tests.support.trees import tree

NAMES = ("a", "b", "c", "len")
SHAPES: Counter[str] = Counter()


class Draw:
    """Draws code. `known` are names that are bound where the code stands, so that most programs run."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def name(self) -> str:
        return self.random.choice(NAMES)

    def expression(self, known: list[str], depth: int = 2) -> str:
        some = self.random.choice(known) if known else "0"
        if not depth:
            return some
        new = self.name()
        plain = self.expression(known, depth - 1)
        inner = self.expression([*known, new], depth - 1)
        return self.random.choice(
            [
                some,
                some,
                f"[{inner} for {new} in range(2)]",
                f"(lambda {new}: {inner})({plain})",
                f'f"{{{some}=}}|{{{some}}}"',
                f"({some}, {plain})",
                f"({new} := {plain})",
                f"'{some}'",
                f"dict({new}={plain})",
                f"(lambda {new}={some}: {plain})()",
                f"[{inner} for {new} in [{plain}] if {new} or 1]",
            ]
        )

    def block(self, known: list[str], depth: int, indent: str, *, is_class: bool = False) -> list[str]:
        """Statements; binds what they bind in `known`."""
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.randrange(9) if depth else self.random.randrange(2)
            lines += self.statement(kind, known, depth, indent, is_class=is_class)
        return lines

    def statement(self, kind: int, known: list[str], depth: int, indent: str, *, is_class: bool) -> list[str]:
        new, value, deeper = self.name(), self.expression(known), f"{indent}    "
        binds = kind not in (1, 6)
        lines = [f"{indent}{new} = {value}"]
        if kind == 1:
            lines = [f"{indent}out({value})"]
        elif kind in (2, 3) and not is_class:
            parameter = self.name()
            inner = [*known, parameter]
            body = self.block(inner, depth - 1, deeper)
            head = [f"{deeper}global {new}"] if kind == 3 and parameter != new and new in known else []
            lines = [f"{indent}def {new}({parameter}=1):", *head, *body, f"{deeper}return {self.expression(inner)}"]
        elif kind == 4:
            lines = [f"{indent}class {new}:", *self.block(list(known), depth - 1, deeper, is_class=True)]
        elif kind == 5:
            known.append(new)
            lines = [f"{indent}for {new} in range(2):", *self.block(known, depth - 1, deeper, is_class=is_class)]
        elif kind == 6:
            lines = [f"{indent}try: raise ValueError({value})", f"{indent}except ValueError as {new}: out({new}.args)"]
            known[:] = [name for name in known if name != new]  # the name is gone afterwards
        elif kind == 7:
            lines = [
                f"{indent}match {value}:",
                f"{indent}    case [{new}, *_]: out({new})",
                f"{indent}    case {new}: pass",
            ]
        elif kind == 8:
            lines = [f"{indent}{new}: '{new}' = {value}"]
        if binds:
            known.append(new)
        return lines

    def program(self) -> dict[str, str]:
        """Two modules; the second takes a name of the first in one of the ways to do so."""
        known: list[str] = []
        first = ["from log import out", *self.block(known, 3, ""), *(f"out({name})" for name in known[-2:])]
        taken = self.random.choice(known) if known else "out"
        ways = [
            (f"from one import {taken}", taken),
            (f"from one import {taken} as b", "b"),
            ("from one import *", taken),
            ("import one", f"one.{taken}"),
            ("import one as a", f"a.{taken}"),
        ]
        line, name = self.random.choice(ways)
        second = ["from log import out", line, f"out({name})", *self.block([name], 2, "")]
        return {"one.py": "\n".join(first) + "\n", "two.py": "\n".join(second) + "\n"}

    def place(self, files: dict[str, str]) -> str:
        """A name that the first module binds somewhere, by its reference."""
        text = files["one.py"]
        top = re.findall(r"^(?:def |class )?(\w+)(?:\(|:| =)", text, re.MULTILINE)
        inner = re.findall(r"^(?:def|class) (\w+)[^\n]*\n    (?:def |class )?(\w+)(?:\(|:| =)", text, re.MULTILINE)
        found = [
            *top,
            *top,
            *(".".join(pair) for pair in inner),
            *re.findall(r"^def (\w+)\((\w+)=", text, re.MULTILINE),
        ]
        chosen = self.random.choice(found or ["a"])
        return f"one:{chosen if isinstance(chosen, str) else '.'.join(chosen)}"


def printed(files: dict[str, str]) -> list[object] | None:
    """What the modules hand to `out`, in order; None when they do not run."""
    seen: list[object] = []
    log = types.ModuleType("log")
    log.out = lambda value: seen.append(shown(value))  # type: ignore[attr-defined]
    made = {"log": log}
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: [sys.modules.pop(name, None) for name in ("log", "one", "two")])
        sys.modules["log"] = log
        for path in ("one.py", "two.py"):
            name = path.removesuffix(".py")
            sys.modules[name] = made[name] = types.ModuleType(name)
            try:
                exec(compile(files[path], path, "exec"), made[name].__dict__)
            except (NameError, TypeError, AttributeError, ValueError, SyntaxError, ImportError):
                return None
    return seen


def shown(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        return [shown(each) for each in value.values()]
    if isinstance(value, str):
        return value.partition(" at 0x")[0].partition("<")[0]
    return value if isinstance(value, int) else type(value).__name__


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32))
def test_a_rename_keeps_what_is_printed(seed: int) -> None:
    draw = Draw(seed)
    files = draw.program()
    step = Rename(definition=draw.place(files), to=draw.random.choice((*NAMES, "fresh", "fresh")))
    before = printed(files)
    shape = "does not run"
    if before is not None:
        base = tree({path: text.encode() for path, text in files.items()})
        shape = tried(files, base, step, before)
    event(shape)
    SHAPES[shape] += 1


def tried(files: dict[str, str], base: FileSet, step: Rename, before: list[object]) -> str:
    try:
        planned = TRANSFORM.plan(base, step)
    except UnmovedError as error:
        return error.code
    if planned.files is None:
        return "refused"
    if any(each.severity is Severity.STOP for each in planned.hazards):
        return "stopped"
    after = {path: planned.files.read(path).decode() for path in files}
    assert printed(after) == before, f"{step.definition} -> {step.to}\n{files}\n{after}"
    return "renamed in both files" if len(planned.files.changes_since(base)) > 1 else "renamed"


def test_the_law_was_tried() -> None:
    """Runs after the law: every shape that it is about has been drawn."""
    assert min(SHAPES[shape] for shape in ("renamed", "renamed in both files", "refused")) > 5, SHAPES
