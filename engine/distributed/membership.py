"""Which ranks are there, as all of them agree through a store that none of them holds: one generation after the other,
each with its members. Who computes what with whom follows from that, and is decided elsewhere.

A rank that has lost a peer says so and waits for the others. Those whose heart stopped are left out at once; those
whose heart beats and that still do not come are left out when patience ends. Who was left out and comes back is told
so."""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from torch._C._distributed_c10d import Store, TCPStore

from engine.schema.errors import BadConfig, Excluded, PeerLost

log = logging.getLogger(__name__)
Connect = Callable[[], Store]
_LATEST = "generation"
_LOOK_S = 0.01


def serve_store(host: str, port: int = 0) -> TCPStore:
    """The store itself, held by a process that outlives the ranks (the one that starts them). Port 0: any free one."""
    return TCPStore(host, port, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=60))


def connect_store(host: str, port: int, *, timeout: float = 60.0) -> Store:
    return TCPStore(host, port, is_master=False, wait_for_workers=False, timeout=timedelta(seconds=timeout))


class Membership:
    """connect: a connection of its own to the store, for the heart has one too. size: ranks that there can be.
    silence: seconds without a heartbeat after which a rank has ended. patience: seconds that a beating one is waited
    for."""

    def __init__(
        self,
        connect: Connect,
        *,
        rank: int,
        size: int,
        beat_every: float = 0.1,
        silence: float = 1.0,
        patience: float = 10.0,
    ) -> None:
        if not 0 <= rank < size:
            raise BadConfig(f"rank {rank} of {size}", fix="number ranks from 0")
        if silence < 2 * beat_every:
            raise BadConfig(f"silence={silence} with a beat every {beat_every} s", fix="give at least twice as much")
        self.rank, self.size, self.silence, self.patience = rank, size, silence, patience
        self.store, self.generation, self.members = connect(), 0, tuple(range(size))
        self.nonce = secrets.token_hex(8)
        self._seen: dict[int, tuple[bytes, float]] = {}
        self._is_over = threading.Event()
        self._heart = threading.Thread(
            target=self._beat, args=(connect(), beat_every), name=f"heart-{rank}", daemon=True
        )
        self._heart.start()

    def _beat(self, store: Store, every: float) -> None:
        number = 0
        while not self._is_over.wait(every if number else 0):
            number += 1
            try:
                store.set(f"beat/{self.rank}", f"{self.nonce} {number}")
            except RuntimeError:
                return  # the store has gone, and with it the run

    def close(self) -> None:
        self._is_over.set()
        self._heart.join(timeout=5.0)

    def _is_silent(self, rank: int) -> bool:
        """Whether a rank's heartbeat has not changed for as long as it may, as far as this rank has looked."""
        now = time.monotonic()
        beat = self.store.get(f"beat/{rank}") if self.store.check([f"beat/{rank}"]) else b""
        last, since = self._seen.get(rank, (b"", now))
        if beat != last or rank not in self._seen:
            last, since = beat, now
        self._seen[rank] = last, since
        return now - since > self.silence

    # -- ranks that go

    def agree(self) -> tuple[int, ...]:
        """The members of the next generation, after something went wrong: those of this one that say so too. Raises
        Excluded where the others have gone on already."""
        number, started = self.generation + 1, time.monotonic()
        self._seen.clear()
        self.store.set(f"{number}/ready/{self.rank}", "1")
        while not self.store.check([f"{number}/members"]):
            ready = [each for each in self.members if self.store.check([f"{number}/ready/{each}"])]
            waited = time.monotonic() - started
            lacking = [each for each in self.members if each not in ready and not self._is_silent(each)]
            # The first of those who are here decides; should it end just now, the next one does a little later.
            turn = ready.index(self.rank) * self.silence
            if (not lacking and waited >= turn) or waited > self.patience + turn:
                self._decide(number, ready, joined={})
            else:
                time.sleep(_LOOK_S)
        return self._enter(number)

    def _decide(self, number: int, members: Sequence[int], joined: dict[int, str]) -> None:
        text = json.dumps({"members": sorted(members), "joined": joined})
        self.store.compare_set(f"{number}/members", "", text)
        self.store.set(_LATEST, str(number))

    def _enter(self, number: int) -> tuple[int, ...]:
        found = json.loads(self.store.get(f"{number}/members"))
        if self.rank not in found["members"]:
            raise Excluded(f"rank {self.rank} did not come in time to generation {number}", fix="let it join again")
        gone = sorted(set(self.members) - set(found["members"]))
        new = sorted(set(found["members"]) - set(self.members))
        self.generation, self.members = number, tuple(found["members"])
        log.info("members: rank=%d generation=%d gone=%s new=%s", self.rank, number, gone, new)
        return self.members

    # -- ranks that come

    def joiners(self) -> list[int]:
        """Ranks that wait to be let in. Members may see them at different times: they agree on it before they admit."""
        others = [each for each in range(self.size) if each not in self.members]
        return [each for each in others if self.store.check([f"join/{each}"])]

    def admit(self, ranks: Sequence[int]) -> tuple[int, ...]:
        """The next generation, with these too. Every member calls it, at the same place between two steps."""
        number = self.generation + 1
        if self.rank == self.members[0]:
            waiting = [each for each in ranks if self.store.check([f"join/{each}"])]
            joined = {each: self.store.get(f"join/{each}").decode() for each in waiting}
            for each in waiting:
                self.store.delete_key(f"join/{each}")
            self._decide(number, [*self.members, *joined], joined)
        started = time.monotonic()
        while not self.store.check([f"{number}/members"]):
            if self._is_silent(self.members[0]) or time.monotonic() - started > self.patience:
                raise PeerLost(f"rank {self.members[0]} did not admit anybody", fix="agree on who is left")
            time.sleep(_LOOK_S)
        return self._enter(number)

    def join(self, *, timeout: float) -> tuple[int, ...]:
        """As a new rank: the members of the generation that lets it in. Raises PeerLost where none does in time."""
        self.nonce = secrets.token_hex(8)
        self.store.set(f"join/{self.rank}", self.nonce)
        limit = time.monotonic() + timeout
        while time.monotonic() < limit:
            if self.store.check([_LATEST]):
                number = int(self.store.get(_LATEST))
                if self.store.check([f"{number}/members"]):
                    found = json.loads(self.store.get(f"{number}/members"))
                    if found["joined"].get(str(self.rank)) == self.nonce:
                        return self._enter(number)
            time.sleep(_LOOK_S)
        self.store.delete_key(f"join/{self.rank}")
        raise PeerLost(f"nobody let rank {self.rank} in within {timeout:.0f} s", fix="see whether the others run")
