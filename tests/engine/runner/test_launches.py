"""The same tokens where others start the processes: torchrun, and two nodes that are launched apart."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS
from tests.support.house import ROOT

_LIMIT_S = 240


def launch(command: list[str], **environ: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ENGINE_")}
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env={**kept, "OMP_NUM_THREADS": "1", **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def outcome(process: subprocess.Popen[str]) -> str:
    try:
        text, _ = process.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
        pytest.fail(f"still ran after {_LIMIT_S} s:\n{text}")
    assert process.returncode == 0, text
    return text


def job(tmp_path: Path, folder: Path, **options: Any) -> tuple[str, Path]:
    """What to compute, and where the tokens are left."""
    out = tmp_path / "tokens.json"
    path = tmp_path / f"job-{options.get('node_rank', 0)}.json"
    path.write_text(
        json.dumps(
            {
                "options": {"model": str(folder), "dtype": "float32", "dist_timeout": 120.0, **options},
                "prompts": PROMPTS,
                "num_tokens": NUM_TOKENS,
                "out": str(out),
            }
        )
    )
    return str(path), out


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_torchrun(tmp_path: Path, reference: Any) -> None:
    made = reference("llama")
    path, out = job(tmp_path, made.folder, tp_size=2)
    run = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "tests.engine.runner.launched"]
    outcome(launch([*run, path]))
    assert json.loads(out.read_text()) == made.greedy


def test_two_nodes(tmp_path: Path, reference: Any) -> None:
    made = reference("llama")
    where = {"pp_size": 2, "nnodes": 2, "dist_init_addr": f"127.0.0.1:{free_port()}"}
    jobs = [job(tmp_path, made.folder, node_rank=node, **where) for node in (1, 0)]
    nodes = [launch(["-m", "tests.engine.runner.launched", path]) for path, _ in jobs]
    for each in nodes[::-1]:
        outcome(each)
    assert json.loads(jobs[0][1].read_text()) == made.greedy
