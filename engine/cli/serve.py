"""`serve`: the OpenAI-compatible server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.console import fetch, start_log
from engine.cli.follow import followed
from engine.cli.options import server_options
from engine.config.server_args import ServerArgs
from engine.schema.errors import BadConfig

_SERVER, _LIMITS = "Server", "Limits"


def _limit(name: str, words: str) -> typer.models.OptionInfo:
    return typer.Option(name, help=words, rich_help_panel=_LIMITS)  # type: ignore[no-any-return]


@server_options
def serve(
    args: ServerArgs,
    host: Annotated[str, typer.Option("--host", help="The address to listen at.", rich_help_panel=_SERVER)] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", help="0 for any that is free.", rich_help_panel=_SERVER)] = 8000,
    api_key_file: Annotated[
        Path | None,
        typer.Option("--api-key-file", help="A file with the key that clients must send.", rich_help_panel=_SERVER),
    ] = None,
    max_body_bytes: Annotated[int, _limit("--max-body-bytes", "Of a request.")] = 4 << 20,
    max_prompt_tokens: Annotated[
        int | None, _limit("--max-prompt-tokens", "Of a prompt; else what the context takes.")
    ] = None,
    max_prompts: Annotated[int, _limit("--max-prompts", "In one request.")] = 128,
    max_queue: Annotated[int, _limit("--max-queue", "Answers that wait, beside those that run.")] = 512,
    max_streams: Annotated[int, _limit("--max-streams", "Connections that stream.")] = 1024,
    read_s: Annotated[float, _limit("--read-s", "Seconds for the whole of a body to come.")] = 30.0,
    request_s: Annotated[float, _limit("--request-s", "Seconds from a request's arrival to its end.")] = 600.0,
    drain_s: Annotated[float, _limit("--drain-s", "Seconds for what runs when the server is told to end.")] = 30.0,
    health_s: Annotated[float, _limit("--health-s", "Seconds in which the engine has to answer.")] = 5.0,
) -> int:
    """Serve /v1/chat/completions, /v1/completions, /v1/models, /health and /metrics."""
    start_log("info")
    if (status := followed(args)) is not None:
        return status
    api_key = _key(api_key_file)
    fetch(args)
    from engine.server.limits import Limits
    from engine.server.run import serve as run

    bounds = Limits(
        max_body_bytes=max_body_bytes,
        max_prompt_tokens=max_prompt_tokens,
        max_prompts=max_prompts,
        max_queue=max_queue,
        max_streams=max_streams,
        read_s=read_s,
        request_s=request_s,
        drain_s=drain_s,
        health_s=health_s,
    )
    return run(args, host=host, port=port, api_key=api_key, bounds=bounds)


def _key(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadConfig(f"{path} can't be read: {error.strerror}", fix="give a file with the key alone") from error
