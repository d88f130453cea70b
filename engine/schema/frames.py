"""How frames of msgpack hold what it has no form for, and an error as data. The messages are said elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from engine.schema.errors import BadRequest, EngineError
from engine.schema.messages import Fault


def _from_path(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no frame")


def to_path(kind: type, value: Any) -> Any:
    """For decoders of what holds paths."""
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"{kind.__name__} has no frame")


encode = msgspec.msgpack.Encoder(enc_hook=_from_path).encode


def fault_of(error: EngineError) -> Fault:
    if isinstance(error, BadRequest):
        message = error.message.removeprefix(f"{error.field}: ")
        return Fault(code=error.code, message=message, fix=error.fix, field=error.field)
    return Fault(code=error.code, message=error.message, fix=error.fix)
