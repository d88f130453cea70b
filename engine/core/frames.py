"""Messages as bytes between the client and the core's process: msgpack, never pickle. Decides the coding alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from engine.config.server_args import ServerArgs
from engine.schema.errors import BadRequest, EngineError
from engine.schema.messages import Fault, FromCore, ToCore

EXECUTOR = "engine.runner.executor:Executor"


class CoreSpec(Struct, frozen=True, kw_only=True):
    """What the core's process is told at its start. address: of the socket of its client. executor: who computes, as
    module:function, called with the options."""

    address: str
    args: ServerArgs
    executor: str = EXECUTOR


def _from_path(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no frame")


def _to_path(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"{kind.__name__} has no frame")


_encoder = msgspec.msgpack.Encoder(enc_hook=_from_path)
_to_core = msgspec.msgpack.Decoder(ToCore)
_from_core = msgspec.msgpack.Decoder(FromCore)
_spec = msgspec.msgpack.Decoder(CoreSpec, dec_hook=_to_path)

encode = _encoder.encode


def to_core(frame: bytes) -> ToCore:
    return _to_core.decode(frame)


def from_core(frame: bytes) -> FromCore:
    return _from_core.decode(frame)


def spec(frame: bytes) -> CoreSpec:
    return _spec.decode(frame)


def fault_of(error: EngineError) -> Fault:
    if isinstance(error, BadRequest):
        message = error.message.removeprefix(f"{error.field}: ")
        return Fault(code=error.code, message=message, fix=error.fix, field=error.field)
    return Fault(code=error.code, message=error.message, fix=error.fix)


def internal_fault(error: Exception) -> Fault:
    """Of an error that nobody meant: a fault of ours."""
    return Fault(code="internal", message=f"{type(error).__name__}: {error}", fix="report it, with the log")


def error_of(fault: Fault) -> EngineError:
    if fault.field is not None:
        return BadRequest(fault.field, fault.message, fix=fault.fix)
    error = EngineError(fault.message, fix=fault.fix)
    error.code = fault.code
    return error
