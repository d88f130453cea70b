"""A server as a process: where it listens, how it drains, what it does when it is told again, and when its engine
dies."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.config.server_args import ServerArgs
from engine.distributed.ports import families_here
from engine.schema.errors import BadConfig
from engine.server.limits import Limits
from engine.server.run import bind, serve
from tests.engine.server import tiny
from tests.engine.server.http.process import ORACLE, WITHIN_S, Server, Spec, client, server

LONG: dict[str, Any] = {"model": "tiny", "prompt": "HELLO", "max_tokens": 300, "ignore_eos": True, "stream": True}
SHORT: dict[str, Any] = {"model": "tiny", "prompt": "HELLO", "max_tokens": 5, "ignore_eos": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model")
    tiny.write(made)
    return made


def spec(folder: Path, **options: Any) -> Spec:
    bounds = Limits(**{"drain_s": 20.0, **options.pop("bounds", {})})
    args = ServerArgs(model=str(folder), served_model_name="tiny", disable_radix_cache=True)
    return Spec(args=args, bounds=bounds, executor=ORACLE, **options)


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


class Stream:
    """A stream that a thread reads. lines: what came."""

    def __init__(self, made: Server, body: dict[str, Any]) -> None:
        self.lines: list[str] = []
        self.status = 0
        self.error: Exception | None = None
        self._is_begun = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(made, body), daemon=True)
        self._thread.start()
        assert self._is_begun.wait(WITHIN_S)

    def _read(self, made: Server, body: dict[str, Any]) -> None:
        try:
            with client(made) as http, http.stream("POST", "/v1/completions", json=body) as answer:
                self.status = answer.status_code
                for line in answer.iter_lines():
                    self._is_begun.set()
                    if line:
                        self.lines.append(line)
        except httpx.HTTPError as error:
            self.error = error
        self._is_begun.set()

    def ended(self) -> str:
        self._thread.join(WITHIN_S)
        assert not self._thread.is_alive()
        return "\n".join(self.lines)


def until(is_so: Any, within_s: float = WITHIN_S) -> None:
    end = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def test_a_server_serves_and_drains(folder: Path) -> None:
    with server(spec(folder)) as made:
        made.wait_ready()
        (core,) = made.children
        with client(made) as http:
            assert http.get("/health").json() == {"status": "ok", "num_running": 0, "num_waiting": 0}
            answer = http.post("/v1/completions", json=SHORT).json()
            assert answer["usage"]["completion_tokens"] == 5 and answer["choices"][0]["finish_reason"] == "length"
            wrong = http.post("/v1/completions", json={**SHORT, "prompt": "x"})  # the oracle's vocabulary is smaller
            assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "prompt")
            stream = Stream(made, LONG)
            assert stream.status == 200
            made.signal()
            until(lambda: any("server drains" in each for each in made.log))
            # A connection that is there already is told; a new one is not taken.
            with pytest.raises(httpx.HTTPError):
                until(lambda: httpx.get(f"{made.url}/version", timeout=WITHIN_S).status_code != 200)
        text = stream.ended()
        assert stream.error is None and text.count('"finish_reason":"length"') == 1 and text.endswith("data: [DONE]")
        assert made.ended() == 0, "".join(made.log)
        assert not is_there(core)


def test_a_drain_has_a_bound(folder: Path) -> None:
    with server(spec(folder, bounds={"drain_s": 0.5})) as made:
        made.wait_ready()
        stream = Stream(made, {**LONG, "max_tokens": 4000})
        made.signal(signal.SIGINT)
        text = stream.ended()
        assert '"code":"shutting_down"' in text and text.endswith("data: [DONE]")
        assert made.ended() == 1


def test_a_second_signal_ends_it_at_once(folder: Path) -> None:
    with server(spec(folder)) as made:
        made.wait_ready()
        (core,) = made.children
        stream = Stream(made, {**LONG, "max_tokens": 4000})
        made.signal()
        until(lambda: any("server drains" in each for each in made.log))
        began = time.monotonic()
        made.signal()
        assert made.ended() == 1 and time.monotonic() - began < WITHIN_S / 2
        assert '"finish_reason":"' not in stream.ended()
        until(lambda: not is_there(core))


def test_an_engine_that_dies_takes_the_server_with_it(folder: Path) -> None:
    with server(spec(folder)) as made:
        made.wait_ready()
        (core,) = made.children
        streams = [Stream(made, {**LONG, "max_tokens": 4000}) for _ in range(3)]
        os.kill(core, signal.SIGKILL)
        for each in streams:
            text = each.ended()
            assert '"code":"engine-dead"' in text and "killed by signal 9" in text
        assert made.ended() == 1
        assert any("engine ended" in each for each in made.log)


def test_a_step_that_breaks_ends_it_with_its_own_words(folder: Path) -> None:
    with server(spec(folder)) as made:
        made.wait_ready()
        with client(made) as http:
            answer = http.post("/v1/completions", json={**SHORT, "prompt": [13, 1, 2]})
        assert answer.status_code == 503 and answer.json()["error"]["type"] == "service_unavailable_error"
        assert made.ended() == 1


def test_a_silent_engine_is_not_well(folder: Path) -> None:
    with server(spec(folder, bounds={"health_s": 0.5})) as made:
        made.wait_ready()
        (core,) = made.children
        os.kill(core, signal.SIGSTOP)
        try:
            with client(made) as http:
                sick = http.get("/health")
                assert (sick.status_code, sick.json()["error"]["code"]) == (503, "engine-silent")
                assert "engine_up 0.0" in http.get("/metrics").text
                os.kill(core, signal.SIGCONT)
                assert http.get("/health").status_code == 200
                assert "engine_up 1.0" in http.get("/metrics").text
        finally:
            os.kill(core, signal.SIGCONT)


def test_a_server_that_is_killed_leaves_no_engine(folder: Path) -> None:
    with server(spec(folder)) as made:
        made.wait_ready()
        (core,) = made.children
        made.signal(signal.SIGKILL)
        made.ended()
        until(lambda: not is_there(core))


@pytest.mark.skipif(socket.AF_INET6 not in families_here(), reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_ipv6_is_an_address_like_any_other(folder: Path, host: str) -> None:
    with server(spec(folder, host=host)) as made:
        made.wait_ready()
        assert made.url.startswith("http://[::1]:")
        with client(made) as http:
            assert http.get("/health").status_code == 200


@pytest.fixture
def taken() -> Iterator[int]:
    with bind("127.0.0.1", 0) as listener:
        yield listener.getsockname()[1]


def test_a_port_in_use_is_an_error_with_a_fix(folder: Path, taken: int) -> None:
    with server(["engine", "serve", "--model", str(folder), "--port", str(taken)]) as made:
        assert made.ended() == 2
        assert f"bad-config: 127.0.0.1:{taken} is in use; end who listens there" in "".join(made.log)


def test_a_connection_that_asks_for_nothing_is_closed(folder: Path) -> None:
    with server(spec(folder, bounds={"read_s": 0.5})) as made:
        made.wait_ready()
        port = httpx.URL(made.url).port or 0
        for said in (b"", b"GET /version HT", b"GET /version HTTP/1.1\r\nhost: x\r\n\r\nGET /ver"):
            with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as quiet:
                quiet.sendall(said)
                answer = b""
                while part := quiet.recv(4096):
                    answer += part
                assert answer.startswith(b"HTTP/1.1 200") == (b"host" in said)
        # One that works is left alone, however long that takes.
        assert Stream(made, {**LONG, "max_tokens": 500}).ended().endswith("data: [DONE]")


def test_a_signal_while_the_engine_loads_ends_it_and_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    slow = Spec(args=ServerArgs(model=str(folder)), executor="tests.engine.server.http.process:never")
    with server(slow) as made:
        until(lambda: bool(list(tmp_path.iterdir())) and bool(made.children))
        (core,) = made.children
        made.signal()
        assert made.ended() == 0, "".join(made.log)
        assert any("told to end" in each for each in made.log)
        until(lambda: not is_there(core))
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("127.0.0.1", 70000, "port=70000"),
        ("127.0.0.1", -1, "port=-1"),
        ("no.such.host.invalid", 0, "has no address"),
        ("192.0.2.1", 0, "can't be bound"),
    ],
)
def test_an_address_that_is_none(host: str, port: int, words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        bind(host, port)


@pytest.mark.parametrize("key", ["", " x", "schl\u00fcssel"])
def test_a_key_that_can_be_none(key: str) -> None:
    with pytest.raises(BadConfig, match="API key"):
        serve(ServerArgs(), api_key=key)
