"""Clients that go at every moment: what they asked for is aborted in the engine, and nothing of it is left in the
server."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.engine.server.http.running import Running

ENDLESS: dict[str, Any] = {"model": "tiny", "prompt": "SAY[abc] FOREVER", "max_tokens": 3000}


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("tiny"), key=None, step_s=0.005) as made:
        made.http.post("/v1/completions", json={**ENDLESS, "max_tokens": 1})
        yield made


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)


def raw(body: dict[str, Any], path: str = "/v1/completions") -> bytes:
    sent = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(sent)}\r\n\r\n".encode() + sent


def connected(slow: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", httpx.URL(slow.url).port or 0), timeout=30)


def is_quiet(slow: Running, tasks: int) -> bool:
    gate = slow.service.gate
    return (
        not slow.engine.held
        and gate.num_answers == gate.num_streams == slow.service.num_open == 0
        and slow.num_tasks <= tasks
        and not slow.server.server_state.connections
    )


@pytest.fixture
def tasks(slow: Running) -> int:
    """Of a server that nobody asks anything."""
    slow.http.close()
    until(lambda: not slow.server.server_state.connections)
    return slow.num_tasks


@pytest.mark.parametrize("has_reset", [False, True])
@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("num_choices", [1, 3])
@pytest.mark.parametrize("wait_for", ["dispatch", "tokens"])
def test_a_client_that_goes_ends_its_request(
    slow: Running, tasks: int, wait_for: str, num_choices: int, is_stream: bool, has_reset: bool
) -> None:
    before, aborted = len(slow.engine.adds), len(slow.engine.aborts)
    with connected(slow) as client:
        client.sendall(raw({**ENDLESS, "stream": is_stream, "n": num_choices}))
        until(lambda: len(slow.engine.adds) > before and bool(slow.engine.held))
        if wait_for == "tokens":
            made = slow.engine.num_output
            until(lambda: slow.engine.num_output > made + 20)
            assert not is_stream or client.recv(100).startswith(b"HTTP/1.1 200")
        if has_reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    until(lambda: is_quiet(slow, tasks))
    # C48: once, and only where it had been sent there.
    assert slow.engine.aborts[aborted:] == [(slow.engine.adds[-1].request_id, None)]


@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
def test_a_client_that_goes_within_its_request_asks_for_nothing(slow: Running, tasks: int, share: float) -> None:
    before, aborted = len(slow.engine.adds), len(slow.engine.aborts)
    sent = raw(ENDLESS)
    with connected(slow) as client:
        client.sendall(sent[: int(len(sent) * share)])
        until(lambda: bool(slow.server.server_state.connections))
    until(lambda: is_quiet(slow, tasks))
    assert (len(slow.engine.adds), len(slow.engine.aborts)) == (before, aborted)


def test_a_client_that_reads_nothing_has_its_time(tmp_path: Path) -> None:
    with Running(tmp_path, key=None, limits={"request_s": 0.5}, per_step=300, context=400_000) as small:
        body = {**ENDLESS, "max_tokens": 390_000, "stream": True, "logprobs": 5}
        with connected(small) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(raw(body))
            until(lambda: bool(small.engine.held))
            until(lambda: not small.engine.held)
            until(lambda: small.service.gate.num_streams == 0)


def test_a_prompt_of_several_is_aborted_whole(slow: Running, tasks: int) -> None:
    aborted = len(slow.engine.aborts)
    with connected(slow) as client:
        client.sendall(raw({**ENDLESS, "prompt": [ENDLESS["prompt"]] * 3, "stream": True}))
        until(lambda: len(slow.engine.held) == 3)
    until(lambda: is_quiet(slow, tasks))
    assert {each for each, _ in slow.engine.aborts[aborted:]} == {each.request_id for each in slow.engine.adds[-3:]}


def test_an_error_of_one_prompt_ends_the_others(slow: Running, tasks: int) -> None:
    answer = httpx.post(
        f"{slow.url}/v1/completions", json={**ENDLESS, "prompt": [ENDLESS["prompt"], "REFUSE"]}, timeout=30
    )
    assert answer.status_code == 400
    until(lambda: is_quiet(slow, tasks))


def test_requests_one_after_the_other_on_one_connection(slow: Running, tasks: int) -> None:
    with connected(slow) as client:
        for text in ("one", "two", "three"):
            client.sendall(raw({"model": "tiny", "prompt": f"SAY[{text}]"}))
            answer = b""
            while not answer.endswith(b"}}}"):
                answer += client.recv(4096)
            assert f'"text":"{text}"'.encode() in answer
    until(lambda: is_quiet(slow, tasks))
