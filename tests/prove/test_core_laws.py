"""Laws of what every run stands on: equal terms are one, frozen values are equal where type and content are, and the
answers of a world hold for some value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from codemods.prove import opaque
from codemods.prove.freeze import Freezer, thaw
from codemods.prove.opaque import ATTR, OP, ROOT, attribute, current, length_of, term
from codemods.prove.run import Run
from codemods.prove.world import World

_plain = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 2.5]) | st.sampled_from(["", "1"])
_hashable = st.recursive(_plain, lambda inner: st.tuples(inner) | st.tuples(inner, inner), max_leaves=4)
_values = st.recursive(
    _plain | st.sampled_from([b"", b"1"]) | st.sets(st.integers(0, 2)),
    lambda inner: st.lists(inner, max_size=2) | st.tuples(inner, inner) | st.dictionaries(_hashable, inner, max_size=2),
    max_leaves=6,
)


def _freeze(value: Any) -> Any:
    return Freezer(lambda _: None).freeze(value)


def _run(world: World | None = None) -> Run:
    made = Run(world or World({}), Freezer(lambda _: None))
    current.run = made
    return made


def _is_same(a: Any, b: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(any(_is_same(x, y) for y in b.items()) for x in a.items())
    return bool(a == b)


@given(_values, _values)
def test_frozen_values_are_equal_where_type_and_content_are(a: Any, b: Any) -> None:
    is_same = _is_same(a, b)
    event(f"same: {is_same}, types: {type(a) is type(b)}")
    assert (_freeze(a) == _freeze(b)) is is_same
    assert not is_same or hash(_freeze(a)) == hash(_freeze(b))


@given(_values)
def test_equal_values_freeze_alike_whichever_object_they_are(value: Any) -> None:
    again = eval(repr(value))
    assert _freeze(again) == _freeze(value)


@given(_plain)
def test_a_frozen_constant_thaws_to_itself(value: Any) -> None:
    thawed = thaw(_freeze(value))
    assert type(thawed) is type(value)
    assert thawed == value


@given(_values, _values)
def test_terms_of_equal_parts_are_one(a: Any, b: Any) -> None:
    base = term(ROOT, "x")
    one, other = term(OP, "f", base, _freeze(a)), term(OP, "f", base, _freeze(b))
    assert (one is other) is _is_same(a, b)


def test_terms_are_forgotten_with_all_that_is_kept_of_them() -> None:
    before = term(ROOT, "x")
    assert attribute(before, "a") is attribute(before, "a") is term(ATTR, before, "a", None)
    assert length_of(before) is length_of(before)
    opaque.forget()
    assert term(ROOT, "x") is not before


@pytest.mark.parametrize(
    "calls", [((1,), (True,)), ((1,), (1.0,)), (("1",), (1,)), ((None,), (False,)), (((1,),), ([1],))]
)
def test_calls_with_arguments_that_only_look_equal_are_two(calls: tuple[tuple[Any, ...], tuple[Any, ...]]) -> None:
    run = _run()
    callee = term(ROOT, "f")
    first, second = (run.call(callee, given, {}) for given in calls)
    assert first is not second
    assert first._u_parts[3] == second._u_parts[3] == 0
    named, other = (run.call(callee, (), {"x": given[0]}) for given in calls)
    assert named is not other


@given(st.permutations(["a", "b", "c"]))
def test_named_arguments_are_one_call_in_whatever_order(names: list[str]) -> None:
    callee, values = term(ROOT, "f"), {"a": 1, "b": "x", "c": None}
    expected = _run().call(callee, (), values)
    assert _run().call(callee, (), {name: values[name] for name in names}) is expected


def test_the_second_call_with_the_same_arguments_has_another_result() -> None:
    run, callee = _run(), term(ROOT, "f")
    first, second = run.call(callee, (1,), {}), run.call(callee, (1,), {})
    assert first is not second
    again = _run()
    assert again.call(callee, (1,), {}) is first
    assert again.call(callee, (1,), {}) is second


_NUMBERS = (-1, 0, 1)
_MODELS: tuple[Any, ...] = (None, "", "a", *(half / 2 for half in range(-5, 6)))
_questions = st.one_of(
    st.just(("none",)),
    st.just(("true",)),
    st.tuples(st.sampled_from(["eq", "lt", "le"]), st.sampled_from(_NUMBERS)),
)


def _holds(value: Any, kind: str, operand: Any) -> bool:
    if kind == "none":
        return value is None
    if kind == "true":
        return bool(value)
    if kind == "eq":
        return bool(value == operand)
    if value is None or isinstance(value, str):
        return False  # Python would have raised
    return bool(value < operand) if kind == "lt" else bool(value <= operand)


@given(st.lists(st.tuples(_questions, st.booleans()), max_size=8))
def test_the_answers_of_a_world_hold_for_some_value(asked: list[tuple[tuple[Any, ...], bool]]) -> None:
    value = term(ROOT, "x")
    world = World({(kind, value, *rest): answer for (kind, *rest), answer in asked})
    run = _run(world)
    said: list[tuple[str, Any, bool]] = []
    for (kind, *rest), _ in asked:
        operand = rest[0] if rest else None
        if kind in ("lt", "le"):
            about = world.facts.about(value)
            if about.none or (about.truth is False and 0 in about.unequal):
                continue  # Python raises
            told = run.truth(run.compare(kind, value, operand))
            said.append(("number", None, True))
        elif kind == "none":
            told = run.is_none(value)
        else:
            told = run.truth(value) if kind == "true" else run._truth_eq(value, operand)
        said.append((kind, operand, told))
    event(f"decisions: {len(world.trail)}, answers: {len(said)}")
    needs_number = any(kind == "number" for kind, _, _ in said)
    models = [each for each in _MODELS if not needs_number or isinstance(each, float)]
    answers = [each for each in said if each[0] != "number"]
    assert any(all(_holds(model, kind, operand) is told for kind, operand, told in answers) for model in models), (
        answers
    )


@given(st.lists(st.sampled_from(["len", "bool", "iter", "eq0"]), min_size=1, max_size=6), st.sampled_from([0, 1, 2]))
def test_size_truth_and_rounds_of_one_value_agree(asked: list[str], size: int) -> None:
    value = term(ROOT, "x")
    run = _run(World({("size", value): size, ("true", value): size > 0, ("eq", length_of(value), 0): size == 0}))
    found = set()
    for each in asked:
        if each == "bool":
            found.add(run.truth(value))
        elif each == "iter":
            found.add(bool(list(run.iterate(value))))
        elif each == "len":
            found.add(run.length(value) > 0)
        else:
            found.add(not run.truth(run.compare("eq", length_of(value), 0)))
    assert len(found) == 1


@given(st.lists(st.sampled_from([int, str, list, bool, object, type(None)]), min_size=1, max_size=6), st.booleans())
def test_classes_of_one_value_agree(kinds: list[type], first: bool) -> None:
    value = term(ROOT, "x")
    run = _run(World({("isa", value, kinds[0]): first}))
    said = [(kind, run.is_a(value, kind)) for kind in kinds]
    models: tuple[Any, ...] = (1, True, "a", [], None, 2.5)
    assert any(all(isinstance(model, kind) is told for kind, told in said) for model in models), said
