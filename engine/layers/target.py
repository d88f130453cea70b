"""Where a matrix that checkpoints name stands in the layers of one rank: which part of it, in which rows of which
product."""

from __future__ import annotations

from typing import NamedTuple

from engine.layers.linear import Linear


class Target(NamedTuple):
    """inputs, outputs: of the whole matrix. first, last: the rows of `linear` that compute this rank's outputs of it,
    from output_start on. num_inputs: how many inputs this rank has, from input_start on; 0 for all."""

    linear: Linear
    inputs: int
    outputs: int
    first: int
    last: int
    num_inputs: int = 0
    input_start: int = 0
    output_start: int = 0

    @property
    def local_inputs(self) -> int:
        return self.num_inputs or self.inputs
