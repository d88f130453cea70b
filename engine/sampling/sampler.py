"""The token that each row of logits gives, with its probability. B rows, V vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from msgspec import Struct
from torch import Tensor

from engine.sampling.logits import adjust, narrow
from engine.sampling.oracle import splitmix64
from engine.schema.output import PositionLogprobs, TokenLogprob
from engine.schema.sampling import SamplingParams

_MASK = 2**63 - 1


class Row(Struct, frozen=True, eq=False, kw_only=True):
    """What choosing needs of one sequence. seed: its own, drawn at admission where the request gave none. position: of
    the token to be chosen. allowed_V: what a grammar lets through. oracle_id: what the token oracle knows it by."""

    params: SamplingParams
    seed: int
    position: int
    prompt: Sequence[int] = ()
    output: Sequence[int] = ()
    end_ids: frozenset[int] = frozenset()
    allowed_V: Tensor | None = None
    oracle_id: int = 0


class Chosen(Struct, frozen=True):
    """logprobs: where the request asked for them; of the model's own distribution, before options changed it."""

    token_id: int
    logprobs: PositionLogprobs | None = None


def sample(logits_BV: Tensor, rows: Sequence[Row]) -> list[Chosen]:
    """One token a row. Greedy rows take the likeliest, of equal ones the lowest id."""
    plain = [_is_plain(row) for row in rows]
    likeliest = logits_BV.argmax(-1).tolist() if all(plain) or any(plain) else []
    made = []
    for index, row in enumerate(rows):
        token = int(likeliest[index]) if plain[index] else _choose(logits_BV[index], row)
        wanted = row.params.logprobs
        made.append(Chosen(token, None if wanted is None else logprobs(logits_BV[index], token, wanted)))
    return made


def _is_plain(row: Row) -> bool:
    """Greedy, and nothing changes the logits."""
    params = row.params
    has_penalty = params.repetition_penalty != 1.0 or params.presence_penalty or params.frequency_penalty
    is_forced = params.logit_bias or row.allowed_V is not None or len(row.output) < params.min_tokens
    return params.is_greedy and not has_penalty and not is_forced


def _choose(logits_V: Tensor, row: Row) -> int:
    adjusted = adjust(
        logits_V.float(),
        row.params,
        prompt=row.prompt,
        output=row.output,
        end_ids=row.end_ids,
        allowed_V=row.allowed_V,
    )
    if row.params.is_greedy:
        return int(adjusted.argmax())
    probabilities = narrow(adjusted, row.params).softmax(-1)
    # Of p / Exp(1) draws the largest is a draw from p; its noise is the row's own, whatever else is in the batch.
    noise = torch.empty_like(probabilities).exponential_(generator=generator(row.seed, row.position))
    return int((probabilities / noise).argmax())


def generator(seed: int, position: int) -> torch.Generator:
    """The random numbers of one position of one sequence: after a preemption they come again."""
    return torch.Generator().manual_seed(splitmix64(seed ^ (position * 0x9E3779B97F4A7C15)) & _MASK)


def logprobs(logits_V: Tensor, token: int, count: int) -> PositionLogprobs:
    """Of the chosen token, and of the `count` likeliest. rank: 1 + how many are likelier."""
    row = logits_V.float().log_softmax(-1)
    rank = int((row > row[token]).sum()) + 1
    chosen = TokenLogprob(token, float(row[token]), rank)
    if not count:
        return PositionLogprobs(chosen)
    values, ids = row.topk(count)
    pairs = zip(ids.tolist(), values.tolist(), strict=True)
    return PositionLogprobs(
        chosen, tuple(TokenLogprob(int(each), value, at) for at, (each, value) in enumerate(pairs, 1))
    )
