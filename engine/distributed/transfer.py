"""Memory of this process that others may read, and memory of others that this one reads: one interface, over Mooncake's
transfer engine where its package is installed, else over TCP of our own. What is registered and why is the callers'."""

from __future__ import annotations

import contextlib
import ctypes
import hmac
import importlib.util
import logging
import secrets
import socket
import struct
import threading
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from engine.distributed.addresses import Address, parse_address
from engine.schema.errors import BadConfig, EngineError

log = logging.getLogger(__name__)
BACKENDS = ("auto", "mooncake", "tcp")
_CHUNK = 4 << 20
_ASK = struct.Struct(">32sQQ")  # token, address, bytes
_HEAD = struct.Struct(">BQ")  # whether it may be read, bytes
_TAIL = struct.Struct(">I")  # crc32


class TransferFailed(EngineError):
    """Memory of another process could not be read, or came damaged."""

    code = "transfer-failed"


class Region(NamedTuple):
    """Of the process that a session names."""

    address: int
    num_bytes: int


class TransferEngine(Protocol):
    """session: what others need to read from here; passed on as text."""

    @property
    def session(self) -> str: ...

    def register(self, address: int, num_bytes: int) -> None:
        """Let others read it, until it is unregistered; the memory has to stay as long."""
        ...

    def unregister(self, address: int) -> None: ...

    def read(self, session: str, sources: Sequence[Region], targets: Sequence[Region]) -> None:
        """Each source of the other process into a target of this one, of the same size. Raises TransferFailed."""
        ...

    def close(self) -> None: ...


class TcpTransfer:
    """Each reader has a connection and a thread here. Only who knows the session's token reads, and only what is
    registered; every piece carries its checksum."""

    def __init__(self, host: str = "127.0.0.1", *, timeout: float = 60.0) -> None:
        self.timeout, self._token = timeout, secrets.token_hex(16)
        self._regions: dict[int, int] = {}
        self._lock, self._is_over = threading.Lock(), threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self._address = Address(host, self._listener.getsockname()[1])
        threading.Thread(target=self._accept, name="transfer", daemon=True).start()

    @property
    def session(self) -> str:
        return f"{self._address}/{self._token}"

    def register(self, address: int, num_bytes: int) -> None:
        with self._lock:
            self._regions[address] = num_bytes

    def unregister(self, address: int) -> None:
        with self._lock:
            self._regions.pop(address, None)

    def close(self) -> None:
        self._is_over.set()
        with contextlib.suppress(OSError):  # nobody has ever connected
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._is_over.is_set():
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(link,), name="transfer-reader", daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        link.settimeout(self.timeout)
        try:
            with link:
                while (asked := received(link, _ASK.size)) is not None and not self._is_over.is_set():
                    token, address, count = _ASK.unpack(asked)
                    if not hmac.compare_digest(token, self._token.encode()) or not self._may_read(address, count):
                        link.sendall(_HEAD.pack(0, 0))
                        return
                    self._send(link, address, count)
        except OSError as error:
            log.info("transfer: a reader went away: %s", error)

    def _may_read(self, address: int, count: int) -> bool:
        with self._lock:
            return any(first <= address and address + count <= first + size for first, size in self._regions.items())

    @staticmethod
    def _send(link: socket.socket, address: int, count: int) -> None:
        memory = _memory(address, count)
        link.sendall(_HEAD.pack(1, count))
        checksum = 0
        for at in range(0, count, _CHUNK):
            part = memory[at : at + _CHUNK]
            checksum = zlib.crc32(part, checksum)
            link.sendall(part)
        link.sendall(_TAIL.pack(checksum))

    def read(self, session: str, sources: Sequence[Region], targets: Sequence[Region]) -> None:
        where, _, token = session.partition("/")
        address = parse_address(where, source="session")
        try:
            with socket.create_connection((address.host, address.port), timeout=self.timeout) as link:
                for source, target in zip(sources, targets, strict=True):
                    assert source.num_bytes == target.num_bytes, "a piece is read as a whole"
                    link.sendall(_ASK.pack(token.encode(), *source))
                    _take(link, target, session=where)
        except OSError as error:
            raise TransferFailed(f"{where} can't be read: {error}", fix="see whether it still runs") from error


def _take(link: socket.socket, target: Region, *, session: str) -> None:
    head = received(link, _HEAD.size)
    if head is None:
        raise TransferFailed(f"{session} went away", fix="see whether it still runs")
    is_there, count = _HEAD.unpack(head)
    if not is_there or count != target.num_bytes:
        raise TransferFailed(f"{session} lets nobody read that memory", fix="ask it anew for what it has")
    memory, at, checksum = _memory(*target), 0, 0
    while at < count:
        got = link.recv_into(memory[at:], min(count - at, _CHUNK))
        if not got:
            raise TransferFailed(f"{session} went away in the middle", fix="read it again")
        checksum = zlib.crc32(memory[at : at + got], checksum)
        at += got
    tail = received(link, _TAIL.size)
    if tail is None or _TAIL.unpack(tail)[0] != checksum:
        raise TransferFailed(f"{count} bytes of {session} came damaged", fix="read them again")


def received(link: socket.socket, count: int) -> bytes | None:
    """None where the other side has ended before the first of them. Raises OSError where it ends in the middle."""
    found = bytearray()
    while len(found) < count:
        part = link.recv(min(count - len(found), _CHUNK))
        if not part:
            if found:
                raise OSError("it ended in the middle of a message")
            return None
        found += part
    return bytes(found)


def _memory(address: int, count: int) -> memoryview:
    return memoryview((ctypes.c_char * count).from_address(address)).cast("B")


class MooncakeTransfer:
    """Its transfer engine, over TCP or RDMA; cards: names of network cards, for RDMA. What arrives is not checked by
    it."""

    def __init__(self, host: str = "127.0.0.1", *, protocol: str = "tcp", cards: str = "") -> None:
        from mooncake.engine import TransferEngine as Theirs

        self._engine: Any = Theirs()
        if self._engine.initialize(host, "P2PHANDSHAKE", protocol, cards):
            raise BadConfig(f"mooncake can't listen on {host} ({protocol})", fix="use the tcp backend")
        self._session = f"{host}:{self._engine.get_rpc_port()}"

    @property
    def session(self) -> str:
        return self._session

    def register(self, address: int, num_bytes: int) -> None:
        if self._engine.register_memory(address, num_bytes):
            raise TransferFailed(f"{num_bytes} bytes can't be registered", fix="see mooncake's log")

    def unregister(self, address: int) -> None:
        self._engine.unregister_memory(address)

    def read(self, session: str, sources: Sequence[Region], targets: Sequence[Region]) -> None:
        for each in targets:
            self.register(*each)
        try:
            status = self._engine.batch_transfer_sync_read(
                session,
                [each.address for each in targets],
                [each.address for each in sources],
                [each.num_bytes for each in sources],
            )
        finally:
            for each in targets:
                self.unregister(each.address)
        if status:
            raise TransferFailed(f"{session} can't be read: status {status}", fix="see whether it still runs")

    def close(self) -> None:
        self._engine = None


def open_transfer(backend: str = "auto", host: str = "127.0.0.1", *, cards: str = "") -> TransferEngine:
    """auto: Mooncake's where it is installed and loads, else our own. Raises BadConfig where the one that is asked for
    is not there."""
    if backend not in BACKENDS:
        raise BadConfig(f"transfer backend {backend!r}", fix=f"use one of {', '.join(BACKENDS)}")
    if backend != "tcp" and (backend == "mooncake" or importlib.util.find_spec("mooncake") is not None):
        try:
            return MooncakeTransfer(host, protocol="rdma" if cards else "tcp", cards=cards)
        except (ImportError, OSError) as error:
            if backend == "mooncake":
                raise BadConfig(
                    f"mooncake can't be loaded: {error}",
                    fix="install mooncake-transfer-engine-non-cuda and libibverbs1, or use the tcp backend",
                ) from error
            log.warning("transfer: own TCP: mooncake can't be loaded: %s", error)
    return TcpTransfer(host)
