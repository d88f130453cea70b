"""How far greedy answers of the engine agree with transformers on the same weights, in fp32. Every token is held
against the logits that transformers has after what the engine itself said before it, so that one near tie does not end
the comparison. `python -m tests.engine.agreement` measures 50 answers of 256 tokens on the shipped model."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct

from engine import LLM, SamplingParams
from engine.loader.pull import DEFAULT, locate
from engine.models.checkpoint import Checkpoint

CLEAR = 1e-3  # of logits in fp32, whose sums have another order
NUM_TOKENS = 256
_BEGINNINGS = ("The capital of", "A short story about", "How to repair", "Three facts about", "def")
_SUBJECTS = (
    "France",
    "a clock",
    "the sea",
    "bread",
    "Python",
    "the moon",
    "an old bridge",
    "mathematics",
    "rain",
    "a bicycle",
)
PROMPTS = [f"{beginning} {subject}" for beginning in _BEGINNINGS for subject in _SUBJECTS]


class Agreement(Struct, frozen=True, kw_only=True):
    """num_best: tokens that are transformers' likeliest. num_wrong: those whose logit is further than CLEAR below it.
    num_whole: answers all of whose tokens are the likeliest. worst: of the logits that were chosen, how far below.
    off: the largest difference of a log-probability."""

    num_tokens: int
    num_best: int
    num_wrong: int
    num_answers: int
    num_whole: int
    worst: float
    off: float


def transformers_model(path: str) -> Any:
    """With the weights as our loader unpacks them: its own reading of GGUF wants one more library."""
    from transformers import LlamaConfig, LlamaForCausalLM

    checkpoint = Checkpoint(Path(path))
    config = checkpoint.config
    with torch.device("meta"):
        made = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.hidden_size,
                intermediate_size=config.ffn_size,
                num_hidden_layers=config.num_layers,
                num_attention_heads=config.num_heads,
                num_key_value_heads=config.num_kv_heads,
                max_position_embeddings=config.max_position,
                rms_norm_eps=config.norm_eps,
                rope_parameters={"rope_type": "default", "rope_theta": config.rope.theta},
                tie_word_embeddings=True,
            )
        )
    made.to_empty(device="cpu")
    missing = made.load_state_dict({name: each.float() for name, each in checkpoint.tensors()}, strict=False)
    assert (missing.missing_keys, missing.unexpected_keys) == (["lm_head.weight"], [])
    made.tie_weights()
    made.model.rotary_emb = type(made.model.rotary_emb)(made.config)  # its angles are no weights
    return made.train(False)


def measure(path: str, prompts: Sequence[str], num_tokens: int, **options: Any) -> Agreement:
    params = SamplingParams(temperature=0, max_tokens=num_tokens, ignore_eos=True, logprobs=0)
    with LLM(path, dtype="float32", max_total_tokens=len(prompts) * (num_tokens + 48), **options) as llm:
        results = llm.generate(list(prompts), params)
    reference = transformers_model(path)
    below, offs, is_whole = [], [], []
    for result in results:
        whole = [*result.prompt_token_ids, *result.token_ids]
        with torch.inference_mode():
            hidden_TD = reference.model(torch.tensor([whole])).last_hidden_state[
                0, len(result.prompt_token_ids) - 1 : -1
            ]
            logits_TV = reference.lm_head(hidden_TD)
        chosen_T = logits_TV.gather(1, torch.tensor(result.token_ids)[:, None])[:, 0]
        below.append(logits_TV.amax(-1) - chosen_T)
        said_T = torch.tensor([each.chosen.logprob for each in result.logprobs])
        offs.append(float((chosen_T - logits_TV.logsumexp(-1) - said_T).abs().max()))
        is_whole.append(bool((below[-1] == 0).all()))
    every = torch.cat(below)
    return Agreement(
        num_tokens=len(every),
        num_best=int((every == 0).sum()),
        num_wrong=int((every > CLEAR).sum()),
        num_answers=len(results),
        num_whole=sum(is_whole),
        worst=float(every.max()),
        off=max(offs),
    )


def main() -> int:
    """1 where a token is not the likeliest although the margin is clear."""
    torch.set_num_threads(1)
    started = time.process_time()
    found = measure(str(locate(DEFAULT, Path("~/.cache/unmoved-engine").expanduser())), PROMPTS, NUM_TOKENS, threads=1)
    sys.stdout.write(f"{found}\n{time.process_time() - started:.0f} s of CPU time\n")
    return int(found.num_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
