"""Our compiled kernels against torch: products of every kind and number of rows, norms, rotation, attention over paged
keys and values; and what happens without a compiler."""

from __future__ import annotations

import ctypes
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402, N812 - the name that everybody knows

from engine.attention.backends import backend, default_backend  # noqa: E402
from engine.attention.batch import AttentionBatch  # noqa: E402
from engine.config.model_config import Rope  # noqa: E402
from engine.host.compiler import NoCompiler, compiled  # noqa: E402
from engine.kernels import blocks, native, panels  # noqa: E402
from engine.kv.cache import KVCache  # noqa: E402
from engine.layers.linear import Linear, is_bare  # noqa: E402
from engine.layers.norm import RMSNorm  # noqa: E402
from engine.layers.rotary import Rotary, turn_heads  # noqa: E402
from engine.schema.step import Slice  # noqa: E402

BOTH = [torch.float32, torch.bfloat16]
needs_kernels = pytest.mark.skipif(native.library() is None, reason="no compiler: the kernels can't be had")


@pytest.fixture
def without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "library", lambda: None)


def drawn(*shape: int, seed: int = 0, dtype: Any = torch.float32) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@needs_kernels
@pytest.mark.parametrize("dtype", BOTH, ids=str)
@pytest.mark.parametrize(("outputs", "inputs"), [(16, 8), (40, 24), (33, 520), (160, 576)])
def test_products_are_right_and_no_row_depends_on_the_others(outputs: int, inputs: int, dtype: Any) -> None:
    weight, bias = drawn(outputs, inputs, seed=1, dtype=dtype), drawn(outputs, seed=2, dtype=dtype)
    packed = panels.pack(weight, bias)
    assert torch.equal(packed.plain(), weight)
    x = drawn(260, inputs, seed=3, dtype=dtype)
    expected = (x.double() @ weight.double().T + bias.double()).float()
    whole = packed.product(x, torch.float32)
    assert (whole - expected).abs().max() < 2e-6 * inputs**0.5 * 8
    for rows in (1, 2, 3, 5, 6, 7, 16, 30, 31, 121, 250):
        assert torch.equal(packed.product(x[:rows], torch.float32), whole[:rows])
        assert torch.equal(packed.product(x[-rows:]), whole[-rows:].to(dtype))


@needs_kernels
def test_products_do_not_depend_on_the_threads() -> None:
    packed, x = panels.pack(drawn(100, 64), None), drawn(130, 64, seed=1)
    before, made = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            made.append(packed.product(x))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(made[0], made[1]) and torch.equal(made[0], made[2])


@needs_kernels
@pytest.mark.parametrize("gate", ["silu", "gelu_tanh"])
@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_gated_products(gate: str, dtype: Any) -> None:
    weight, x = drawn(96, 64, seed=1, dtype=dtype), drawn(37, 64, seed=2, dtype=dtype)
    packed = panels.pack(weight, drawn(96, seed=3, dtype=dtype))
    first, second = packed.product(x, torch.float32).chunk(2, dim=-1)
    act = F.silu(first) if gate == "silu" else F.gelu(first, approximate="tanh")
    assert packed.can_gate() and not panels.pack(weight[:40], None).can_gate()
    for rows in (1, 2, 9, 37):
        made = packed.product(x[:rows], torch.float32, gate=gate)
        assert torch.allclose(made, (act * second)[:rows], rtol=2e-6, atol=2e-6)


def test_gates_are_right_at_the_ends() -> None:
    if native.library() is None:
        pytest.skip("no compiler: the kernels can't be had")
    x = torch.tensor([-1e30, -200.0, -90.0, -1.0, -0.0, 0.0, 1e-30, 90.0, 1e30]).repeat(8)[:, None]
    weight = torch.zeros(32, 8)
    weight[:, 0] = 1
    for gate, act in (("silu", F.silu), ("gelu_tanh", lambda v: F.gelu(v, approximate="tanh"))):
        made = panels.pack(weight, None).product(F.pad(x, (0, 7)), gate=gate)
        assert torch.allclose(made, (act(x) * x).expand(-1, 16), rtol=2e-6, atol=1e-30)


@needs_kernels
@pytest.mark.parametrize("offset", [0.0, 1.0])
@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_norms_are_those_of_torch(dtype: Any, offset: float, monkeypatch: pytest.MonkeyPatch) -> None:
    norm = RMSNorm(72, eps=1e-5, offset=offset, dtype=dtype)
    norm.weight.data.copy_(drawn(72, seed=1))
    x, added = drawn(300, 72, seed=2, dtype=dtype), drawn(300, 72, seed=3, dtype=dtype)
    kept = x.clone()
    ours = norm(x), *norm.after_adding(x, added)
    assert torch.equal(x, kept)
    monkeypatch.setattr(native, "library", lambda: None)
    theirs = norm(x), *norm.after_adding(x, added)
    assert torch.equal(ours[1], theirs[1])
    close = {"rtol": 2e-6, "atol": 1e-6} if dtype is torch.float32 else {"rtol": 2**-7, "atol": 0.0}
    assert torch.allclose(ours[0], theirs[0], **close) and torch.allclose(ours[2], theirs[2], **close)


@needs_kernels
@pytest.mark.parametrize("has_norms", [False, True])
@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_heads_are_turned_as_in_torch(dtype: Any, has_norms: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rotary = Rotary(Rope(theta=500.0), head_dim=32, max_position=64)
    norms: Any = (None, None)
    if has_norms:
        norms = RMSNorm(32, eps=1e-6, offset=1.0, dtype=dtype), RMSNorm(32, eps=1e-6, dtype=dtype)
        for seed, norm in enumerate(norms):
            norm.weight.data.copy_(drawn(32, seed=seed))
    positions = torch.tensor([5, 0, 63, 17] * 30)
    rows = drawn(120, (4 + 2 * 2) * 32, seed=4, dtype=dtype)
    ours = turn_heads(rows.clone(), rotary.at(positions, dtype), (4, 2), norms)
    monkeypatch.setattr(native, "library", lambda: None)
    theirs = turn_heads(rows.clone(), rotary.at(positions, dtype), (4, 2), norms)
    assert [each.shape for each in ours] == [(120, 4, 32), (120, 2, 32), (120, 2, 32)]
    close = 2e-6 if dtype is torch.float32 else 2**-5
    for mine, reference in zip(ours, theirs, strict=True):
        assert (mine.float() - reference.float()).abs().max() < close * max(float(reference.abs().max()), 1.0)


def step_of(lengths: list[tuple[int, int]], block_tokens: int) -> AttentionBatch:
    """(positions before, tokens now) of each sequence; blocks handed out in a shuffled order."""
    needed = [-(-(before + now) // block_tokens) for before, now in lengths]
    order = torch.randperm(sum(needed), generator=torch.Generator().manual_seed(9)).add(1).tolist()
    slices = []
    for index, (before, now) in enumerate(lengths):
        mine, order = order[: needed[index]], order[needed[index] :]
        slices.append(Slice(seq_id=index, token_ids=(0,) * now, start=before, block_ids=tuple(mine), is_sampled=True))
    return AttentionBatch(slices, block_tokens)


LENGTHS = [(0, 1), (300, 1), (15, 1), (700, 1), (0, 40), (255, 3), (250, 90), (511, 2)]


@needs_kernels
@pytest.mark.parametrize("window", [0, 7, 260])
@pytest.mark.parametrize(("heads", "block_tokens", "dim"), [((2, 2), 1, 16), ((6, 2), 16, 64), ((3, 1), 24, 32)])
def test_attention_is_the_formula(window: int, heads: tuple[int, int], block_tokens: int, dim: int) -> None:
    batch = step_of(LENGTHS, block_tokens)
    tokens, blocks = len(batch.slots_T), int(batch.tables.max()) + 1
    for dtype in BOTH:
        cache = KVCache(
            num_layers=2, num_blocks=blocks, block_tokens=block_tokens, heads=heads[1], head_dim=dim, dtype=dtype
        )
        cache.keys.copy_(drawn(*cache.keys.shape, seed=1))
        cache.values.copy_(drawn(*cache.values.shape, seed=2))
        given = [drawn(tokens, count, dim, seed=count + 3, dtype=dtype) for count in (heads[0], heads[1], heads[1])]
        made = [backend(name)(cache, batch)(1, *given, scale=0.3, window=window) for name in ("native", "reference")]
        assert made[0].dtype is dtype
        close = 1e-5 if dtype is torch.float32 else 2**-7
        assert torch.allclose(made[0].float(), made[1].float(), rtol=close, atol=close)


@needs_kernels
@pytest.mark.parametrize("window", [0, 50])
def test_an_answer_depends_on_its_own_history_alone(window: int) -> None:
    """A prompt in one step, in pieces of any size, token by token, beside others: the same bits."""
    length, dim = 290, 32
    q, k, v = (drawn(length, count, dim, seed=count) for count in (6, 2, 3))
    v = v[:, :2].contiguous()
    found = []
    for pieces, others in (([290], []), ([256, 34], [(40, 1)]), ([1] * 290, []), ([100, 157, 1, 32], [(3, 5)])):
        cache = KVCache(num_layers=1, num_blocks=99, block_tokens=16, heads=2, head_dim=dim, dtype=torch.float32)
        out, at = [], 0
        for piece in pieces:
            beside = [
                Slice(seq_id=9, token_ids=(0,) * now, start=before, block_ids=(90, 91, 92, 93), is_sampled=True)
                for before, now in others
            ]
            mine = Slice(seq_id=0, token_ids=(0,) * piece, start=at, block_ids=tuple(range(1, 20)), is_sampled=True)
            batch = AttentionBatch([*beside, mine], 16)
            extra = len(batch.slots_T) - piece
            rows = [torch.cat((drawn(extra, each.shape[1], dim), each[at : at + piece])) for each in (q, k, v)]
            out.append(backend("native")(cache, batch)(0, *rows, scale=0.2, window=window)[extra:])
            at += piece
        found.append(torch.cat(out))
    assert all(torch.equal(each, found[0]) for each in found[1:])


@needs_kernels
@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0"])
def test_blocks_of_files_have_the_bits_that_the_library_reads(kind: str) -> None:
    gguf = pytest.importorskip("gguf")
    numbers = drawn(300, 96, seed=3).numpy()
    numbers[5] = 0
    numbers[6] *= 1e-6  # scales that are no normal halfs
    which = gguf.GGMLQuantizationType[kind]
    raw = gguf.quants.quantize(numbers, which)
    made = blocks.floats(torch.from_numpy(raw), kind, (300, 96))
    assert made is not None and torch.equal(made, torch.from_numpy(gguf.quants.dequantize(raw, which)))
    assert blocks.floats(torch.from_numpy(raw), "Q4_K", (300, 96)) is None
    assert blocks.floats(torch.from_numpy(raw[:-1].copy()), kind, (300, 96)) is None


def test_without_a_compiler_torch_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setenv("ENGINE_CACHE_DIR", str(tmp_path))
    with caplog.at_level(logging.WARNING):
        assert native.library.__wrapped__() is None
    assert "install g++" in caplog.text
    monkeypatch.setenv("ENGINE_NATIVE", "0")
    caplog.clear()
    assert native.library.__wrapped__() is None and not caplog.records


@pytest.mark.usefixtures("without_kernels")
def test_layers_without_kernels() -> None:
    layer = Linear(64, 32, has_bias=True, dtype=torch.float32)
    assert not layer.pack() and layer.packed is None and default_backend("cpu") == "sdpa"
    batch = step_of([(3, 1), (0, 4)], 4)
    cache = KVCache(num_layers=1, num_blocks=9, block_tokens=4, heads=2, head_dim=16, dtype=torch.float32)
    for at, each in enumerate((cache.keys, cache.values)):
        each.copy_(drawn(*each.shape, seed=7 + at))  # three positions that no step here writes are read
    given = [drawn(5, heads, 16, seed=heads) for heads in (4, 2, 2)]
    made = [backend(name)(cache, batch)(0, *given, scale=0.3, window=0) for name in ("native", "reference")]
    assert torch.allclose(*made, atol=1e-6)


def test_what_is_compiled_is_kept_and_a_failure_says_why(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no compiler")
    source = tmp_path / "one.cpp"
    source.write_text('#include "two.h"\nextern "C" int one() { return TWO; }\n')
    (tmp_path / "two.h").write_text("#define TWO 2\n")
    first = compiled(source, tmp_path / "cache")
    stamp = first.stat().st_mtime_ns
    assert ctypes.CDLL(str(first)).one() == 2
    assert compiled(source, tmp_path / "cache") == first and first.stat().st_mtime_ns == stamp
    (tmp_path / "two.h").write_text("#define TWO 3\n")  # the header counts too
    second = compiled(source, tmp_path / "cache")
    assert second != first and ctypes.CDLL(str(second)).one() == 3
    with pytest.raises(OSError, match="has no engine_linear"):
        native.opened(second)
    source.write_text("no C++\n")
    with pytest.raises(NoCompiler, match=r"can't compile one\.cpp"):
        compiled(source, tmp_path / "cache")
    assert len(list((tmp_path / "cache").iterdir())) == 2
    with pytest.raises(NoCompiler, match="can't be compiled into"):
        compiled(source, source / "cache")


@needs_kernels
def test_a_wrong_library_is_noticed() -> None:
    class Wrong:
        def engine_linear(self, *_: object) -> None:
            """Leaves zeros."""

    assert not native.is_right(Wrong())  # type: ignore[arg-type]


@needs_kernels
def test_the_plain_way_of_the_kernels_gives_the_same(tmp_path: Path) -> None:
    """Compiled for a machine without AVX2: other instructions, no fused multiply-add."""
    source = native.SOURCE
    found = native.opened(compiled(source, tmp_path, flags=("-O1", "-march=x86-64", "-ffp-contract=off")))
    assert native.is_right(found)
    weight, x = drawn(48, 64, seed=1), drawn(20, 64, seed=2)
    packed = panels.pack(weight, None)
    out = torch.empty(20, 48)
    found.engine_linear(ctypes.addressof(packed.described), x.data_ptr(), 0, 20, out.data_ptr(), 0, 0, 2)
    assert torch.allclose(out, x @ weight.T, atol=1e-5)


def test_only_bare_layers_may_be_passed_by() -> None:
    class Adapted(Linear):
        """Adds something."""

    plain = Linear(16, 16, has_bias=False, dtype=torch.float32)
    assert is_bare(plain)
    assert not is_bare(Adapted(16, 16, has_bias=False, dtype=torch.float32))
    plain.register_forward_hook(lambda *_: None)
    assert not is_bare(plain)
