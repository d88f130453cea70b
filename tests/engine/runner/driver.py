"""A run of sequences through an executor, with the scheduler that the engine uses."""

from __future__ import annotations

from collections.abc import Sequence as Sized
from typing import Any

from engine.kv.blocks import BlockPool
from engine.kv.radix import RadixCache
from engine.kv.window import WindowPool
from engine.runner.executor import Executor
from engine.runner.wire import Quit
from engine.scheduler.scheduler import Limits, Scheduler
from engine.scheduler.sequence import Sequence
from engine.schema.sampling import SamplingParams
from engine.schema.step import RowOptions, StepInput

QUIT = Quit()


def generate(
    executor: Executor,
    prompts: Sized[Sized[int]],
    *,
    params: SamplingParams | Sized[SamplingParams] | None = None,
    num_tokens: int = 16,
    step_tokens: int = 64,
    has_cache: bool = False,
    adapters: Sized[str | None] | None = None,
    first_id: int = 0,
) -> list[list[int]]:
    """The output of every prompt, all computed together."""
    info = executor.info
    pool = BlockPool(info.num_blocks, info.block_tokens)
    window = WindowPool(info.num_window_blocks, info.block_tokens, info.window) if info.num_window_blocks else None
    cache = RadixCache(pool, window) if has_cache else None
    scheduler = Scheduler(pool, Limits(step_tokens=step_tokens), cache, window)
    chosen = params or SamplingParams(temperature=0, max_tokens=num_tokens, ignore_eos=True)
    each = [chosen] * len(prompts) if isinstance(chosen, SamplingParams) else list(chosen)
    known: dict[int, Sequence] = {}
    for at, prompt in enumerate(prompts):
        number, adapter = first_id + at, adapters[at] if adapters else None
        known[number] = Sequence(number, tuple(prompt), each[at], max_length=info.context, adapter=adapter)
        scheduler.add(known[number])
    while scheduler.has_work:
        plan = scheduler.plan()
        rows = tuple(row(known[part.seq_id]) for part in plan.slices if part.is_sampled)
        out = executor.execute(StepInput(plan=plan, rows=rows))
        assert out.number == plan.number
        scheduler.done(out.sampled)
    return [each.output for each in known.values()]


def row(seq: Sequence, **changes: Any) -> RowOptions:
    made = {
        "seq_id": seq.seq_id,
        "params": seq.params,
        "seed": seq.params.seed or seq.seq_id,
        "position": len(seq.tokens),
        "oracle_id": 1000 + seq.seq_id,
        "prompt": tuple(seq.tokens[: seq.num_prompt]),
        "output": tuple(seq.output),
        "end_ids": (),
    }
    return RowOptions(**{**made, **changes})
