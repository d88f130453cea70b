"""The bytes of a GGUF file as settings and places of tensors. Versions 2 and 3, little-endian. The library gguf reads
the same with a numpy object a list element, which takes seconds for a vocabulary.

Format: github.com/ggml-org/ggml/blob/master/docs/gguf.md."""

from __future__ import annotations

import mmap
import struct
from typing import Any, NamedTuple

import numpy as np

_SCALARS = {
    0: "<u1",
    1: "<i1",
    2: "<u2",
    3: "<i2",
    4: "<u4",
    5: "<i4",
    6: "<f4",
    7: "?",
    10: "<u8",
    11: "<i8",
    12: "<f8",
}
_STRING, _ARRAY = 8, 9
_ALIGNMENT = 32
VERSIONS = (2, 3)


class Place(NamedTuple):
    """shape: outermost first. kind: a number of ggml's. start: of the data, from the beginning of the file."""

    name: str
    shape: tuple[int, ...]
    kind: int
    start: int


class Header(NamedTuple):
    settings: dict[str, Any]
    places: tuple[Place, ...]


class _Cursor:
    """Reads on from where it stands. Raises ValueError beyond the end."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 4

    def number(self, form: str) -> int:
        size = struct.calcsize(form)
        if self.at + size > len(self.data):
            raise ValueError(f"it ends at byte {len(self.data)}, in the middle of its header")
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return int(value)

    def text(self) -> str:
        return self.bytes(self.number("<Q")).decode("utf-8")

    def texts(self, count: int) -> list[str]:
        """So many texts in a row: a vocabulary has a hundred thousand, so nothing is called for each."""
        data, at, found = self.data, self.at, []
        length_of = struct.Struct("<Q").unpack_from
        try:
            for _ in range(count):
                start = at + 8
                at = start + length_of(data, at)[0]
                found.append(data[start:at].decode("utf-8"))
        except struct.error:
            at = len(data) + 1
        if at > len(data):
            raise ValueError(f"it ends at byte {len(data)}, in the middle of its header")
        self.at = at
        return found

    def bytes(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise ValueError(f"it ends at byte {len(self.data)}, in the middle of its header")
        self.at += count
        return self.data[self.at - count : self.at]

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            inner, count = self.number("<I"), self.number("<Q")
            if inner in _SCALARS:
                return self.scalars(inner, count)
            if inner == _STRING:
                return self.texts(count)
            return [self.value(inner) for _ in range(count)]
        return self.scalars(kind, 1)[0]

    def scalars(self, kind: int, count: int) -> list[Any]:
        if kind not in _SCALARS:
            raise ValueError(f"a setting has type {kind}, which does not exist")
        form = np.dtype(_SCALARS[kind])
        found: list[Any] = np.frombuffer(self.bytes(form.itemsize * count), form).tolist()
        return found


def header(data: mmap.mmap) -> Header:
    """Raises ValueError for what is no header, or not all of one."""
    cursor = _Cursor(data)
    version = cursor.number("<I")
    if version not in VERSIONS:
        raise ValueError(f"it has version {version}, known are {' and '.join(map(str, VERSIONS))}")
    num_tensors, num_settings = cursor.number("<Q"), cursor.number("<Q")
    settings: dict[str, Any] = {}
    for _ in range(num_settings):
        key = cursor.text()
        settings[key] = cursor.value(cursor.number("<I"))
    found = []
    for _ in range(num_tensors):
        name, num_dims = cursor.text(), cursor.number("<I")
        shape = tuple(cursor.number("<Q") for _ in range(num_dims))[::-1]
        found.append(Place(name, shape, cursor.number("<I"), cursor.number("<Q")))
    step = settings.get("general.alignment", _ALIGNMENT)
    if not isinstance(step, int) or step < 1:
        raise ValueError(f"its tensors are aligned to {step!r}")
    start = -(-cursor.at // step) * step
    return Header(settings, tuple(each._replace(start=start + each.start) for each in found))
