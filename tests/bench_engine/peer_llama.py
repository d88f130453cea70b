"""The worker of llama.cpp through llama-cpp-python's functions: one context, a sequence a prompt. `quantise` alone: a
model file in another format, made by llama.cpp itself."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))

import llama_cpp as c
import numpy as np

from tests.bench_engine import loads

TYPES = {"F32": 0, "F16": 1, "Q8_0": 7, "BF16": 32}


def quantise(source: str, target: str, kind: str) -> None:
    params = c.llama_model_quantize_default_params()
    params.ftype, params.allow_requantize = TYPES[kind], True
    if c.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(params)):
        raise SystemExit(f"llama.cpp can't make {kind} of {source}")


class Llama:
    def __init__(self, path: str, threads: int) -> None:
        c.llama_backend_init()
        self.model = c.llama_model_load_from_file(path.encode(), c.llama_model_default_params())
        params = c.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = 18432, 2048, 512
        params.n_seq_max, params.n_threads, params.n_threads_batch = loads.BATCH, threads, threads
        if hasattr(params, "kv_unified"):
            params.kv_unified = True
        self.context = c.llama_init_from_model(self.model, params)
        self.vocab_size = c.llama_vocab_n_tokens(c.llama_model_get_vocab(self.model))
        self.batch = c.llama_batch_init(2048, 0, 1)

    def step(self, rows: list[tuple[int, int, int, bool]]) -> list[int]:
        """(token, position, sequence, wanted) -> the likeliest token after each row that is wanted."""
        made = []
        for first in range(0, len(rows), 2048):
            part = rows[first : first + 2048]
            self.batch.n_tokens = len(part)
            for at, (token, position, sequence, is_wanted) in enumerate(part):
                self.batch.token[at], self.batch.pos[at] = token, position
                self.batch.n_seq_id[at], self.batch.seq_id[at][0] = 1, sequence
                self.batch.logits[at] = is_wanted
            if c.llama_decode(self.context, self.batch):
                raise SystemExit("llama_decode failed")
            for at, row in enumerate(part):
                if row[3]:
                    pointer = c.llama_get_logits_ith(self.context, at)
                    made.append(int(np.ctypeslib.as_array(pointer, shape=(self.vocab_size,)).argmax()))
        return made

    def generate(self, prompts: list[list[int]], count: int) -> list[list[int]]:
        c.llama_memory_clear(c.llama_get_memory(self.context), True)
        rows: list[tuple[int, int, int, bool]] = []
        for number, prompt in enumerate(prompts):
            rows += [(token, at, number, at == len(prompt) - 1) for at, token in enumerate(prompt)]
        tokens = self.step(rows)
        made = [[each] for each in tokens]
        for at in range(count - 1):
            tokens = self.step([(each, len(prompts[n]) + at, n, True) for n, each in enumerate(tokens)])
            for out, each in zip(made, tokens, strict=True):
                out.append(each)
        return made


def main() -> None:
    told: dict[str, Any] = loads.spec()
    if "quantise" in told:
        quantise(told["model"], *told["quantise"])
        return
    llama = Llama(told["model"], told["threads"])
    loads.run(llama.generate, told["loads"], loads.clock(told["clock"]))


if __name__ == "__main__":
    main()
