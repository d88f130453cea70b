"""Which cases come: telling ones first, all different, the same ones again; and how a failing one gets small."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from codemods.prove.domains import Bool, Build, Domain, Hole, Int, ListOf, Maybe, Member, OneOf, Text, materialised
from codemods.prove.domains_cases import cases
from codemods.prove.domains_cover import covering
from codemods.prove.domains_regex import samples
from codemods.prove.domains_show import key_of, repr_case
from codemods.prove.domains_shrink import allows, shrink
from codemods.prove.domains_spec import parse_domain
from codemods.prove.domains_strategies import drawn_by_hypothesis

ROOT = Path(__file__).parent.parent.parent


def domains(**texts: str) -> dict[str, Domain]:
    return {name: parse_domain(text) for name, text in texts.items()}


def drawn(budget: int = 600, seed: int = 0, **texts: Any) -> list[dict[str, Any]]:
    return list(cases(domains(**texts), budget=budget, seed=seed))


# ---- covering arrays


@pytest.mark.parametrize(
    ("sizes", "strength"), [((3, 3, 3, 3), 2), ((2,) * 8, 3), ((5, 1, 4, 2), 2), ((4, 3, 2, 3, 2), 3)]
)
def test_every_combination_occurs_in_few_rows(sizes: tuple[int, ...], strength: int) -> None:
    rows = list(covering(sizes, strength))
    for group in combinations(range(len(sizes)), strength):
        wanted = set(product(*(range(sizes[column]) for column in group)))
        assert {tuple(row[column] for column in group) for row in rows} == wanted
    largest = math.prod(sorted(sizes)[-strength:])
    assert largest <= len(rows) <= 2.5 * largest < 2.5 * math.prod(sizes)


def test_few_columns_give_all_rows() -> None:
    assert sorted(covering((2, 3), 3)) == sorted(product(range(2), range(3)))


# ---- cases


def test_small_domains_are_covered_wholly_and_no_case_comes_twice() -> None:
    found = drawn(a="bool", b="one_of [1, true, 1.0, 'x']", c="optional bool")
    assert len(found) == len({key_of(case) for case in found}) == 2 * 4 * 3


def test_the_budget_is_kept_and_the_order_of_inputs_too() -> None:
    found = drawn(budget=300, b="text", a="list of int", c="float")
    assert len(found) == 300
    assert all(list(case) == ["b", "a", "c"] for case in found)
    assert drawn(budget=0, a="int") == []
    assert list(cases({}, budget=5)) == [{}]


def test_the_seed_decides_the_drawn_part_only() -> None:
    texts: dict[str, Any] = {"a": "text with ','", "b": "list of int", "c": "int"}
    one, again, other = drawn(seed=1, **texts), drawn(seed=1, **texts), drawn(seed=2, **texts)
    assert list(map(key_of, one)) == list(map(key_of, again))
    assert list(map(key_of, one)) != list(map(key_of, other))
    assert one[:100] == other[:100]


def test_another_process_draws_the_same_and_writes_nothing(tmp_path: Path) -> None:
    code = (
        "import hashlib, sys\n"
        "if len(sys.argv) > 1: import codemods.verify.kernel, xml.dom.minidom\n"
        "from codemods.prove.domains_cases import cases, drawn_by_hypothesis\n"
        "from codemods.prove.domains_show import key_of\n"
        "from codemods.prove.domains_spec import parse_domain\n"
        "texts = {'a': 'text with \":\"', 'b': 'list of (int, float)', 'c': 'set of text'}\n"
        "d = {name: parse_domain(text) for name, text in texts.items()}\n"
        "assert len(drawn_by_hypothesis(d, 20, 0)) == 20\n"
        "print(hashlib.md5('|'.join(map(key_of, cases(d, budget=400))).encode('utf-8', 'replace')).hexdigest())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, *more],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more, seed in (([], "1"), (["more"], "1"), ([], "2"))
    ]
    assert len(set(outputs)) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("int 0..9", [0, 9, 1, 8]),
        ("int", [0, 1, -1, 1 << 64]),
        ("float", [0.0, -1.0, math.inf]),
        ("text", ["", " ", "é", "a" * 300]),
        ("text with '|', ','", ["a|b", "a|", "|b", "a||b", "a|a", "a|b,c|d", " a | b "]),
        ("address", ["127.0.0.1", "::1", "[::1]:80", "::1:80", "[::1"]),
        ("list of int", [[], [1], [1, 1]]),
        ("json", ["{}", "[1, 2]", "{"]),
        ("optional int", [None]),
    ],
)
def test_telling_values_come_early(text: str, wanted: list[Any]) -> None:
    early = [repr(case["v"]) for case in drawn(budget=400, v=text)][:200]
    assert [value for value in wanted if repr(value) not in early] == []


def test_odd_floats_are_there_but_rare() -> None:
    values = [case["v"] for case in drawn(budget=2000, v="float", w="float", x="int")]
    odd = [value for value in values if not math.isfinite(value)]
    assert any(math.isnan(value) for value in odd) and 0 < len(odd) < len(values) / 10
    assert any(repr(value) == "-0.0" for value in values)


def test_bounds_are_kept_everywhere() -> None:
    texts: dict[str, Any] = {
        "i": "int 3..5",
        "f": "float 0..1",
        "l": "list 1..2 of int 0..1",
        "r": "regex [ab]{2,3}",
        "n": "int 0..9 near i",
    }
    known = domains(**texts)
    for case in drawn(budget=800, **texts):
        assert all(allows(known[name], value) for name, value in case.items()), case


@pytest.mark.parametrize(
    ("tie", "holds"),
    [
        ("int near len(names)", lambda case: case["v"] == len(case["names"])),
        ("int near len(names)", lambda case: case["v"] == len(case["names"]) + 1),
        ("int index names", lambda case: 0 < case["v"] < len(case["names"])),
        ("int index names", lambda case: case["v"] == len(case["names"]) > 0),
        ("text member names", lambda case: case["v"] in case["names"]),
        ("float near n * 0.9", lambda case: case["v"] == case["n"] * 0.9),
        ("int near len(bind.split('|'))", lambda case: case["v"] == len(case["bind"].split("|")) > 2),
    ],
)
def test_related_inputs_are_common(tie: str, holds: Callable[[dict[str, Any]], bool]) -> None:
    found = drawn(budget=1000, v=tie, names="list of text", n="float", bind="text with '|'")
    assert sum(holds(case) for case in found) >= 40


def test_equal_inputs_and_overlapping_collections_are_common() -> None:
    found = drawn(budget=1000, a="int", b="int", c="set of int", d="list of int", s="text", t="text")
    assert sum(case["a"] == case["b"] for case in found) > 100
    assert sum(bool(case["c"] & set(case["d"])) for case in found) > 100
    assert sum(case["s"] == case["t"] for case in found) > 40


def test_many_inputs_cost_little() -> None:
    found = list(cases({f"x{at}": Maybe(Int()) for at in range(60)}, budget=100))
    assert len(found) == 100


@pytest.mark.parametrize(
    "pattern", [r"\d{2,3}", r"[a-c]+:(x|yz)?", r"(a)\1", r"[^a]b", r"^tcp://\[?[\w.]+\]?:\d+$", r"a{0,2}?"]
)
def test_samples_match_their_pattern(pattern: str) -> None:
    import re

    found = samples(pattern, 8)
    assert len(found) >= 1 and all(re.fullmatch(pattern, text) for text in found)


def test_a_pattern_that_nothing_matches_gives_nothing() -> None:
    assert samples(r"a\bb", 3) == [] and samples("(", 3) == []


def test_hypothesis_draws_every_kind() -> None:
    text = "record {a=optional int, b=list of (text, float), c=dict of text to bool, d=bytes or none, e=bool, f=opaque}"
    found = drawn_by_hypothesis({"v": parse_domain(text)}, 30, 3)
    assert len(found) == 30 and {*found[0]["v"]} == {"a", "b", "c", "d", "e", "f"}


# ---- values


def test_each_side_gets_its_own_values() -> None:
    case = {"a": [1, {"k": Member("m:E", "A")}], "b": Build("m:P", (("x", [Hole("b.x")]),)), "c": {1}}
    made = materialised(case, lambda each: (type(each).__name__, each))
    assert made["a"][1]["k"] == ("Member", Member("m:E", "A"))
    assert made["b"][1].kwargs == (("x", [("Hole", Hole("b.x"))]),)
    assert made["a"] is not case["a"] and made["c"] == {1} and made["c"] is not case["c"]


def test_a_case_is_shown_as_python() -> None:
    case = {
        "a": math.nan,
        "b": {2, 1},
        "c": "x" * 4096,
        "d": Build("m:Outer.P", (("x", (1,)),)),
        "e": Member("m:E", "A"),
        "f": [Hole("f[0]")],
        "g": frozenset(),
        "h": {"k": -0.0},
    }
    assert repr_case(case) == (
        "a=float('nan'), b={1, 2}, c='x' * 4096, d=Outer.P(x=(1,)), e=E.A, f=[<f[0]>], g=frozenset(), h={'k': -0.0}"
    )
    assert key_of({"a": 1}) != key_of({"a": True}) != key_of({"a": 1.0})


# ---- shrinking


@pytest.mark.parametrize(
    ("case", "fails", "smallest"),
    [
        ({"n": 987_654}, lambda case: case["n"] > 41, {"n": 42}),
        ({"n": -77}, lambda case: case["n"] < -5, {"n": -6}),
        ({"t": "zz[::1]:80|q"}, lambda case: ":" in case["t"], {"t": ":"}),
        ({"l": [9, 4, 7, 7, 1]}, lambda case: len(set(case["l"])) < len(case["l"]), {"l": [0, 0]}),
        ({"f": -12.375}, lambda case: abs(case["f"]) >= 1, {"f": 1.0}),
        ({"d": {"a": 3, "b": [1, 2]}}, lambda case: "b" in case["d"], {"d": {"b": []}}),
        ({"s": {5, 6, 7}}, lambda case: len(case["s"]) > 1, {"s": {0, 1}}),
        ({"b": Build("m:P", (("x", 9),))}, lambda case: case["b"].kwargs[0][1] > 2, {"b": Build("m:P", (("x", 3),))}),
        ({"a": 5, "b": 5, "x": "text"}, lambda case: case["a"] == case["b"], {"a": 0, "b": 0, "x": ""}),
        ({"n": 5}, lambda case: case["n"] > 100, {"n": 5}),
    ],
)
def test_a_failing_case_gets_small(
    case: dict[str, Any], fails: Callable[[dict[str, Any]], bool], smallest: dict[str, Any]
) -> None:
    found = shrink(case, fails)
    assert found == smallest


def test_shrinking_keeps_to_the_domains_and_the_bound() -> None:
    known: dict[str, Domain] = {"n": Int((), 10, None), "k": OneOf((3, 8)), "l": ListOf(Text(), low=2), "b": Bool()}
    found = shrink({"n": 99, "k": 8, "l": ["x", "y", "z"], "b": True}, lambda _: True, domains=known)
    assert found == {"n": 10, "k": 8, "l": ["", ""], "b": False}
    asked = []
    shrink({"n": 10**9}, lambda case: not asked.append(case), tries=5)  # type: ignore[func-returns-value]
    assert len(asked) <= 6
