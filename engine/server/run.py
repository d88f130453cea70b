"""The entry of `engine serve`: the port first, then the engine, then HTTP. What keeps a server from starting is an
error with a fix; nothing is left running then."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Awaitable, Callable

from engine.config.env import read_env
from engine.config.server_args import ServerArgs
from engine.core.client import CoreClient
from engine.distributed.addresses import bracketed
from engine.loader.pull import locate
from engine.schema.errors import BadConfig
from engine.server import app, limits
from engine.server.lifecycle import Lifecycle, unless_told
from engine.server.limits import Limits
from engine.server.link import Engine
from engine.server.service import Service
from engine.text import tokenizer
from engine.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)
Start = Callable[[ServerArgs], Awaitable[Engine]]
_BACKLOG = 2048


def serve(
    args: ServerArgs,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    api_key: str | None = None,
    bounds: Limits | None = None,
    start: Start = CoreClient.start,
) -> int:
    """Serve until told to stop; the exit code. port: 0 for any, which the log then names; who connects while the engine
    still loads is answered when it serves. start: how the engine comes up. Raises EngineError where it can't start."""
    checked = limits.check(bounds or Limits())
    if api_key is not None and (not api_key or not api_key.isascii() or api_key != api_key.strip()):
        raise BadConfig("the API key is empty or can't stand in a header", fix="use letters, digits and signs of ASCII")
    with bind(host, port) as listener:
        return asyncio.run(_serve(args, listener, api_key=api_key, bounds=checked, start=start))


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises BadConfig that says what is wrong with the address."""
    plain = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    place = f"{bracketed(plain)}:{port}"
    if not 0 <= port < 65536:
        raise BadConfig(f"port={port}", fix="give a port from 1 to 65535, or 0 for any")
    try:
        found = socket.getaddrinfo(plain or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise BadConfig(
            f"host={host!r} has no address: {error.strerror}", fix="give an address of this machine"
        ) from error
    family, kind, protocol, _, address = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise _no_bind(place, error) from error
    return made


def _no_bind(place: str, error: OSError) -> BadConfig:
    if error.errno == errno.EADDRINUSE:
        return BadConfig(f"{place} is in use", fix="end who listens there, or give another port (0 for any)")
    if error.errno == errno.EACCES:
        return BadConfig(f"{place} may not be used", fix="give a port above 1023")
    return BadConfig(f"{place} can't be bound: {error.strerror}", fix="give an address of this machine")


async def _serve(
    args: ServerArgs, listener: socket.socket, *, api_key: str | None, bounds: Limits, start: Start
) -> int:
    texts = await asyncio.to_thread(load_tokenizer, args)
    engine = await unless_told(start(args))
    if engine is None:
        log.info("told to end while the engine was loading")
        return 0
    service = Service(engine, texts, args, bounds, created=Service.now())
    host, port = listener.getsockname()[:2]
    log.info("listening: url=http://%s:%d model=%s context=%d", bracketed(host), port, args.name, service.context)
    return await Lifecycle(service, app.build(service, api_key=api_key)).run(listener)


def load_tokenizer(args: ServerArgs) -> Tokenizer:
    """The model's own; it is fetched where it is not there yet."""
    return tokenizer.load(locate(args.model, read_env(os.environ).cache_dir))
