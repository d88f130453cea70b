"""What the tests over HTTP start from. They need what only the engine's environment has; elsewhere they are left
out."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import openai

    from tests.engine.server.http.running import Running

_NEEDED = ("fastapi", "httpx", "openai", "prometheus_client", "tokenizers", "uvicorn", "zmq")
collect_ignore_glob = [] if all(find_spec(each) for each in _NEEDED) else ["test_*.py"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    from tests.engine.server.http.running import Running

    with Running(tmp_path_factory.mktemp("tiny")) as made:
        yield made


@pytest.fixture(scope="module")
def client(running: Running) -> openai.OpenAI:
    return running.client
