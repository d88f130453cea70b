"""Choosing tokens: each row for itself, seeds that reproduce, options that do what they say, frequencies that are the
model's."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sampling.oracle import oracle_token, splitmix64
from engine.schema.sampling import SamplingParams

torch = pytest.importorskip("torch")

from engine.sampling.logits import adjust, narrow  # noqa: E402
from engine.sampling.sampler import Row, logprobs, sample, uniform  # noqa: E402

V = 40
ROW = torch.linspace(-3, 3, V)


def row(seed: int = 1, position: int = 0, output: tuple[int, ...] = (), **options: Any) -> Row:
    return Row(
        params=SamplingParams(**options), seed=seed, position=position, output=output, end_ids=frozenset({V - 1})
    )


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.sampled_from([0, 0.3, 1.0, 2.0]),
        "top_k": st.sampled_from([-1, 0, 1, 5, 100]),
        "top_p": st.sampled_from([0.1, 0.9, 1.0]),
        "min_p": st.sampled_from([0.0, 0.3, 1.0]),
        "presence_penalty": st.sampled_from([0.0, 1.5]),
        "frequency_penalty": st.sampled_from([0.0, -1.0]),
        "repetition_penalty": st.sampled_from([1.0, 1.3]),
        "min_tokens": st.sampled_from([0, 3]),
        "logit_bias": st.sampled_from([{}, {3: 9.0, 39: -100.0}]),
        "logprobs": st.sampled_from([None, 0, 3]),
    },
)


@settings(max_examples=60, deadline=None)
@given(st.lists(OPTIONS, min_size=1, max_size=5), st.integers(0, 2**31))
def test_neighbours_change_nothing(options: list[dict[str, Any]], seed: int) -> None:
    logits = torch.randn(len(options), V, generator=torch.Generator().manual_seed(seed))
    rows = [row(seed=seed + at, position=at, output=(1, 1, 2)[: at % 4], **each) for at, each in enumerate(options)]
    together = sample(logits, rows)
    alone = [sample(logits[at : at + 1], [each])[0] for at, each in enumerate(rows)]
    assert together == alone
    assert sample(logits.flip(0), rows[::-1]) == together[::-1]


LARGE = 5000


@settings(max_examples=12, deadline=None)
@given(st.lists(OPTIONS, min_size=1, max_size=6), st.integers(0, 2**31), st.booleans())
def test_many_rows_over_a_large_vocabulary_are_as_each_alone(
    options: list[dict[str, Any]], seed: int, has_ties: bool
) -> None:
    count = 70
    logits = torch.randn(count, LARGE, generator=torch.Generator().manual_seed(seed)) * 3
    if has_ties:
        logits = logits.round()
    rows = [row(seed=seed - at, position=at, **options[at % len(options)]) for at in range(count)]
    assert sample(logits, rows) == [sample(logits[at : at + 1], [each])[0] for at, each in enumerate(rows)]
    assert sample(logits[:0], []) == []


def slow_narrow(logits: list[float], params: SamplingParams) -> set[int]:
    """Which tokens stay, by the words: in order of their logits, of equal ones the lower ids first."""
    exact = (torch.tensor(logits) / params.temperature).tolist()
    order = sorted(range(len(exact)), key=lambda at: (-exact[at], at))
    if 0 < params.top_k < len(exact):
        order = order[: params.top_k]
    weights = [math.exp(exact[at] - max(exact)) for at in order]
    before, kept = 0.0, []
    for at, weight in zip(order, weights, strict=True):
        if before < params.top_p * sum(weights) or params.top_p == 1.0:
            kept.append(at)
        before += weight
    least = params.min_p * math.exp(max(exact) - max(exact))
    return {at for at in kept if math.exp(exact[at] - max(exact)) >= least}


@settings(deadline=None)
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=9),
    st.sampled_from([1, 40, 300]),
    st.sampled_from([0, 1, 2, 70, 2000]),
    st.sampled_from([1e-9, 0.31, 0.87, 0.999, 1.0]),
    st.sampled_from([0.0, 0.11]),
)
def test_what_stays_is_what_the_words_say(
    values: list[int], times: int, top_k: int, top_p: float, min_p: float
) -> None:
    logits = [float(each) for each in values] * times
    params = SamplingParams(top_k=top_k, top_p=top_p, min_p=min_p)
    found = torch.isfinite(narrow(torch.tensor(logits), params)).nonzero().flatten().tolist()
    expected = slow_narrow(logits, params)
    # Where the sum reaches top_p to the last bit, one token more or less is as right.
    assert len(set(found) ^ expected) <= (1 if top_p < 1.0 else 0) and found
    assert (
        sorted(found, key=lambda at: (-logits[at], at))[: len(expected)]
        == sorted(expected, key=lambda at: (-logits[at], at))[: len(found)]
    )


def test_dice_are_even_and_each_position_has_its_own() -> None:
    found = [uniform(seed, position) for seed in (-1, 0, 1, 2**63 - 1) for position in range(2000)]
    assert len(set(found)) == len(found) and 0 <= min(found) < 0.001 and 0.999 < max(found) < 1
    assert abs(sum(found) / len(found) - 0.5) < 0.02
    counts = [sum(int(each * 10) == part for each in found) for part in range(10)]
    assert sum((each - 800) ** 2 / 800 for each in counts) < 27.9  # 99.9 % of chi-squared with 9 degrees


def test_logits_that_are_no_numbers_give_a_token_of_the_vocabulary() -> None:
    assert 0 <= sample(torch.full((1, V), math.nan), [row(seed=3)])[0].token_id < V


def test_equally_likely_tokens_are_named_by_their_ids() -> None:
    found = logprobs(torch.tensor([1.0, 2.0, 1.0, 1.0, 2.0]), 3, 4)
    assert [(each.token_id, each.rank) for each in found.top] == [(1, 1), (4, 2), (0, 3), (2, 4)]
    assert found.chosen.rank == 3


def test_a_seed_gives_the_same_again_and_a_position_something_else() -> None:
    first = [sample(ROW[None], [row(seed=5, position=at)])[0].token_id for at in range(60)]
    again = [sample(ROW[None], [row(seed=5, position=at)])[0].token_id for at in range(60)]
    other = [sample(ROW[None], [row(seed=6, position=at)])[0].token_id for at in range(60)]
    assert first == again != other and len(set(first)) > 5


def test_frequencies_are_the_distribution() -> None:
    """Chi-squared over 6,000 draws: the 99.9 % bound of 7 degrees of freedom is 24.3."""
    logits = torch.tensor([2.0, 1.0, 0.5, 0.0, -0.5, -1.0, -2.0, 1.5])
    count = 6000
    expected = logits.softmax(-1) * count
    found = torch.zeros(8)
    for at in range(count):
        found[sample(logits[None], [row(seed=11, position=at)])[0].token_id] += 1
    assert float(((found - expected) ** 2 / expected).sum()) < 24.3


def kept(**options: Any) -> list[int]:
    found = torch.isfinite(narrow(ROW, SamplingParams(**options)))
    return [at for at in range(V) if found[at]]


def test_options_narrow_the_choice() -> None:
    probabilities = ROW.softmax(-1)
    assert kept() == list(range(V)) == kept(top_k=-1) == kept(top_k=V)
    assert kept(top_k=3) == [37, 38, 39] and kept(top_k=1) == [39]
    nucleus = kept(top_p=0.5)
    assert float(probabilities[nucleus].sum()) >= 0.5 > float(probabilities[nucleus[1:]].sum())
    assert kept(top_p=1e-9) == [39]
    least = 0.4 * float(probabilities.max())
    assert kept(min_p=0.4) == [at for at in range(V) if float(probabilities[at]) >= least]
    assert kept(top_k=3, top_p=0.5) == [38, 39]


def test_equal_logits_are_cut_from_the_back() -> None:
    narrowed = narrow(torch.zeros(6), SamplingParams(top_k=2))
    assert torch.isfinite(narrowed).nonzero().flatten().tolist() == [0, 1]
    assert sample(torch.zeros(1, 6), [row(temperature=0)])[0].token_id == 0


def test_options_that_are_off_leave_the_logits_alone() -> None:
    made = adjust(ROW, SamplingParams(), prompt=(1, 2), output=(3,), end_ids=(0,))
    assert torch.equal(made, ROW) and made is not ROW


def test_penalties_are_those_of_their_definitions() -> None:
    made = adjust(
        ROW,
        SamplingParams(repetition_penalty=2.0, presence_penalty=0.5, frequency_penalty=0.25),
        prompt=(0, 39),
        output=(5, 5, 38),
        end_ids=(),
    )
    assert math.isclose(made[0], ROW[0] * 2) and math.isclose(made[39], ROW[39] / 2)
    assert math.isclose(made[5], ROW[5] * 2 - 0.5 - 0.5, rel_tol=1e-6)
    assert math.isclose(made[38], ROW[38] / 2 - 0.5 - 0.25, rel_tol=1e-6)
    others = [at for at in range(V) if at not in (0, 5, 38, 39)]
    assert torch.equal(made[others], ROW[others])


def test_an_answer_does_not_end_too_early_and_keeps_to_a_grammar() -> None:
    assert sample(ROW[None], [row(temperature=0, min_tokens=2)])[0].token_id == V - 2
    assert sample(ROW[None], [row(temperature=0, min_tokens=2, output=(1, 1))])[0].token_id == V - 1
    allowed = torch.zeros(V, dtype=torch.bool)
    allowed[[4, 9]] = True
    bound = Row(params=SamplingParams(logit_bias={4: 100.0}), seed=0, position=0, allowed_V=allowed)
    assert {sample(ROW[None], [bound])[0].token_id} == {4}


def test_logprobs_are_of_the_model() -> None:
    found = sample(ROW[None], [row(temperature=0.1, top_k=1, logprobs=3)])[0]
    expected = ROW.log_softmax(-1)
    assert found.logprobs is not None and found.logprobs.chosen.rank == 1
    assert [each.token_id for each in found.logprobs.top] == [39, 38, 37]
    assert math.isclose(found.logprobs.top[2].logprob, expected[37], rel_tol=1e-5)
    assert logprobs(ROW, 30, 0).chosen.rank == 10 and logprobs(ROW, 30, 0).top == ()


def test_the_oracle_is_the_published_mix() -> None:
    """The first numbers of the generator seeded with 1234567, as its reference implementation prints them."""
    state, found = 1234567, []
    for _ in range(3):
        found.append(splitmix64(state))
        state += 0x9E3779B97F4A7C15
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert {oracle_token(9, at, 7) for at in range(99)} == set(range(7))
