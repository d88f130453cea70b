"""What a client is told when something can't be done: a status and OpenAI's shape of an error. Which error is whose
fault is decided here and nowhere else."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec

from engine.schema.errors import BadRequest, EngineError

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
    503: "service_unavailable_error",
    504: "timeout_error",
}
_GONE = ("engine-dead",)  # the engine can't answer this any more, and no other request either


class ApiError(Exception):
    """param: the field as the client wrote it. code: a stable word for programs. retry_after: seconds, where trying
    again may help."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code, self.retry_after = status, message, param, code, retry_after

    @property
    def kind(self) -> str:
        return _KINDS.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")

    @property
    def headers(self) -> dict[str, str]:
        found = {}
        if self.retry_after is not None:
            found["retry-after"] = str(self.retry_after)
        if self.status == 401:
            found["www-authenticate"] = "Bearer"
        if self.status in (408, 413):
            found["connection"] = "close"  # the rest of the body is not read
        return found

    def body(self) -> dict[str, Any]:
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}

    def encode(self) -> bytes:
        return msgspec.json.encode(self.body())


def refused(param: str, message: str, *, code: str | None = None) -> ApiError:
    """A request that names something it can't have."""
    return ApiError(400, f"{param}: {message}", param=param, code=code)


def of(error: Exception, *, renamed: dict[str, str] | None = None) -> ApiError:
    """renamed: what the client calls the engine's fields, where the names differ."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, BadRequest):
        head, dot, rest = error.field.partition("[")
        name = (renamed or {}).get(head, head) + dot + rest
        said = error.message.removeprefix(f"{error.field}: ")
        return ApiError(400, f"{name}: {said}; {error.fix}", param=name, code=error.code)
    if isinstance(error, EngineError):
        status = 503 if error.code in _GONE else 500
        return ApiError(status, f"{error.message}; {error.fix}", code=error.code)
    return ApiError(500, "the server failed; its log says why", code="internal-error")


def of_status(status: int, *, method: str, path: str) -> ApiError:
    """What the router refuses."""
    if status == 404:
        return ApiError(404, f"{path} does not exist", code="unknown_url")
    if status == 405:
        return ApiError(405, f"{path} does not take {method}", code="method_not_allowed")
    return ApiError(status, HTTPStatus(status).phrase)
