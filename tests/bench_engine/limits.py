"""The worker that says what this machine can do: bytes read a second, and products of the kind that torch multiplies
fastest, by as many threads as the engines get. The same run as the engines', so that both had the same machine."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from tests.bench_engine import loads


def best(work: Callable[[], object], now: Callable[[], float], runs: int = 6) -> float:
    """Seconds of the fastest run."""
    taken = []
    for _ in range(runs):
        start = now()
        work()
        taken.append(now() - start)
    return min(taken)


def main() -> None:
    told = loads.spec()
    torch.set_num_threads(told["threads"])
    now = loads.clock(told["clock"])
    big = torch.ones(64 * 1024 * 1024)  # 256 MB: no cache holds it
    loads.tell(load="read", rate=big.numel() * 4 / best(big.sum, now) / 1e9)
    size = 1536
    for dtype in (torch.float32, torch.bfloat16):
        if dtype is torch.bfloat16 and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            continue  # torch would fall back to a loop
        a = torch.randn(size, size).to(dtype)
        seconds = best(functools.partial(torch.mm, a, a), now)
        loads.tell(load=str(dtype).removeprefix("torch."), rate=2 * size**3 / seconds / 1e9)


if __name__ == "__main__":
    main()
