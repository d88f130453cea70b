"""Sparse models against transformers: logits, whatever is packed or rounded; the routing alone; what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from engine.config import model_config  # noqa: E402
from engine.config.moe_config import MoeConfig  # noqa: E402
from engine.kernels import experts as kernels  # noqa: E402
from engine.kernels import native, panels  # noqa: E402
from engine.layers import batch_invariant  # noqa: E402
from engine.layers.quantise import quantise  # noqa: E402
from engine.models.decoder import stages  # noqa: E402
from engine.moe import parallel  # noqa: E402
from engine.moe.experts import Experts  # noqa: E402
from engine.moe.router import choose  # noqa: E402
from engine.schema.errors import BadModel  # noqa: E402
from tests.engine import checkpoints  # noqa: E402

SEQUENCES = [[(7 * at + 3 * n) % 199 for at in range(n)] for n in (5, 23, 12)]
needs_kernels = pytest.mark.skipif(native.library() is None, reason="no compiler: the kernels can't be had")
Made = Callable[[str], tuple[Path, list[Any]]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    known: dict[str, tuple[Path, list[Any]]] = {}

    def make(family: str) -> tuple[Path, list[Any]]:
        if family not in known:
            folder = tmp_path_factory.mktemp(family)
            model = checkpoints.write(family, folder)
            with torch.inference_mode():
                known[family] = folder, [model(torch.tensor([each])).logits[0] for each in SEQUENCES]
        return known[family]

    return make


def check(found: list[Any], expected: list[Any], tolerance: float = 2e-4) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours - theirs).abs().max() < tolerance


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("family", checkpoints.SPARSE)
def test_logits_are_those_of_transformers(made: Made, family: str, is_packed: bool) -> None:
    folder, expected = made(family)
    model = checkpoints.decoder(folder)
    if is_packed and not all(each.pack(is_plain_kept=False) for each in model.linears()):
        pytest.skip("no compiler: there are no panels")
    with torch.inference_mode():
        for chunks in ([99], [5, 1]):
            check(checkpoints.logits([model], SEQUENCES, chunks=chunks, attention="sdpa"), expected)


@pytest.mark.parametrize("family", ["qwen3-moe", "dots1"])
def test_stages_give_what_the_whole_gives(made: Made, family: str) -> None:
    folder, expected = made(family)
    parts = [checkpoints.decoder(folder, stage=each) for each in stages(4, 3)]
    assert sorted(layer for each in parts for layer in each.sparse_layers()) == [
        layer for layer in range(4) if parts[0].config.is_sparse(layer)
    ]
    with torch.inference_mode():
        check(checkpoints.logits(parts, SEQUENCES, chunks=[6], attention="sdpa"), expected)


def redundant(folder: Path, count: int) -> parallel.ExpertParallel:
    raw = json.loads((folder / "config.json").read_text())
    moe = model_config.from_hf(raw, source="x").moe
    assert moe is not None
    return parallel.alone(moe, num_redundant=count)


@pytest.mark.parametrize("algorithm", ["static", "dynamic"])
def test_redundant_experts_change_nothing(made: Made, algorithm: str) -> None:
    folder, _ = made("qwen3-moe")
    found = []
    for count in (0, 5, 32):
        experts = redundant(folder, count)
        experts.algorithm = algorithm
        model = checkpoints.decoder(folder, experts=experts)
        if not all(each.pack(is_plain_kept=False) for each in model.linears()):
            pytest.skip("no compiler: there are no panels")
        with torch.inference_mode():
            found.append(checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native"))
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_dense_model_in_experts(tmp_path: Path) -> None:
    """A feed-forward cut into experts, all of which every token goes through, is the feed-forward."""
    folder = tmp_path / "dense"
    dense = checkpoints.write("qwen3", folder, intermediate_size=128)
    with torch.inference_mode():
        expected = [dense(torch.tensor([each])).logits[0] for each in SEQUENCES]
    carved, named = tmp_path / "carved", {}
    carved.mkdir()
    for name, each in load_file(folder / "model.safetensors").items():
        if ".mlp." not in name:
            named[name] = each
            continue
        layer, kind = name.split(".mlp.")
        for expert in range(4):
            part = slice(32 * expert, 32 * expert + 32)
            cut = 4 * each[:, part] if kind.startswith("down") else each[part]  # each has a weight of a fourth
            named[f"{layer}.mlp.experts.{expert}.{kind}"] = cut.contiguous()
        named[f"{layer}.mlp.gate.weight"] = torch.zeros(4, 64)
    save_file(named, carved / "model.safetensors")
    raw = json.loads((folder / "config.json").read_text())
    raw.update(architectures=["Qwen3MoeForCausalLM"], num_experts=4, num_experts_per_tok=4, moe_intermediate_size=32)
    (carved / "config.json").write_text(json.dumps({**raw, "norm_topk_prob": True}))
    with torch.inference_mode():
        check(checkpoints.logits([checkpoints.decoder(carved)], SEQUENCES, chunks=[9], attention="sdpa"), expected)


@needs_kernels
@pytest.mark.parametrize(("scheme", "limit"), [("int8wo", 0.02), ("int8wo-32", 0.02), ("int4wo-32", 0.4)])
def test_experts_in_whole_numbers(made: Made, scheme: str, limit: float) -> None:
    folder, expected = made("qwen3-moe")
    model = checkpoints.decoder(folder)
    routers = [each.routed.router.scores for each in model.sparse_layers().values()]
    before = [each.weight.data.clone() for each in routers]
    count = quantise(model, scheme)
    assert count == len(model.linears()) - len(routers)
    for router, weight in zip(routers, before, strict=True):
        assert router.packed is not None and torch.equal(router.packed.plain(), weight)
    with torch.inference_mode():
        found = checkpoints.logits([model], SEQUENCES, chunks=[9], attention="native")
        errors = [((ours - theirs).norm() / theirs.norm()).item() for ours, theirs in zip(found, expected, strict=True)]
        assert 0 < max(errors) < limit * 3
        # What the numbers stand for, multiplied plainly, says the same.
        for each in model.linears():
            each.unpack()
        check(checkpoints.logits([model], SEQUENCES, chunks=[9], attention="native"), found)


def test_bf16_is_near(made: Made) -> None:
    folder, expected = made("mixtral")
    model = checkpoints.decoder(folder, dtype=torch.bfloat16)
    with torch.inference_mode():
        plain = checkpoints.logits([model], SEQUENCES, chunks=[9], attention="sdpa")
        for each in model.linears():
            each.pack(is_plain_kept=False)
        packed = checkpoints.logits([model], SEQUENCES, chunks=[9], attention="sdpa")
    for found in (plain, packed):
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours - theirs).norm() / theirs.norm() < 0.1


def drawn_experts(dtype: Any, slots: int = 5) -> Experts:
    torch.manual_seed(3)
    made = Experts(64, 32, slots=slots, activation="silu", dtype=dtype)
    for each in made.linears():
        each.weight.data.copy_(torch.randn(each.weight.shape) * each.inputs**-0.5)
    return made


@needs_kernels
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("tokens", [0, 1, 3, 40, 400])
def test_kernels_give_what_plain_products_give(dtype: Any, tokens: int) -> None:
    experts = drawn_experts(dtype)
    x, slots = torch.randn(tokens, 64).to(dtype), torch.randint(-1, 5, (tokens, 3))
    plain = experts(x, slots)
    for each in experts.linears():
        each.use(panels.pack(each.weight.data, None))
    packed = experts(x, slots)
    assert packed.shape == plain.shape == (tokens, 3, 64)
    assert torch.equal(packed[slots < 0], torch.zeros_like(packed[slots < 0]))
    assert torch.allclose(packed, plain, atol=1e-5 if dtype is torch.float32 else 0.05, rtol=0.02)
    for row in range(min(tokens, 4)):  # the same bits alone
        assert torch.equal(experts(x[row : row + 1], slots[row : row + 1])[0], packed[row])
    weights = torch.rand(tokens, 3)
    summed = kernels.weighed(packed, weights)
    assert torch.allclose(summed.float(), (packed.float() * weights[..., None]).sum(1), atol=1e-2, rtol=0.01)


def test_the_same_bits_alone_and_in_any_batch(made: Made) -> None:
    model = checkpoints.decoder(made("dots1")[0])
    batch_invariant.enable(model)
    with torch.inference_mode():
        together = checkpoints.logits([model], SEQUENCES, chunks=[99], attention="reference")
        for sequence, expected in zip(SEQUENCES, together, strict=True):
            alone = checkpoints.logits([model], [sequence], chunks=[99], attention="reference")[0]
            assert torch.equal(alone, expected)


def test_grouped_choice_is_that_of_deepseek() -> None:
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3 import modeling_deepseek_v3 as theirs

    sizes: Any = {"num_experts_per_tok": 6, "n_routed_experts": 32, "n_group": 8, "topk_group": 3, "hidden_size": 16}
    raw = DeepseekV3Config(**sizes, moe_intermediate_size=8)
    router = theirs.DeepseekV3TopkRouter(raw)
    torch.manual_seed(1)
    router.weight.data.normal_()
    router.e_score_correction_bias.normal_()
    x = torch.randn(50, 16)
    _, weights, ids = router(x)
    config = MoeConfig(
        num_experts=32,
        top_k=6,
        expert_size=8,
        is_sparse=(True,),
        scoring="sigmoid",
        scale=raw.routed_scaling_factor,
        num_groups=8,
        topk_groups=3,
        has_correction_bias=True,
    )
    made = choose(x @ router.weight.T, config, router.e_score_correction_bias)
    for place, (ours, other) in enumerate(zip(made.ids_TK, ids, strict=True)):
        assert set(ours.tolist()) == set(other.tolist())
        assert torch.allclose(made.weights_TK[place].sort().values, weights[place].sort().values)


@pytest.mark.parametrize(
    ("family", "changes", "match"),
    [
        ("dots1", {"n_group": 3}, "groups of 16 experts"),
        ("dots1", {"topk_group": 9}, "9 of 4 groups"),
        ("dots1", {"n_group": 16, "topk_group": 4}, "groups of one expert"),
        ("dots1", {"num_experts_per_tok": 9}, "9 experts a token, of 8"),
        ("qwen3-moe", {"moe_intermediate_size": None}, "does not say moe_intermediate_size"),
        ("qwen3-moe", {"num_experts": 0}, "num_experts=0"),
    ],
)
def test_contradictions_are_refused(made: Made, family: str, changes: dict[str, Any], match: str) -> None:
    raw = json.loads((made(family)[0] / "config.json").read_text())
    with pytest.raises(BadModel, match=match):
        model_config.from_hf({**raw, **changes}, source="x")


def test_tensors_of_experts_that_are_none(made: Made, tmp_path: Path) -> None:
    folder = made("qwen3-moe")[0]
    raw = json.loads((folder / "config.json").read_text())
    named = load_file(folder / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(raw))
    name = "model.layers.0.mlp.experts.{}.up_proj.weight"
    for changed, match in (
        ({**named, name.format(8): named[name.format(7)].clone()}, r"experts\.8\.up_proj\.weight has no place"),
        ({each: named[each] for each in named if each != name.format(3)}, "1 weights are missing, such as .*experts.3"),
        ({**named, "model.layers.1.mlp.experts.0.up_proj.weight": named[name.format(0)].clone()}, "has no place"),
    ):
        save_file(changed, tmp_path / "model.safetensors")
        with pytest.raises(BadModel, match=match):
            checkpoints.decoder(tmp_path)
