"""The core's process with the real executor and two ranks below it: right tokens, and whoever of them is killed, the
client hears of it and nothing is left."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("zmq")

from engine.config.server_args import ServerArgs  # noqa: E402
from engine.core.client import CoreClient  # noqa: E402
from engine.schema.errors import EngineError  # noqa: E402
from engine.schema.messages import Add, Delta  # noqa: E402
from engine.schema.sampling import SamplingParams  # noqa: E402
from tests.engine import checkpoints  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
WITHIN_S = 120.0  # far above what anything here takes
PROMPT, NUM_TOKENS = (5, 9, 1, 44, 7), 12


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """A checkpoint, and what transformers says after the prompt."""
    folder = tmp_path_factory.mktemp("llama")
    model = checkpoints.write("llama", folder)
    ids = list(PROMPT)
    with torch.inference_mode():
        while len(ids) < len(PROMPT) + NUM_TOKENS:
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return folder, ids[len(PROMPT) :]


def status(pid: int) -> dict[str, str]:
    """What the kernel says of a process; nothing of one that is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def children(pid: int) -> list[int]:
    everybody = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [each for each in everybody if status(each).get("PPid") == str(pid)]


async def collect(client: CoreClient, request_id: str, max_tokens: int = NUM_TOKENS) -> list[Delta]:
    params = SamplingParams(temperature=0.0, max_tokens=max_tokens, ignore_eos=True)
    return [each async for each in client.generate(Add(request_id=request_id, prompt_ids=PROMPT, params=params))]


@pytest.mark.parametrize("who", ["core", "rank"])
def test_two_ranks_answer_and_a_killed_one_is_an_error(made: tuple[Path, list[int]], who: str) -> None:
    folder, expected = made
    args = ServerArgs(model=str(folder), dtype="float32", threads=1, max_total_tokens=1024, tp_size=2)
    family: list[int] = []

    async def run() -> None:
        client = await CoreClient.start(args, timeout_s=WITHIN_S)
        try:
            family.extend([client.pid, *children(client.pid)])
            assert len(family) >= 3
            found = await asyncio.wait_for(collect(client, "first"), WITHIN_S)
            assert [token for delta in found for token in delta.token_ids] == expected
            running = asyncio.create_task(collect(client, "long", 200))
            await asyncio.sleep(0.1)
            os.kill(client.pid if who == "core" else family[1], signal.SIGKILL)
            with pytest.raises(EngineError) as caught:
                await asyncio.wait_for(running, WITHIN_S)
            assert caught.value.code == "engine-dead"
        finally:
            await client.stop(is_drained=False)

    asyncio.run(run())
    end = time.monotonic() + WITHIN_S
    while left := [each for each in family if status(each).get("State", "Z")[0] != "Z"]:
        assert time.monotonic() < end, f"left behind: {left}"
        time.sleep(0.05)
