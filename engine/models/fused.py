"""All layers of a stage in one call of the kernels: for a rank that is alone, packed in panels throughout, with nothing
hung into its layers. Anything else is left to the layers themselves, one after the other; both give the same bits."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.attention.base import Attention
from engine.attention.native import NativeAttention
from engine.kernels import native
from engine.kernels.panels import Panels
from engine.layers.linear import Linear, is_bare, is_wide
from engine.layers.norm import RMSNorm
from engine.layers.rotary import described_turn

if TYPE_CHECKING:
    from engine.models.decoder import Decoder


class Fused:
    """The structs of a decoder's layers, made anew when something in them moved."""

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._layers: Any = None

    def __call__(self, model: Decoder, hidden_TD: Tensor, positions_T: Tensor, attend: Attention) -> Tensor | None:
        """The hidden states after the last layer, or None where the layers have to be called."""
        if type(attend) is not NativeAttention or model.group.size > 1 or not len(model.layers):
            return None
        cache, batch = attend.cache, attend.batch
        if cache.dtype not in (torch.float32, torch.bfloat16) or cache.head_dim % 16:
            return None
        found = None if torch.compiler.is_compiling() else parts_of(model)
        if found is None or not native.fits(hidden_TD, *found[1]):
            return None
        linears, norms = found
        if any(is_wide(each.packed, hidden_TD) and not each.tile_rows for each in linears):  # type: ignore[arg-type]
            return None
        key = (
            *(each.packed.serial for each in linears),  # type: ignore[union-attr]
            *(each.data_ptr() for each in norms),
            *(*cache.addresses, hidden_TD.dtype, model.rotary.cos.data_ptr()),
        )
        if key != self._key:
            self._layers = (native.Layer * len(model.layers))(
                *(_described(each, model, attend, hidden_TD.dtype) for each in model.layers)
            )
            self._key = key
        windowed = batch.windowed if cache.num_window_blocks else batch
        step = native.Step(
            positions=positions_T.data_ptr(),
            slots=batch.slots_T.data_ptr(),
            window_slots=windowed.slots_T.data_ptr(),
            tables=batch.tables.data_ptr(),
            window_tables=windowed.tables.data_ptr(),
            spans=batch.spans_N4.data_ptr(),
            table_stride=batch.tables.shape[1],
            sequences=len(batch.spans),
        )
        library = native.library()
        assert library is not None, "fits() said so"
        hidden_TD, work = hidden_TD.clone(), torch.empty_like(hidden_TD)
        library.engine_layers(
            ctypes.byref(self._layers),
            len(model.layers),
            ctypes.byref(step),
            hidden_TD.data_ptr(),
            work.data_ptr(),
            hidden_TD.shape[0],
            native.KINDS[hidden_TD.dtype],
            torch.get_num_threads(),
        )
        return hidden_TD


def parts_of(model: Decoder) -> tuple[list[Linear], list[Tensor]] | None:
    """Every matrix and every norm's weight of the layers, in order; None where one of them is not as the kernels need
    it. Looks past nn.Module's own look-up, which is slow, for this is asked at every step."""
    linears: list[Linear] = []
    norms: list[Tensor] = []
    layers: dict[str, Any] = dict(model.layers._modules)
    for layer in layers.values():
        inner: dict[str, Any] = layer._modules
        attention, ffn = inner["attention"], inner["feed_forward"]
        if "gate_up" not in ffn._modules:
            return None  # experts: which of them a token goes through is known when it is there
        if not (_is_plain(layer) and _is_plain(attention) and _is_plain(ffn)):
            return None
        for linear in (*attention._modules.values(), *ffn._modules.values()):
            if isinstance(linear, RMSNorm):
                norms.append(linear.weight)
            elif linear is not None:
                if not is_bare(linear) or not isinstance(linear.packed, Panels):
                    return None
                linears.append(linear)
        if not ffn._modules["gate_up"].packed.can_gate():
            return None
        norms.extend(each.weight for each in inner.values() if isinstance(each, RMSNorm))
    return linears, norms


def _is_plain(module: nn.Module) -> bool:
    return not (module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module))


def _described(layer: Any, model: Decoder, attend: NativeAttention, dtype: torch.dtype) -> native.Struct:
    attention, ffn = layer.attention, layer.feed_forward
    rotary = model.local_rotary if layer.is_local else model.rotary
    norms = attention.q_norm, attention.k_norm
    turn = described_turn(rotary, (attention.heads, attention.kv_heads), norms, dtype)
    stored = attend.cache.stored(attention.cache_layer)
    turn.keys, turn.values = stored.keys.data_ptr(), stored.values.data_ptr()
    turn.kv_kind = native.KINDS[attend.cache.dtype]
    attends = attend.described(
        attention.cache_layer, heads=attention.heads, kind=dtype, scale=attention.scale, window=attention.window
    )
    attends.q_stride = attention.qkv.outputs
    return native.Layer(
        qkv=_panels(attention.qkv),
        out=_panels(attention.out),
        gate_up=_panels(ffn.gate_up),
        down=_panels(ffn.down),
        attention=_norm(layer.attention_norm),
        post_attention=_norm(layer.post_attention_norm),
        ffn=_norm(layer.ffn_norm),
        post_ffn=_norm(layer.post_ffn_norm),
        turn=turn,
        attend=attends,
        width=attention.qkv.inputs,
        is_windowed=attend.cache.is_windowed[attention.cache_layer],
        gate=native.GATES[ffn.activation],
    )


def _panels(linear: Linear) -> native.Struct:
    assert isinstance(linear.packed, Panels), "parts_of() said so"
    return linear.packed.described


def _norm(norm: nn.Module) -> native.Struct:
    return norm.described() if isinstance(norm, RMSNorm) else native.Norm()
