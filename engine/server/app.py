"""Which path is whose, and that every error has OpenAI's shape. Routes hold no rules of their own."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from engine.server import admin, chat, completions, status
from engine.server.access import Access
from engine.server.errors import ApiError, of, of_status
from engine.server.limits import read_body
from engine.server.metrics import CONTENT_TYPE
from engine.server.replies import Job, Reply
from engine.server.service import Service

log = logging.getLogger(__name__)
_GONE = 499  # nobody reads it: the client went while it still sent
_Admin = Callable[[Service, bytes], Awaitable[dict[str, Any]]]
_ADMIN: dict[str, _Admin] = {
    "/v1/load_lora_adapter": admin.load_adapter,
    "/v1/unload_lora_adapter": admin.unload_adapter,
    "/sleep": admin.sleep,
    "/wake_up": admin.wake_up,
    "/update_weights": admin.update_weights,
}


def build(service: Service, *, api_key: str | None = None) -> FastAPI:
    """Without a schema of its own: bodies are decoded here and not by FastAPI, whose errors have another shape."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_exception_handler(Exception, _failed)
    app.add_exception_handler(ApiError, _refused)
    app.add_exception_handler(HTTPException, _not_routed)
    app.add_middleware(Access, api_key=api_key)
    _add_answers(app, service)
    _add_status(app, service)
    for path, act in _ADMIN.items():
        _add_admin(app, service, path, act)
    return app


def _add_answers(app: FastAPI, service: Service) -> None:
    @app.post("/v1/chat/completions")
    async def chat_completions(request: Request) -> Response:
        return await _answer(service, request, "chat", chat.prepare)

    @app.post("/v1/completions")
    async def text_completions(request: Request) -> Response:
        return await _answer(service, request, "completions", completions.prepare)


def _add_status(app: FastAPI, service: Service) -> None:
    @app.get("/v1/models")
    async def list_models() -> Response:
        return _json(status.models(service))

    @app.get("/v1/models/{name:path}")
    async def one_model(name: str) -> Response:
        return _json(status.model(service, name))

    @app.get("/health")
    async def health() -> Response:
        return _json(await status.health(service))

    @app.get("/is_sleeping")
    async def is_sleeping() -> Response:
        return _json({"is_sleeping": service.is_asleep})

    @app.get("/version")
    async def version() -> Response:
        return _json({"version": status.package_version()})

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(await status.metrics(service), headers={"content-type": CONTENT_TYPE})


def _add_admin(app: FastAPI, service: Service, path: str, act: _Admin) -> None:
    @app.post(path)
    async def admin_call(request: Request) -> Response:
        try:
            body = await read_body(request, service.limits)
        except ClientDisconnect:
            return Response(status_code=_GONE)
        return _json(await act(service, body))


async def _answer(
    service: Service, request: Request, endpoint: str, prepare: Callable[[Service, bytes], Awaitable[Job]]
) -> Response:
    timer = service.metrics.timer(endpoint)
    try:
        service.check_open()
        service.gate.check()
        job = await prepare(service, await read_body(request, service.limits))
    except ClientDisconnect:
        timer.ended("disconnected")
        return Response(status_code=_GONE)
    except Exception as error:
        timer.ended("refused" if of(error).status < 500 else "failed")
        raise
    except BaseException:
        timer.ended("cancelled")
        raise
    return Reply(service, job, timer)


def _json(value: Any, *, code: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status_code=code, headers=headers, media_type="application/json")


async def _refused(request: Request, error: Exception) -> Response:
    del request
    told = of(error)
    return _json(told.body(), code=told.status, headers=told.headers)


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = of_status(error.status_code, method=request.method, path=request.url.path)
    return _json(told.body(), code=told.status, headers=dict(error.headers or {}))


async def _failed(request: Request, error: Exception) -> Response:
    log.error("request failed: path=%s", request.url.path, exc_info=error)
    told = of(error)
    return _json(told.body(), code=told.status, headers=told.headers)
