"""Memory of other processes: reads that may be made and that may not, weights of a running instance, experts' backups.
Over TCP of our own, over gloo, and over Mooncake's engine where it is installed."""

from __future__ import annotations

import importlib.util
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


from engine.distributed.membership import connect_store, serve_store  # noqa: E402
from engine.distributed.outside_group import OutsideGroup  # noqa: E402
from engine.distributed.transfer import (  # noqa: E402
    BACKENDS,
    Region,
    TcpTransfer,
    TransferEngine,
    TransferFailed,
    open_transfer,
)
from engine.loader import remote  # noqa: E402
from engine.models import expert_backup  # noqa: E402
from engine.models.checkpoint import Checkpoint  # noqa: E402
from engine.models.expert_weights import experts_of, put  # noqa: E402
from engine.moe.backup import BackupMissing, ExpertBackupClient  # noqa: E402
from engine.schema.errors import BadConfig, BadModel  # noqa: E402
from tests.engine import checkpoints  # noqa: E402


@pytest.fixture(params=["tcp", "mooncake"])
def engines(request: pytest.FixtureRequest) -> Iterator[tuple[TransferEngine, TransferEngine]]:
    """Of who has something, and of who reads."""
    try:
        made = open_transfer(request.param), open_transfer(request.param)
    except BadConfig as error:
        assert request.param == "mooncake"
        pytest.skip(f"mooncake-transfer-engine-non-cuda is not installed: {error}")
    yield made
    for each in made:
        each.close()


def region(tensor: Any) -> Region:
    return Region(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def test_reads_of_what_is_registered(engines: Any) -> None:
    ours, theirs = engines
    whole, small = torch.randn(3 << 20), torch.arange(5)
    for each in (whole, small):
        ours.register(*region(each))
    to_whole, to_small, to_part = torch.empty_like(whole), torch.empty_like(small), torch.empty(1000)
    theirs.read(
        ours.session,
        [region(whole), region(small), Region(whole.data_ptr() + 400, 4000)],
        [region(to_whole), region(to_small), region(to_part)],
    )
    assert torch.equal(to_whole, whole) and torch.equal(to_small, small) and torch.equal(to_part, whole[100:1100])


def test_nothing_else_is_read() -> None:
    ours, theirs = TcpTransfer(timeout=5), TcpTransfer(timeout=5)
    held, other, target = torch.randn(100), torch.randn(100), torch.zeros(100)
    try:
        ours.register(*region(held))
        session = ours.session
        for asked, source in (
            (session, region(other)),
            (session, Region(held.data_ptr() + 4, 400)),
            (session[:-1] + ("0" if session[-1] != "0" else "1"), region(held)),
        ):
            with pytest.raises(TransferFailed, match="lets nobody read"):
                theirs.read(asked, [source], [region(target)])
        ours.unregister(held.data_ptr())
        with pytest.raises(TransferFailed, match="lets nobody read"):
            theirs.read(session, [region(held)], [region(target)])
        assert not target.any()
        ours.close()
        with pytest.raises(TransferFailed, match="can't be read"):
            theirs.read(session, [region(held)], [region(target)])
    finally:
        ours.close()
        theirs.close()


@pytest.mark.parametrize("bad", ["checksum", "short"])
def test_what_comes_damaged_is_refused(bad: str) -> None:
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        link, _ = server.accept()
        with link:
            link.recv(48)
            body = bytes(40)
            link.sendall(b"\x01" + (40).to_bytes(8, "big") + (body + b"\0\0\0\1" if bad == "checksum" else body[:7]))

    thread = threading.Thread(target=answer)
    thread.start()
    reader, target = TcpTransfer(timeout=5), torch.zeros(10)
    with pytest.raises(TransferFailed, match="damaged" if bad == "checksum" else "in the middle"):
        reader.read(f"127.0.0.1:{server.getsockname()[1]}/{'0' * 32}", [region(target)], [region(target)])
    thread.join(10)
    reader.close()
    server.close()


def test_transports_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadConfig, match="transfer backend 'rdma'"):
        open_transfer("rdma")
    monkeypatch.setattr("engine.distributed.transfer.MooncakeTransfer", _unloadable)
    with pytest.raises(BadConfig, match="libibverbs"):
        open_transfer("mooncake")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    made = open_transfer("auto")
    assert isinstance(made, TcpTransfer) and "auto" in BACKENDS
    made.close()


def _unloadable(*_: Any, **__: Any) -> Any:
    raise ImportError("libibverbs.so.1: cannot open shared object file")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mixtral")
    checkpoints.write("mixtral", made, tie_word_embeddings=True)
    return made


def test_a_second_instance_takes_the_first_ones_weights(folder: Path, engines: Any) -> None:
    ours, theirs = engines
    first, second = checkpoints.decoder(folder), checkpoints.decoder(folder)
    for each in second.parameters():
        each.data.zero_()
    manifest = remote.publish(dict(first.state_dict()), ours, rank=0, world_size=1, version=3)
    manifest = remote.decode(remote.encode(manifest))  # as it travels
    total = remote.pull(manifest, dict(second.state_dict()), theirs, rank=0, world_size=1)
    shared = sum(each.numel() * 4 for each in first.parameters())
    assert total == shared and manifest.version == 3
    for name, each in first.state_dict().items():
        assert torch.equal(each, second.state_dict()[name])
    # Weights that changed since they were told of are noticed.
    next(iter(first.parameters())).data.add_(1)
    with pytest.raises(TransferFailed, match="is not what rank 0 had"):
        remote.pull(manifest, dict(second.state_dict()), theirs, rank=0, world_size=1)
    remote.withdraw(manifest, ours)


def test_instances_that_differ() -> None:
    engine = TcpTransfer()
    own = {"a": torch.zeros(3), "b": torch.zeros(2, 2)}
    manifest = remote.publish(own, engine, rank=1, world_size=2, version=0)
    for tensors, place, match in (
        (own, (0, 2), "weights of rank 1 of 2 for rank 0 of 2"),
        ({"a": own["a"]}, (1, 2), "only one of the instances has b"),
        ({**own, "a": torch.zeros(4)}, (1, 2), r"a is torch.float32 \(3,\) there"),
        ({**own, "a": torch.zeros(3).half()}, (1, 2), "torch.float16"),
    ):
        with pytest.raises(BadModel, match=match):
            remote.pull(manifest, tensors, engine, rank=place[0], world_size=place[1])
    with pytest.raises(BadModel, match="not in one piece"):
        remote.publish({"a": torch.zeros(4, 4).T}, engine, rank=0, world_size=1, version=0)
    engine.close()


def test_weights_over_gloo(folder: Path) -> None:
    first, second = checkpoints.decoder(folder), checkpoints.decoder(folder)
    for each in second.parameters():
        each.data.zero_()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def group(rank: int) -> OutsideGroup:
        return OutsideGroup("127.0.0.1", port, rank=rank, size=2, backend="gloo", timeout=60)

    thread = threading.Thread(target=lambda: remote.send_over(group(0), dict(first.state_dict())))
    thread.start()
    remote.receive_over(group(1), dict(second.state_dict()))
    thread.join(60)
    for name, each in first.state_dict().items():
        assert torch.equal(each, second.state_dict()[name])

    class Damaged:
        def broadcast(self, tensor: Any, source: int = 0) -> Any:
            return tensor.fill_(source + 1)

    with pytest.raises(TransferFailed, match="came damaged"):
        remote.receive_over(Damaged(), {"a": torch.zeros(3)})


def test_experts_out_of_another_process(folder: Path) -> None:
    """Two servers, each with half of the experts; a rank that has lost some; other weights after a while."""
    store = serve_store("127.0.0.1")
    given: Any = {"path": str(folder), "store": ("127.0.0.1", store.port), "of": 2, "version": 4}
    children = [expert_backup.start(expert_backup.BackupSpec(share=share, **given)) for share in (0, 1)]
    reader = TcpTransfer()
    try:
        seen = connect_store("127.0.0.1", store.port)
        seen.wait([expert_backup.ADDRESS.format(share=share) for share in (0, 1)])
        addresses = [seen.get(expert_backup.ADDRESS.format(share=share)).decode() for share in (0, 1)]
        client = ExpertBackupClient(reader, addresses)
        checkpoint = Checkpoint(folder)
        wanted = {(0, 1), (3, 2), (2, 3)}
        expected = experts_of(checkpoint.tensors(), checkpoint.config.family, wanted)
        found = client.fetch(wanted, version=4)
        for each in wanted:
            assert all(torch.equal(a, b) for a, b in zip(found[each], expected[each], strict=True))
        model = checkpoints.decoder(folder)
        before = {name: each.clone() for name, each in model.state_dict().items()}
        ffn = model.sparse_layers()[3]
        for part in ffn.routed.slot_rows():
            part[2] = 0
        put(ffn, 2, 2, found[3, 2])
        assert all(torch.equal(each, before[name]) for name, each in model.state_dict().items())
        assert ffn.routed.canary[2] == 2
        with pytest.raises(BackupMissing, match="expert 1 of layer 0 in version 5"):
            client.fetch([(0, 1)], version=5)
        client.reload(str(folder), version=5)
        assert len(client.fetch([(0, 1)], version=5)) == 1
        for child in children:
            child.kill()
            child.wait(20)
        with pytest.raises(BackupMissing, match="does not answer"):
            client.fetch([(0, 1)], version=5)
    finally:
        reader.close()
        for child in children:
            child.stop()


def test_backups_of_dense_models(tmp_path: Path) -> None:
    checkpoints.write("llama", tmp_path)
    with pytest.raises(BadModel, match="no experts to back up"):
        expert_backup.read(str(tmp_path), share=0, of=1)
