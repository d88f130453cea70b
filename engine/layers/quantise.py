"""Weights alone in 8 or 4 bits, activations as they are: the matrices of a model brought into whole numbers with
scales. They stay so in memory; the kernels turn them into floats while they multiply.

int8wo: one scale an output, symmetric. int8wo-G, int4wo-G: one for every G inputs; in 4 bits with a lowest value too.
The output matrix takes 8 bits in either scheme: its errors reach the logits undiminished. O outputs, I inputs, G
groups."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from engine.kernels import native, panels
from engine.kernels.panels import Panels
from engine.layers.linear import Linear
from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)
_SCHEME = re.compile(r"int(?P<bits>8|4)wo(?:-(?P<group>\d+))?")
_HEAD_GROUP = 0  # a scale an output
_TINY = 2.0**-24  # the least half


class Model(Protocol):
    head: Linear | None

    def linears(self) -> list[Linear]: ...


class Scheme(NamedTuple):
    """group: inputs that share a scale; 0: all of an output."""

    bits: int
    group: int


def scheme_of(name: str) -> Scheme:
    """Raises BadConfig for a name that is none."""
    found = _SCHEME.fullmatch(name)
    group = int(found["group"] or 0) if found else 0
    if found is None or (found["bits"] == "4" and group not in (32, 64, 128)) or group not in (0, 32, 64, 128):
        raise BadConfig(f"quantisation {name!r}", fix="use int8wo, int8wo-G or int4wo-G with G of 32, 64 or 128")
    return Scheme(int(found["bits"]), group)


def quantise(model: Model, scheme: str) -> int:
    """Every matrix that may be rounded, its plain form given up; how many were. The others are packed. Raises BadConfig
    for a scheme that is none, without the kernels, and for sizes that the scheme can't divide."""
    wanted = scheme_of(scheme)
    linears = [each for each in model.linears() if not each.is_exact]
    check(linears, wanted, model.head)
    before = sum(each.weight.numel() * each.weight.element_size() for each in linears)
    for each in linears:
        each.unpack()
        chosen = Scheme(8, _HEAD_GROUP) if each is model.head else wanted
        bias = None if each.bias is None else each.bias.data
        each.use(quantised(each.weight.data, bias, chosen))
    for each in model.linears():
        if each.is_exact:
            each.pack(is_plain_kept=False)
    after = sum(each.packed.num_bytes for each in linears if each.packed is not None)
    log.info("weights quantised: scheme=%s matrices=%d bytes=%d before=%d", scheme, len(linears), after, before)
    return len(linears)


def check(linears: Iterable[Linear], scheme: Scheme, head: Linear | None) -> None:
    if native.library() is None:
        raise BadConfig("quantised weights without the kernels", fix="install g++, or leave the weights as they are")
    for each in linears:
        group = each.inputs if each is head else scheme.group or each.inputs
        if not panels.is_group(each.inputs, group):
            raise BadConfig(
                f"groups of {group} in a matrix of {each.inputs} inputs on this rank",
                fix="use a smaller group, or fewer ranks",
            )


def quantised(weight_OI: Tensor, bias: Tensor | None, scheme: Scheme) -> Panels:
    """The nearest numbers. Scales are halfs, rounded up so that the ends of a group's range stay within it."""
    outputs, inputs = weight_OI.shape
    groups_OGI = weight_OI.float().reshape(outputs, -1, scheme.group or inputs)
    if scheme.bits == 8:
        scale_OG, low_OG = _half_above(groups_OGI.abs().amax(-1) / 127), None
        numbers = (groups_OGI / scale_OG[..., None]).round_().to(torch.int8)
        packed = panels.pack_int8(numbers.view(outputs, inputs))
    else:
        low_OG = -_half_above(-groups_OGI.amin(-1))
        scale_OG = _half_above((groups_OGI.amax(-1) - low_OG) / 15)
        numbers = ((groups_OGI - low_OG[..., None]) / scale_OG[..., None]).round_().to(torch.uint8)
        packed = panels.pack_int4(numbers.view(outputs, inputs))
    return Panels(
        packed,
        kind=f"int{scheme.bits}",
        outputs=outputs,
        inputs=inputs,
        dtype=weight_OI.dtype,
        bias=bias,
        scale_OG=scale_OG,
        low_OG=low_OG,
        remake=functools.partial(quantised, scheme=scheme),
    )


def _half_above(x: Tensor) -> Tensor:
    """The least half that is not below, as fp32; of positive numbers at least the least one."""
    near = x.half()
    below = near.float() < x
    raised = torch.nextafter(near, torch.full_like(near, torch.inf))
    made = torch.where(below, raised, near).float()
    return torch.where(made.abs() < _TINY, torch.full_like(made, _TINY), made)
