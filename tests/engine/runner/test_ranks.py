"""Several ranks in processes of their own give what one gives; a rank that ends is named, and nobody waits for it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.config.server_args import ServerArgs
from engine.runner.executor import Executor, follow, is_follower, node_specs
from engine.runner.ranks import Ranks
from engine.schema.errors import BadConfig, BadModel, EngineDead
from tests.engine.runner import driver
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]


def args_for(folder: Path, **options: Any) -> ServerArgs:
    return ServerArgs(model=str(folder), **{"dtype": "float32", "dist_timeout": 120.0, **options})


def test_two_tensor_parallel_ranks_then_one_is_killed(reference: Any) -> None:
    made = reference("gemma3")  # one KV head: both ranks keep it
    executor = Executor(args_for(made.folder, tp_size=2))
    try:
        assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=30) == made.greedy
        described = executor.call("describe")
        assert [each["rank"] for each in described] == [0, 1]
        assert described[0]["forward_passes"] == described[1]["forward_passes"] > NUM_TOKENS
        assert executor._ranks is not None
        children = executor._ranks.children
        os.kill(children[1].pid, signal.SIGKILL)
        started = time.monotonic()
        for _ in range(2):
            with pytest.raises(EngineDead, match="rank 1 was killed by signal 9"):
                driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS)
        assert time.monotonic() - started < 30
    finally:
        executor.shutdown()
    assert not any(each.is_alive for each in children.values())


def test_two_stages(reference: Any) -> None:
    made = reference("llama-tied")
    executor = Executor(args_for(made.folder, pp_size=2))
    try:
        assert [each["layers"] for each in executor.call("describe")] == [[0, 2], [2, 4]]
        assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=30) == made.greedy
        with pytest.raises(BadConfig, match="no rank does '__init__'"):
            executor.call("__init__")
    finally:
        executor.shutdown()


def test_what_keeps_a_rank_from_starting_is_raised(tmp_path: Path, reference: Any) -> None:
    broken = tmp_path / "model"
    broken.mkdir()
    (broken / "config.json").write_text((reference("llama").folder / "config.json").read_text())
    with pytest.raises(BadModel, match=r"rank \d: .*holds no .safetensors file"):
        Executor(args_for(broken, tp_size=2))


def test_the_ranks_of_a_node() -> None:
    args = ServerArgs(tp_size=2, pp_size=2, nnodes=2, node_rank=1, dist_init_addr="127.0.0.1:4000")
    specs = node_specs(args)
    assert [(each.pp_rank, each.tp_rank, each.local_rank, each.local_size) for each in specs] == [
        (1, 0, 0, 2),
        (1, 1, 1, 2),
    ]
    assert is_follower(args)
    with pytest.raises(BadConfig, match="no driver"):
        Executor(args)


@pytest.mark.parametrize(
    ("environ", "follows"), [({"RANK": "0"}, False), ({"RANK": "1"}, True), ({"RANK": "1", "WORLD_SIZE": ""}, False)]
)
def test_who_drives_under_torchrun(monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], follows: bool) -> None:
    for name, value in {"WORLD_SIZE": "2", **environ}.items():
        monkeypatch.setenv(name, value)
    assert is_follower(ServerArgs(tp_size=2)) is follows


def test_strangers_are_sent_away() -> None:
    import socket

    ranks = Ranks(host="127.0.0.1")
    try:
        with socket.create_connection(ranks.address) as stranger:
            stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
            stranger.shutdown(socket.SHUT_WR)
            with pytest.raises(EngineDead, match=r"ranks \[0\] did not come in 1 s"):
                ranks.accept({0}, timeout_s=1.0)
    finally:
        ranks.close(driver.QUIT)


def test_a_world_that_does_not_fit_is_refused(
    monkeypatch: pytest.MonkeyPatch, reference: Any, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert follow(args_for(reference("llama").folder, tp_size=2)) == 1
    assert "torchrun started rank 1 of 3, the options make it rank 1 of 2" in caplog.text
