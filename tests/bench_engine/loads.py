"""The loads of the engine's benchmark, and what a worker is told and tells. A worker is a script that one engine's own
Python runs: `python WORKER SPEC`, SPEC as JSON; it prints one line of JSON a load, so that what it did before it ran
out of time counts. Needs the standard library alone."""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

PREFILL, BATCH, BATCH_IN, BATCH_OUT = 1024, 16, 128, 128
DECODE_IN, DECODE_OUT = 32, 64
SHARED, OWN, PREFIX_OUT = 900, 100, 8
Generate = Callable[[list[list[int]], int], list[list[int]]]  # prompts, tokens to make of each -> the tokens


def spec() -> dict[str, Any]:
    """What this worker was told: model, threads, clock, and what its engine needs beside."""
    found: dict[str, Any] = json.loads(sys.argv[1])
    return found


def clock(name: str) -> Callable[[], float]:
    """wall, or cpu: of this process, all its threads."""
    return time.process_time if name == "cpu" else time.perf_counter


def prompt(length: int, seed: int) -> list[int]:
    """Words that mean nothing: the work is the same, whatever they say."""
    drawn = random.Random(seed)
    return [drawn.randrange(100, 40000) for _ in range(length)]


def tell(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def run(generate: Generate, wanted: list[str], now: Callable[[], float]) -> None:
    """Every load that is wanted, once small to warm up, then measured; rates in tokens a second."""
    generate([prompt(16, 1)], 4)
    for name in wanted:
        if name == "decode":
            first, whole = (_seconds(generate, [prompt(DECODE_IN, 2)], count, now) for count in (1, 1 + DECODE_OUT))
            tell(load=name, rate=DECODE_OUT / (whole - first))
        elif name == "prefill":
            tell(load=name, rate=PREFILL / min(_seconds(generate, [prompt(PREFILL, each)], 1, now) for each in (3, 4)))
        elif name == "batch":
            prompts = [prompt(BATCH_IN, 10 + each) for each in range(BATCH)]
            tell(load=name, rate=BATCH * BATCH_OUT / _seconds(generate, prompts, BATCH_OUT, now))
        elif name == "prefix":
            shared = prompt(SHARED, 5)
            generate([shared], 1)
            prompts = [shared + prompt(OWN, 40 + each) for each in range(BATCH)]
            tell(load=name, rate=BATCH / _seconds(generate, prompts, PREFIX_OUT, now))
    tell(load="memory", rate=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _seconds(generate: Generate, prompts: list[list[int]], count: int, now: Callable[[], float]) -> float:
    start = now()
    made = generate(prompts, count)
    taken = now() - start
    assert [len(each) for each in made] == [count] * len(prompts), "every prompt gets all of its tokens"
    return taken
