"""Which runner a device has."""

from __future__ import annotations

from engine.runner.mlx_model_runner import MlxModelRunner
from engine.runner.model_runner import ModelRunner
from engine.runner.npu_model_runner import NpuModelRunner

_KINDS: dict[str, type[ModelRunner]] = {"mlx": MlxModelRunner, "npu": NpuModelRunner}


def runner_kind(device: str) -> type[ModelRunner]:
    return _KINDS.get(device, ModelRunner)
