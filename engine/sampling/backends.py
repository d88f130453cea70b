"""Ways to choose tokens, by name: torch's, and what is registered before a run makes its sampler. B rows, V
vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from engine.sampling.oracle import oracle_token
from engine.sampling.sampler import Chosen, Row, logprobs, sample
from engine.schema.errors import BadConfig

Sampler = Callable[[Tensor, Sequence[Row]], list[Chosen]]
_MADE: dict[str, Callable[[int], Sampler]] = {"torch": lambda _vocab_size: sample}


def register_sampler(name: str, make: Callable[[int], Sampler]) -> None:
    """make: given the size of the vocabulary."""
    _MADE[name] = make


def create_sampler(name: str, *, vocab_size: int) -> Sampler:
    """Raises BadConfig for a name under which nothing is registered."""
    if name not in _MADE:
        raise BadConfig(f"sampling backend {name!r}", fix=f"use one of {', '.join(sorted(_MADE))}")
    return _MADE[name](vocab_size)


def oracle_sampler(vocab_size: int) -> Sampler:
    """Answers a hash of sequence and position, whatever the logits are: a wrong token is then one whose position or
    sequence was mixed up."""

    def choose(logits_BV: Tensor, rows: Sequence[Row]) -> list[Chosen]:
        made = []
        for logits_V, row in zip(logits_BV, rows, strict=True):
            token = oracle_token(row.oracle_id, row.position, vocab_size)
            wanted = row.params.logprobs
            made.append(Chosen(token, None if wanted is None else logprobs(logits_V, token, wanted)))
        return made

    return choose
