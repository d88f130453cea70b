"""load_plan: what it reads, and a table of what it refuses, where it says it stands, and what it proposes instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.plan.load import InvalidPlan, UnreadablePlan, load_plan, parse_plan, step_from
from codemods.schema.errors import PlanError
from codemods.schema.plan import ExtractMethod, Move, Piece, Rename, SplitMethod

GOOD = """\
# a comment with [[brackets]] and "quotes"
id = "leaf-helpers"
title = "Extract leaf helpers"

[[step]]
do = "extract-method"
method = "engine.runner:Runner.init_threads"
to = "engine.numa"
wrapper = true
returns = ["cpus"]
accept = { U104 = "no other device" }

[[step]]
do = "split-method"
method = "engine.runner:Runner.start"

[[step.pieces]]
name = "init_a"
first = "self.a = 1"

[[step.pieces]]
name = "init_b"
first = '''if x:  # [not] a {table}'''
last = "self.c = 3"
"""


def test_a_plan_is_read() -> None:
    plan = parse_plan(GOOD, "plan.toml")
    first, second = plan.step
    assert (plan.id, plan.title) == ("leaf-helpers", "Extract leaf helpers")
    assert first == ExtractMethod(
        method="engine.runner:Runner.init_threads",
        to="engine.numa",
        wrapper=True,
        returns=("cpus",),
        accept={"U104": "no other device"},
    )
    assert isinstance(second, SplitMethod)
    assert second.pieces == (
        Piece(name="init_a", first="self.a = 1"),
        Piece(name="init_b", first="if x:  # [not] a {table}", last="self.c = 3"),
    )


@pytest.mark.parametrize("key", ["target", "definition", "function", "class", "constant"])
def test_a_move_takes_its_target_under_any_of_its_names(key: str) -> None:
    plan = parse_plan(f'id = "a"\n[[step]]\ndo = "move"\n{key} = "m:f"\nto = "n"\n', "plan.toml")
    assert plan.step == (Move(definition="m:f", to="n"),)


def test_target_stands_for_every_steps_own_key() -> None:
    assert step_from({"do": "rename", "target": "pkg.mod", "to": "pkg.new"}, "here") == Rename(
        definition="pkg.mod", to="pkg.new"
    )


def step(*lines: str) -> str:
    return "\n".join(['id = "p"', "[[step]]", *lines, ""])


EXTRACT = ('do = "extract-method"', 'method = "m:C.f"')
REFUSED = [
    # name, text, code, line, in the message, in the fix
    ("syntax", 'id = "p"\nstep = [\n', "bad-toml", 3, "not TOML", "syntax"),
    ("unknown key", step(*EXTRACT, "", "wraper = true"), "unknown-key", 6, "`wraper` is not a key of", "`wrapper`"),
    ("foreign key", step('do = "move"', 'target = "m:f"', 'to = "n"', "lazy = []"), "unknown-key", 6, "extract-", ""),
    ("plan key", 'ids = "p"\n[[step]]\ndo="rename"\ntarget="m:f"\nto="g"', "missing-key", 1, "needs `id`", "add `id`"),
    ("no steps", 'id = "p"\n', "missing-key", 1, "needs `step`", ""),
    ("empty steps", 'id = "p"\n\nstep = []\n', "empty-plan", 3, "no step", "[[step]]"),
    ("step is no table", 'id = "p"\nstep = "x"\n', "wrong-type", 2, "`step` of a plan", "change"),
    ("id of blanks", step(*EXTRACT).replace('"p"', '" "'), "bad-value", 1, "commit messages", "one line"),
    ("title of two lines", 'title = "a\\nb"\n' + step(*EXTRACT), "bad-value", 1, "`title`", "one line"),
    ("unknown do", step("", 'do = "extract-methd"'), "unknown-operation", 4, '"extract-methd"', "`extract-method`"),
    ("do is a number", step("do = 3"), "unknown-operation", 3, "3", "extract-method"),
    ("no do", step('method = "m:C.f"'), "missing-key", 2, "needs `do`", "extract-method"),
    ("no target", step('do = "extract-method"'), "missing-key", 2, "needs `method`", "a text"),
    ("type", step(*EXTRACT, 'wrapper = "yes"'), "wrong-type", 5, '`wrapper` of extract-method is "yes"', "change"),
    ("element", step(*EXTRACT, "returns = [", '  "a",', "  4,", "]"), "wrong-type", 7, "element 2 of `returns`", ""),
    ("literal", step(*EXTRACT, 'call = "modul"'), "bad-value", 5, 'one of "module", "name"', "`module`"),
    ("either", step(*EXTRACT, 'leaves = "a"'), "wrong-type", 5, "true or false or a list of texts", ""),
    ("table value", step(*EXTRACT, "[step.parameters]", "a = 1"), "wrong-type", 5, "a table of texts", ""),
    ("both targets", step(*EXTRACT, 'target = "m:C.f"'), "same-key-twice", 5, "`method` and `target`", "keep `method`"),
    ("reference", step('do = "extract-method"', 'target = "m.C.f"'), "bad-reference", 4, "m.C.f", "module:"),
    ("rename", step('do = "rename"', 'definition = "a-b"', 'to = "c"'), "bad-reference", 4, "a-b", "package.module"),
    ("new name", step('do = "rename"', 'target = "m:f"', 'to = "m:g"'), "bad-value", 5, "no Python name", "write a"),
    ("keyword", step('do = "rename"', 'target = "m:f"', 'to = "class"'), "bad-value", 5, "no Python name", ""),
    ("to with a name", step(*EXTRACT, 'to = "pkg.mod:f"'), "bad-value", 5, "no module name", "without what follows"),
    ("self", step(*EXTRACT, 'lazy = ["self.x"]'), "bad-value", 5, "self.x", 'leave "self." out: "x"'),
    ("twice", step(*EXTRACT, 'returns = ["a", "b", "a"]'), "bad-value", 5, '"a" twice', "keep one"),
    ("parameter", step(*EXTRACT, 'parameters = { a = "b c" }'), "bad-value", 5, "`parameters.a`", "write a name"),
    ("hazard", step(*EXTRACT, 'accept = { u104 = "x" }'), "unknown-hazard", 5, "u104", "`U104`"),
    ("no reason", step(*EXTRACT, "[step.accept]", 'U104 = " "'), "bad-value", 6, "no reason", "write why"),
    ("piece key", step('do = "split-method"', 'method = "m:C.f"', 'pieces = [{ name = "a", first = "x", lst = "y" }]'),
     "unknown-key", 5, "`pieces` 1", "`last`"),
    ("pieces alike", step('do = "split-method"', 'method = "m:C.f"', "[[step.pieces]]", 'name="a"', 'first="x"',
                          "[[step.pieces]]", 'name="a"', 'first="y"'), "bad-value", 9, "two pieces", "rename one"),
    ("no pieces", step('do = "split-method"', 'method = "m:C.f"', "pieces = []"), "bad-value", 5, "empty", "add a"),
    ("no block", step('do = "extract-function"', 'function = "m:f"', 'name = "g"'), "missing-key", 2, "`first`", ""),
    ("two blocks", step('do = "extract-function"', 'function = "m:f"', 'name = "g"', 'first = "a"', 'expression = "b"'),
     "bad-value", 7, "both say", "keep"),
    ("expression", step('do = "extract-function"', 'function = "m:f"', 'name = "g"', 'expression = "a +"'),
     "bad-value", 6, "no Python expression", "mend"),
    ("annotation", step('do = "result-struct"', 'function = "m:f"', 'name = "G"', 'types = { a = "int[" }'),
     "bad-value", 6, "`types.a`", "mend"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "line", "message", "fix"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_refused(text: str, code: str, line: int, message: str, fix: str) -> None:
    with pytest.raises(InvalidPlan) as caught:
        parse_plan(text, "dir/plan.toml")
    problem = next(found for found in caught.value.problems if found.code == code)
    assert problem.line == line
    assert message in problem.message
    assert fix in problem.fix
    assert isinstance(caught.value, PlanError)
    assert caught.value.path == "dir/plan.toml"


def test_all_problems_are_told_at_once_in_the_order_of_their_lines() -> None:
    text = step(*EXTRACT, "wraper = true", 'call = "x"') + step('do = "moev"').replace('id = "p"\n', "")
    with pytest.raises(InvalidPlan) as caught:
        parse_plan(text, "plan.toml")
    assert [(problem.code, problem.line) for problem in caught.value.problems] == [
        ("unknown-key", 5),
        ("bad-value", 6),
        ("unknown-operation", 8),
    ]
    assert all(word in str(caught.value) for word in ("line 5", "line 6", "line 8", "`wrapper`", "`move`"))


def test_one_problem_reads_as_itself() -> None:
    with pytest.raises(InvalidPlan) as caught:
        parse_plan(step(*EXTRACT, "wraper = true"), "plan.toml")
    assert str(caught.value) == (
        "unknown-key: plan.toml:5: `wraper` is not a key of extract-method; did you mean `wrapper`?"
    )


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'id = "p"\ntitle = "caf\xe9"\n')
    for name, message, line in [
        ("missing.toml", "no plan file", 0),
        (".", "a directory", 0),
        ("latin.toml", "0xe9 is not UTF-8", 2),
        ("latin.toml/below", "can't be read", 0),
    ]:
        with pytest.raises(UnreadablePlan, match=message) as caught:
            load_plan(tmp_path / name)
        assert caught.value.line == line
        assert caught.value.path == str(tmp_path / name)


def test_a_file_with_a_bom_and_crlf_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load_plan(path) == parse_plan(GOOD, "")
