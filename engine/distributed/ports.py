"""Which port is free. A port is free when every family of addresses of this machine can bind it."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Callable, Iterable, Iterator

from engine.schema.errors import BadConfig

FAMILIES = (socket.AF_INET, socket.AF_INET6)
_ANY = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}
Bind = Callable[[socket.AddressFamily, int], bool]


def can_bind(family: socket.AddressFamily, port: int) -> bool:
    """Whether nothing of that family listens there. IPv6 alone is asked, not IPv4 through it."""
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            probe.bind((_ANY[family], port))
        except OSError:
            return False
    return True


def is_free(port: int, *, families: Iterable[socket.AddressFamily] | None = None, bind: Bind = can_bind) -> bool:
    """A number that is no port is not free. families: those of this machine where not given."""
    if not 0 < port < 65536:
        return False
    return all(bind(each, port) for each in (families_here() if families is None else families))


def families_here() -> tuple[socket.AddressFamily, ...]:
    """The families that this machine has: a kernel without IPv6 can't have a taken IPv6 port."""
    return tuple(each for each in FAMILIES if _has(each))


def _has(family: socket.AddressFamily) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((_ANY[family], 0))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def claimed_port(start: int, *, tries: int = 1000) -> Iterator[int]:
    """The first free port from `start` on, which no other engine of this machine is given meanwhile. Ranks bind theirs
    seconds after it was found free: two engines that start together would meet in one world else. Raises BadConfig when
    there is none within `tries`."""
    for port in range(start, min(start + tries, 65536)):
        with socket.socket(socket.AF_UNIX) as claim:
            if _takes(claim, port) and is_free(port):
                yield port
                return
    raise BadConfig(f"no free port from {start} to {min(start + tries, 65536) - 1}", fix="give another base port")


def _takes(claim: socket.socket, port: int) -> bool:
    """By a name that is no file, and goes with its process. Only Linux has such names; elsewhere nothing is claimed."""
    if sys.platform != "linux":
        return True
    try:
        claim.bind(f"\0unmoved-engine-port-{port}")
    except OSError:
        return False
    return True
