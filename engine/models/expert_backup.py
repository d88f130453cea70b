"""The process that keeps experts' weights for ranks that lose them: what it reads, where it answers, how it is started.
What it keeps and how it is asked is moe/backup.py's."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from engine.distributed.membership import connect_store
from engine.distributed.transfer import open_transfer
from engine.host.processes import Child, begin
from engine.models.checkpoint import Checkpoint
from engine.models.expert_weights import experts_of
from engine.moe.backup import BackupServer, ExpertBackup, Matrices
from engine.schema.errors import BadModel

ADDRESS = "backup/{share}"  # the key under which each server leaves its address


class BackupSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """path: of the checkpoint. share, of: every `of`-th expert is this process's. store: host and port of the run's
    store, where it says its address. transfer: how ranks read."""

    path: str
    store: tuple[str, int]
    share: int = 0
    of: int = 1
    host: str = "127.0.0.1"
    transfer: str = "tcp"
    version: int = 0


def start(spec: BackupSpec) -> Child:
    """It ends with the process that started it."""
    return Child("engine.models.expert_backup", msgspec.json.encode(spec))


def read(path: str, *, share: int, of: int) -> dict[tuple[int, int], Matrices]:
    """The share's experts of every sparse layer. Raises BadModel for a dense model."""
    checkpoint = Checkpoint(Path(path))
    moe = checkpoint.config.moe
    if moe is None:
        raise BadModel(f"{path} has no experts to back up", fix="leave enable_elastic_expert_backup out")
    wanted = {
        (layer, expert)
        for layer, is_sparse in enumerate(moe.is_sparse)
        if is_sparse
        for expert in range(share, moe.num_experts, of)
    }
    return experts_of(checkpoint.tensors(), checkpoint.config.family, wanted)


def main() -> None:
    spec = msgspec.json.decode(begin(), type=BackupSpec)
    backup = ExpertBackup(open_transfer(spec.transfer, spec.host), share=spec.share, of=spec.of)
    backup.keep(read(spec.path, share=spec.share, of=spec.of), version=spec.version)
    server = BackupServer(backup, lambda path: read(path, share=spec.share, of=spec.of), host=spec.host)
    connect_store(*spec.store).set(ADDRESS.format(share=spec.share), server.address)
    server.serve_forever()


if __name__ == "__main__":
    main()
