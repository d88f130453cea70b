"""Experts' weights in the memory of another process, for ranks that need an expert which nobody else has any longer.
The process reads a checkpoint once, keeps its share of the experts, and lets ranks read them; they check what comes.
Which tensors are an expert's is told by the caller."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import torch
from msgspec import Struct
from torch import Tensor

from engine.distributed.addresses import Address, parse_address
from engine.distributed.transfer import Region, TransferEngine, received
from engine.loader.remote import RemoteTensor, checksum
from engine.schema.errors import BadModel, EngineError

log = logging.getLogger(__name__)
Matrices = tuple[Tensor, Tensor, Tensor]  # gate, up, down, whole
_ALIGN = 64
_MOST_BYTES = 64 << 20  # of one message


class BackupMissing(EngineError):
    """No backup has an expert's weights of that version."""

    code = "backup-missing"


class Told(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """experts: `layer/expert` -> gate, up, down."""

    session: str
    version: int
    experts: dict[str, tuple[RemoteTensor, RemoteTensor, RemoteTensor]]


class ExpertBackup:
    """One process's share, in one block of memory. share: every `of`-th expert of each layer is this one's."""

    def __init__(self, engine: TransferEngine, *, share: int = 0, of: int = 1) -> None:
        self.engine, self.share, self.of = engine, share, of
        self.version = 0
        self._memory: Tensor | None = None
        self.told = Told(session=engine.session, version=0, experts={})

    def wants(self, expert: int) -> bool:
        return expert % self.of == self.share

    def keep(self, experts: Mapping[tuple[int, int], Matrices], *, version: int) -> Told:
        """Takes the place of what it had. Nobody reads while it changes: what is not registered can't be read."""
        if self._memory is not None:
            self.engine.unregister(self._memory.data_ptr())
        ours = {each: found for each, found in experts.items() if self.wants(each[1])}
        size = sum(_padded(part) for parts in ours.values() for part in parts)
        memory, at, told = torch.empty(max(size, 1), dtype=torch.uint8), 0, {}
        for (layer, expert), parts in ours.items():
            kept = []
            for part in parts:
                count = part.numel() * part.element_size()
                memory[at : at + count].copy_(part.contiguous().view(-1).view(torch.uint8))
                address = memory.data_ptr() + at
                kept.append(RemoteTensor(str(part.dtype), tuple(part.shape), address, count, checksum(part)))
                at += _padded(part)
            told[f"{layer}/{expert}"] = (kept[0], kept[1], kept[2])
        self._memory, self.version = memory, version
        self.engine.register(memory.data_ptr(), memory.numel())
        self.told = Told(session=self.engine.session, version=version, experts=told)
        log.info(
            "experts kept: experts=%d bytes=%d version=%d share=%d/%d", len(told), size, version, self.share, self.of
        )
        return self.told


def _padded(part: Tensor) -> int:
    return -(-part.numel() * part.element_size() // _ALIGN) * _ALIGN


class BackupServer:
    """Answers what a backup has. reload: reads another checkpoint's experts, for new weights."""

    def __init__(
        self,
        backup: ExpertBackup,
        reload: Callable[[str], Mapping[tuple[int, int], Matrices]],
        *,
        host: str = "127.0.0.1",
    ) -> None:
        self.backup, self._reload = backup, reload
        self._listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.address = str(Address(host, self._listener.getsockname()[1]))
        self._is_over, self._lock = threading.Event(), threading.Lock()

    def serve_forever(self) -> None:
        while not self._is_over.is_set():
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            with link:
                link.settimeout(60)
                try:
                    answer = self._answer(_received(link))
                    link.sendall(len(answer).to_bytes(8, "big") + answer)
                except (OSError, ValueError, KeyError) as error:
                    log.warning("backup: a request went wrong: %s", error)

    def _answer(self, asked: dict[str, Any]) -> bytes:
        with self._lock:
            if asked["do"] == "reload":
                self.backup.keep(self._reload(str(asked["path"])), version=int(asked["version"]))
            elif asked["do"] == "stop":
                self.close()
            return msgspec.json.encode(self.backup.told)

    def close(self) -> None:
        self._is_over.set()
        with contextlib.suppress(OSError):  # nobody has ever connected
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


class ExpertBackupClient:
    """addresses: of the servers, each with a share. version: of this rank's weights; older or newer ones are not
    taken."""

    def __init__(self, engine: TransferEngine, addresses: Iterable[str]) -> None:
        self.engine, self.addresses = engine, tuple(addresses)

    def ask(self, do: str, **given: Any) -> list[Told]:
        return [_asked(each, {"do": do, **given}) for each in self.addresses]

    def reload(self, path: str, *, version: int) -> None:
        """Let the servers read new weights."""
        self.ask("reload", path=path, version=version)

    def fetch(self, wanted: Iterable[tuple[int, int]], *, version: int) -> dict[tuple[int, int], Matrices]:
        """By layer and expert. Raises BackupMissing, and TransferFailed where a server is gone."""
        told = [each for each in self.ask("tell") if each.version == version]
        found: dict[tuple[int, int], Matrices] = {}
        for layer, expert in wanted:
            source = next((each for each in told if f"{layer}/{expert}" in each.experts), None)
            if source is None:
                raise BackupMissing(
                    f"no backup has expert {expert} of layer {layer} in version {version}",
                    fix="wait until the servers have read it, or load it from disk",
                )
            found[layer, expert] = self._read(source, f"{layer}/{expert}")
        return found

    def _read(self, source: Told, name: str) -> Matrices:
        kept = source.experts[name]
        made = [torch.empty(each.shape, dtype=_dtype(each.dtype)) for each in kept]
        self.engine.read(
            source.session,
            [Region(each.address, each.num_bytes) for each in kept],
            [Region(part.data_ptr(), each.num_bytes) for part, each in zip(made, kept, strict=True)],
        )
        for part, each in zip(made, kept, strict=True):
            if checksum(part) != each.checksum:
                raise BackupMissing(f"{name} changed while it was read", fix="ask for it again")
        return made[0], made[1], made[2]


def _dtype(name: str) -> torch.dtype:
    found = getattr(torch, name.removeprefix("torch."), None)
    if not isinstance(found, torch.dtype):
        raise BadModel(f"a backup keeps {name!r}", fix="run the same version of the engine everywhere")
    return found


def _asked(address: str, what: dict[str, Any]) -> Told:
    where = parse_address(address, source="expert backup")
    raw = json.dumps(what).encode()
    try:
        with socket.create_connection((where.host, where.port), timeout=60) as link:
            link.sendall(len(raw).to_bytes(8, "big") + raw)
            return msgspec.json.decode(_message(link), type=Told)
    except (OSError, msgspec.DecodeError) as error:
        raise BackupMissing(f"the backup at {address} does not answer: {error}", fix="see whether it runs") from error


def _received(link: socket.socket) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(_message(link))
    return made


def _message(link: socket.socket) -> bytes:
    size = int.from_bytes(_exactly(link, 8), "big")
    if size > _MOST_BYTES:
        raise ValueError(f"a message of {size} bytes")
    return _exactly(link, size)


def _exactly(link: socket.socket, count: int) -> bytes:
    found = received(link, count)
    if found is None:
        raise OSError("it ended before a message")
    return found
