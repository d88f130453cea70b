"""What holds for every mutant of real functions: it compiles, it is another program, it is made once, it touches its
own place only, and the same text gives the same ones. And what holds for the order in which a few are picked."""

from __future__ import annotations

import ast
import random
import sys
import warnings
from collections import Counter

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from codemods.prove.mutants import Kind, Mutant, mutants_of, pick
from codemods.source.parse import FUNCTIONS, Function, Source
from tests.support.house import ROOT


def _text_of(source: Source, function: Function) -> str:
    """A function of a real file as a small module of its own, under a class when it is a method."""
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    text = source.body[source.text.line_starts[first - 1] : source.end(function)].decode("utf-8")
    return ("# é\n" if function.col_offset == 0 else "# é\nclass _:\n") + text + "\n"


def _functions() -> dict[str, tuple[str, str]]:
    """By place: the text of a module and the qualified name in it."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted((ROOT / "codemods" / "source").glob("*.py")):
        source = Source(path.name, path.read_bytes())
        for top in source.tree.body:
            for node in [top, *(top.body if isinstance(top, ast.ClassDef) else ())]:
                if isinstance(node, FUNCTIONS):
                    name = f"_.{node.name}" if node is not top else node.name
                    found[f"{path.name}:{node.lineno}"] = (_text_of(source, node), name)
    return found


REAL = _functions()
TEXTS = st.sampled_from(sorted(REAL)).map(REAL.__getitem__)
ODD = '''
async def odd(self, a, *b, c=None, **d):
    global g, h
    async with a as x, b.y():
        async for z in x: g = [i async for i in z if i]; yield z
    try:
        h = (yield)
    except (KeyError, ValueError) as e: raise OSError(f"{e!r:>{c}} é {{}}" "ü") from e
    finally:
        g, h = h, g
    match a:
        case {"k": 1, **rest} | [1, *rest] if rest or (c): print(rest, sep="")
        case -1 | "x": h = lambda q, *, r=2: q if q is not r else -r
        case _: del g
    def inner():
        nonlocal c
        c = c if (n := c) else n
        return f'{c}' \\
            f"{c + 1}"
    while not c: c -= ~1; continue
    else: return
    assert not (a, ) is None, "é"; return
'''  # fmt: skip
DECLARED = '''
def odd():
    c = 1
    def inner():
        nonlocal c
        c += 1
        global d
        d = c
        e = 1; global f; f = e
    inner()
    return c
'''  # fmt: skip
GROUPS = """
def odd(a):
    for b in a:
        try:
            b()
            c = 1
        except* OSError:
            a.c = b; a.d = a
        for d in b:
            if d: break
            continue
    return None
"""


def dumped(source: str) -> str:
    """The tree of a module that compiles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(source, "<test>", "exec", dont_inherit=True)
        return ast.dump(ast.parse(source))


def check(source: str, mutants: list[Mutant]) -> None:
    trees = {dumped(source): "the original"}
    for mutant in mutants:
        assert source[mutant.start : mutant.end] == mutant.before
        changed = mutant.applied(source)
        assert changed == source[: mutant.start] + mutant.after + source[mutant.end :]
        assert source.count("\n", 0, mutant.start) == mutant.line - 1
        assert mutant.start - source.rfind("\n", 0, mutant.start) == mutant.column
        tree = dumped(changed)
        assert tree not in trees, (mutant, trees[tree])
        trees[tree] = mutant.id
    assert len({each.id for each in mutants}) == len(mutants)


def num_yields(source: str) -> int:
    return sum(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(ast.parse(source)))


@settings(max_examples=40)
@given(TEXTS)
def test_each_mutant_is_a_program_of_its_own(text: tuple[str, str]) -> None:
    source, name = text
    mutants = mutants_of(source, name)
    event(f"{len(mutants) // 50 * 50} mutants and more")
    check(source, mutants)
    assert mutants or not any(isinstance(each, (ast.Call, ast.Compare)) for each in ast.walk(ast.parse(source)))
    if num_yields(source):
        assert all(num_yields(each.applied(source)) for each in mutants)


@settings(max_examples=25)
@given(TEXTS, st.data())
def test_mutants_depend_on_the_function_alone(text: tuple[str, str], data: st.DataObject) -> None:
    source, name = text
    mutants = mutants_of(source, name)
    moved = "import os\n\n" + source + "\n\ndef after(é='ü'):\n    return os.name\n"
    again = mutants_of(moved, name)
    assert [(each.id, each.before, each.after, each.line + 2) for each in mutants] == [
        (each.id, each.before, each.after, each.line) for each in again
    ]
    wanted = data.draw(st.sets(st.integers(1, source.count("\n"))), label="lines")
    some = mutants_of(source, name, lines=wanted)
    assert {each.id for each in some} <= {each.id for each in mutants}
    assert {each.id for each in some} >= {each.id for each in mutants if each.line in wanted}


@pytest.mark.parametrize("source", [ODD, DECLARED])
def test_each_mutant_of_rare_syntax_is_a_program_of_its_own(source: str) -> None:
    mutants = mutants_of(source, "odd")
    assert len(mutants) > 10
    check(source, mutants)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="except* is new in 3.11")
def test_each_mutant_around_exception_groups_is_a_program_of_its_own() -> None:
    mutants = mutants_of(GROUPS, "odd")
    check(GROUPS, mutants)
    assert {each.kind for each in mutants} >= {Kind.HANDLER, Kind.LOOP, Kind.STATEMENT_SWAP, Kind.EARLY_RETURN}
    assert not [each for each in mutants if each.kind is Kind.EARLY_RETURN and each.line == 8]


def test_what_only_the_compiler_refuses_is_no_mutant() -> None:
    source = "def odd(a):\n    c += a\n    def inner():\n        nonlocal c\n        c = a\n    return inner\n"
    mutants = mutants_of(source, "odd")
    check(source, mutants)  # without `c += a`, `nonlocal c` has nothing to refer to
    assert not [each for each in mutants if each.line == 2 and each.kind is Kind.STATEMENT_DROP]
    mutants = mutants_of(source.replace("nonlocal", "global"), "odd")
    assert [each for each in mutants if each.line == 2 and each.kind is Kind.STATEMENT_DROP]


@settings(max_examples=25)
@given(TEXTS, st.integers(0, 2**32), st.integers(0, 80))
def test_a_few_are_a_fair_sample(text: tuple[str, str], seed: int, budget: int) -> None:
    mutants = mutants_of(*text)
    picked = pick(mutants, budget, seed)
    shuffled = random.Random(seed).sample(mutants, len(mutants))
    assert picked == pick(shuffled, budget, seed) == pick(mutants, 10_000, seed)[:budget]
    assert len(picked) == min(budget, len(mutants)) and {each.id for each in picked} <= {each.id for each in mutants}
    had = Counter(each.kind for each in picked)
    there = Counter(each.kind for each in mutants)
    most = max(had.values(), default=0)
    # No kind is behind another by more than one turn unless it is used up.
    assert all(had[kind] >= min(most - 1, number) for kind, number in there.items())
    assert len({each.line for each in picked[: len(there)]}) >= min(len({each.line for each in mutants}), 2, budget)


def test_another_seed_picks_others() -> None:
    mutants = mutants_of(ODD, "odd")
    assert mutants == pick(mutants, len(mutants))
    assert len({tuple(each.id for each in pick(mutants, 10, seed)) for seed in range(5)}) == 5
    assert pick(mutants, 0) == []
    with pytest.raises(ValueError, match="-1"):
        pick(mutants, -1)
