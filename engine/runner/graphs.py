"""Decode steps recorded once and run again: CUDA graphs on GPUs, torch.compile elsewhere. Both need steps of a few
fixed shapes, so a step is padded to the next one; what is padded writes to the padding block and its rows are dropped.

B sequences of a step, L positions that the longest of them sees."""

from __future__ import annotations

import bisect
import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from engine.attention.batch import AttentionBatch
from engine.kv.blocks import PADDING_BLOCK
from engine.runner.forward_batch import ForwardBatch, ForwardMode
from engine.schema.step import Slice

log = logging.getLogger(__name__)
_SMALLEST_LENGTH = 64
_IS_CAPTURING = [False]


class Shape(NamedTuple):
    batch_size: int
    length: int


def is_capturing() -> bool:
    """Whether a recording is being made: nothing may be allocated for good, built for the first time, or waited for."""
    return _IS_CAPTURING[0]


@contextlib.contextmanager
def capturing() -> Iterator[None]:
    _IS_CAPTURING[0] = True
    try:
        yield
    finally:
        _IS_CAPTURING[0] = False


def sizes_up_to(most: int) -> list[int]:
    """1, 2, 4, then every eighth: small batches are common, and padding a large one by 7 costs little."""
    return sorted({each for each in (1, 2, 4, *range(8, most + 1, 8), most) if each <= most})


class DecodeGraphs:
    """run: the model over a batch's tensors (tokens, attention), giving hidden states. record: makes of a callable and
    its fixed inputs one that computes again from what those inputs hold."""

    def __init__(
        self,
        run: Callable[[Tensor, AttentionBatch], Tensor],
        record: Callable[[Callable[[], Tensor]], Callable[[], Tensor]],
        *,
        max_batch_size: int,
        max_length: int,
        block_tokens: int,
    ) -> None:
        self._run, self._record, self._block_tokens = run, record, block_tokens
        self.batch_sizes = sizes_up_to(max_batch_size)
        self.lengths = [_SMALLEST_LENGTH]
        while self.lengths[-1] < max_length:
            self.lengths.append(min(self.lengths[-1] * 2, max_length))
        self._made: dict[Shape, tuple[Tensor, AttentionBatch, Callable[[], Tensor]]] = {}
        self.num_replays = 0

    def shape_of(self, batch: ForwardBatch) -> Shape | None:
        """The recorded shape that a step fits in, or None: no decode, or too large."""
        if batch.mode is not ForwardMode.DECODE:
            return None
        longest = max(each.end for each in batch.slices)
        size = bisect.bisect_left(self.batch_sizes, batch.batch_size)
        length = bisect.bisect_left(self.lengths, longest)
        if size == len(self.batch_sizes) or length == len(self.lengths):
            return None
        return Shape(self.batch_sizes[size], self.lengths[length])

    def capture(self, shape: Shape) -> None:
        """Record a shape. The first run, outside the recording, builds whatever is built at first use."""
        tokens_B = torch.zeros(shape.batch_size, dtype=torch.long)
        attention = AttentionBatch(self._padding(shape.batch_size, shape.length), self._block_tokens)
        attention.padded(0)
        self._run(tokens_B, attention)
        with capturing():
            replay = self._record(lambda: self._run(tokens_B, attention))
        self._made[shape] = tokens_B, attention, replay
        log.info("graph recorded: batch_size=%d length=%d", *shape)

    def replay(self, batch: ForwardBatch, shape: Shape) -> Tensor:
        """The hidden states of a step, in the rows of its own sequences. A shape that comes first here is recorded."""
        if shape not in self._made:
            self.capture(shape)
        tokens_B, attention, replay = self._made[shape]
        tokens_B[: batch.num_tokens] = batch.tokens_T
        padding = self._padding(shape.batch_size - batch.batch_size, 1)
        self._fill(attention, AttentionBatch((*batch.slices, *padding), self._block_tokens))
        self.num_replays += 1
        return replay()[: batch.num_tokens]

    def _fill(self, into: AttentionBatch, given: AttentionBatch) -> None:
        """The recorded batch takes the step's numbers; its tensors stay where they are."""
        into.positions_T.copy_(given.positions_T)
        into.slots_T.copy_(given.slots_T)
        for window, (slots, seen) in into._padded.items():
            new_slots, new_seen = given.padded(window)
            width = min(slots.shape[1], new_slots.shape[1])
            slots.zero_()
            seen.fill_(False)
            slots[:, :width] = new_slots[:, :width]
            seen[:, :width] = new_seen[:, :width]

    def _padding(self, count: int, length: int) -> list[Slice]:
        """Sequences that stand for nothing: all their positions are in the padding block."""
        blocks = (PADDING_BLOCK,) * -(-length // self._block_tokens)
        return [
            Slice(seq_id=-1 - at, token_ids=(0,), start=length - 1, block_ids=blocks, is_sampled=False)
            for at in range(count)
        ]


def cuda_record(pool: Any) -> Callable[[Callable[[], Tensor]], Callable[[], Tensor]]:
    """Records into a CUDA graph. pool: of memory, one for all graphs of a runner: they never run at the same time."""
    return recorder(torch.cuda.CUDAGraph, torch.cuda.graph, torch.cuda.synchronize, pool)


def recorder(
    graph_of: Callable[[], Any], recording: Callable[..., Any], synchronize: Callable[[], None], pool: Any
) -> Callable[[Callable[[], Tensor]], Callable[[], Tensor]]:
    """Records into graphs of a device, by the four parts that its module has of CUDA's interface."""

    def record(run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        graph = graph_of()
        synchronize()
        with recording(graph, pool=pool):
            out = run()

        def replay() -> Tensor:
            graph.replay()
            return out

        return replay

    return record


def plain_record(run: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """Runs it again: for devices without graphs, where the model itself is compiled."""
    return run
