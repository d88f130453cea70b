"""Our decoder against transformers on the same weights, in fp32: every family, backend, way to cut the tokens into
steps, number of ranks and stages."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from engine.config import model_config  # noqa: E402
from engine.config.model_config import Rope, from_hf  # noqa: E402
from engine.distributed.group import Group  # noqa: E402
from engine.kernels.panels import Panels, pack  # noqa: E402
from engine.layers.linear import Linear, can_reorder  # noqa: E402
from engine.layers.rotary import inverse_frequencies  # noqa: E402
from engine.models import weights  # noqa: E402
from engine.models.checkpoint import Checkpoint  # noqa: E402
from engine.models.decoder import kv_share, stages  # noqa: E402
from engine.schema.errors import BadConfig, BadModel  # noqa: E402
from tests.engine import checkpoints  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
_rng = random.Random(3)
SEQUENCES = [[_rng.randrange(199) for _ in range(length)] for length in (23, 9, 1, 14)]
CLOSE = 2e-4  # of logits up to about 5: what fp32 sums in another order differ by


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, list[Any]]]:
    """The folder of a family's checkpoint, and the reference's logits for every sequence."""
    known: dict[str, tuple[Path, list[Any]]] = {}

    def make(family: str) -> tuple[Path, list[Any]]:
        if family not in known:
            folder = tmp_path_factory.mktemp(family)
            model = checkpoints.write(family, folder)
            with torch.inference_mode():
                known[family] = folder, [model(torch.tensor([each])).logits[0] for each in SEQUENCES]
        return known[family]

    return make


def check(found: list[Any], expected: list[Any]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert theirs.std() > 0.3  # weights that do something
        assert (ours - theirs).abs().max() < CLOSE
        assert torch.equal(ours.argmax(-1), theirs.argmax(-1))


@pytest.mark.parametrize("attention", ["native", "reference", "sdpa"])
@pytest.mark.parametrize("family", checkpoints.FAMILIES)
def test_logits_are_those_of_transformers(made: Any, family: str, attention: str) -> None:
    folder, expected = made(family)
    model = checkpoints.decoder(folder)
    with torch.inference_mode():
        for chunks, block_tokens in (([99], 16), ([5, 1], 4), ([3, 8, 1], 1)):
            found = checkpoints.logits(
                [model], SEQUENCES, chunks=chunks, attention=attention, block_tokens=block_tokens
            )
            check(found, expected)


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_stages_give_what_the_whole_gives(made: Any, family: str) -> None:
    folder, expected = made(family)
    parts = [checkpoints.decoder(folder, stage=each) for each in stages(4, 3)]
    assert [len(each.layers) for each in parts] == [2, 1, 1]
    with torch.inference_mode():
        check(checkpoints.logits(parts, SEQUENCES, chunks=[6], attention="sdpa"), expected)


def run_rank(rank: int, size: int, folders: dict[str, Path], out: Path) -> None:
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{out}/store", rank=rank, world_size=size)
    group = Group(range(size), rank, dist.group.WORLD)
    for family, folder in folders.items():
        with torch.inference_mode():
            model = checkpoints.decoder(folder, group=group)
            found = checkpoints.logits([model], SEQUENCES, chunks=[7], attention="sdpa")
            for each in model.linears():
                each.pack(is_plain_kept=False)
            packed = checkpoints.logits([model], SEQUENCES, chunks=[7], attention="native")
        torch.save(found, out / f"{family}-{rank}.pt")
        torch.save(packed, out / f"{family}-{rank}-packed.pt")
    least = group.minimum(10.0 + rank)
    (out / f"least-{rank}").write_text(str(least))
    dist.destroy_process_group()


def test_ranks_give_what_one_gives(made: Any, tmp_path: Path) -> None:
    families = ["llama-tied", "qwen2", "gemma3"]  # 4, 2 and 1 KV heads over two ranks; a vocabulary that is odd
    folders = {family: made(family)[0] for family in families}
    context: Any = mp
    context.start_processes(run_rank, (2, folders, tmp_path), nprocs=2, start_method="spawn")
    for family in families:
        for rank in range(2):
            for name in (f"{family}-{rank}.pt", f"{family}-{rank}-packed.pt"):
                check(torch.load(tmp_path / name), made(family)[1])
    assert [(tmp_path / f"least-{rank}").read_text() for rank in range(2)] == ["10.0", "10.0"]


def test_heads_that_do_not_divide_are_refused(made: Any) -> None:
    folder, _ = made("llama")
    with pytest.raises(BadConfig, match="num_heads=4 over 3 ranks"):
        checkpoints.decoder(folder, group=Group(range(3), 0))


@pytest.mark.parametrize("family", checkpoints.FAMILIES)
def test_packed_weights_and_layers_in_one_call_give_the_same(
    made: Any, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, expected = made(family)
    model = checkpoints.decoder(folder)
    if not all(each.pack(is_plain_kept=False) for each in model.linears()):
        pytest.skip("no compiler: there are no panels")
    kept = {each.weight.numel() for each in model.linears()}
    assert kept == {0}
    answered: list[bool] = []
    whole = model._fused

    def counted(*given: Any) -> Any:
        out = whole(*given)
        answered.append(out is not None)
        return out

    with torch.inference_mode():
        monkeypatch.setattr(model, "_fused", counted)
        for chunks, block_tokens in (([99], 16), ([5, 1], 4)):
            found = checkpoints.logits([model], SEQUENCES, chunks=chunks, attention="native", block_tokens=block_tokens)
            check(found, expected)
        assert answered and all(answered)
        monkeypatch.setattr(model, "_fused", lambda *_: None)
        apart = checkpoints.logits([model], SEQUENCES, chunks=[5, 1], attention="native")
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, apart, strict=True))


def test_layers_that_something_hangs_in_are_called(made: Any) -> None:
    model = checkpoints.decoder(made("qwen3")[0])
    if not all(each.pack() for each in model.linears()):
        pytest.skip("no compiler: there are no panels")
    plain = checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native")
    seen: list[Any] = []
    hook = model.layers[1].register_forward_hook(lambda *given: seen.append(given[2].clone()))
    with torch.inference_mode():
        found = checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native")
    assert len(seen) == 1 and torch.equal(found[0], plain[0])
    hook.remove()
    ffn: Any = model.layers[2].feed_forward
    double = ffn.gate_up.register_forward_hook(lambda _, __, out: 2 * out)
    with torch.inference_mode():
        changed = checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native")
    assert not torch.allclose(changed[0], plain[0])
    double.remove()


@pytest.mark.parametrize("is_plain_kept", [True, False])
@pytest.mark.parametrize("family", ["llama-tied", "qwen2"])
def test_new_weights_are_packed_as_the_old_ones_were(made: Any, family: str, is_plain_kept: bool) -> None:
    folder, expected = made(family)
    model = checkpoints.decoder(folder)
    if not all(each.pack(is_plain_kept=is_plain_kept) for each in model.linears()):
        pytest.skip("no compiler: there are no panels")
    named = list(Checkpoint(folder).tensors())
    weights.load(model, [(name, torch.zeros_like(each)) for name, each in named], source="x")
    with torch.inference_mode():
        assert checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native")[0].abs().max() == 0
        weights.load(model, named, source="x")
        check(checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native"), expected)
    assert all(each.packed is not None and (each.weight.numel() > 0) is is_plain_kept for each in model.linears())
    assert all(each.unpack() and not each.unpack() for each in model.linears())
    if model.config.is_tied:
        assert model.head is not None and model.embedding is not None
        assert model.head.weight is model.embedding.weight
    with torch.inference_mode():
        check(checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native"), expected)


def rewritten(folder: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, target / "model.safetensors")
    (target / "config.json").write_text((folder / "config.json").read_text())
    return target


def test_obsolete_weights_are_skipped_and_said(made: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = rewritten(
        made("llama")[0], tmp_path, lambda all_: all_.update({"model.layers.0.self_attn.kv_scale": torch.ones(1)})
    )
    checkpoints.decoder(folder)
    assert caplog.text.count("obsolete=1") == 1


def grow(tensors: dict[str, Any]) -> None:
    tensors["model.norm.weight"] = torch.ones(65)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda all_: all_.pop("model.layers.2.mlp.up_proj.weight"),
            r"1 weights are missing, such as .*2\.mlp",
        ),
        (lambda all_: all_.update({"model.layers.9.x.weight": torch.ones(1)}), "has no place"),
        (lambda all_: all_.update({"model.extra": torch.ones(1)}), r"model\.extra has no place"),
        (grow, r"model\.norm\.weight has shape \(65,\)"),
    ],
)
def test_weights_that_do_not_fit_are_named(made: Any, tmp_path: Path, change: Any, message: str) -> None:
    folder = rewritten(made("llama")[0], tmp_path, change)
    with pytest.raises(BadModel, match=message):
        checkpoints.decoder(folder)


@pytest.mark.parametrize("first", ["lm_head.weight", "model.embed_tokens.weight"])
def test_tied_weights_come_in_any_order(made: Any, first: str) -> None:
    folder, expected = made("llama-tied")
    checkpoint = Checkpoint(folder)
    named = dict(checkpoint.tensors())
    named.setdefault("lm_head.weight", named["model.embed_tokens.weight"])
    model = checkpoints.decoder(folder)
    assert model.head is not None
    model.head.weight.data.zero_()
    in_order = [(first, named[first]), *((name, each) for name, each in named.items() if name != first)]
    weights.load(model, iter(in_order), source="x")
    with torch.inference_mode():
        check(checkpoints.logits([model], SEQUENCES, chunks=[99], attention="sdpa"), expected)
    with pytest.raises(BadModel, match="comes twice"):
        weights.load(model, [*in_order, ("model.norm.weight", named["model.norm.weight"])], source="x")


@pytest.mark.parametrize("rows", [1, 3, 16, 40])
def test_packed_products_give_the_same_bits(rows: int) -> None:
    torch.manual_seed(0)
    layer = Linear(96, 160, has_bias=False, dtype=torch.bfloat16)
    layer.weight.data.normal_()
    x = torch.randn(rows, 96, dtype=torch.bfloat16)
    plain = layer(x)
    kept = layer.weight.data.clone()
    if not can_reorder(kept):
        pytest.skip("oneDNN has no packed form here")
    assert layer.pack(is_plain_kept=False) and layer.weight.numel() == 0
    assert torch.equal(layer(x), plain) and layer.unpack() and torch.equal(layer.weight, kept)


@pytest.mark.parametrize("family", ["llama", "llama-tied"])
def test_weights_that_are_packed_alone_can_be_looked_at(made: Any, family: str) -> None:
    model = checkpoints.decoder(made(family)[0])
    expected = {name: each.target.clone() for name, each in weights.slots(model).items()}
    packed = [each for each in model.linears() if each.pack(is_plain_kept=False)]
    if not packed:
        pytest.skip("nothing is packed here")
    forms = [each.packed for each in packed]
    with weights.plain(model):
        found = weights.slots(model)
        assert all(torch.equal(found[name].target, each) for name, each in expected.items())
    assert [each.packed for each in packed] == forms and not any(each.weight.numel() for each in packed)
    with torch.inference_mode():
        check(checkpoints.logits([model], SEQUENCES, chunks=[99], attention="sdpa"), made(family)[1])


def test_configurations_that_are_odd() -> None:
    base = {**checkpoints.SIZES, "architectures": ["LlamaForCausalLM"]}
    assert from_hf({**base, "rope_scaling": {"type": "linear", "factor": 2}}, source="x").rope == Rope(factor=2.0)
    for change, message in (
        ({"architectures": ["BertModel"]}, "BertModel"),
        ({"hidden_size": None}, "x does not say hidden_size"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "rope scaling 'yarn'"),
        ({"num_key_value_heads": 3}, "4 heads over 3 KV heads"),
        ({"num_hidden_layers": 0}, "num_layers=0"),
        ({"hidden_act": "relu"}, "hidden_act='relu'"),
        ({"partial_rotary_factor": 0.5}, r"partial_rotary_factor=0\.5 is not supported"),
        ({"final_logit_softcapping": 30.0}, "final_logit_softcapping"),
    ):
        with pytest.raises(BadModel, match=message):
            from_hf(json.loads(json.dumps({**base, **change})), source="x")


def test_the_rotary_scaling_of_a_gguf_file_counts(tmp_path: Path) -> None:
    """Llama 3's ramp stands in such a file as a tensor alone: without it every answer would look right and be wrong."""
    import gguf

    ramp = Rope(theta=5000.0, factor=8.0, low=1.0, high=4.0, original=64)
    wanted = inverse_frequencies(ramp, 16)
    settings: dict[str, Any] = {"embedding_length": 64, "attention.head_count": 4, "block_count": 2}
    settings |= {"feed_forward_length": 96, "context_length": 256, "attention.layer_norm_rms_epsilon": 1e-6}
    settings |= {"rope.freq_base": 5000.0}
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    for key, value in settings.items():
        (writer.add_float32 if isinstance(value, float) else writer.add_uint32)(f"llama.{key}", value)
    writer.add_tensor("token_embd.weight", torch.zeros(9, 64).numpy())
    writer.add_tensor("rope_freqs.weight", (inverse_frequencies(Rope(theta=5000.0), 16) / wanted).numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    checkpoint = Checkpoint(tmp_path / "m.gguf")
    assert torch.allclose(inverse_frequencies(checkpoint.config.rope, 16), wanted, rtol=1e-6)
    assert [name for name, _ in checkpoint.tensors()] == ["model.embed_tokens.weight"]

    def rope(**more: Any) -> Rope:
        every = {
            "general.architecture": "llama",
            **{f"llama.{key}": each for key, each in {**settings, **more}.items()},
        }
        return model_config.from_gguf(every.get, every.__getitem__, is_tied=True, vocab_size=9).rope

    assert rope() == Rope(theta=5000.0)
    linear = {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0}
    assert rope(**linear) == rope(**{"rope.scale_linear": 8.0}) == Rope(theta=5000.0, factor=8.0)
    with pytest.raises(BadModel, match="rope scaling 'yarn'"):
        rope(**{"rope.scaling.type": "yarn"})
    with pytest.raises(BadModel, match=r"dimension_count=2 with heads of"):
        rope(**{"rope.dimension_count": 2})


def test_kv_heads_that_ranks_would_have_to_cut_are_refused(tmp_path: Path) -> None:
    """Three KV heads of two query heads each over two ranks: the first rank's third query head needs the second."""
    checkpoints.write("llama", tmp_path, hidden_size=96, num_attention_heads=6, num_key_value_heads=3)
    with pytest.raises(BadConfig, match="num_kv_heads=3 over 2 ranks"):
        checkpoints.decoder(tmp_path, group=Group((0, 1), 1, None, None))
    assert [kv_share(2, size) for size in (1, 2, 4)] == [2, 1, 1]


def test_layers_that_are_packed_anew_are_those_that_are_multiplied(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python gives the place of what is gone to what comes next: a form is not known by where it is."""
    model, plain = (checkpoints.decoder(made("llama")[0]) for _ in range(2))
    if not all(each.pack(is_plain_kept=False) and isinstance(each.packed, Panels) for each in model.linears()):
        pytest.skip("no compiler: there are no panels")
    cache, gone = checkpoints.cache_of(model, 4), []
    monkeypatch.setattr(checkpoints, "cache_of", lambda *_: cache)
    with torch.inference_mode():
        before = checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native")
        for each, other in zip(model.linears(), plain.linears(), strict=True):
            assert isinstance(each.packed, Panels)
            gone.append(dict(vars(each.packed)))  # its memory stays, so that a wrong answer is one and no crash
            other.weight.data.mul_(1.5)
            vars(each.packed).update(vars(pack(other.weight.data, None)))
        found = checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native")
        check(found, checkpoints.logits([plain], SEQUENCES, chunks=[99], attention="reference"))
    assert (found[0] - before[0]).abs().max() > CLOSE
