"""Runs a function in several processes that meet over gloo, and hands back what each returned. A rank that fails or
hangs fails the test, and none stays."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

TIMEOUT_S = 240.0


def run(target: Callable[..., Any], size: int, tmp_path: Path, *args: Any) -> list[Any]:
    """target: a function of a module, called as target(rank, size, *args)."""
    context: Any = mp.get_context("spawn")
    processes = [
        context.Process(target=_rank, args=(target, rank, size, str(tmp_path), args), daemon=True)
        for rank in range(size)
    ]
    for each in processes:
        each.start()
    try:
        for rank, each in enumerate(processes):
            each.join(TIMEOUT_S)
            error = tmp_path / f"error-{rank}"
            found = [path.read_text() for path in sorted(tmp_path.glob("error-*"))]
            assert each.exitcode == 0 and not error.exists(), f"rank {rank}: exit {each.exitcode}: {found}"
    finally:
        for each in processes:
            each.kill()
            each.join()
    return [torch.load(tmp_path / f"made-{rank}.pt", weights_only=False) for rank in range(size)]


def end_with_parent() -> None:
    """So that no rank outlives a test run that somebody killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _rank(target: Callable[..., Any], rank: int, size: int, folder: str, args: tuple[Any, ...]) -> None:
    end_with_parent()
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    try:
        if size > 1:
            dist.init_process_group(
                "gloo",
                init_method=f"file://{folder}/store",
                rank=rank,
                world_size=size,
                timeout=timedelta(seconds=TIMEOUT_S / 2),
            )
        with torch.inference_mode():
            torch.save(target(rank, size, *args), Path(folder) / f"made-{rank}.pt")
        if size > 1:
            dist.barrier()
            dist.destroy_process_group()
    except BaseException:  # noqa: BLE001 - whatever it is, the test has to hear of it
        (Path(folder) / f"error-{rank}").write_text(traceback.format_exc())
        os._exit(1)
