"""Where a tensor of a checkpoint, or this rank's part of it, goes."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from engine.models.feed_forward import FeedForward
from engine.schema.errors import BadModel


class Slot(NamedTuple):
    """target: where this rank's part of a tensor goes. total: the tensor's length along `axis`. start: of the part; how
    long it is the target says. A padded vocabulary may end before its last part does: what is lacking stays zero.
    copies: other places for the same part, where an expert stands on this rank more than once."""

    target: Tensor
    total: int
    axis: int = 0
    start: int = 0
    copies: tuple[Tensor, ...] = ()

    def check(self, name: str, tensor: Tensor) -> None:
        """Raises BadModel for a tensor of another shape."""
        shape = list(self.target.shape)
        shape[self.axis] = self.total
        if list(tensor.shape) != shape:
            raise BadModel(
                f"{name} has shape {tuple(tensor.shape)}, needed is {tuple(shape)}",
                fix="the configuration and the weights are of different models",
            )

    def fill(self, name: str, tensor: Tensor) -> None:
        """Raises BadModel for a tensor of another shape."""
        self.check(name, tensor)
        start = min(self.start, self.total)
        length = min(self.target.shape[self.axis], self.total - start)
        for target in (self.target, *self.copies):
            target.narrow(self.axis, 0, length).copy_(tensor.narrow(self.axis, start, length))


def ffn_slots(ffn: FeedForward, rank: int) -> dict[str, Slot]:
    """Of one feed-forward, by the names of its matrices."""
    width, found = ffn.gate_up.weight.shape[0] // 2, {}
    for name, part in (("gate", slice(0, width)), ("up", slice(width, 2 * width))):
        found[f"{name}_proj.weight"] = Slot(ffn.gate_up.weight.data[part], ffn.size, 0, rank * width)
    found["down_proj.weight"] = Slot(ffn.down.weight.data, ffn.size, 1, rank * width)
    return found
