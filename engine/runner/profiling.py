"""How a step is called in a profile. What takes the profile is host/profiling.py."""

from __future__ import annotations

from engine.runner.forward_batch import ForwardBatch, ForwardMode


def build_step_span_name(batch: ForwardBatch, *, is_draft_worker: bool, pp_rank: int, pp_size: int) -> str:
    """What a profiler shows of a step: what it was, how many sequences and tokens, on which stage."""
    name = f"step[{batch.mode.value} bs={batch.batch_size} toks={batch.num_tokens}]"
    if batch.mode is ForwardMode.VERIFY:
        drafts = sum(each.num_drafts for each in batch.slices)
        name = f"step[{batch.mode.value} bs={batch.batch_size} toks={batch.num_tokens} drafts={drafts}]"
    elif batch.mode in (ForwardMode.EXTEND, ForwardMode.MIXED):
        longest = max(each.end for each in batch.slices)
        name = f"step[{batch.mode.value} bs={batch.batch_size} toks={batch.num_tokens} longest={longest}]"
    if is_draft_worker:
        name = f"draft.{name}"
    return f"{name} pp={pp_rank}" if pp_size > 1 else name
