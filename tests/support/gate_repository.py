"""A small repository of helpers for tests of the gate: a base, and commits on top of it."""

from __future__ import annotations

from pathlib import Path

from tests.support.repository import make_repository, run_git, write_files

HELPERS = b'''\
"""Helpers of a runner."""

import logging
import os

logger = logging.getLogger(__name__)


class Runner:
    """Knows its rank among so many."""

    def __init__(self, rank, size):
        self.rank = rank
        self.size = size
        self.bound = None

    def bind(self, nodes):
        """Which node this rank runs on."""
        if len(nodes) == 0:
            raise ValueError("no nodes")
        if "BIND" in os.environ:
            self.bound = os.environ["BIND"]
            return self.bound
        if self.size > len(nodes):
            logger.warning("more ranks than nodes")
        chosen = nodes[self.rank]
        try:
            chosen.lock(self.rank, self.size)
        except OSError as error:
            raise RuntimeError("can't lock") from error
        self.bound = chosen
        return chosen


def spread(runner, nodes):
    """Bind, and say where."""
    runner.prepare()
    node = runner.bind(nodes)
    runner.announce(node, final=True)
    return node
'''
USER = b"from helpers import Runner\n\n\ndef go(nodes):\n    return Runner(1, 2).bind(nodes)\n"


def helper_repository(root: Path) -> Path:
    """One commit, tagged `base`."""
    make_repository(root, {"helpers.py": HELPERS, "user.py": USER})
    run_git(root, "tag", "base")
    # What a test says to the gate is no part of what the gate looks at.
    (root / ".git/info/exclude").write_text("unmoved.toml\nbaseline.json\n", encoding="ascii")
    return root


def edited(root: Path, message: str, *edits: tuple[str, str], path: str = "helpers.py") -> str:
    """A commit that replaces texts of one file, each of which must be there. Its hash."""
    text = (root / path).read_text(encoding="utf-8")
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return committed(root, message, {path: text.encode()})


def committed(root: Path, message: str, files: dict[str, bytes]) -> str:
    write_files(root, files)
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(root, "rev-parse", "HEAD").strip()
