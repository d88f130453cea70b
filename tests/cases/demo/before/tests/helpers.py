"""Builds what the tests need."""

from __future__ import annotations

from pathlib import Path

from minirunner.config import ModelConfig, ServerArgs
from minirunner.loader.checkpoint import write_random_checkpoint
from minirunner.runner.cpu_model_runner import CpuModelRunner
from minirunner.runner.model_runner import ModelRunner


def write_model(folder: Path, name: str = "target", **shape: int) -> str:
    path = str(folder / f"{name}.ckpt")
    write_random_checkpoint(path, **shape)
    return path


def make_runner(server_args: ServerArgs, tp_rank: int = 0, is_draft_worker: bool = False) -> ModelRunner:
    runner_class = CpuModelRunner if server_args.device == "cpu" else ModelRunner
    runner = runner_class(
        model_config=ModelConfig.from_server_args(server_args),
        server_args=server_args,
        gpu_id=tp_rank,
        tp_rank=tp_rank,
        tp_size=server_args.tp_size,
        dist_port=server_args.dist_port,
        is_draft_worker=is_draft_worker,
    )
    runner.initialize()
    runner.start()
    return runner
