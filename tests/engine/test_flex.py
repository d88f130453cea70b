"""Attention by torch's flex_attention, against the formula as it is written: by plain operators, compiled, and what
happens where it can't be compiled."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.attention import flex  # noqa: E402
from engine.config.server_args import ServerArgs  # noqa: E402
from engine.models.decoder import Decoder  # noqa: E402
from engine.runner.executor import Executor  # noqa: E402
from engine.schema.errors import BadConfig  # noqa: E402
from tests.engine import checkpoints  # noqa: E402
from tests.engine.runner import driver  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
_rng = random.Random(5)
SEQUENCES = [[_rng.randrange(199) for _ in range(length)] for length in (40, 17, 3)]
CLOSE = 1e-4


@pytest.fixture(autouse=True)
def _forgets() -> Iterator[None]:
    """What can be compiled is found out anew."""
    yield
    flex.compiled.cache_clear()
    flex._FAILED.clear()


@pytest.fixture(scope="module", params=["llama", "gemma3"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Decoder]:
    folder = tmp_path_factory.mktemp(request.param)
    checkpoints.write(request.param, folder)
    return folder, checkpoints.decoder(folder)


@torch.inference_mode()  # type: ignore[untyped-decorator]
def off(model: Decoder, sequences: list[list[int]], **how: Any) -> float:
    """How far its logits are from the reference's, at most."""
    expected = checkpoints.logits([model], sequences, attention="reference", **how)
    found = checkpoints.logits([model], sequences, attention="flex", **how)
    return max(float((one - other).abs().max()) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize(("chunks", "block_tokens"), [((99,), 16), ((16, 5, 1), 4)])
def test_by_plain_operators(
    model: tuple[Path, Decoder], monkeypatch: pytest.MonkeyPatch, chunks: tuple[int, ...], block_tokens: int
) -> None:
    monkeypatch.setattr(flex, "can_compile", lambda: False)
    assert off(model[1], SEQUENCES, chunks=chunks, block_tokens=block_tokens) < CLOSE


@pytest.mark.slow
def test_compiled(model: tuple[Path, Decoder]) -> None:
    """Two steps of other sequences and one size: compiled once for each window, used again."""
    if not flex.can_compile():
        pytest.skip("no compiler")
    assert off(model[1], SEQUENCES, chunks=(99,)) < CLOSE
    with pytest.MonkeyPatch.context() as patch, torch._dynamo.config.patch(error_on_recompile=True):
        patch.setattr(flex, "_plain", None)
        assert off(model[1], [each[:-1] for each in SEQUENCES], chunks=(99,)) < CLOSE
    assert not flex._FAILED


def test_where_it_can_not_be_compiled(
    model: tuple[Path, Decoder], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from torch._dynamo.exc import TorchDynamoException

    def broken(*_: Any, **__: Any) -> None:
        raise TorchDynamoException("the compiler is broken")

    # Not torch.compile itself: the plain operators go through it too, with a backend that compiles nothing.
    monkeypatch.setattr(flex, "compiled", functools.cache(lambda device: None if device in flex._FAILED else broken))
    assert off(model[1], SEQUENCES, chunks=(99,)) < CLOSE
    said = [each.getMessage() for each in caplog.records if each.name == flex.log.name]
    assert len(said) == 1 and "the compiler is broken" in said[0]


def test_a_run_of_it(model: tuple[Path, Decoder], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flex, "can_compile", lambda: False)
    found = []
    for backend in ("reference", "flex"):
        executor = Executor(ServerArgs(model=str(model[0]), dtype="float32", attention_backend=backend))
        try:
            found.append(driver.generate(executor, SEQUENCES, num_tokens=6, step_tokens=24))
        finally:
            executor.shutdown()
    assert found[0] == found[1]
    with pytest.raises(BadConfig, match="batch-invariant mode with attention by flex"):
        Executor(ServerArgs(model=str(model[0]), decode_attention_backend="flex", enable_batch_invariant=True))
