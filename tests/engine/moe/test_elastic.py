"""Ranks that die and hang in the middle of what they compute together, and ranks that come back: the others go on, with
the tokens that they would have had."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.distributed.membership import Membership, connect_store, serve_store  # noqa: E402
from engine.moe.survivors import active_ranks, owners_of  # noqa: E402
from engine.schema.errors import BadConfig, Excluded, PeerLost  # noqa: E402
from tests.engine import checkpoints  # noqa: E402
from tests.support.house import ROOT  # noqa: E402

LIMIT_S = 90.0


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    folder = tmp_path_factory.mktemp("dots1")
    model = checkpoints.write("dots1", folder, num_hidden_layers=2)
    known = []
    with torch.inference_mode():
        for seed in range(5):
            rng = random.Random(seed)
            tokens = [rng.randrange(199) for _ in range(3 + 2 * seed)]
            prompt = list(tokens)
            for _ in range(6):
                tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
            known.append((prompt, tokens[len(prompt) :]))
    return folder, known


class Cluster:
    """Four ranks, and the store that outlives them."""

    def __init__(self, folder: Path, known: Any, redundant: int) -> None:
        self.store = serve_store("127.0.0.1")
        self.given = {"folder": str(folder), "size": 4, "port": self.store.port, "redundant": redundant, "known": known}
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        for rank in range(4):
            self.start(rank, is_joiner=False)

    def start(self, rank: int, *, is_joiner: bool = True) -> None:
        spec = json.dumps({**self.given, "rank": rank, "is_joiner": is_joiner})
        if rank in self.processes:
            self.processes[rank].wait(20)  # who is killed has ended a little later
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        self.processes[rank] = subprocess.Popen(
            [sys.executable, "-m", "tests.engine.moe.elastic", spec], env=environ, cwd=ROOT
        )

    def signal(self, rank: int, number: int) -> None:
        self.processes[rank].send_signal(number)

    def number(self, key: str) -> int:
        return int(self.store.get(key)) if self.store.check([key]) else 0

    def members(self, rank: int) -> list[int]:
        return json.loads(self.store.get(f"members/{rank}")) if self.store.check([f"members/{rank}"]) else []

    def until(self, what: Callable[[], bool]) -> None:
        limit = time.monotonic() + LIMIT_S
        while not what():
            assert time.monotonic() < limit, "it does not go on"
            time.sleep(0.05)

    def go_on(self, members: list[int], more: int = 1) -> None:
        """Until each of them has done some requests more, in that company."""
        before = {rank: self.number(f"done/{rank}") for rank in members}
        self.until(
            lambda: all(
                self.number(f"done/{rank}") >= before[rank] + more and self.members(rank) == members for rank in members
            )
        )
        assert self.number("wrong") == 0

    def stop(self, members: list[int]) -> dict[int, tuple[int, int]]:
        """What each says at the end: experts restored, generation."""
        self.store.set("stop", "1")
        self.until(lambda: all(self.store.check([f"end/{rank}"]) for rank in members))
        assert [self.processes[rank].wait(20) for rank in members] == [0] * len(members)
        ends = {rank: self.store.get(f"end/{rank}").decode().split() for rank in members}
        return {rank: (int(first), int(second)) for rank, (first, second) in ends.items()}

    def close(self) -> None:
        for each in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                each.kill()
            each.wait(20)


@contextlib.contextmanager
def cluster(reference: Any, redundant: int) -> Iterator[Cluster]:
    folder, known = reference
    made = Cluster(folder, known, redundant)
    try:
        made.go_on([0, 1, 2, 3])
        yield made
    finally:
        made.close()


def test_ranks_that_are_killed_and_come_back(reference: Any) -> None:
    """Each once, at some moment; the store's first member, too."""
    rng = random.Random(4)
    with cluster(reference, 16) as made:
        for rank in (2, 0):
            time.sleep(rng.random() * 0.3)
            made.signal(rank, signal.SIGKILL)
            others = [each for each in range(4) if each != rank]
            made.go_on(others)
            made.start(rank)
            made.go_on([0, 1, 2, 3])
        ends = made.stop([0, 1, 2, 3])
        (generation,) = {each for _, each in ends.values()}
        assert generation >= 5  # one to begin with, two for each


def test_two_faults_in_a_row_and_a_rank_that_hangs(reference: Any) -> None:
    """Experts that no rank has left come from disk; a rank that wakes up late is told that it is out."""
    with cluster(reference, 16) as made:
        made.signal(1, signal.SIGSTOP)
        time.sleep(0.2)
        made.signal(3, signal.SIGKILL)
        made.go_on([0, 2])
        made.signal(1, signal.SIGCONT)
        made.until(lambda: made.processes[1].poll() is not None)
        assert made.processes[1].wait() == 3 and made.store.check(["excluded/1"])
        made.start(1)
        made.go_on([0, 1, 2])
        ends = made.stop([0, 1, 2])
        assert sum(restored for restored, _ in ends.values()) > 0


def joined(port: int, rank: int, **given: Any) -> Membership:
    return Membership(lambda: connect_store("127.0.0.1", port), rank=rank, size=3, beat_every=0.05, **given)


def test_members_agree_on_who_is_left() -> None:
    store = serve_store("127.0.0.1")
    first, second, late = (joined(store.port, rank, silence=0.4, patience=1.5) for rank in range(3))
    found: list[Any] = []

    def say(member: Membership) -> None:
        try:
            found.append(member.agree())
        except Excluded as error:
            found.append(error)

    try:
        threads = [threading.Thread(target=say, args=(each,)) for each in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert found == [(0, 1), (0, 1)]  # the third one's heart beats, and it does not come
        say(late)
        assert isinstance(found[2], Excluded)
        with pytest.raises(PeerLost, match="nobody let rank 2 in"):
            late.join(timeout=0.2)
        assert not first.joiners()
        thread = threading.Thread(target=lambda: found.append(late.join(timeout=20)))
        thread.start()
        while not first.joiners():
            time.sleep(0.01)
        assert first.admit([2]) == second.admit([2]) == (0, 1, 2)
        thread.join(20)
        assert found[3] == (0, 1, 2) and late.generation == 2 and not first.joiners()
        first.close()  # its heart stops
        say(second)
        assert found[4] == (1,) or found[4] == (1, 2)
    finally:
        for each in (first, second, late):
            each.close()


def test_what_membership_refuses() -> None:
    with pytest.raises(BadConfig, match="rank 3 of 3"):
        joined(1, 3)
    with pytest.raises(BadConfig, match=r"silence=0\.05"):
        joined(1, 0, silence=0.05)
    assert active_ranks((0, 2), 3) == [True, False, True]
    assert owners_of((0, 2), 3) == [0, -1, 1]
