"""The helpers that need no other rank, against the methods they were: cuBLAS's first product, DTensors, the pool of
symmetric memory, the part of a model that makes text, the name of a step.

Level: exhaustive over the worlds below, each also with every call on a collaborator failing in turn; models and steps
are drawn too. Power: test_slips.py."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import functools
import itertools
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from engine.runner.forward_batch import ForwardMode
from tests.equivalence.helpers import CUBLAS, LANGUAGE, SPAN, SYMMETRIC, TORCH_TP, Twins
from tests.equivalence.stage import Stage, Thing, always
from tests.support.frozen import Text

# -- cuBLAS


class _Product(Thing):
    """A tensor on a device that is not there."""

    def __matmul__(self, other: object) -> Any:
        return self._stage.called(f"{self._name} @", (other,), {}, lambda: self._stage.thing("c"))


def cublas(edited: Text | None = None, runner: Text | None = None) -> Twins:
    stage = Stage()
    torch_ = stage.thing("torch", {"ones": lambda *_, **__: _Product(stage, "ones", {}, {})}, _real=torch)
    return Twins(CUBLAS, stage, {"torch": torch_}, edited=edited, runner=runner)


def check_cublas(pair: Twins) -> None:
    for place in ("cuda:0", "cuda:3"):
        fields = always(device_handle=types.SimpleNamespace(place=place))
        pair.compare_with_faults({"place": place}, fields=fields)
    pair.check_reached({}, {})


def test_cublas() -> None:
    pair = cublas()
    check_cublas(pair)
    assert pair.num_failed_calls == 18


# -- DTensors


def torch_tp(edited: Text | None = None, runner: Text | None = None) -> Twins:
    stage = Stage()
    names = {"tensor_parallel": lambda *given: stage.called("tensor_parallel", given, {}, 4)}
    return Twins(TORCH_TP, stage, names, edited=edited, runner=runner)


def check_torch_tp(pair: Twins) -> None:
    stage = pair.stage
    module = types.ModuleType("torch.distributed.device_mesh")
    module.__dict__["DeviceMesh"] = types.SimpleNamespace(
        from_group=lambda *given: stage.called("DeviceMesh.from_group", given, {}, lambda: stage.thing("mesh"))
    )
    with patch.dict(sys.modules, {"torch.distributed.device_mesh": module}):
        for size, rank, device, handle in itertools.product((1, 4), (0, 3), ("cpu", "npu"), (None, "handle")):
            fields = always(tp_size=size, rank=rank, device=device, model="model")
            fields["tp_group"] = functools.partial(stage.thing, "tp", handle=handle)
            pair.compare_with_faults({"handle": handle, "rank": rank}, fields=fields)
    pair.check_reached({}, {})


def test_torch_tp() -> None:
    check_torch_tp(torch_tp())


# -- symmetric memory


def symmetric(edited: Text | None = None, runner: Text | None = None) -> Twins:
    stage = Stage()
    names = {
        "torch": stage.thing("torch", {"empty": lambda *_, **__: stage.thing("block")}, _real=torch),
        "symmetric_pool": lambda *given: stage.called("symmetric_pool", given, {}, lambda: stage.thing("pool")),
    }
    return Twins(SYMMETRIC, stage, names, edited=edited, runner=runner)


SYMMETRIC_FIELDS = (
    "server_args", "tp_size", "forward_stream_context", "tp_group", "device_handle", "rank",
)  # fmt: skip


def check_symmetric(pair: Twins) -> None:
    stage = pair.stage
    for is_on, count, size in itertools.product((False, True), (-1, 0, 1, 1 << 30), (1, 2)):
        args = types.SimpleNamespace(enable_symm_mem=is_on, symm_mem_prealloc_bytes=count)
        fields = always(server_args=args, tp_size=size, rank=5)
        fields["forward_stream_context"] = lambda: lambda: stage.called("stream", (), {}, lambda: stage.thing("stream"))
        fields["tp_group"] = lambda: stage.thing("tp")
        fields["device_handle"] = lambda: stage.thing("device", {"synchronize": None}, place="cuda:1")
        pair.compare_with_faults(
            {"is_on": is_on, "bytes": count, "size": size}, fields=fields,
            call_new=lambda function, runner: function(**{name: getattr(runner, name) for name in SYMMETRIC_FIELDS}),
        )  # fmt: skip
    pair.check_reached({}, {})


def test_symmetric_memory() -> None:
    pair = symmetric()
    check_symmetric(pair)
    assert pair.num_failed_calls > 30


# -- language models

NAMES = ("language_model", "text_model", "thinker")
MODELS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.builds(dict),
    lambda inner: st.dictionaries(st.sampled_from([*NAMES, "vision"]), inner | st.none() | st.just("text"), max_size=3),
    max_leaves=6,
)


def model_of(shape: Mapping[str, Any]) -> nn.Module:
    made = nn.Module()
    for name, inner in shape.items():
        setattr(made, name, model_of(inner) if isinstance(inner, dict) else inner)
    return made


def language(edited: Text | None = None, runner: Text | None = None) -> Twins:
    del runner  # there is no wrapper
    return Twins(LANGUAGE, Stage(), {}, edited=edited)


def check_language(pair: Twins, shape: Mapping[str, Any]) -> None:
    model = model_of(shape)
    found: list[Any] = []

    def old(function: Callable[..., Any], runner: Any) -> None:
        found.append(function(runner, model))

    def new(function: Callable[..., Any], _: Any) -> None:
        found.append(function(model))

    pair.compare({"shape": shape}, call_old=old, call_new=new)
    assert found[0] is found[1], f"{pair.helper.name} finds another part in {shape!r}"


SHAPES: list[dict[str, Any]] = [
    {}, *({name: {}} for name in NAMES), {"language_model": None, "text_model": {}}, {"language_model": "x"},
    {"thinker": {"language_model": {}}}, {"language_model": {}, "text_model": {}}, {"text_model": {}, "thinker": {}},
    {"vision": {}}, {"thinker": {"text_model": {"language_model": {}}}},
]  # fmt: skip


def test_language_models() -> None:
    pair = language()
    for shape in SHAPES:
        check_language(pair, shape)
    pair.check_reached({}, {})


LANGUAGE_PAIR = language()


@given(MODELS)
def test_drawn_models(shape: dict[str, Any]) -> None:
    check_language(LANGUAGE_PAIR, shape)


# -- names of steps


def span(edited: Text | None = None, runner: Text | None = None) -> Twins:
    del runner
    return Twins(SPAN, Stage(), {}, edited=edited)


def check_span(
    pair: Twins, mode: ForwardMode, slices: list[tuple[int, int]], draft: bool, pp_rank: int, pp_size: int
) -> None:
    batch = types.SimpleNamespace(
        mode=mode,
        batch_size=len(slices),
        num_tokens=sum(end for _, end in slices),
        slices=[types.SimpleNamespace(num_drafts=drafts, end=end) for drafts, end in slices],
    )
    pair.compare(
        {"mode": mode, "slices": slices, "draft": draft, "pp": (pp_rank, pp_size)},
        always(is_draft_worker=draft, pp_rank=pp_rank, pp_size=pp_size),
        call_old=lambda function, runner: function(runner, batch),
        call_new=lambda function, runner: function(
            batch, is_draft_worker=runner.is_draft_worker, pp_rank=runner.pp_rank, pp_size=runner.pp_size
        ),
    )


def check_spans(pair: Twins) -> None:
    slices: list[list[tuple[int, int]]] = [[], [(2, 1)], [(0, 7), (3, 5)]]
    for mode, each, draft, pp in itertools.product(ForwardMode, slices, (False, True), ((0, 1), (0, 2), (1, 2))):
        check_span(pair, mode, each, draft, *pp)
    pair.check_reached({}, {})


def test_names_of_steps() -> None:
    check_spans(span())


SPAN_PAIR = span()


@given(
    st.sampled_from(ForwardMode), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4), st.booleans(),
    st.integers(0, 3), st.integers(1, 4),
)  # fmt: skip
def test_drawn_names(mode: ForwardMode, slices: list[tuple[int, int]], draft: bool, pp_rank: int, pp_size: int) -> None:
    check_span(SPAN_PAIR, mode, slices, draft, pp_rank, pp_size)
