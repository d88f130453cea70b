"""The token that each row of logits gives, with its probability. B rows, V vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from msgspec import Struct
from torch import Tensor

from engine.sampling.logits import adjust, narrow
from engine.sampling.oracle import splitmix64
from engine.schema.output import PositionLogprobs, TokenLogprob
from engine.schema.sampling import MAX_LOGPROBS, SamplingParams

_WHOLE = 2**64 - 1
_TOGETHER = 64  # rows: what is computed on the way takes memory of several times their logits


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
    """One token a row. Greedy rows take the likeliest, of equal ones the lowest id. Rows whose options say the same
    kind of thing are computed together; what one gets is what it would get alone."""
    if not rows:
        return []
    changed = [_is_changed(row) for row in rows]
    tokens = [0] * len(rows)
    greedy = [at for at, row in enumerate(rows) if row.params.is_greedy and not changed[at]]
    if greedy:
        likeliest = _some(logits_BV, greedy).argmax(-1).tolist()
        for at, token in zip(greedy, likeliest, strict=True):
            tokens[at] = token
    free = [at for at, row in enumerate(rows) if not row.params.is_greedy and not changed[at] and not is_narrow(row)]
    for some in (free[start : start + _TOGETHER] for start in range(0, len(free), _TOGETHER)):
        heat_N1 = torch.tensor([[rows[at].params.temperature] for at in some], dtype=torch.float32)
        scaled_NV = _some(logits_BV, some).float() / heat_N1
        for at, token in zip(some, _draw(scaled_NV, [rows[at] for at in some]), strict=True):
            tokens[at] = token
    for at in set(range(len(rows))) - {*greedy, *free}:
        tokens[at] = _choose(logits_BV[at], rows[at], is_changed=changed[at])
    return _with_logprobs(logits_BV, rows, tokens)


def _some(logits_BV: Tensor, rows: Sequence[int]) -> Tensor:
    return logits_BV if len(rows) == len(logits_BV) else logits_BV[list(rows)]


def _is_changed(row: Row) -> bool:
    """Whether something but the temperature changes the logits."""
    params = row.params
    has_penalty = params.repetition_penalty != 1.0 or params.presence_penalty or params.frequency_penalty
    return bool(has_penalty or params.logit_bias or row.allowed_V is not None or len(row.output) < params.min_tokens)


def is_narrow(row: Row) -> bool:
    """Whether some tokens can't be chosen, however the dice fall."""
    return row.params.top_k > 0 or row.params.top_p < 1.0 or row.params.min_p > 0.0


def _choose(logits_V: Tensor, row: Row, *, is_changed: bool) -> int:
    adjusted = logits_V.float()
    if is_changed:
        adjusted = adjust(
            adjusted,
            row.params,
            prompt=row.prompt,
            output=row.output,
            end_ids=row.end_ids,
            allowed_V=row.allowed_V,
        )
    if row.params.is_greedy:
        return int(adjusted.argmax())
    return _draw(narrow(adjusted, row.params)[None], [row])[0]


def _draw(scaled_NV: Tensor, rows: Sequence[Row]) -> list[int]:
    """Each row's number in [0, 1) says where in its distribution, tokens in order, the chosen one lies. In fp64: the
    sum over a vocabulary in fp32 would be off by more than rare tokens have."""
    sums_NV = scaled_NV.softmax(-1).double().cumsum(-1)
    at_N1 = torch.tensor([[uniform(row.seed, row.position)] for row in rows], dtype=torch.float64) * sums_NV[:, -1:]
    # Logits that are no numbers have no sum: then the last token, rather than one beyond the vocabulary.
    found: list[int] = torch.searchsorted(sums_NV, at_N1, right=True).clamp(max=sums_NV.shape[1] - 1).flatten().tolist()
    return found


def uniform(seed: int, position: int) -> float:
    """The random number of one position of one sequence, in [0, 1): after a preemption it comes again. 52 bits, so that
    no product with a sum reaches the sum."""
    return (splitmix64(splitmix64(seed & _WHOLE) ^ (position & _WHOLE)) >> 12) / 2**52


def _with_logprobs(logits_BV: Tensor, rows: Sequence[Row], tokens: Sequence[int]) -> list[Chosen]:
    asked = [at for at, row in enumerate(rows) if row.params.logprobs is not None]
    weighed: dict[int, PositionLogprobs] = {}
    for some in (asked[start : start + _TOGETHER] for start in range(0, len(asked), _TOGETHER)):
        counts = [rows[at].params.logprobs or 0 for at in some]
        found = batch_logprobs(_some(logits_BV, some), [tokens[at] for at in some], counts)
        weighed.update(zip(some, found, strict=True))
    return [Chosen(token, weighed.get(at)) for at, token in enumerate(tokens)]


def logprobs(logits_V: Tensor, token: int, count: int) -> PositionLogprobs:
    """Of the chosen token, and of the `count` likeliest. rank: 1 + how many are likelier."""
    return batch_logprobs(logits_V[None], [token], [count])[0]


def batch_logprobs(logits_NV: Tensor, tokens: Sequence[int], counts: Sequence[int]) -> list[PositionLogprobs]:
    """The same for several rows. Of tokens that are equally likely, those with lower ids are named first."""
    rows_NV = logits_NV.float().log_softmax(-1)
    chosen_N1 = rows_NV.gather(-1, torch.tensor(tokens)[:, None])
    ranks = ((rows_NV > chosen_N1).sum(-1) + 1).tolist()
    # One more than anybody may ask for, whatever is asked: which of equal tokens are found depends on how many are.
    values_NK, ids_NK = rows_NV.topk(min(MAX_LOGPROBS + 1, rows_NV.shape[-1]))
    made = []
    for at, (token, count) in enumerate(zip(tokens, counts, strict=True)):
        pairs = sorted(
            zip(values_NK[at].tolist(), ids_NK[at].tolist(), strict=True), key=lambda each: (-each[0], each[1])
        )
        top = tuple(TokenLogprob(int(each), value, rank) for rank, (value, each) in enumerate(pairs[:count], 1))
        made.append(PositionLogprobs(TokenLogprob(token, float(chosen_N1[at]), ranks[at]), top))
    return made
