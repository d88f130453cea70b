"""Runs many probes in one interpreter, each in a fork of its own: modules, working directory and exit stay apart.

A script, not a module: JSON [[probe, tree, import root], ...] on stdin, a JSON list of what each printed on stdout. An
interpreter for each of some hundred probes would take half a minute."""

from __future__ import annotations

import json
import os
import sys
import traceback

# What most probes want, loaded once for all forks.
import asyncio  # noqa: F401  isort: skip
import dataclasses  # noqa: F401  isort: skip
import enum  # noqa: F401  isort: skip
import logging  # noqa: F401  isort: skip
import typing  # noqa: F401  isort: skip
import unittest.mock  # noqa: F401  isort: skip


def printed(probe: str, tree: str, import_root: str) -> str:
    """The text a probe prints beside a tree; it starts with `exit` when the probe ended in an error."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(writer, 1)
        _run(probe, tree, import_root)
    os.close(writer)
    with open(reader, "rb") as out:
        text = out.read().decode()
    _, status = os.waitpid(child, 0)
    return text if status == 0 else f"exit {status}\n{text}"


def _run(probe: str, tree: str, import_root: str) -> None:
    """In the child: never returns."""
    code = 0
    try:
        os.chdir(tree)
        sys.path[:0] = [os.path.join(tree, import_root), tree]
        with open(probe, encoding="utf-8") as file:
            exec(compile(file.read(), probe, "exec"), {"__name__": "__main__"})
    except BaseException:  # noqa: BLE001  a probe may end in any way, and the fork must not go on as its parent
        sys.stdout.write(traceback.format_exc())
        code = 1
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    results = [printed(*job) for job in json.load(sys.stdin)]
    json.dump(results, sys.stdout)
