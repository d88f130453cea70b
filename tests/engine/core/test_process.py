"""The core in its own process: streams, calls and errors cross it, and nothing is left of it, whoever ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("zmq")

from engine.config.server_args import ServerArgs
from engine.core.client import CoreClient
from engine.sampling.oracle import oracle_id, oracle_token
from engine.schema.errors import BadRequest, EngineDead, EngineError
from engine.schema.messages import Add, Delta
from engine.schema.output import FinishReason
from engine.schema.sampling import SamplingParams
from tests.support.oracle_executor import VOCAB

ROOT = Path(__file__).resolve().parents[3]
ORACLE = "tests.support.oracle_executor:small"
WITHIN_S = 30.0  # far above what anything here takes: a hang is an error, not a wait


def add(request_id: str, *prompt: int, **params: Any) -> Add:
    given = {"max_tokens": 5, "ignore_eos": True, **params}
    return Add(request_id=request_id, prompt_ids=prompt or (1, 2, 3), params=SamplingParams(**given))


def expected(request: Add, index: int = 0) -> list[int]:
    start, count = len(request.prompt_ids), request.params.max_tokens or 0
    oracle = oracle_id(request.request_id, index)
    return [oracle_token(oracle, at, VOCAB) for at in range(start, start + count)]


async def collect(client: CoreClient, request: Add) -> list[Delta]:
    return [delta async for delta in client.generate(request)]


def tokens(deltas: list[Delta], index: int = 0) -> list[int]:
    return [token for delta in deltas if delta.index == index for token in delta.token_ids]


def with_core(
    test: Callable[[CoreClient], Awaitable[None]], folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> None:
    """Run a test with a core that is there, and see that nothing of it is there afterwards."""
    temporary = folder / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    args = ServerArgs(model=str(folder), disable_radix_cache=True, **options)
    pids = []

    async def run() -> None:
        client = await CoreClient.start(args, executor=ORACLE, timeout_s=WITHIN_S)
        pids.append(client.pid)
        try:
            await asyncio.wait_for(test(client), WITHIN_S)
        finally:
            await client.stop(is_drained=False)
            assert not client.is_alive

    asyncio.run(run())
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert list(temporary.iterdir()) == []


def test_many_streams_at_once_and_each_gets_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        assert (client.ready.model, client.ready.vocab_size) == ("oracle", VOCAB)
        requests = [add(f"r{at}", *range(at % 9 + 1), n=at % 3 + 1, max_tokens=at % 7 + 1) for at in range(60)]
        found = await asyncio.gather(*(collect(client, each) for each in requests))
        for request, deltas in zip(requests, found, strict=True):
            for index in range(request.params.n):
                assert tokens(deltas, index) == expected(request, index)
        assert client.num_streams == 0
        stats = await client.stats()
        assert stats.output_tokens == sum(len(tokens(each, at)) for each in found for at in range(3))
        assert stats.num_running == stats.num_blocks_held == 0

    with_core(test, tmp_path, monkeypatch)


def test_errors_of_a_request_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        with pytest.raises(BadRequest, match="a token does not exist") as caught:
            await collect(client, add("bad", VOCAB + 1))
        assert caught.value.field == "prompt" and caught.value.fix == f"use ids of 0 to {VOCAB - 1}"
        with pytest.raises(EngineError, match="as asked") as failed:
            await client.call("fail")
        assert (failed.value.code, failed.value.fix) == ("bad-config", "don't")
        with pytest.raises(EngineError, match="ZeroDivisionError: as asked"):
            await client.call("break")
        assert await client.call("echo", a=1) == [{"a": 1}]
        request = add("good")
        first = asyncio.create_task(collect(client, request))
        await asyncio.sleep(0)
        with pytest.raises(BadRequest, match="request_id"):
            await collect(client, add("good"))
        assert tokens(await first) == expected(request)

    with_core(test, tmp_path, monkeypatch)


def test_a_stream_that_is_left_frees_what_it_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        stream = client.generate(add("left", max_tokens=2000, n=2))
        await anext(stream)
        await stream.aclose()
        cancelled = asyncio.create_task(collect(client, add("cancelled", max_tokens=2000)))
        await asyncio.sleep(0.05)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        while (await client.stats()).num_running:
            await asyncio.sleep(0.01)
        assert (await client.stats()).num_blocks_held == client.num_streams == 0

    with_core(test, tmp_path, monkeypatch)


def test_one_choice_can_be_aborted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        request = add("r", n=2, max_tokens=300)
        deltas: list[Delta] = []
        async for delta in client.generate(request):
            if not deltas:
                client.abort("r", 1)
            deltas.append(delta)
        ends = {each.index: each.finish_reason for each in deltas if each.finish_reason is not None}
        assert ends == {0: FinishReason.LENGTH, 1: FinishReason.ABORT}
        assert tokens(deltas) == expected(request)

    with_core(test, tmp_path, monkeypatch)


def test_a_stop_lets_what_runs_finish_and_takes_nothing_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        request = add("r", max_tokens=200)
        running = asyncio.create_task(collect(client, request))
        await asyncio.sleep(0.05)
        stopping = asyncio.create_task(client.stop(timeout_s=WITHIN_S))
        await asyncio.sleep(0)
        with pytest.raises(EngineDead, match="stopping"):
            await collect(client, add("late"))
        await stopping
        assert tokens(await running) == expected(request)
        assert await client.wait_ended() is None
        await client.stop()

    with_core(test, tmp_path, monkeypatch)


def test_a_stop_at_once_ends_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        stream = client.generate(add("r", max_tokens=3000))
        await anext(stream)
        stopping = asyncio.create_task(client.stop(is_drained=False))
        assert [each async for each in stream][-1].finish_reason is FinishReason.ABORT
        await stopping

    with_core(test, tmp_path, monkeypatch)


def test_a_killed_core_is_an_error_of_everything_that_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        running = [asyncio.create_task(collect(client, add(f"r{at}", max_tokens=3000))) for at in range(3)]
        await asyncio.sleep(0.05)
        os.kill(client.pid, signal.SIGKILL)
        for each in await asyncio.gather(*running, return_exceptions=True):
            assert isinstance(each, EngineDead) and "signal 9" in str(each)
        assert not client.is_alive and isinstance(await client.wait_ended(), EngineDead)
        with pytest.raises(EngineDead):
            await client.stats()
        client.abort("r0")

    with_core(test, tmp_path, monkeypatch)


def test_a_step_that_fails_ends_the_engine_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        with pytest.raises(EngineError, match="ZeroDivisionError: as asked"):
            await collect(client, add("r", 13))
        assert isinstance(await client.wait_ended(), EngineError) and not client.is_alive

    with_core(test, tmp_path, monkeypatch)


def test_signals_to_the_whole_group_are_the_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(client: CoreClient) -> None:
        for each in (signal.SIGINT, signal.SIGTERM):
            os.kill(client.pid, each)
        request = add("r")
        assert tokens(await collect(client, request)) == expected(request)

    with_core(test, tmp_path, monkeypatch)


def test_what_keeps_it_from_serving_is_said(tmp_path: Path) -> None:
    async def start(executor: str) -> None:
        await CoreClient.start(ServerArgs(model=str(tmp_path / "none")), executor=executor, timeout_s=WITHIN_S)

    with pytest.raises(EngineError, match="no package is known for") as caught:
        asyncio.run(start(ORACLE))
    assert caught.value.code == "bad-model"
    with pytest.raises(EngineError, match="ModuleNotFoundError"):
        asyncio.run(start("tests.support.nowhere:small"))


_PARENT = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from engine.config.server_args import ServerArgs
from engine.core.client import CoreClient

async def main():
    client = await CoreClient.start(ServerArgs(model=sys.argv[2]), executor=sys.argv[3])
    print(client.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_the_core_ends_with_its_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(ROOT), str(tmp_path), ORACLE], stdout=subprocess.PIPE, text=True
    )
    try:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
    finally:
        parent.kill()
        parent.communicate()
    end = time.monotonic() + WITHIN_S
    while is_running(pid):
        assert time.monotonic() < end, "the core outlived its parent"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """A zombie that nobody waits for has ended too."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
