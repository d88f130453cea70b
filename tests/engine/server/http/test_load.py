"""Two hundred clients at a time, many of which go away at some moment, against a server and a core in processes of
their own under the token oracle: every text that came is the right one, and in the end nothing is left."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.config.server_args import ServerArgs
from engine.sampling.oracle import oracle_id, oracle_token
from tests.engine.server import tiny
from tests.engine.server.http.process import ORACLE, Server, Spec, client, server
from tests.support.oracle_executor import VOCAB

NUM_CLIENTS = 200
LASTS_S = 60.0 if os.environ.get("UNMOVED_TEST_LONG") else 10.0
KINDS = ("whole", "whole", "stream", "stream", "cut", "cut", "cut early", "cut body", "cut whole")
_FIRST = ord("!")  # the text of token 0; each of the oracle's tokens is one character


def expected(request_id: str, index: int, prompt: str, length: int) -> str:
    oracle = oracle_id(request_id, index)
    return "".join(chr(_FIRST + oracle_token(oracle, len(prompt) + at, VOCAB)) for at in range(length))


async def ask(port: int, rng: random.Random, seen: Counter[str]) -> None:
    kind = rng.choice(KINDS)
    prompt = "".join(chr(_FIRST + rng.randrange(VOCAB)) for _ in range(rng.randrange(1, 60)))
    if prompt[0] == chr(_FIRST + 13):
        prompt = "A" + prompt  # breaks the oracle's step, on purpose
    body: dict[str, Any] = {
        "model": "tiny",
        "prompt": prompt,
        "n": rng.choice([1, 1, 1, 2]),
        "max_tokens": rng.randrange(1, 60),
        "ignore_eos": True,
        "stream": kind in ("stream", "cut", "cut early"),
    }
    sent = json.dumps(body).encode()
    head = (
        f"POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(sent)}\r\n\r\n".encode()
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        if kind == "cut body":
            writer.write(head + sent[: rng.randrange(len(sent))])
            await writer.drain()
            await asyncio.sleep(rng.random() * 0.05)
            return
        writer.write(head + sent)
        await writer.drain()
        if kind in ("cut early", "cut whole"):
            await asyncio.sleep(rng.random() * 0.2)
            return
        most = rng.randrange(1, 4000) if kind == "cut" else -1
        answer = await reader.read(most) if kind == "cut" else await reader.read()
        seen[check(answer, body, is_cut=kind == "cut")] += 1
    finally:
        seen[kind] += 1
        if rng.random() < 0.5:
            writer.transport.abort()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def check(answer: bytes, body: dict[str, Any], *, is_cut: bool) -> str:
    """Every text is the oracle's, as far as it came."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    if is_cut and not rest:
        return "nothing yet"
    assert head.startswith(b"HTTP/1.1 200"), answer[:500]
    texts, reasons, request_id = [""] * body["n"], [None] * body["n"], ""
    for value in events(rest) if body["stream"] else [json.loads(rest)]:
        request_id = value["id"]
        for choice in value["choices"]:
            texts[choice["index"]] += choice["text"]
            reasons[choice["index"]] = choice["finish_reason"]
    for index, text in enumerate(texts):
        length = len(text) if is_cut else body["max_tokens"]
        assert text == expected(f"{request_id}-0", index, body["prompt"], length)
        assert is_cut or reasons[index] == "length"
    return "right"


def events(raw: bytes) -> list[Any]:
    """Of a chunked body, the last of which may be cut."""
    found, at = b"", 0
    while (end := raw.find(b"\r\n", at)) >= 0:
        size = int(raw[at:end], 16)
        found += raw[end + 2 : end + 2 + size]
        at = end + 4 + size
    lines = [each for each in found.split(b"\n\n")[:-1] if each != b"data: [DONE]"]
    assert all(each.startswith(b"data: {") for each in lines)
    return [json.loads(each[6:]) for each in lines]


async def load(port: int, ends: float, seed: int) -> Counter[str]:
    seen: Counter[str] = Counter()

    async def one(number: int) -> None:
        rng = random.Random(seed * 1000 + number)
        while time.monotonic() < ends:
            await ask(port, rng, seen)

    await asyncio.gather(*(one(number) for number in range(NUM_CLIENTS)))
    return seen


def rss_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def figures(http: httpx.Client) -> dict[str, float]:
    lines = [each.rsplit(" ", 1) for each in http.get("/metrics").text.splitlines() if not each.startswith("#")]
    return {name: float(value) for name, value in lines}


def settled(made: Server, http: httpx.Client, fds: int) -> dict[str, float]:
    end = time.monotonic() + 30
    while True:
        found = figures(http)
        is_quiet = all(found[f"engine_{name}"] == 0 for name in ("num_running", "num_waiting", "requests_open"))
        if is_quiet and len(os.listdir(f"/proc/{made.process.pid}/fd")) <= fds:
            return found
        assert time.monotonic() < end, found
        time.sleep(0.1)


@pytest.mark.slow
def test_nothing_is_left_of_two_hundred_clients(tmp_path: Path) -> None:
    tiny.write(tmp_path)
    # The oracle learns what a sequence is from its first slice, which has to hold all of its prompt.
    args = ServerArgs(
        model=str(tmp_path), served_model_name="tiny", disable_radix_cache=True, chunked_prefill_size=1 << 16
    )
    with server(Spec(args=args, executor=ORACLE)) as made:
        made.wait_ready()
        port = httpx.URL(made.url).port
        assert port is not None
        with client(made) as http:
            figures(http)
            fds = len(os.listdir(f"/proc/{made.process.pid}/fd"))
            warm = asyncio.run(load(port, time.monotonic() + LASTS_S / 4, seed=1))
            settled(made, http, fds)
            before = rss_bytes(made.process.pid)
            seen = asyncio.run(load(port, time.monotonic() + LASTS_S, seed=2))
            found = settled(made, http, fds)
            growth = rss_bytes(made.process.pid) - before
        total = {
            name: found[f'engine_requests_total{{endpoint="completions",outcome="{name}"}}']
            for name in ("ok", "disconnected")
        }
        assert seen["right"] > NUM_CLIENTS and all(seen[kind] > 20 for kind in KINDS), seen
        assert total["ok"] >= seen["whole"] + seen["stream"] + warm["whole"] and total["disconnected"] > 20
        assert found["engine_num_blocks_held"] == 0
        # What an allocator keeps for itself; one request of each kind that stayed would be far more.
        assert growth < 24 << 20, (growth, seen)
        made.signal()
        assert made.ended() == 0, "".join(made.log[-50:])
    assert not [each for each in made.log if "Traceback" in each or each.startswith("ERROR")]
