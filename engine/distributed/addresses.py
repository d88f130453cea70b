"""Host and port as text: which address to bind, to connect to, and to give to torch.distributed. Reads no socket; the
wildcard address is an address to bind, never one to connect to."""

from __future__ import annotations

import ipaddress

from msgspec import Struct

from engine.schema.errors import BadConfig

LOOPBACK = "127.0.0.1"
_REACHED = {"0.0.0.0": LOOPBACK, "::": "::1"}


class Address(Struct, frozen=True):
    """host: a name or a plain address, without brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}"


def parse_address(text: str, *, source: str) -> Address:
    """`host:port`, `1.2.3.4:port`, `[v6]:port`. source: who gave it, for the error.

    Raises BadConfig, also for an IPv6 address without brackets: where its port begins can't be told."""
    host, colon, port = text.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        if not _is_ipv6(host):
            raise BadConfig(f"{source}={text!r}: {host!r} is no IPv6 address", fix="brackets are for IPv6 alone")
    elif ":" in host:
        raise BadConfig(f"{source}={text!r} is ambiguous", fix=f"write IPv6 in brackets: [{host}]:{port}")
    if not colon or not host:
        raise BadConfig(f"{source}={text!r} has no host or no port", fix="write host:port")
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise BadConfig(f"{source}={text!r}: port {port!r}", fix="give a port from 1 to 65535")
    return Address(host, int(port))


def bracketed(host: str) -> str:
    """A host as it stands in a URL: brackets around IPv6, and around nothing else."""
    return f"[{host}]" if _is_ipv6(host) else host


def init_url(host: str, port: int) -> str:
    """The address of a rendezvous as torch.distributed takes it."""
    return f"tcp://{bracketed(host)}:{port}"


def connect_host(bind_host: str) -> str:
    """Where to reach a server of this machine that listens there: loopback of the same family for the wildcard."""
    plain = bind_host[1:-1] if bind_host.startswith("[") and bind_host.endswith("]") else bind_host
    return _REACHED.get(plain, plain)


def worker_bind_host(dist_init_addr: str | None) -> str:
    """Where workers listen for each other: loopback on a single node, else the host of the rendezvous."""
    if dist_init_addr is None:
        return LOOPBACK
    return parse_address(dist_init_addr, source="dist_init_addr").host


def _is_ipv6(host: str) -> bool:
    plain = host.partition("%")[0]  # a scope, as in fe80::1%eth0
    try:
        return ipaddress.ip_address(plain).version == 6
    except ValueError:
        return False
