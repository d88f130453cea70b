"""Weights out of the memory of a running instance: what it has, told to whoever asks, and how a new one takes it. Over
a transfer engine, which reads; or over a group that both are in, to which one sends. Both have to hold the same tensors
in the same form: the same model, sizes and dtype."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Mapping
from typing import Protocol

import msgspec
import torch
from msgspec import Struct
from torch import Tensor

from engine.distributed.transfer import Region, TransferEngine, TransferFailed
from engine.schema.errors import BadModel

log = logging.getLogger(__name__)


class RemoteTensor(Struct, frozen=True, forbid_unknown_fields=True):
    """checksum: of every bit, with dtype and shape."""

    dtype: str
    shape: tuple[int, ...]
    address: int
    num_bytes: int
    checksum: str


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one rank of an instance has. version: of its weights; it changes with them."""

    session: str
    rank: int
    world_size: int
    version: int
    tensors: dict[str, RemoteTensor]


class Sender(Protocol):
    """A group of two instances' ranks, as OutsideGroup is."""

    def broadcast(self, tensor: Tensor, source: int = 0) -> Tensor: ...


def publish(
    tensors: Mapping[str, Tensor], engine: TransferEngine, *, rank: int, world_size: int, version: int
) -> Manifest:
    """Lets others read these tensors, which stay where they are until `withdraw`. Tied ones are registered once."""
    found: dict[str, RemoteTensor] = {}
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise BadModel(f"{name} is not in one piece", fix="report it: weights are")
        num_bytes = tensor.numel() * tensor.element_size()
        if num_bytes and all(tensor.data_ptr() != each.address for each in found.values()):
            engine.register(tensor.data_ptr(), num_bytes)
        found[name] = RemoteTensor(
            str(tensor.dtype), tuple(tensor.shape), tensor.data_ptr(), num_bytes, checksum(tensor)
        )
    log.info("weights published: rank=%d tensors=%d version=%d", rank, len(found), version)
    return Manifest(session=engine.session, rank=rank, world_size=world_size, version=version, tensors=found)


def withdraw(manifest: Manifest, engine: TransferEngine) -> None:
    """Before the memory goes, or is written: nobody may read half of each."""
    for address in {each.address for each in manifest.tensors.values() if each.num_bytes}:
        engine.unregister(address)


def pull(
    manifest: Manifest, tensors: Mapping[str, Tensor], engine: TransferEngine, *, rank: int, world_size: int
) -> int:
    """Into these tensors, checked; bytes that came. Raises BadModel where the other instance has other tensors, and
    TransferFailed where something came damaged, as it does when the other one changes its weights meanwhile."""
    started = time.perf_counter()
    _check(manifest, tensors, rank=rank, world_size=world_size)
    regions = {
        each.address: (Region(each.address, each.num_bytes), Region(tensors[name].data_ptr(), each.num_bytes))
        for name, each in manifest.tensors.items()
        if each.num_bytes
    }
    sources, targets = [pair[0] for pair in regions.values()], [pair[1] for pair in regions.values()]
    engine.read(manifest.session, sources, targets)
    for name, each in manifest.tensors.items():
        if checksum(tensors[name]) != each.checksum:
            raise TransferFailed(f"{name} is not what rank {rank} had when it told", fix="ask it anew for what it has")
    total = sum(each.num_bytes for each in sources)
    seconds = time.perf_counter() - started
    log.info(
        "weights pulled: rank=%d bytes=%d seconds=%.2f from=%s", rank, total, seconds, manifest.session.split("/")[0]
    )
    return total


def _check(manifest: Manifest, tensors: Mapping[str, Tensor], *, rank: int, world_size: int) -> None:
    if (manifest.rank, manifest.world_size) != (rank, world_size):
        raise BadModel(
            f"weights of rank {manifest.rank} of {manifest.world_size} for rank {rank} of {world_size}",
            fix="start both instances with the same sizes",
        )
    if manifest.tensors.keys() != tensors.keys():
        other = sorted(manifest.tensors.keys() ^ tensors.keys())
        raise BadModel(f"only one of the instances has {', '.join(other[:3])}", fix="start both with the same model")
    for name, each in manifest.tensors.items():
        ours = tensors[name]
        if (each.dtype, each.shape) != (str(ours.dtype), tuple(ours.shape)):
            raise BadModel(
                f"{name} is {each.dtype} {each.shape} there, {ours.dtype} {tuple(ours.shape)} here",
                fix="start both with the same model and dtype",
            )


def send_over(group: Sender, tensors: Mapping[str, Tensor]) -> None:
    """As rank 0 of a group: every tensor, by name."""
    for name in sorted(tensors):
        group.broadcast(tensors[name].contiguous())
        group.broadcast(_digest(tensors[name]))


def receive_over(group: Sender, tensors: Mapping[str, Tensor]) -> None:
    """As another rank of it. Raises TransferFailed where a tensor came damaged."""
    for name in sorted(tensors):
        came = torch.empty_like(tensors[name], memory_format=torch.contiguous_format)
        group.broadcast(came)
        told = group.broadcast(torch.empty(32, dtype=torch.uint8))
        if not torch.equal(told, _digest(came)):
            raise TransferFailed(f"{name} came damaged, or is another tensor there", fix="send the weights again")
        tensors[name].copy_(came)


def checksum(tensor: Tensor) -> str:
    """Of dtype, shape and every bit."""
    made = hashlib.sha256(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
    if tensor.numel():
        made.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return made.hexdigest()


def _digest(tensor: Tensor) -> Tensor:
    return torch.tensor(list(bytes.fromhex(checksum(tensor))), dtype=torch.uint8)


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Manifest).decode
