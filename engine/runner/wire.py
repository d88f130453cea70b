"""What the driver and the ranks of a run say to each other, over sockets: a size, then a frame of msgpack. Nothing in a
frame is executed; a rank does what its table of calls has."""

from __future__ import annotations

import socket
import struct
from typing import Any

import msgspec
from msgspec import Struct

from engine.config.server_args import ServerArgs
from engine.schema import frames
from engine.schema.errors import BadRequest, EngineDead, EngineError
from engine.schema.frames import encode, to_path
from engine.schema.messages import Fault
from engine.schema.step import StepInput, StepOutput

_SIZE = struct.Struct(">Q")
INTERNAL = "internal"  # of an error that nobody meant


class EngineInfo(Struct, frozen=True, kw_only=True):
    """What is known once the model is loaded. context: tokens that a sequence may have in all. num_blocks counts the
    padding block. num_window_blocks: of layers that look back `window` tokens and have blocks of their own."""

    model: str
    vocab_size: int
    context: int
    num_blocks: int
    block_tokens: int
    num_window_blocks: int = 0
    window: int = 0


class RankSpec(Struct, frozen=True, kw_only=True):
    """What the process of a rank is told at its start. control: host and port of the driver, None where the first rank
    tells it once they have met. token: what the driver knows its ranks by."""

    args: ServerArgs
    tp_rank: int
    pp_rank: int
    local_rank: int
    local_size: int
    dist_port: int
    control: tuple[str, int] | None = None
    token: str = ""


class Hello(Struct, frozen=True, kw_only=True, tag=True):
    rank: int
    token: str


class Loaded(Struct, frozen=True, kw_only=True, tag=True):
    info: EngineInfo


class Step(Struct, frozen=True, tag=True):
    step: StepInput


class Made(Struct, frozen=True, tag=True):
    """From the one rank that has the outcome of a step."""

    output: StepOutput


class Do(Struct, frozen=True, kw_only=True, tag=True):
    """Answered by every rank with one Answer."""

    method: str
    arguments: dict[str, Any] = {}


class Answer(Struct, frozen=True, kw_only=True, tag=True):
    value: Any = None
    fault: Fault | None = None


class Broken(Struct, frozen=True, tag=True):
    """The rank ends because of this."""

    fault: Fault


class Quit(Struct, frozen=True, tag=True):
    pass


ToRank = Step | Do | Quit
FromRank = Hello | Loaded | Made | Answer | Broken


_TO_RANK = msgspec.msgpack.Decoder(ToRank)
_FROM_RANK = msgspec.msgpack.Decoder(FromRank)
_SPEC = msgspec.msgpack.Decoder(RankSpec, dec_hook=to_path)


def spec_of(frame: bytes) -> RankSpec:
    return _SPEC.decode(frame)


class Wire:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection

    def fileno(self) -> int:
        return self.connection.fileno()

    def send(self, message: ToRank | FromRank) -> None:
        self.send_frame(encode(message))

    def send_frame(self, frame: bytes) -> None:
        self.connection.sendall(_SIZE.pack(len(frame)) + frame)

    def try_send(self, frame: bytes) -> bool:
        """Whether the other end is still there."""
        try:
            self.send_frame(frame)
        except OSError:
            return False
        return True

    def to_rank(self) -> ToRank | None:
        """The next message for a rank; None when the driver is gone."""
        frame = self._frame()
        return None if frame is None else _TO_RANK.decode(frame)

    def from_rank(self) -> FromRank | None:
        """The next message of a rank; None when it is gone."""
        frame = self._frame()
        return None if frame is None else _FROM_RANK.decode(frame)

    def _frame(self) -> bytes | None:
        head = self._read(_SIZE.size)
        return None if head is None else self._read(_SIZE.unpack(head)[0])

    def _read(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            try:
                part = self.connection.recv(min(size - len(parts), 1 << 20))
            except ConnectionError:
                return None
            if not part:
                return None
            parts += part
        return bytes(parts)

    def close(self) -> None:
        self.connection.close()


def fault_of(error: BaseException) -> Fault:
    """An error as data. One that is not of ours names its kind: it is a fault of the engine's own."""
    if isinstance(error, EngineError):
        return frames.fault_of(error)
    text = str(error).strip().splitlines()
    return Fault(
        code=EngineDead.code,
        message=f"{type(error).__name__}: {text[0] if text else 'no message'}",
        fix="see the log of that rank",
    )


def error_of(fault: Fault, *, rank: int | None = None) -> EngineError:
    """The error that a rank had, of its own kind. rank: named in the message, where it matters who it was."""
    message = fault.message if rank is None else f"rank {rank}: {fault.message}"
    if fault.field is not None:
        return BadRequest(fault.field, message, fix=fault.fix)
    kinds = {kind.code: kind for kind in EngineError.__subclasses__() if kind is not BadRequest}
    error = kinds.get(fault.code, EngineError)(message, fix=fault.fix)
    error.code = fault.code
    return error
