"""The worker of our own engine, through its public interface. `first` alone: from the start of the process to the first
token."""

from __future__ import annotations

import sys
import time
from pathlib import Path

STARTED = time.perf_counter()
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine import LLM, SamplingParams  # noqa: E402
from tests.bench_engine import loads  # noqa: E402


def main() -> None:
    told = loads.spec()
    llm = LLM(told["model"], threads=told["threads"], **told.get("options", {}))

    def generate(prompts: list[list[int]], count: int) -> list[list[int]]:
        params = SamplingParams(temperature=0, max_tokens=count, ignore_eos=True)
        return [list(each.token_ids) for each in llm.generate(prompts, params)]

    generate([loads.prompt(16, 1)], 1)
    loads.tell(load="first", rate=time.perf_counter() - STARTED)
    loads.run(generate, told["loads"], loads.clock(told["clock"]))


if __name__ == "__main__":
    main()
