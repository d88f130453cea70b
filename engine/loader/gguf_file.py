"""A GGUF file as plain data: its settings and its tensors. What a tensor means, and in which order its rows stand, is
the models' to know. How numbers are packed is the library gguf's."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.loader.gguf_format import Header, Place, header
from engine.schema.errors import BadModel

MAGIC = b"GGUF"
_PLAIN: dict[str, Any] = {"F32": np.float32, "F16": np.float16}


class PackedTensor(NamedTuple):
    """rows: raw bytes of each row, as the file has them. shape: of the numbers, outermost first. kind: the name of the
    quantisation, such as Q4_1 or F32."""

    name: str
    shape: tuple[int, ...]
    kind: str
    rows: NDArray[np.uint8] | NDArray[np.float32] | NDArray[np.float16]


class GgufFile:
    """Mapped into memory; a tensor is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                magic = file.read(4)
        except OSError as error:
            raise BadModel(f"{path} can't be read: {error.strerror}", fix="give the path of a .gguf file") from error
        if magic != MAGIC:
            raise BadModel(f"{path} is no GGUF file: it begins with {magic!r}", fix="give a .gguf file")

    @cached_property
    def _map(self) -> mmap.mmap:
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    @cached_property
    def _header(self) -> Header:
        try:
            return header(self._map)
        except (ValueError, RecursionError) as error:
            raise BadModel(f"{self.path} is cut short or damaged: {error}", fix="fetch the file again") from error

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a setting; lists are lists of Python values."""
        return self._header.settings.get(key, default)

    def require(self, key: str) -> Any:
        """Raises BadModel when the file does not say."""
        value = self.get(key)
        if value is None:
            raise BadModel(f"{self.path} does not say {key}", fix="convert the model again with a newer converter")
        return value

    @property
    def architecture(self) -> str:
        return str(self.require("general.architecture"))

    def tensors(self) -> Iterator[PackedTensor]:
        """In the order of the file."""
        for place in self._header.places:
            yield self._packed(place)

    def _packed(self, place: Place) -> PackedTensor:
        import gguf

        try:
            kind = gguf.GGMLQuantizationType(place.kind)
        except ValueError as error:
            raise BadModel(f"{self.path}: {place.name}: {error}", fix="use a newer version of gguf") from error
        block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
        *outer, width = place.shape or (1,)
        form = _PLAIN.get(kind.name)
        row = (width // block * block_bytes,) if form is None else (width,)
        count = math.prod(outer) * (width // block)
        if width % block or place.start + count * block_bytes > len(self._map):
            raise BadModel(
                f"{self.path} is cut short or damaged: {place.name} has shape {place.shape} at byte {place.start}",
                fix="fetch the file again",
            )
        data = np.frombuffer(self._map, np.uint8, count * block_bytes, place.start)
        rows: Any = data.view(form or np.uint8).reshape(*outer, *row)
        return PackedTensor(place.name, place.shape, kind.name, rows)


def dequantised(tensor: PackedTensor) -> NDArray[np.float32]:
    """The numbers of a packed tensor, a copy, shape as `tensor.shape`. Raises BadModel for a quantisation that is not
    known."""
    import gguf

    kind = gguf.GGMLQuantizationType[tensor.kind]
    try:
        made = gguf.quants.dequantize(tensor.rows, kind)
    except NotImplementedError as error:
        raise BadModel(
            f"{tensor.name} is packed as {tensor.kind}, which can't be unpacked", fix="use Q4_1 or Q8_0"
        ) from error
    return np.array(made, dtype=np.float32).reshape(tensor.shape)
