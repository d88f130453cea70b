"""`bench`: how fast this machine is with a model, under three loads of our own: one answer, a batch of them, and
prompts that begin alike. Comparisons with other engines are the benchmark's (tests/bench)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any

import msgspec
import typer
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from engine.cli.console import OK, fetch, out, start_log
from engine.cli.follow import followed
from engine.cli.options import server_options
from engine.config.server_args import ServerArgs
from engine.schema.errors import BadConfig
from engine.schema.sampling import SamplingParams


class Load(str, Enum):
    """Which load is measured."""

    SINGLE = "single"
    BATCH = "batch"
    PREFIX = "prefix"


class Measured(Struct, frozen=True, kw_only=True):
    """One load. first_s: until the first text of the first answer. cached_tokens: of the prompts', those that were
    there."""

    load: str
    requests: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    first_s: float
    all_s: float

    @property
    def output_per_s(self) -> float:
        return self.output_tokens / self.all_s


_SHARED = 0.9  # of a prompt, under the load `prefix`


@server_options
def bench(
    args: ServerArgs,
    load: Annotated[list[Load] | None, typer.Option("--load", help="Which load; all of them by default.")] = None,
    input_tokens: Annotated[int, typer.Option("--input-tokens", help="Of each prompt.")] = 128,
    output_tokens: Annotated[int, typer.Option("--output-tokens", help="Of each answer.")] = 128,
    requests: Annotated[int, typer.Option("--requests", help="Of the loads with several.")] = 16,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Measure this machine: one answer, a batch, prompts that begin alike. Greedy, tokens drawn at random."""
    start_log()
    if min(input_tokens, output_tokens, requests) < 1:
        raise BadConfig("a load of nothing", fix="give at least 1 token in, 1 out, and 1 request")
    if (status := followed(args)) is not None:
        return status
    fetch(args)
    from engine.core.llm import LLM

    begun = time.perf_counter()
    with LLM(**msgspec.structs.asdict(args)) as llm:
        load_s = time.perf_counter() - begun
        rng = random.Random(0)

        def draw(count: int) -> list[int]:
            return [rng.randrange(llm.vocab_size) for _ in range(count)]

        llm.generate([draw(16)], _params(4))  # what the first step of a process does once is no load's
        found = [
            _measure(llm, each.value, _prompts(each, draw, input_tokens, requests), output_tokens)
            for each in load or list(Load)
        ]
    _show(found, load_s, as_json=as_json)
    return OK


def _params(count: int) -> SamplingParams:
    return SamplingParams(temperature=0.0, max_tokens=count, ignore_eos=True)


def _prompts(load: Load, draw: Callable[[int], list[int]], length: int, count: int) -> list[list[int]]:
    if load is Load.SINGLE:
        return [draw(length)]
    if load is Load.BATCH:
        return [draw(length) for _ in range(count)]
    shared = draw(int(length * _SHARED))
    return [shared + draw(length - len(shared)) for _ in range(count)]


def _measure(llm: Any, name: str, prompts: list[list[int]], num_output: int) -> Measured:
    before = llm.stats()
    begun = time.perf_counter()
    times: list[float] = []
    llm.generate(prompts, _params(num_output), on_text=lambda: times.append(time.perf_counter() - begun))
    all_s = time.perf_counter() - begun
    after = llm.stats()
    return Measured(
        load=name,
        requests=len(prompts),
        prompt_tokens=after.prompt_tokens - before.prompt_tokens,
        cached_tokens=after.cached_tokens - before.cached_tokens,
        output_tokens=after.output_tokens - before.output_tokens,
        first_s=times[0],
        all_s=all_s,
    )


def _show(found: list[Measured], load_s: float, *, as_json: bool) -> None:
    if as_json:
        rows = [{**msgspec.structs.asdict(each), "output_per_s": each.output_per_s} for each in found]
        out(msgspec.json.encode({"load_s": load_s, "loads": rows}).decode())
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("load")
    for each in ("requests", "prompt tokens", "cached", "output tokens", "first s", "all s", "output/s"):
        table.add_column(each, justify="right")
    for row in found:
        counts = (row.requests, row.prompt_tokens, row.cached_tokens, row.output_tokens)
        times = (f"{row.first_s:.2f}", f"{row.all_s:.2f}", f"{row.output_per_s:.1f}")
        table.add_row(row.load, *map(str, counts), *times)
    console = Console(soft_wrap=True)
    console.print(f"loaded in {load_s:.2f} s")
    console.print(table)
