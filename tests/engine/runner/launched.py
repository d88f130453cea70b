"""What test_launches starts: computes a job's prompts where it drives, and only computes where it follows."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from engine.config.server_args import ServerArgs
from engine.runner.executor import Executor, follow, is_follower
from tests.engine.runner import driver


def main(path: str) -> int:
    job = json.loads(Path(path).read_text())
    args = ServerArgs(**job["options"])
    if is_follower(args):
        return follow(args)
    executor = Executor(args)
    tokens = driver.generate(executor, job["prompts"], num_tokens=job["num_tokens"], step_tokens=30)
    Path(job["out"]).write_text(json.dumps(tokens))
    executor.shutdown()
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(status)
