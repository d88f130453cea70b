"""Ranks that do not drive: started by torchrun, or on another machine, the same command only computes there."""

from __future__ import annotations

from engine.cli.console import fetch
from engine.config.server_args import ServerArgs


def followed(args: ServerArgs) -> int | None:
    """The exit status of a rank that followed to the end; None for the one that drives."""
    if args.world_size == 1:
        return None
    from engine.runner.executor import follow, is_follower

    if not is_follower(args):
        return None
    fetch(args)
    return follow(args)
