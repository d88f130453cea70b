"""Tensor parallelism by torch's DTensor: modules say in `_tp_plan` how each of their linear layers is shared out, and
the exchange between ranks becomes DTensor's instead of ours. The shares are those that the layers hold already."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from engine.distributed.group import Group, single
from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)

# Loaded where it is used: it takes a second, and hardly any run asks for it.
if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor


def supports_tensor_parallel(model: nn.Module) -> bool:
    return any(getattr(each, "_tp_plan", None) for each in model.modules())


def tensor_parallel(model: nn.Module, mesh: DeviceMesh) -> int:
    """Turn the weights of every planned layer into DTensors over the mesh; how many layers. Raises BadConfig for a
    model without a plan, or a plan with a style that is none."""
    if not supports_tensor_parallel(model):
        raise BadConfig(
            f"{type(model).__name__} has no plan for torch's tensor parallelism", fix="leave the option out"
        )
    count = 0
    for module in list(model.modules()):
        for name, style in (getattr(module, "_tp_plan", None) or {}).items():
            if style not in _STYLES:
                raise BadConfig(f"style {style!r} of {name}", fix=f"use one of {', '.join(_STYLES)}")
            _STYLES[style](getattr(module, name), mesh)
            count += 1
    return count


def _colwise(layer: Any, mesh: DeviceMesh) -> None:
    """Every rank has all inputs and computes its own outputs."""
    from torch.distributed.tensor import DTensor, Replicate

    _share(layer, mesh, 0)
    if layer.bias is not None:
        layer.bias = _dtensor(layer.bias, mesh, 0)
    layer.register_forward_pre_hook(lambda _, given: (DTensor.from_local(given[0], mesh, [Replicate()]), *given[1:]))
    layer.register_forward_hook(lambda _layer, _given, made: made.to_local())


def _rowwise(layer: Any, mesh: DeviceMesh) -> None:
    """Every rank has its own inputs; the sum over the ranks is waited for, since what follows is no DTensor."""
    from torch.distributed.tensor import DTensor, Replicate, Shard

    _share(layer, mesh, 1)
    layer.group = single()  # the sum is DTensor's now
    layer.register_forward_pre_hook(lambda _, given: (DTensor.from_local(given[0], mesh, [Shard(-1)]), *given[1:]))
    layer.register_forward_hook(lambda _layer, _given, made: _waited(made.redistribute(placements=[Replicate()])))


def _share(layer: Any, mesh: DeviceMesh, dim: int) -> None:
    layer.weight = _dtensor(layer.weight, mesh, dim)


def _dtensor(local: Tensor, mesh: DeviceMesh, dim: int) -> nn.Parameter:
    from torch.distributed.tensor import DTensor, Shard

    made = DTensor.from_local(local.data, mesh, [Shard(dim)], run_check=False)
    return nn.Parameter(made, requires_grad=False)


def _waited(made: DTensor) -> Tensor:
    local = made.to_local()
    wait = getattr(local, "wait", None)
    result: Tensor = local if wait is None else wait()
    return result


_STYLES: dict[str, Callable[[Any, Any], None]] = {"colwise_sharded": _colwise, "rowwise": _rowwise}


def apply_torch_tp(*, tp_size: int, rank: int, tp_group: Group, device: str, model: nn.Module) -> None:
    """Shares of the layers as DTensors, by the plans that the model's modules carry."""
    from torch.distributed.device_mesh import DeviceMesh

    log.info("torch tp: size=%d rank=%d", tp_size, rank)
    assert tp_group.handle is not None, "a group of one has nothing to share"
    device_mesh = DeviceMesh.from_group(tp_group.handle, device)
    tensor_parallel(model, device_mesh)
