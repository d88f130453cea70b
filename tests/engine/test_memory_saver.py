"""Memory that is given back while an engine sleeps: less is resident, no address moves, what is kept comes back bit for
bit."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from engine.schema.errors import BadConfig, NotEnoughMemory

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from engine.host.memory_saver import KV_CACHE, WEIGHTS, CpuMemorySaver, NoMemorySaver, memory_saver  # noqa: E402

MIB = 1 << 20


def resident_bytes() -> int:
    """How much memory this process has, as the system counts it."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def made(saver: CpuMemorySaver) -> tuple[list[Any], list[Any]]:
    with saver.region(WEIGHTS, is_kept=True):
        weights = [torch.empty(25 * MIB, dtype=torch.float32), torch.empty(3, 5, dtype=torch.bfloat16)]
        weights.append(nn.Parameter(torch.empty(7), requires_grad=False))
    with saver.region(KV_CACHE):
        kv = [torch.zeros(2, 10, MIB), torch.full((9,), 2, dtype=torch.int8)]
    generator = torch.Generator().manual_seed(1)
    for each in weights:
        each.data.normal_(generator=generator)
    kv[0].fill_(3.0)
    return weights, kv


def test_memory_goes_and_comes_back() -> None:
    saver = CpuMemorySaver()
    weights, kv = made(saver)
    values, places = [each.clone() for each in weights], [each.data_ptr() for each in (*weights, *kv)]
    before = resident_bytes()
    saver.pause([KV_CACHE])
    after_kv = resident_bytes()
    assert before - after_kv > 75 * MIB  # of 80
    assert torch.equal(weights[0], values[0]) and saver.is_paused(KV_CACHE) and not saver.is_paused(WEIGHTS)
    saver.pause([WEIGHTS, KV_CACHE])
    assert after_kv - resident_bytes() > 95 * MIB  # of 100
    saver.resume([WEIGHTS])
    assert resident_bytes() - (before - 180 * MIB) > 95 * MIB
    saver.resume([WEIGHTS, KV_CACHE])
    assert [each.data_ptr() for each in (*weights, *kv)] == places
    assert all(torch.equal(a, b) for a, b in zip(weights, values, strict=True))
    assert not kv[0].any() and not kv[1].any()
    kv[0].fill_(4.0)
    assert not saver.is_paused(WEIGHTS) and not saver.is_paused(KV_CACHE)
    saver.pause([WEIGHTS])
    saver.resume([WEIGHTS])
    assert all(torch.equal(a, b) for a, b in zip(weights, values, strict=True)) and float(kv[0].min()) == 4.0


def test_what_torch_makes_in_a_region_is_what_it_makes_elsewhere() -> None:
    saver = CpuMemorySaver()

    def all_kinds() -> list[Any]:
        return [
            torch.zeros(3, 4),
            torch.zeros((), dtype=torch.int64),
            torch.ones(2, 2, dtype=torch.float16),
            torch.full((3,), 1.5),
            torch.zeros_like(torch.ones(4, dtype=torch.bool)),
            torch.ones(2, 3).new_zeros(5),
            torch.zeros(0, 3),
            torch.arange(5),
            torch.empty(0),
            torch.zeros(4, dtype=torch.float8_e4m3fn).float(),
            torch.zeros(2, 3, device="meta"),
        ]

    expected = all_kinds()
    with saver.region(KV_CACHE):
        found = all_kinds()
        inner = torch.empty(100)
        with saver.region(WEIGHTS):
            torch.zeros(1000)
    outside = torch.zeros(5000)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.dtype, ours.shape, ours.stride(), ours.device) == (
            theirs.dtype,
            theirs.shape,
            theirs.stride(),
            theirs.device,
        )
        assert ours.device.type == "meta" or torch.equal(ours, theirs)
    assert 4000 <= saver.arenas[WEIGHTS].num_bytes < 4100
    assert saver.arenas[KV_CACHE].num_bytes < 2000
    assert inner.data_ptr() % 64 == 0
    outside.fill_(1.0)
    saver.pause([KV_CACHE])
    assert bool(outside.all())
    with pytest.raises(BadConfig, match="kv_cache is released"), saver.region(KV_CACHE):
        torch.zeros(3)


def test_tensors_that_were_made_elsewhere_are_adopted() -> None:
    saver = CpuMemorySaver()
    layer = nn.Linear(30, 40)
    expected = layer(torch.ones(1, 30))
    saver.adopt(layer.parameters(), WEIGHTS, is_kept=True)
    assert saver.arenas[WEIGHTS].num_bytes >= 4 * (30 * 40 + 40)
    saver.pause([WEIGHTS])
    assert not layer.weight.any()
    saver.resume([WEIGHTS])
    assert torch.equal(layer(torch.ones(1, 30)), expected)


def test_nothing_is_given_back_that_can_not_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    saver = CpuMemorySaver()
    with saver.region(WEIGHTS, is_kept=True):
        weight = torch.ones(4096)

    class Full:
        def write(self, _: bytes) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(NotEnoughMemory, match=r"16384 bytes of weights can't be written .* No space left"):
        saver.pause([WEIGHTS])
    assert bool(weight.all()) and not saver.is_paused(WEIGHTS)


def test_what_is_not_there_is_refused() -> None:
    saver = memory_saver("cpu", is_enabled=True)
    with pytest.raises(BadConfig, match="no memory is tagged other"):
        saver.pause(["other"])
    with saver.region(WEIGHTS):
        torch.zeros(1)
    with pytest.raises(BadConfig, match="kept and not kept"):
        saver.region(WEIGHTS, is_kept=True)
    off = memory_saver("cuda", is_enabled=False)
    assert isinstance(off, NoMemorySaver)
    with off.region(WEIGHTS), off.in_children():
        torch.zeros(1)
    with pytest.raises(BadConfig, match="enable_memory_saver"):
        off.pause([WEIGHTS])
    with pytest.raises(BadConfig, match="enable_memory_saver"):
        off.resume([WEIGHTS])
    with pytest.raises(BadConfig, match="on xpu"):
        memory_saver("xpu", is_enabled=True)


def test_a_model_sleeps_and_wakes(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tests.engine import checkpoints

    checkpoints.write("llama", tmp_path)
    saver = CpuMemorySaver()
    plain = checkpoints.Cached(checkpoints.decoder(tmp_path))
    with saver.region(WEIGHTS, is_kept=True):
        model = checkpoints.decoder(tmp_path)
    with saver.region(KV_CACHE):
        cached = checkpoints.Cached(model)
    ids = [5, 9, 120, 7, 3]
    expected = plain(ids, 3)
    assert torch.equal(cached(ids, 3), expected)
    saver.pause([WEIGHTS, KV_CACHE])
    assert not any(each.any() for each in model.parameters())
    saver.resume([WEIGHTS, KV_CACHE])
    cached.known.clear()
    assert torch.equal(cached(ids, 3), expected)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_memory_of_cuda_goes_and_comes_back() -> None:
    pytest.importorskip("torch_memory_saver")
    saver = memory_saver("cuda", is_enabled=True)
    with saver.region(WEIGHTS, is_kept=True):
        weight = torch.full((64 * MIB,), 2.0, device="cuda")
    with saver.region(KV_CACHE):
        kv = torch.full((64 * MIB,), 3.0, device="cuda")
    place, before = weight.data_ptr(), torch.cuda.mem_get_info()[0]
    saver.pause([WEIGHTS, KV_CACHE])
    assert torch.cuda.mem_get_info()[0] - before > 500 * MIB and saver.is_paused(WEIGHTS)
    saver.resume([WEIGHTS, KV_CACHE])
    assert weight.data_ptr() == place and bool((weight == 2.0).all()) and kv.shape == (64 * MIB,)
