"""What a server says of itself: whether it is well, what it serves, what it has counted."""

from __future__ import annotations

import asyncio
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from engine.schema.errors import EngineError
from engine.schema.messages import Stats
from engine.server.errors import ApiError
from engine.server.service import Service


def package_version() -> str:
    try:
        return version("unmoved")
    except PackageNotFoundError:  # run from a tree that is not installed
        return "unknown"


async def stats(service: Service) -> Stats:
    """Asks the engine. Raises ApiError where it does not answer in time."""
    if not service.engine.is_alive:
        raise ApiError(503, "the engine has ended", code="engine-dead")
    try:
        return await asyncio.wait_for(service.engine.stats(), service.limits.health_s)
    except (TimeoutError, asyncio.TimeoutError) as error:
        raise ApiError(
            503, f"the engine did not answer within {service.limits.health_s:g} s", code="engine-silent"
        ) from error
    except EngineError as error:
        raise ApiError(503, error.message, code=error.code) from error


async def health(service: Service) -> dict[str, Any]:
    """Raises ApiError where the engine does not answer. One that sleeps is well."""
    service.check_alive()
    found = await stats(service)
    status = "asleep" if service.is_asleep else "ok"
    return {"status": status, "num_running": found.num_running, "num_waiting": found.num_waiting}


async def metrics(service: Service) -> bytes:
    """Where the engine does not answer, what the server counted itself is still told."""
    try:
        found: Stats | None = await stats(service)
    except ApiError:
        found = None
    return service.metrics.text(found)


def models(service: Service) -> dict[str, Any]:
    return {"object": "list", "data": [model(service, name) for name in (service.args.name, *service.adapters)]}


def model(service: Service, name: str) -> dict[str, Any]:
    """Raises ApiError for one that is not served."""
    is_adapter = service.adapter_of(name) is not None
    return {
        "id": name,
        "object": "model",
        "created": service.created,
        "owned_by": "unmoved",
        "root": service.adapters[name] if is_adapter else service.args.model,
        "parent": service.args.name if is_adapter else None,
        "max_model_len": service.context,
    }
