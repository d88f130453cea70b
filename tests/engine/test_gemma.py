"""Gemma 3 270M as a package ships it: a hybrid sliding-window model whose weights are packed in four ways."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from engine.models.checkpoint import Checkpoint  # noqa: E402
from engine.text.tokenizer import from_gguf  # noqa: E402
from tests.engine import checkpoints, shipped  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]


@pytest.fixture(scope="module")
def ours() -> tuple[Any, Any]:
    """The tokenizer, and the model that keeps its KV."""
    path = shipped.path("gemma3-270m")
    checkpoint = Checkpoint(path)
    assert checkpoint.gguf is not None
    return from_gguf(checkpoint.gguf), checkpoints.Cached(checkpoints.decoder(path, max_position=1024))


def reference() -> Any:
    """transformers' model of the same numbers. GGUF keeps norms as they are used, transformers around 0."""
    checkpoint = Checkpoint(shipped.path("gemma3-270m"))
    config = checkpoint.config
    made = transformers.Gemma3TextConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.hidden_size,
        intermediate_size=config.ffn_size,
        num_hidden_layers=config.num_layers,
        num_attention_heads=config.num_heads,
        num_key_value_heads=config.num_kv_heads,
        head_dim=config.head_dim,
        sliding_window=512,
        query_pre_attn_scalar=256,
    )
    assert [kind == "full_attention" for kind in made.layer_types] == list(config.is_global)
    with torch.device("meta"):
        model = transformers.Gemma3ForCausalLM(made)
    model.to_empty(device="cpu")
    rotary = type(model.model.rotary_emb)(made)
    model.model.rotary_emb = rotary
    model.model.embed_tokens.embed_scale = torch.tensor(config.hidden_size**0.5)
    tensors = {name: each - 1 if "norm" in name else each for name, each in checkpoint.tensors()}
    missing = model.load_state_dict(tensors, strict=False)
    assert (missing.missing_keys, missing.unexpected_keys) == (["lm_head.weight"], [])
    model.tie_weights()
    return model.eval()


def test_logits_are_those_of_transformers_beyond_the_window_too(ours: tuple[Any, Any]) -> None:
    tokenizer, model = ours
    text = "The window of this model is 512 tokens wide. What is before it, only every sixth layer sees. "
    ids = tokenizer.encode(text * 30)[:600]
    theirs = reference()
    with torch.inference_mode():
        expected = theirs(torch.tensor([ids]), logits_to_keep=8).logits[0]
        found = torch.cat([model(ids[:300], 1), model(ids[:596], 4), model(ids, 4)])[1:]
    assert expected.std() > 1
    assert (found - expected).abs().max() < 2e-3
    assert torch.equal(found.argmax(-1), expected.argmax(-1))


def test_it_speaks_english(ours: tuple[Any, Any]) -> None:
    tokenizer, model = ours

    def go_on(prompt: str, count: int) -> str:
        ids = tokenizer.encode(prompt)
        start = len(ids)
        while len(ids) < start + count:
            ids.append(int(model(ids, 1)[-1].argmax()))
        return str(tokenizer.decode(ids[start:]))

    assert go_on("Monday, Tuesday, Wednesday,", 4) == " Thursday, Friday,"
    assert go_on("The opposite of hot is", 1) == " cold"
    assert go_on("Water freezes at", 5) == " 32 degrees Fahrenheit"
    assert go_on("Once upon a time, there was", 5) == " a little girl named Lily"
