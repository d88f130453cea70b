"""Layers that look back a window keep their KV in blocks of their own: the tokens are those of one pool for all, and
more sequences fit. The runner here has the few lines that ModelRunner itself gets after its split."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.attention import flex  # noqa: E402
from engine.config.server_args import ServerArgs  # noqa: E402
from engine.distributed import parallel_state  # noqa: E402
from engine.host.memory_saver import KV_CACHE  # noqa: E402
from engine.kernels import native  # noqa: E402
from engine.kv.cache import KVCache, block_bytes  # noqa: E402
from engine.kv.window import shares  # noqa: E402
from engine.runner.executor import Executor  # noqa: E402
from engine.runner.model_runner import ModelRunner  # noqa: E402
from tests.engine import checkpoints, shipped  # noqa: E402
from tests.engine.runner import driver  # noqa: E402
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS, Reference, greedy  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]


class Hybrid(ModelRunner):
    """free_bytes: what there is for KV; None for what the machine has. most_window_blocks: fewer than it would take."""

    free_bytes: int | None = None
    most_window_blocks: int | None = None

    def profile_max_num_blocks(self, pre_model_load_memory: int) -> int:
        self.num_window_blocks = 0
        one = super().profile_max_num_blocks(pre_model_load_memory)
        args, config = self.server_args, self.model_config
        full, windowed = (
            block_bytes(
                num_layers=len(each),
                block_tokens=args.block_tokens,
                heads=max(config.num_kv_heads // self.tp_size, 1),
                head_dim=config.head_dim,
                dtype=self.kv_cache_dtype,
            )
            for each in (self.full_layer_ids, self.swa_layer_ids)
        )
        most = -(-(args.max_total_tokens or config.max_position * args.max_running_requests) // args.block_tokens)
        free = (one - 1) * (full + windowed) if self.free_bytes is None else self.free_bytes
        found = shares(
            free,
            full_bytes=full,
            window_bytes=windowed,
            block_tokens=args.block_tokens,
            window=config.window,
            step_tokens=args.chunked_prefill_size,
            most_blocks=most,
            num_running=args.max_running_requests,
        )
        self.num_window_blocks = found.num_window_blocks
        if self.most_window_blocks is not None:
            self.num_window_blocks = self.most_window_blocks
        return found.num_blocks

    def alloc_memory_pool(self, pre_model_load_memory: int, num_blocks: int | None = None) -> None:
        num_blocks = self.profile_max_num_blocks(pre_model_load_memory) if num_blocks is None else num_blocks
        world = parallel_state.get_group("world")
        self.num_window_blocks = int(world.minimum(self.num_window_blocks))
        with self.memory_saver.region(KV_CACHE), torch.device(self.device_handle.place):
            self.kv_cache = KVCache(
                num_layers=self.num_effective_layers,
                num_blocks=num_blocks,
                block_tokens=self.server_args.block_tokens,
                heads=max(self.model_config.num_kv_heads // self.tp_size, 1),
                head_dim=self.model_config.head_dim,
                dtype=self.kv_cache_dtype,
                is_windowed=[each in self.swa_layer_ids for each in range(self.start_layer, self.end_layer)]
                if self.num_window_blocks
                else (),
                num_window_blocks=self.num_window_blocks,
            )
        self.num_blocks = num_blocks


Start = Callable[..., Executor]


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """One layer of four sees everything."""
    folder = tmp_path_factory.mktemp("hybrid")
    kinds = ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"]
    model = checkpoints.write("gemma3", folder, layer_types=kinds)
    with torch.inference_mode():
        return Reference(folder, model, [greedy(model, each) for each in PROMPTS])


@pytest.fixture
def start(hybrid: Reference, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Start:
    def make(*, free_bytes: int | None = None, most_window_blocks: int | None = None, **options: Any) -> Executor:
        kind = type("Chosen", (Hybrid,), {"free_bytes": free_bytes, "most_window_blocks": most_window_blocks})
        monkeypatch.setattr("engine.runner.executor.runner_kind", lambda _: kind)
        sizes = {"dtype": "float32", "max_total_tokens": 600, "max_running_requests": 8, "chunked_prefill_size": 64}
        executor = Executor(ServerArgs(model=str(hybrid.folder), **{**sizes, **options}))
        request.addfinalizer(executor.shutdown)
        return executor

    return make


def cache_of(executor: Executor) -> KVCache:
    assert executor._runner is not None
    return executor._runner.kv_cache


@pytest.mark.parametrize(("block_tokens", "step_tokens"), [(1, 64), (4, 13), (16, 64)])
@pytest.mark.parametrize("has_cache", [False, True])
def test_tokens_are_those_of_the_reference(
    hybrid: Reference, start: Start, block_tokens: int, step_tokens: int, has_cache: bool
) -> None:
    executor = start(block_tokens=block_tokens)
    assert 0 < executor.info.num_window_blocks < executor.info.num_blocks and executor.info.window == 7
    prompts = PROMPTS * 2 if has_cache else PROMPTS
    found = driver.generate(executor, prompts, num_tokens=NUM_TOKENS, step_tokens=step_tokens, has_cache=has_cache)
    assert found == hybrid.greedy * (2 if has_cache else 1)


def test_few_window_blocks_preempt_and_change_nothing(hybrid: Reference, start: Start) -> None:
    executor = start(block_tokens=4, most_window_blocks=9)
    found = driver.generate(executor, PROMPTS * 2, num_tokens=NUM_TOKENS, has_cache=True)
    assert found == hybrid.greedy * 2


@pytest.mark.parametrize("backend", ["reference", "sdpa", "flex", "native"])
@pytest.mark.parametrize("kv", ["float32", "int8"])
def test_every_way_to_compute_attention(
    hybrid: Reference, start: Start, monkeypatch: pytest.MonkeyPatch, backend: str, kv: str
) -> None:
    monkeypatch.setattr(flex, "can_compile", lambda: False)
    executor = start(block_tokens=4, attention_backend=backend, kv_cache_dtype=kv)
    found = driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS if kv == "float32" else 1, step_tokens=20)
    expected = [each if kv == "float32" else each[:1] for each in hybrid.greedy]
    assert sum(one == other for one, other in zip(found, expected, strict=True)) >= (5 if kv == "float32" else 4)
    if backend == "native" and kv == "float32" and native.library() is not None:
        assert executor._runner is not None and executor._runner.model._fused._key  # all layers in one call


def test_more_sequences_fit(start: Start) -> None:
    sizes = {"block_tokens": 4, "max_total_tokens": None, "max_running_requests": 16, "chunked_prefill_size": 32}
    executor = start(free_bytes=700_000, **sizes)
    cache, info = cache_of(executor), executor.info
    a_token = 2 * 32 * 4  # keys and values of the one head of a layer, in fp32
    one_pool = 700_000 // (4 * a_token * 4)
    assert cache.is_windowed.count(True) == 3 and cache.num_bytes <= 700_000 + 4 * 4 * a_token
    assert info.num_blocks - 1 > 2.5 * one_pool
    # In all it holds more than twice the sequences of 100 tokens: each takes 25 blocks, and a window of the others.
    in_one, in_two = one_pool // 25, min((info.num_blocks - 1) // 25, (info.num_window_blocks - 1) // 3)
    assert in_two > 2 * in_one > 0


@pytest.mark.slow
def test_gemma_over_two_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    path, rng = str(shipped.path("gemma3-270m")), random.Random(1)
    prompts = [[2, *(rng.randrange(1000, 200_000) for _ in range(count))] for count in (700, 90)]
    found, sizes = [], []
    for kind in (ModelRunner, Hybrid):
        monkeypatch.setattr("engine.runner.executor.runner_kind", lambda _, kind=kind: kind)
        options: dict[str, Any] = {"max_running_requests": 4, "max_total_tokens": 6000, "chunked_prefill_size": 256}
        executor = Executor(ServerArgs(model=path, dtype="float32", threads=1, **options))
        try:
            found.append(driver.generate(executor, prompts, num_tokens=12, step_tokens=256, has_cache=True))
            sizes.append((executor.info.num_blocks, cache_of(executor).num_bytes))
        finally:
            executor.shutdown()
    assert found[0] == found[1]
    (num_one, one_bytes), (num_two, two_bytes) = sizes
    assert num_two == num_one and two_bytes < 0.6 * one_bytes
