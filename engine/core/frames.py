"""Messages as bytes between the client and the core's process: msgpack, never pickle. Decides the coding alone."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from engine.config.server_args import ServerArgs
from engine.schema.errors import BadRequest, EngineError
from engine.schema.frames import to_path
from engine.schema.messages import Fault, FromCore, ToCore

EXECUTOR = "engine.runner.executor:Executor"


class CoreSpec(Struct, frozen=True, kw_only=True):
    """What the core's process is told at its start. address: of the socket of its client. executor: who computes, as
    module:function, called with the options."""

    address: str
    args: ServerArgs
    executor: str = EXECUTOR


_to_core = msgspec.msgpack.Decoder(ToCore)
_from_core = msgspec.msgpack.Decoder(FromCore)
_spec = msgspec.msgpack.Decoder(CoreSpec, dec_hook=to_path)


def to_core(frame: bytes) -> ToCore:
    return _to_core.decode(frame)


def from_core(frame: bytes) -> FromCore:
    return _from_core.decode(frame)


def spec(frame: bytes) -> CoreSpec:
    return _spec.decode(frame)


def internal_fault(error: Exception) -> Fault:
    """Of an error that nobody meant: a fault of ours."""
    return Fault(code="internal", message=f"{type(error).__name__}: {error}", fix="report it, with the log")


def error_of(fault: Fault) -> EngineError:
    if fault.field is not None:
        return BadRequest(fault.field, fault.message, fix=fault.fix)
    error = EngineError(fault.message, fix=fault.fix)
    error.code = fault.code
    return error
