"""A server over the model that is shipped, told to end while it is busy: what runs is finished as if nothing had
happened, and nothing new is taken."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.config.server_args import ServerArgs
from engine.server.limits import Limits
from tests.engine import shipped
from tests.engine.server.http.process import Spec, server
from tests.engine.server.http.test_lifecycle import is_there, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
NUM_STREAMS, NUM_TOKENS = 12, 40
TOPICS = ["the sea", "a clock", "winter", "bread", "the moon", "a bridge"]


def test_a_busy_server_drains() -> None:
    # Fewer run than ask, so that some wait; blocks for fewer than run, so that some are preempted.
    args = ServerArgs(
        model=str(shipped.path("smollm2-135m-instruct")),
        served_model_name="smollm2",
        dtype="float32",
        threads=1,
        max_running_requests=8,
        max_total_tokens=512,
    )
    with server(Spec(args=args, bounds=Limits(drain_s=120.0))) as made:
        made.wait_ready()
        (core,) = made.children
        with openai.OpenAI(base_url=f"{made.url}/v1", api_key="none", max_retries=0, timeout=120) as client:
            alone = [said(client, index, threading.Semaphore(0)) for index in range(2)]
            begun = threading.Semaphore(0)
            with ThreadPoolExecutor(NUM_STREAMS) as pool:
                running = [pool.submit(said, client, index, begun) for index in range(NUM_STREAMS)]
                for _ in range(3):
                    assert begun.acquire(timeout=60)
                made.signal()
                until(lambda: any("server drains" in each for each in made.log))
                with pytest.raises((openai.APIConnectionError, openai.InternalServerError, httpx.HTTPError)):
                    until(lambda: said(client, 0, begun) == ("", None))
                found = [each.result(120) for each in running]
        assert made.ended() == 0, "".join(made.log)
    assert not is_there(core)
    assert found[:2] == alone
    assert all(text and reason in ("length", "stop") for text, reason in found)
    assert not any("Traceback" in each for each in made.log), "".join(made.log)


def said(client: openai.OpenAI, index: int, begun: threading.Semaphore) -> tuple[str, str | None]:
    """A stream to its end: text, and why it ended. begun: released with its first token."""
    question: Any = [
        {"role": "user", "content": f"Tell me a story about {TOPICS[index % 6]} in {index + 5} sentences."}
    ]
    text, reason = "", None
    for chunk in client.chat.completions.create(
        model="smollm2", messages=question, temperature=0, max_tokens=NUM_TOKENS, stream=True
    ):
        if not text:
            begun.release()
        text += chunk.choices[0].delta.content or ""
        reason = chunk.choices[0].finish_reason or reason
    return text, reason
