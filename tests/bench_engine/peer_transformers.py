"""The worker of transformers: eager, static batches of prompts of one length."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers

from tests.bench_engine import loads


def main() -> None:
    told = loads.spec()
    torch.set_num_threads(told["threads"])
    kind = transformers.AutoModelForCausalLM
    model: Any = kind.from_pretrained(told["model"], dtype=getattr(torch, told["dtype"]))
    model.eval()

    @torch.inference_mode()
    def generate(prompts: list[list[int]], count: int) -> list[list[int]]:
        length = len(prompts[0])
        out = model.generate(
            torch.tensor(prompts),
            attention_mask=torch.ones(len(prompts), length, dtype=torch.long),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            pad_token_id=0,
        )
        return [each[length:].tolist() for each in out]

    loads.run(generate, told["loads"], loads.clock(told["clock"]))


if __name__ == "__main__":
    main()
