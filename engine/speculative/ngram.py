"""Drafts by looking a sequence's own end up in what came before it. No model, no state between steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_NEAR = 1024  # tokens: where a text repeats itself, it mostly did so lately


def propose(tokens: Sequence[int], *, num_drafts: int, min_match: int, max_match: int) -> tuple[int, ...]:
    """What followed the longest earlier occurrence of the end of `tokens`, of equally long ones the last. At least
    `min_match` tokens must match; more than `max_match` are not looked at. Empty where nothing matches.

    An occurrence that reaches into the end itself repeats with its period, so that loops give `num_drafts` tokens."""
    count = len(tokens)
    if num_drafts < 1 or min_match < 1 or count <= min_match or max_match < min_match:
        return ()
    # Taking all tokens over costs more than searching them: an occurrence of the full length near the end is the one
    # that would be found among all.
    period, length = _period(tokens[-_NEAR:], max_match)
    if length < max_match and count > _NEAR:
        period, length = _period(tokens, max_match)
    if length < min_match:
        return ()
    return tuple(int(tokens[count - period + at % period]) for at in range(num_drafts))


def _period(tokens: Sequence[int], max_match: int) -> tuple[int, int]:
    """How far before the end the chosen occurrence ends, and how many tokens match; (0, 0) for none."""
    ids = np.asarray(tokens, dtype=np.int64)
    # Where an occurrence ends: one before the last at most. Each round keeps those that match one token more.
    ends = np.flatnonzero(ids[:-1] == ids[-1])
    best, length = ends, 1
    while len(ends) and length < max_match:
        ends = ends[ends >= length]
        ends = ends[ids[ends - length] == ids[-1 - length]]
        if len(ends):
            best, length = ends, length + 1
    return (len(ids) - 1 - int(best[-1]), length) if len(best) else (0, 0)
