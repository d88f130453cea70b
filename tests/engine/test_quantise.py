"""Weights in 8 and 4 bits, products whose bits do not depend on the batch, and the formats of keys and values."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.attention.backends import backend  # noqa: E402
from engine.attention.batch import AttentionBatch  # noqa: E402
from engine.distributed.group import single  # noqa: E402
from engine.kernels import native  # noqa: E402
from engine.kv.cache import KVCache, block_bytes  # noqa: E402
from engine.layers import batch_invariant  # noqa: E402
from engine.layers.linear import Linear  # noqa: E402
from engine.layers.quantise import Scheme, quantise, quantised, scheme_of  # noqa: E402
from engine.models import weights  # noqa: E402
from engine.models.checkpoint import Checkpoint  # noqa: E402
from engine.models.decoder import Decoder, stages  # noqa: E402
from engine.schema.errors import BadConfig  # noqa: E402
from engine.schema.step import Slice  # noqa: E402
from tests.engine import checkpoints, shipped  # noqa: E402
from tests.engine.test_kernels import drawn, step_of  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
needs_kernels = pytest.mark.skipif(native.library() is None, reason="no compiler: the kernels can't be had")
_rng = random.Random(5)
SEQUENCES = [[_rng.randrange(199) for _ in range(length)] for length in (40, 17)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("llama")
    checkpoints.write("llama-tied", made)
    return made


@needs_kernels
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("scheme", [Scheme(8, 0), Scheme(8, 32), Scheme(4, 32), Scheme(4, 64)], ids=str)
def test_numbers_are_the_nearest(scheme: Scheme, dtype: Any) -> None:
    weight = drawn(48, 192, seed=1, dtype=dtype)
    weight[3] = 0
    weight[4] = 1e-7
    weight[5] = weight[5].abs() + 100
    packed = quantised(weight, drawn(48, seed=2, dtype=dtype), scheme)
    groups = weight.float().view(48, -1, scheme.group or 192)
    spread = groups.amax(-1) - groups.amin(-1) if scheme.bits == 4 else 2 * groups.abs().amax(-1)
    step = spread / (15 if scheme.bits == 4 else 254)
    off = (packed.plain().float() - weight.float()).abs().view(groups.shape)
    half = groups.abs().amax(-1) * 2**-8 + 1e-7  # a half has 11 bits; a bf16 weight that comes back, 8
    assert (off <= (0.5 * step + half)[..., None]).all()
    assert packed.num_bytes < weight.numel() * (scheme.bits / 8 + 0.2) + 400
    for rows in (1, 5, 40):
        x = drawn(rows, 192, seed=rows, dtype=dtype)
        expected = x.float() @ packed.plain().float().T + drawn(48, seed=2, dtype=dtype).float()
        # plain() rounds what the product takes as it is.
        bound = (x.float().abs() @ packed.plain().float().abs().T) * (1e-6 if dtype is torch.float32 else 2**-8) + 1e-5
        assert ((packed.product(x, torch.float32) - expected).abs() <= bound).all()


@needs_kernels
def test_rows_of_quantised_products_do_not_depend_on_the_others() -> None:
    for bits, group in ((8, 0), (4, 32)):
        packed, x = quantised(drawn(40, 64), None, Scheme(bits, group)), drawn(200, 64, seed=1)
        whole = packed.product(x)
        assert all(torch.equal(packed.product(x[:rows]), whole[:rows]) for rows in (1, 2, 6, 7, 31, 121))


@needs_kernels
@pytest.mark.parametrize(
    ("scheme", "most", "clear"), [("int8wo", 0.03, 0.2), ("int8wo-32", 0.03, 0.2), ("int4wo-32", 0.3, 1.0)]
)
def test_a_quantised_model_is_near_and_can_be_loaded_anew(folder: Path, scheme: str, most: float, clear: float) -> None:
    model = checkpoints.decoder(folder)
    with torch.inference_mode():
        expected = torch.cat(checkpoints.logits([model], SEQUENCES, chunks=[99], attention="native"))
        assert quantise(model, scheme) == 4 * 4 + 1
        found = torch.cat(checkpoints.logits([model], SEQUENCES, chunks=[7], attention="native"))
        off = (found - expected).norm() / expected.norm()
        assert 1e-4 < off < most
        margin = expected.topk(2).values
        is_clear = margin[:, 0] - margin[:, 1] > clear
        assert is_clear.sum() > 2 and torch.equal(found.argmax(-1)[is_clear], expected.argmax(-1)[is_clear])
        weights.load(model, Checkpoint(folder).tensors(), source="x")
        again = torch.cat(checkpoints.logits([model], SEQUENCES, chunks=[7], attention="native"))
    assert torch.equal(again, found)
    assert all(each.weight.numel() == 0 for each in model.linears())


@needs_kernels
def test_what_can_not_be_quantised_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scheme_of("int8wo") == (8, 0) and scheme_of("int4wo-64") == (4, 64)
    for name in ("int4wo", "int4wo-48", "int8dq", "fp8wo", "int8wo-0"):
        if name != "int8wo-0":
            with pytest.raises(BadConfig, match=name):
                scheme_of(name)
    model = checkpoints.decoder(folder)
    with pytest.raises(BadConfig, match="groups of 64 in a matrix of 96 inputs"):
        quantise(model, "int4wo-64")
    assert all(each.packed is None for each in model.linears())
    monkeypatch.setattr(native, "library", lambda: None)
    with pytest.raises(BadConfig, match="without the kernels"):
        quantise(model, "int8wo")


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_products_over_tiles_give_a_row_the_same_bits_anywhere(dtype: Any, is_packed: bool) -> None:
    layer = Linear(96, 160, has_bias=True, dtype=dtype)
    layer.weight.data.copy_(drawn(160, 96, seed=1))
    assert layer.bias is not None
    layer.bias.data.copy_(drawn(160, seed=2))
    if is_packed and not layer.pack():
        pytest.skip("there is no packed form here")

    class Model:
        def linears(self) -> list[Linear]:
            return [layer]

    x = drawn(64, 96, seed=3, dtype=dtype)
    batch_invariant.enable(Model())
    batch_invariant.enable(Model())
    whole = layer(x)
    for rows in range(1, 65):
        assert torch.equal(layer(x[:rows]), whole[:rows])
        assert torch.equal(layer(x[64 - rows :])[-1], whole[-1])
    assert torch.allclose(
        whole.float(), (x.float() @ layer.weight.float().T + layer.bias.float()), rtol=2**-6, atol=0.1
    )
    batch_invariant.disable(Model())
    assert batch_invariant.is_enabled(Model())
    batch_invariant.disable(Model())
    assert layer.tile_rows == 0
    batch_invariant.disable(Model())
    assert layer.tile_rows == 0


@needs_kernels
@pytest.mark.parametrize("is_packed", [False, True])
def test_logits_have_the_same_bits_alone_and_in_a_batch(folder: Path, is_packed: bool) -> None:
    model = checkpoints.decoder(folder)
    if is_packed:
        assert all(each.pack(is_plain_kept=False) for each in model.linears())
    batch_invariant.enable(model)
    with torch.inference_mode():
        together = checkpoints.logits([model], SEQUENCES, chunks=[9, 1], attention="native")
        alone = [checkpoints.logits([model], [each], chunks=[99], attention="native")[0] for each in SEQUENCES]
    batch_invariant.disable(model)
    assert all(torch.equal(one, other) for one, other in zip(together, alone, strict=True))


KV = [torch.float32, torch.bfloat16, torch.float16, torch.float8_e5m2, torch.float8_e4m3fn, torch.int8]
ERROR = {torch.bfloat16: 2**-8, torch.float16: 2**-10, torch.float8_e5m2: 2**-2, torch.float8_e4m3fn: 2**-3}


@pytest.mark.parametrize("dtype", KV, ids=str)
def test_what_is_written_is_read(dtype: Any) -> None:
    sizes = {"num_layers": 2, "block_tokens": 4, "heads": 2, "head_dim": 16, "dtype": dtype}
    cache = KVCache(num_blocks=5, **sizes)
    slots = torch.tensor([4, 9, 17])
    keys, values = drawn(3, 2, 16, seed=1), drawn(3, 2, 16, seed=2) * torch.tensor([1e-3, 1.0, 50.0])[:, None, None]
    cache.write(1, slots, keys, values)
    for given, read in zip((keys, values), cache.read(1, slots), strict=True):
        if dtype is torch.int8:  # each token and head has its own scale
            assert ((read - given).abs() <= given.abs().amax(-1, keepdim=True) / 254 * 1.01).all()
        else:
            close = ERROR.get(dtype, 0.0)
            assert torch.allclose(read.float(), given, rtol=close, atol=1e-2 if dtype in ERROR else 0.0)
    for layer in range(2):  # what stands for nothing is nothing, and nobody writes to it
        assert all(each.abs().sum() == 0 for each in cache.read(layer, torch.arange(4)))
    assert cache.num_bytes == 5 * block_bytes(**sizes)


def test_fp8_is_cut_off_at_its_ends_and_takes_factors() -> None:
    sizes: dict[str, Any] = {"num_layers": 1, "block_tokens": 4, "heads": 1, "head_dim": 8}
    cache = KVCache(num_blocks=2, dtype=torch.float8_e4m3fn, **sizes)
    big = torch.full((1, 1, 8), 1e4)
    cache.write(0, torch.tensor([4]), big, -big)
    assert [float(each.max()) for each in cache.read(0, torch.tensor([4]))] == [448.0, -448.0]
    cache.set_factors(0, 32.0, 64.0)
    cache.write(0, torch.tensor([4]), big, -big)
    assert all(math.isclose(abs(float(each[0, 0, 0])), 1e4, rel_tol=0.04) for each in cache.read(0, torch.tensor([4])))
    with pytest.raises(BadConfig, match="factors"):
        cache.set_factors(0, 0.0, 1.0)
    with pytest.raises(BadConfig, match="factors"):
        KVCache(num_blocks=2, dtype=torch.bfloat16, **sizes).set_factors(0, 1.0, 1.0)
    with pytest.raises(BadConfig, match=r"KV in torch\.int32"):
        KVCache(num_blocks=2, dtype=torch.int32, **sizes)


@pytest.mark.parametrize("name", ["native", "sdpa"])
@pytest.mark.parametrize("dtype", KV[2:], ids=str)
def test_attention_reads_every_format(name: str, dtype: Any) -> None:
    batch = step_of([(0, 1), (270, 1), (30, 9)], 16)
    cache = KVCache(num_layers=2, num_blocks=32, block_tokens=16, heads=2, head_dim=32, dtype=dtype)
    if dtype in (torch.float8_e5m2, torch.float8_e4m3fn):
        cache.set_factors(1, 0.5, 2.0)
    slots = torch.arange(32 * 16)
    cache.write(1, slots, drawn(512, 2, 32, seed=1), drawn(512, 2, 32, seed=2))
    given = [drawn(11, heads, 32, seed=heads + 7) for heads in (4, 2, 2)]
    made = [backend(each)(cache, batch)(1, *given, scale=0.3, window=0) for each in (name, "reference")]
    assert torch.allclose(*made, atol=1e-5)


@needs_kernels
def test_the_shipped_model_says_the_same_in_8_and_in_4_bits() -> None:
    """64 greedy tokens in bf16, then what the quantised model would have said after each: groups of 32 are the file's
    own, so 4 bits lose little."""
    text = [1, 4093, 198, 28120, 314, 260, 1853, 2731, 282, 3575, 47, 2, 198, 1, 520, 9531, 198]
    first = len(text)
    with torch.inference_mode():
        model = shipped_model()
        cache = cache_of(model)
        plain = [logits_after(model, cache, text, 0)[-1:]]
        for _ in range(64):
            text.append(int(plain[-1].argmax()))
            plain.append(logits_after(model, cache, text, len(text) - 1))
        expected = torch.cat(plain[:-1])
        best, second = expected.topk(2).values.unbind(-1)
        is_clear = best - second > 0.5
        assert is_clear.sum() > 30
        for scheme, most in (("int8wo", 0.08), ("int4wo-32", 0.08)):
            model = shipped_model()
            quantise(model, scheme)
            found = logits_after(model, cache_of(model), text, 0)[first - 1 : -1]
            assert 1e-3 < (found - expected).norm() / expected.norm() < most
            assert torch.equal(found.argmax(-1)[is_clear], expected.argmax(-1)[is_clear])


def shipped_model() -> Decoder:
    checkpoint = Checkpoint(shipped.path("smollm2-135m-instruct"))
    whole = stages(checkpoint.config.num_layers, 1)[0]
    model = Decoder(checkpoint.config, group=single(), stage=whole, dtype=torch.bfloat16, max_position=256)
    weights.load(model, checkpoint.tensors(), source="shipped")
    assert all(each.pack() for each in model.linears())
    return model


def cache_of(model: Decoder) -> KVCache:
    heads, dim, layers = model.config.num_kv_heads, model.config.head_dim, len(model.layers)
    return KVCache(num_layers=layers, num_blocks=9, block_tokens=16, heads=heads, head_dim=dim, dtype=torch.bfloat16)


def logits_after(model: Decoder, cache: KVCache, text: list[int], start: int) -> Any:
    """After each of the tokens from `start` on."""
    part = Slice(seq_id=0, token_ids=tuple(text[start:]), start=start, block_ids=tuple(range(1, 9)), is_sampled=True)
    batch = AttentionBatch([part], 16)
    return model.logits(model(torch.tensor(text[start:]), batch.positions_T, backend("native")(cache, batch)))
