"""Drafts: found where they are, accepted where they are right; the answer is that of decoding without them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from engine.sampling.oracle import splitmix64
from engine.schema.sampling import SamplingParams
from engine.speculative.verify import Verified, verify

pytest.importorskip("numpy")
from engine.speculative.ngram import propose


def slow_propose(tokens: Sequence[int], num_drafts: int, min_match: int, max_match: int) -> tuple[int, ...]:
    """As the words say it."""
    for size in range(max_match, min_match - 1, -1):
        for at in range(len(tokens) - size - 1, -1, -1):
            if size < len(tokens) and list(tokens[at : at + size]) == list(tokens[-size:]):
                made = list(tokens)
                for follow in range(at + size, at + size + num_drafts):
                    made.append(made[follow])
                return tuple(made[len(tokens) :])
    return ()


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 2), max_size=24) | st.lists(st.integers(0, 9), max_size=24),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(0, 4),
)
def test_drafts_are_those_of_the_longest_and_last_match(
    tokens: list[int], num_drafts: int, min_match: int, more: int
) -> None:
    found = propose(tokens, num_drafts=num_drafts, min_match=min_match, max_match=min_match + more)
    event(f"found: {bool(found)}")
    assert found == slow_propose(tokens, num_drafts, min_match, min_match + more)


@pytest.mark.parametrize(
    ("tokens", "drafts"),
    [
        ([1, 2, 3, 9, 1, 2], (3, 9, 1)),
        ([5, 1, 2, 3, 6, 1, 2, 4, 1, 2], (4, 1, 2)),  # of equal lengths the last
        ([5, 1, 2, 3, 6, 1, 2, 4, 5, 1, 2], (3, 6, 1)),  # a longer one before it
        ([7, 7, 7], (7, 7, 7)),
        ([1, 2, 1, 2, 1, 2], (1, 2, 1)),
        ([1, 2, 3], ()),
        ([1, 9, 1], ()),  # one token alone is too short
        ([], ()),
    ],
)
def test_drafts_of_sequences_one_can_read(tokens: list[int], drafts: tuple[int, ...]) -> None:
    assert propose(tokens, num_drafts=3, min_match=2, max_match=5) == drafts
    assert propose(tokens, num_drafts=0, min_match=2, max_match=5) == ()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=30),
    st.integers(0, 2**20),
    st.integers(990, 1100),
    st.integers(1, 6),
)
def test_a_longer_match_far_back_is_found_too(end: list[int], seed: int, gap: int, max_match: int) -> None:
    rng = random.Random(seed)
    tokens = [*end, *(rng.choice((4, 4, 5, 0)) for _ in range(gap)), *end[: rng.randrange(1, len(end))]]
    found = propose(tokens, num_drafts=3, min_match=1, max_match=max_match)
    event(f"far: {propose(tokens[-1024:], num_drafts=3, min_match=1, max_match=max_match) != found}")
    assert found == slow_propose(tokens, 3, 1, max_match)


class Token(NamedTuple):
    token_id: int


def test_nothing_is_asked_beyond_a_wrong_draft_an_end_or_the_length() -> None:
    asked: list[int] = []

    def choose(at: int) -> Token:
        asked.append(at)
        return Token([5, 6, 7, 8][at])

    def run(drafts: list[int], **options: Any) -> tuple[int, tuple[int, ...], int]:
        asked.clear()
        found: Verified[Token] = verify(drafts, choose, **options)
        assert asked == list(range(len(asked)))
        return found.num_accepted, found.token_ids, len(asked)

    assert run([5, 6, 7]) == (3, (5, 6, 7, 8), 4)
    assert run([]) == (0, (5,), 1)
    assert run([5, 9, 7]) == (1, (5, 6), 2)
    assert run([9, 6, 7]) == (0, (5,), 1)
    assert run([5, 6, 7], end_ids={6}) == (2, (5, 6), 2)
    assert run([5, 9], end_ids={6}) == (1, (5, 6), 2)
    assert run([5, 6, 7], max_tokens=3) == (3, (5, 6, 7), 3)
    assert run([5, 6, 7], max_tokens=1) == (1, (5,), 1)


torch = pytest.importorskip("torch")
from engine.sampling.sampler import Chosen, Row, sample  # noqa: E402

Logits = Callable[[Sequence[int], int], Any]  # tokens, how many of the last ones: a row after each of those
Draft = Callable[[Sequence[int]], tuple[int, ...]]


def generate(
    logits: Logits, prompt: list[int], params: SamplingParams, *, draft: Draft, end_ids: frozenset[int]
) -> tuple[list[Chosen], int]:
    """What a request gets, and in how many steps."""
    assert params.max_tokens is not None
    out: list[Chosen] = []
    steps = 0
    while len(out) < params.max_tokens and not (out and out[-1].token_id in end_ids):
        ids = [each.token_id for each in out]
        drafts = draft([*prompt, *ids])
        rows = logits([*prompt, *ids, *drafts], 1 + len(drafts))
        steps += 1

        def choose(at: int, ids: list[int] = ids, drafts: tuple[int, ...] = drafts, rows: Any = rows) -> Chosen:
            output = [*ids, *drafts[:at]]
            position = len(prompt) + len(output)
            row = Row(params=params, seed=params.seed or 0, position=position, prompt=prompt, output=output)
            return sample(rows[at : at + 1], [row])[0]

        found = verify(drafts, choose, end_ids=end_ids, max_tokens=params.max_tokens - len(out))
        out += found.choices
    return out, steps


V = 12


def toy(sharpness: float) -> Logits:
    """The next token's distribution hangs on the last two; some pairs are sure, others open."""

    def logits(tokens: Sequence[int], count: int) -> Any:
        rows = []
        for end in range(len(tokens) - count + 1, len(tokens) + 1):
            last = tuple(tokens[max(end - 2, 0) : end])
            rng = random.Random(splitmix64(hash(last) & (2**63 - 1)))
            rows.append([rng.gauss(0, sharpness) for _ in range(V)])
        return torch.tensor(rows)

    return logits


OPTIONS = st.fixed_dictionaries(
    {"max_tokens": st.integers(1, 40), "temperature": st.sampled_from([0, 0.2, 1.0]), "seed": st.integers(0, 2**40)},
    optional={
        "top_k": st.sampled_from([2, 5]),
        "top_p": st.sampled_from([0.7]),
        "frequency_penalty": st.sampled_from([0.3, -1.0]),
        "repetition_penalty": st.sampled_from([1.2]),
        "logprobs": st.sampled_from([2]),
    },
)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, V - 1), min_size=1, max_size=20),
    OPTIONS,
    st.sampled_from([0.5, 4.0]),
    st.integers(1, 5),
    st.sampled_from([frozenset[int](), frozenset({0, 1})]),
    st.integers(0, 2**20),
)
def test_drafts_change_the_steps_and_not_the_tokens(
    prompt: list[int],
    options: dict[str, Any],
    sharpness: float,
    num_drafts: int,
    ends: frozenset[int],
    noise: int,
) -> None:
    params, model = SamplingParams(**options), toy(sharpness)
    plain, steps = generate(model, prompt, params, draft=lambda _: (), end_ids=ends)
    assert steps == len(plain)

    def ngram(tokens: Sequence[int]) -> tuple[int, ...]:
        return propose(tokens, num_drafts=num_drafts, min_match=1, max_match=3)

    def wild(tokens: Sequence[int]) -> tuple[int, ...]:
        rng = random.Random(noise + len(tokens))
        return tuple(rng.randrange(V) for _ in range(rng.randrange(4)))

    def seer(tokens: Sequence[int]) -> tuple[int, ...]:
        ids = [each.token_id for each in plain]
        at = len(tokens) - len(prompt)
        return tuple(ids[at : at + num_drafts])

    for draft in (ngram, wild, seer):
        found, fewer = generate(model, prompt, params, draft=draft, end_ids=ends)
        assert found == plain and fewer <= steps
    assert fewer == -(-steps // (num_drafts + 1))
    event(f"sampled: {options['temperature'] > 0}")


pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]


@pytest.mark.parametrize("options", [{"temperature": 0}, {"temperature": 0.8, "top_p": 0.95, "seed": 3}])
def test_a_model_with_weights_gives_the_same_with_drafts(tmp_path: Path, options: dict[str, Any]) -> None:
    pytest.importorskip("transformers")
    from tests.engine import checkpoints

    checkpoints.write("llama", tmp_path)
    model = checkpoints.Cached(checkpoints.decoder(tmp_path))
    params = SamplingParams(max_tokens=40, **options)
    rng = random.Random(1)
    for _ in range(3):
        prompt = [rng.randrange(199) for _ in range(6)] * 2
        plain, steps = generate(model, prompt, params, draft=lambda _: (), end_ids=frozenset())
        found, fewer = generate(
            model,
            prompt,
            params,
            draft=lambda tokens: propose(tokens, num_drafts=4, min_match=1, max_match=3),
            end_ids=frozenset(),
        )
        assert [each.token_id for each in found] == [each.token_id for each in plain] and fewer <= steps


def test_the_shipped_model_repeats_a_text_in_few_steps() -> None:
    from engine.loader.gguf_file import GgufFile
    from engine.text.tokenizer import from_gguf
    from tests.engine import checkpoints, shipped

    path = shipped.path("smollm2-135m-instruct")
    tokenizer = from_gguf(GgufFile(path))
    text = "The quick brown fox jumps over the lazy dog, and runs away into the dark forest. "
    prompt = tokenizer.encode(text * 3 + text[:15])
    model = checkpoints.Cached(checkpoints.decoder(path))
    params = SamplingParams(max_tokens=16, temperature=0)
    plain, steps = generate(model, prompt, params, draft=lambda _: (), end_ids=tokenizer.eos_ids)
    found, fewer = generate(
        model,
        prompt,
        params,
        draft=lambda tokens: propose(tokens, num_drafts=7, min_match=2, max_match=4),
        end_ids=tokenizer.eos_ids,
    )
    assert [each.token_id for each in found] == [each.token_id for each in plain]
    assert tokenizer.decode([each.token_id for each in found])[:60] in text * 2
    assert fewer * 2 < steps
