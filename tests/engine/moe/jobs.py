"""What the ranks of the tests here do: functions that a process of its own can import without the reference's
library."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from engine.distributed.group import Group, single
from engine.distributed.layout import group_of, layout
from engine.models.checkpoint import Checkpoint
from engine.models.decoder import stages
from engine.moe.exchange import combine, dispatch
from engine.moe.location import ExpertLocationMetadata, trivial_map
from engine.moe.lplb import LplbSolvers
from engine.moe.parallel import ExpertParallel
from tests.engine import checkpoints

_RNG = random.Random(1)
PROMPTS = [[_RNG.randrange(199) for _ in range(n)] for n in (1, 6, 19)]
NUM_TOKENS = 6


def groups_of(rank: int, **sizes: int) -> dict[str, Group]:
    made, known = {}, dict[tuple[int, ...], Any]()
    found = layout(**sizes)
    for kind in ("tp", "pp", "ep", "moe_tp"):
        for each in getattr(found, kind):
            if len(each) > 1 and each not in known:
                known[each] = dist.new_group(list(each))
        ours = group_of(getattr(found, kind), rank)
        made[kind] = Group(ours, ours.index(rank), known.get(ours))
    return made


def parallel_of(folder: Path, groups: dict[str, Group], run: tuple[int, str, str]) -> ExpertParallel:
    moe = Checkpoint(folder).config.moe
    assert moe is not None
    redundant, algorithm, backend = run
    location = ExpertLocationMetadata(
        trivial_map(len(moe.is_sparse), moe.num_experts, redundant),
        num_logical_experts=moe.num_experts,
        ep_size=groups["ep"].size,
        ep_rank=groups["ep"].rank,
    )
    made = ExpertParallel(location, ep=groups["ep"], moe_tp=groups["moe_tp"], backend=backend, algorithm=algorithm)
    made.solver = LplbSolvers(location)
    return made


def greedy(model: Any) -> list[list[int]]:
    """All prompts in one batch: as many steps as tokens are wanted, everything computed anew in each."""
    found = [list(each) for each in PROMPTS]
    for _ in range(NUM_TOKENS):
        if model.experts is not None:
            model.experts.step += 1
        made = checkpoints.logits([model], found, chunks=[99], attention="sdpa")
        for tokens, logits in zip(found, made, strict=True):
            tokens.append(int(logits[-1].argmax()))
    return found


def serve(rank: int, size: int, folder: str, runs: list[tuple[int, str, str]], sizes: dict[str, int]) -> Any:
    groups = groups_of(rank, **sizes) if size > 1 else dict.fromkeys(("tp", "ep", "moe_tp"), single())
    made = []
    for run in runs:
        experts = parallel_of(Path(folder), groups, run)
        model = checkpoints.decoder(Path(folder), group=groups["tp"], experts=experts)
        for each in model.linears():
            each.pack(is_plain_kept=False)
        made.append((greedy(model), checkpoints.logits([model], PROMPTS, chunks=[7, 2], attention="sdpa")))
    return made


def two_ranks(rank: int, size: int, folder: str, runs: Any) -> Any:
    return {"ep2": serve(rank, size, folder, runs, {"tp_size": 2, "ep_size": 2}), "exchanged": exchanged(rank, size)}


def four_ranks(rank: int, size: int, folder: str, runs: Any) -> Any:
    return {
        "ep4": serve(rank, size, folder, runs[1::2] + runs[:1], {"tp_size": 4, "ep_size": 4}),
        "ep2 moe_tp2": serve(rank, size, folder, runs[::3], {"tp_size": 4, "ep_size": 2}),
        "staged": staged(rank, folder),
        "exchanged": exchanged(rank, size),
    }


def staged(rank: int, folder: str) -> Any:
    """Two stages of two ranks; hidden states go from one to the next."""
    groups = groups_of(rank, tp_size=2, pp_size=2, ep_size=2)
    experts = parallel_of(Path(folder), groups, (4, "dynamic", "all_to_all"))
    stage = stages(4, 2)[rank // 2]
    model = checkpoints.decoder(Path(folder), group=groups["tp"], experts=experts, stage=stage)
    pp, own = groups["pp"], model.forward

    def forward(tokens: Any, positions: Any, attend: Any, hidden: Any) -> Any:
        if not pp.is_first:
            hidden = pp.recv(torch.empty(len(tokens), 64), 0)
        made = own(tokens, positions, attend, hidden)
        if not pp.is_last:
            pp.send(made, 1)
        return made

    model.forward = forward  # type: ignore[method-assign,assignment]
    if not pp.is_last:
        model.logits = lambda hidden: hidden  # type: ignore[method-assign,assignment]
    made = checkpoints.logits([model], PROMPTS, chunks=[99], attention="sdpa")
    return made if pp.is_last else None


def exchanged(rank: int, size: int) -> Any:
    """Batches of their own, one of them empty, to experts that multiply by their number and say where they are."""
    group = Group(range(size), rank, dist.group.WORLD)
    generator = torch.Generator().manual_seed(rank)
    made = []
    for tokens in (0 if rank == 1 else 5 + rank, 30 * (rank == 2), 3):
        x = torch.randn(tokens, 8, generator=generator).to(torch.bfloat16)
        physical = (
            torch.stack([torch.randperm(6 * size, generator=generator)[:4] for _ in range(tokens)] or []).view(
                tokens, 4
            )
            if tokens
            else torch.empty(0, 4, dtype=torch.long)
        )
        sent = dispatch(x, physical, group, num_local=6, owners=list(range(size)))
        rows = sent.rows_RD[:, None] * (sent.slots_RK[..., None] + 6 * rank)
        back = combine(rows, sent, group, num_tokens=tokens)
        expected = x[:, None] * physical[..., None]
        unique = len({(t, int(p) // 6) for t in range(tokens) for p in physical[t]})
        made.append(torch.equal(back, expected.to(back.dtype)) and sum(sent.sent) == unique)
    return made
