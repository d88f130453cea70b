"""Who may ask: with an API key, everybody who has it; without one, everybody, except for what changes the server."""

from __future__ import annotations

import hashlib
import hmac

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.server.errors import ApiError

OPEN_PATHS = frozenset({"/health", "/version"})
ADMIN_PATHS = frozenset({"/v1/load_lora_adapter", "/v1/unload_lora_adapter", "/sleep", "/wake_up", "/update_weights"})


class Access:
    """Outside of everything else: a body is not even read for those who may not ask."""

    def __init__(self, app: ASGIApp, *, api_key: str | None) -> None:
        self._app = app
        self._digest = _digest(api_key.encode()) if api_key is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = self._refusal(scope) if scope["type"] == "http" else None
        if error is None:
            await self._app(scope, receive, send)
            return
        body = error.encode()
        headers = {"content-type": "application/json", "content-length": str(len(body)), **error.headers}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": error.status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    def _refusal(self, scope: Scope) -> ApiError | None:
        path = scope["path"]
        if path in OPEN_PATHS:
            return None
        if self._digest is None:
            if path in ADMIN_PATHS:
                return ApiError(403, f"{path} needs a server that was started with an API key", code="no_api_key")
            return None
        kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        # Digests of equal length: how long the comparison takes says nothing about the key, its length included.
        is_right = hmac.compare_digest(_digest(given.strip().encode("latin-1")), self._digest)
        if kind.lower() == "bearer" and is_right:
            return None
        return ApiError(401, "the API key is missing or wrong", code="invalid_api_key")


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
