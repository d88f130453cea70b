"""How many drafts stand. Choosing depends on a sequence's logits, options, seed and position alone, so a draft stands
exactly where it is what would have been chosen: the tokens are those of decoding without drafts, sampled ones too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Generic, Protocol, TypeVar

from msgspec import Struct


class Choice(Protocol):
    """What the sampler gives for one row."""

    @property
    def token_id(self) -> int: ...


ChoiceT = TypeVar("ChoiceT", bound=Choice)


class Verified(Struct, Generic[ChoiceT], frozen=True, kw_only=True):
    """num_accepted: how many drafts stand, so how much of their KV is kept. choices: those, then the one token that the
    model gives beyond them, unless the answer ended before."""

    num_accepted: int
    choices: tuple[ChoiceT, ...]

    @property
    def token_ids(self) -> tuple[int, ...]:
        return tuple(each.token_id for each in self.choices)


def verify(
    drafts: Sequence[int],
    choose: Callable[[int], ChoiceT],
    *,
    end_ids: Collection[int] = (),
    max_tokens: int | None = None,
) -> Verified[ChoiceT]:
    """choose: the sampler's own choice at row `at` of the 1 + len(drafts) last ones; row 0 stands after the last token
    that was given before. It is asked in order, and only while every draft so far stands: penalties and grammars may
    take the drafts before a row for granted. Nothing is given after an end, nor beyond max_tokens (at least 1)."""
    most = len(drafts) + 1 if max_tokens is None else min(len(drafts) + 1, max_tokens)
    choices: list[ChoiceT] = []
    accepted = 0
    while len(choices) < most:
        choice = choose(len(choices))
        choices.append(choice)
        is_right = len(choices) <= len(drafts) and choice.token_id == drafts[len(choices) - 1]
        accepted += is_right
        if not is_right or choice.token_id in end_ids:
            break
    return Verified(num_accepted=accepted, choices=tuple(choices))
