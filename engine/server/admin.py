"""What changes a running server: adapters, sleep, weights. Each is one call of the engine; access.py keeps it from
those without the key."""

from __future__ import annotations

import logging
from typing import Any

from msgspec import Struct

from engine.schema.errors import EngineError
from engine.server import fields
from engine.server.errors import ApiError, of, refused
from engine.server.service import Service

log = logging.getLogger(__name__)
LEVELS = (1, 2)


class LoadAdapter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    lora_name: str
    lora_path: str


class UnloadAdapter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    lora_name: str


class Sleep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """level: 1 gives back the KV cache, and the weights where a copy of them is kept; 2 gives back both."""

    level: int = 1


class WakeUp(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing to say."""


class UpdateWeights(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """model_path: a checkpoint of the same shape."""

    model_path: str


async def load_adapter(service: Service, body: bytes) -> dict[str, Any]:
    asked = fields.decode(body, LoadAdapter)
    if not asked.lora_name:
        raise refused("lora_name", "is empty", code="invalid_value")
    if asked.lora_name == service.args.name:
        raise refused("lora_name", f"{asked.lora_name!r} is the model's own name", code="invalid_value")
    if asked.lora_name in service.adapters:
        raise refused("lora_name", f"{asked.lora_name!r} is loaded; unload it first", code="invalid_value")
    await _call(service, "load_lora_adapter", name=asked.lora_name, path=asked.lora_path)
    service.adapters[asked.lora_name] = asked.lora_path
    return {"loaded": asked.lora_name}


async def unload_adapter(service: Service, body: bytes) -> dict[str, Any]:
    asked = fields.decode(body, UnloadAdapter)
    if asked.lora_name not in service.adapters:
        raise ApiError(404, f"lora_name: {asked.lora_name!r} is not loaded", param="lora_name", code="model_not_found")
    # First, so that no new request finds it while the engine lets go of it.
    path = service.adapters.pop(asked.lora_name)
    try:
        await _call(service, "unload_lora_adapter", name=asked.lora_name)
    except BaseException:
        service.adapters[asked.lora_name] = path
        raise
    return {"unloaded": asked.lora_name}


async def sleep(service: Service, body: bytes) -> dict[str, Any]:
    asked = fields.decode(body or b"{}", Sleep)
    if asked.level not in LEVELS:
        raise refused("level", f"found {asked.level}; use one of {LEVELS}", code="invalid_value")
    service.is_asleep = True  # first: what came in now would wait until somebody wakes it
    try:
        await _call(service, "sleep", level=asked.level)
    except BaseException:
        service.is_asleep = False
        raise
    return {"is_sleeping": True}


async def wake_up(service: Service, body: bytes) -> dict[str, Any]:
    fields.decode(body or b"{}", WakeUp)
    answers = await _call(service, "wake_up")
    service.is_asleep = False
    service.are_weights_lost = any(each.get("are_weights_lost") for each in answers or ())
    return {"is_sleeping": False, "are_weights_lost": service.are_weights_lost}


async def update_weights(service: Service, body: bytes) -> dict[str, Any]:
    asked = fields.decode(body, UpdateWeights)
    await _call(service, "update_weights_from_disk", path=asked.model_path)
    service.are_weights_lost = False
    return {"updated": asked.model_path}


async def _call(service: Service, method: str, **arguments: Any) -> Any:
    """What the engine refuses here is what the client asked for, unless the engine is gone."""
    service.check_alive()
    try:
        made = await service.engine.call(method, **arguments)
    except EngineError as error:
        told = of(error)
        raise told if told.status != 500 else ApiError(400, told.message, code=error.code) from error
    log.info("engine called: method=%s arguments=%s", method, arguments)
    return made
