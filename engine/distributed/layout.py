"""Which ranks stand together, as data. A rank's number is stage * tp_size + its place in the stage; inside a stage
attention and experts share the same ranks out in their own ways. Nothing is connected here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from engine.schema.errors import BadConfig

Groups = tuple[tuple[int, ...], ...]


class Layout(Struct, frozen=True, kw_only=True):
    """Each field lists the groups of one kind; every rank of the world is in exactly one group of each.

    tp: a stage. pp: the same place in every stage. attention_tp: shares the heads of one batch. attention_dp: one of
    each batch (DP attention gives every such group requests of its own). attention_cp: shares one sequence's tokens.
    ep: one of each share of the experts. moe_tp: shares the width of the same experts."""

    world: Groups
    tp: Groups
    pp: Groups
    attention_tp: Groups
    attention_dp: Groups
    attention_cp: Groups
    ep: Groups
    moe_tp: Groups


class AttentionPlace(Struct, frozen=True, kw_only=True):
    """Where a rank of a stage stands in its attention: sizes, and its rank in each."""

    dp_size: int
    dp_rank: int
    cp_size: int
    cp_rank: int
    tp_size: int
    tp_rank: int


def layout(*, tp_size: int, pp_size: int = 1, dp_size: int = 1, cp_size: int = 1, ep_size: int = 1) -> Layout:
    """dp_size, cp_size: of attention inside a stage; ep_size: of experts. Batches are outermost, then shares of a
    sequence, then heads, so that neighbours (one node, one socket) exchange most. Raises BadConfig where a size does
    not divide."""
    attention_tp = _split(tp_size, dp_size * cp_size, "dp_size * attn_cp_size")
    moe_tp = _split(tp_size, ep_size, "ep_size")
    world = tp_size * pp_size
    stages = [range(first, first + tp_size) for first in range(0, world, tp_size)]
    return Layout(
        world=(tuple(range(world)),),
        tp=tuple(map(tuple, stages)),
        pp=tuple(tuple(range(place, world, tp_size)) for place in range(tp_size)),
        attention_tp=_each(stages, lambda at: at // attention_tp),
        attention_cp=_each(stages, lambda at: (at // (attention_tp * cp_size), at % attention_tp)),
        attention_dp=_each(stages, lambda at: at % (attention_tp * cp_size)),
        ep=_each(stages, lambda at: at % moe_tp),
        moe_tp=_each(stages, lambda at: at // moe_tp),
    )


def attention_place(*, tp_rank: int, tp_size: int, dp_size: int = 1, cp_size: int = 1) -> AttentionPlace:
    """Where a rank of a stage stands, as `layout` shares it out."""
    heads = _split(tp_size, dp_size * cp_size, "dp_size * attn_cp_size")
    return AttentionPlace(
        dp_size=dp_size,
        dp_rank=tp_rank // (heads * cp_size),
        cp_size=cp_size,
        cp_rank=tp_rank // heads % cp_size,
        tp_size=heads,
        tp_rank=tp_rank % heads,
    )


def group_of(groups: Groups, rank: int) -> tuple[int, ...]:
    """The one group of its kind that a rank is in."""
    return next(each for each in groups if rank in each)


def _split(total: int, size: int, what: str) -> int:
    if total < 1 or size < 1 or total % size:
        raise BadConfig(f"{what}={size} with tp_size={total}", fix="make it a divisor of tp_size")
    return total // size


def _each(stages: list[range], key: Callable[[int], object]) -> Groups:
    return tuple(group for stage in stages for group in _grouped(stage, key))


def _grouped(stage: range, key: Callable[[int], object]) -> Iterator[tuple[int, ...]]:
    """Ranks of a stage with the same key, in the order in which the keys first come."""
    found: dict[object, list[int]] = {}
    for rank in stage:
        found.setdefault(key(rank - stage.start), []).append(rank)
    yield from map(tuple, found.values())
