"""The driver's side of a run of several ranks: who has come, what they say, and which of them failed when they fall
silent. A rank that ends ends the run; waiting for it is never longer than its connection lives."""

from __future__ import annotations

import contextlib
import logging
import secrets
import selectors
import socket
import time

from engine.host.processes import Child
from engine.runner.wire import Broken, FromRank, Hello, ToRank, Wire, error_of
from engine.schema.errors import EngineDead, EngineError
from engine.schema.frames import encode
from engine.schema.messages import Fault

log = logging.getLogger(__name__)
_ROOT_CAUSE_S = 0.5  # ranks that lose a peer fail too; the first cause may be heard of last
_POLL_S = 0.1


class Ranks:
    """children: the ranks that this process started, by rank; others may be on other machines."""

    def __init__(self, *, host: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=256)
        self.address: tuple[str, int] = (host, self._listener.getsockname()[1])
        self.token = secrets.token_hex(16)
        self.children: dict[int, Child] = {}
        self._wires: dict[int, Wire] = {}
        self._selector = selectors.DefaultSelector()
        self._failure: EngineError | None = None

    def accept(self, expected: set[int], *, timeout_s: float) -> None:
        """Wait until all of them have said hello. Raises EngineDead when one of our own ends before, or time is up."""
        limit = time.monotonic() + timeout_s
        self._listener.settimeout(_POLL_S)
        while expected - self._wires.keys():
            with contextlib.suppress(TimeoutError):
                self._greet(self._listener.accept()[0])
            missing = sorted(expected - self._wires.keys())
            gone = [rank for rank in missing if rank in self.children and not self.children[rank].is_alive]
            if gone:
                self._raise(dict.fromkeys(gone))
            if missing and time.monotonic() > limit:
                raise EngineDead(f"ranks {missing} did not come in {timeout_s:.0f} s", fix="see whether they run")

    def _greet(self, connection: socket.socket) -> None:
        """Somebody else who connects, or who says nothing, is sent away."""
        connection.settimeout(5.0)
        wire = Wire(connection)
        try:
            hello = wire.from_rank()
        except (OSError, ValueError):
            hello = None
        if not isinstance(hello, Hello) or not secrets.compare_digest(hello.token, self.token):
            log.warning("control: a stranger was sent away")
            wire.close()
            return
        connection.settimeout(None)
        self._wires[hello.rank] = wire
        self._selector.register(wire, selectors.EVENT_READ, hello.rank)

    def send(self, message: ToRank) -> None:
        if self._failure is not None:
            raise self._failure
        frame = encode(message)
        gone = [rank for rank, wire in self._wires.items() if not wire.try_send(frame)]
        if gone:
            self._raise(dict.fromkeys(gone))

    def receive(self, wanted: set[int], *, timeout_s: float) -> dict[int, FromRank]:
        """One message of each of these ranks. Raises EngineError as soon as any rank has ended, wanted or not."""
        if self._failure is not None:
            raise self._failure
        got: dict[int, FromRank] = {}
        limit = time.monotonic() + timeout_s
        while wanted - got.keys():
            ready = self._selector.select(max(limit - time.monotonic(), 0.0))
            if not ready and time.monotonic() >= limit:
                late = sorted(wanted - got.keys())
                self._failure = EngineDead(f"ranks {late} gave no answer in {timeout_s:.0f} s", fix="see their logs")
                raise self._failure
            for key, _ in ready:
                message = self._message(key.data)
                if message is None or isinstance(message, Broken):
                    self._raise({key.data: None if message is None else message.fault})
                assert message is not None
                got[key.data] = message
        return got

    def _message(self, rank: int) -> FromRank | None:
        message = self._wires[rank].from_rank()
        if message is None:
            self._selector.unregister(self._wires[rank])
        return message

    def diagnose(self, error: BaseException) -> None:
        """Raise the cause where another rank's end made this one's call fail; return where none has ended."""
        found = self._listen()
        if found:
            self._raise(found, listen=False)
        log.error("rank failed by itself: %s", error)

    def _listen(self) -> dict[int, Fault | None]:
        """Who ends within the next moments, and why, as far as they say."""
        found: dict[int, Fault | None] = {}
        limit = time.monotonic() + _ROOT_CAUSE_S
        while (left := limit - time.monotonic()) > 0:
            if not self._selector.get_map():
                break
            for key, _ in self._selector.select(left):
                message = self._message(key.data)
                if isinstance(message, Broken):
                    found[key.data] = message.fault
                elif message is None:
                    found.setdefault(key.data, None)
        return found

    def _raise(self, found: dict[int, Fault | None], *, listen: bool = True) -> None:
        """Name one of those that ended: one that was killed before one that says why, and that one before the rest.
        Where a rank only lost its peer, that is no cause."""
        if listen:
            for rank, fault in self._listen().items():
                found[rank] = found.get(rank) or fault
        silent = [rank for rank in sorted(found) if found[rank] is None]
        killed = [rank for rank in silent if rank in self.children and (self.children[rank].wait(1.0) or 0) < 0]
        said = [rank for rank in sorted(found) if found[rank] is not None]
        refused = [rank for rank in said if _fault(found, rank).code != EngineDead.code]
        if killed:
            status = self.children[killed[0]].status or 0
            self._failure = EngineDead(
                f"rank {killed[0]} was killed by signal {-status}", fix="see its log, and start the engine again"
            )
        elif refused:
            self._failure = error_of(_fault(found, refused[0]), rank=refused[0])
        elif silent:
            child = self.children.get(silent[0])
            how = "went away" if child is None else f"ended with status {child.status}"
            self._failure = EngineDead(f"rank {silent[0]} {how}", fix="see its log, and start the engine again")
        else:
            self._failure = error_of(_fault(found, said[0]), rank=said[0])
        raise self._failure

    def close(self, message: ToRank, *, grace_s: float = 5.0) -> None:
        """Tell all to end, and end those that were started here by force where they do not follow."""
        for wire in self._wires.values():
            with contextlib.suppress(OSError):
                wire.send(message)
        limit = time.monotonic() + grace_s
        for child in self.children.values():
            child.wait(max(limit - time.monotonic(), 0.1))
            child.stop(0.1)
        for wire in self._wires.values():
            wire.close()
        self._selector.close()
        self._listener.close()
        self._wires.clear()


def _fault(found: dict[int, Fault | None], rank: int) -> Fault:
    fault = found[rank]
    assert fault is not None
    return fault
