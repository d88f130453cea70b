"""What a request's options do to its logits before a token is chosen. Each row is changed by its own options alone, and
a row whose options are off is left as it is, bit for bit. V vocabulary."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from engine.schema.sampling import SamplingParams

_NEVER = float("-inf")
_SOME = (64, 1024)  # tokens that a nucleus is looked for among, before all


def adjust(
    logits_V: Tensor,
    params: SamplingParams,
    *,
    prompt: Sequence[int],
    output: Sequence[int],
    end_ids: Collection[int],
    allowed_V: Tensor | None = None,
) -> Tensor:
    """Bias, penalties, grammar and forbidden ends, in this order; a new row. allowed: what a grammar lets through. An
    answer that a grammar ends may be shorter than min_tokens: nothing could follow."""
    row = logits_V.clone()
    if params.logit_bias:
        ids = torch.tensor(list(params.logit_bias))
        row[ids] += torch.tensor(list(params.logit_bias.values()), dtype=row.dtype)
    _penalise(row, params, prompt, output)
    if allowed_V is not None:
        row.masked_fill_(~allowed_V, _NEVER)
    if len(output) < params.min_tokens:
        ends = torch.tensor([*end_ids, *params.stop_token_ids], dtype=torch.long)
        without = row.index_fill(0, ends, _NEVER)
        return row if allowed_V is not None and not torch.isfinite(without).any() else without
    return row


def _penalise(row_V: Tensor, params: SamplingParams, prompt: Sequence[int], output: Sequence[int]) -> None:
    """repetition: of prompt and output, logits above 0 divided, below 0 multiplied. presence and frequency: of the
    output, subtracted once and as often as it came."""
    if params.repetition_penalty != 1.0 and (prompt or output):
        ids = torch.tensor(sorted({*prompt, *output}))
        old = row_V[ids]
        row_V[ids] = torch.where(old > 0, old / params.repetition_penalty, old * params.repetition_penalty)
    if output and (params.presence_penalty or params.frequency_penalty):
        ids, counts = torch.unique(torch.tensor(output), return_counts=True)
        row_V[ids] -= params.presence_penalty + params.frequency_penalty * counts.to(row_V.dtype)


def narrow(logits_V: Tensor, params: SamplingParams) -> Tensor:
    """Temperature, then top-k, top-p and min-p: tokens that can't be chosen any more are at minus infinity. At least
    one token stays. Of equal logits those with lower ids stay."""
    row = logits_V / params.temperature
    has_top_k = 0 < params.top_k < row.numel()
    if has_top_k or params.top_p < 1.0:
        likeliest = row.topk(params.top_k).values if has_top_k else _nucleus(row, params.top_p)
        if has_top_k and params.top_p < 1.0:
            likeliest = likeliest[: _needed(likeliest, likeliest.logsumexp(-1), params.top_p)]
        row = _keep(row, likeliest[-1], len(likeliest))
    if params.min_p > 0.0:
        probabilities = row.softmax(-1)
        row = row.masked_fill(probabilities < params.min_p * probabilities.max(), _NEVER)
    return row


def _keep(row_V: Tensor, least: Tensor, count: int) -> Tensor:
    """The `count` largest, the least of which is known; the others at minus infinity."""
    keep = row_V > least
    ties = (row_V == least).nonzero().flatten()
    keep[ties[: count - int(keep.sum())]] = True
    return row_V.masked_fill(~keep, _NEVER)


def _nucleus(row_V: Tensor, top_p: float) -> Tensor:
    """The logits of the fewest likeliest tokens that have `top_p` of the probability. Mostly few, so that sorting a
    vocabulary is left for when it is needed."""
    total = row_V.logsumexp(-1)
    for size in _SOME:
        if size < row_V.numel():
            likeliest = row_V.topk(size).values
            count = _needed(likeliest, total, top_p)
            if count < size:
                return likeliest[:count]
    likeliest = row_V.sort(descending=True).values
    return likeliest[: _needed(likeliest, total, top_p)]


def _needed(ordered: Tensor, total: Tensor, top_p: float) -> int:
    """How many of the likeliest have less than `top_p` before them: at least one. total: the logarithm of the sum that
    probabilities are parts of."""
    probabilities = (ordered - total).double().exp()
    return max(int((probabilities.cumsum(-1) - probabilities < top_p).sum()), 1)
