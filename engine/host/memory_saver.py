"""Giving memory back while an engine sleeps, and taking it again: which tensors are meant (those made in a region, by
tag), what is kept of them. Addresses stay, so that whatever holds a tensor holds it still. When an engine sleeps, and
that it is asked nothing while it does, is the runner's.

On CPUs the tensors of a tag stand in mappings of our own, whose pages go back to the system; what is to be kept is
written to an unnamed temporary file. On CUDA the library torch_memory_saver does the same to its allocator."""

from __future__ import annotations

import logging
import mmap
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any, Protocol

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from engine.schema.errors import BadConfig, NotEnoughMemory

log = logging.getLogger(__name__)
WEIGHTS, KV_CACHE = "weights", "kv_cache"
_CHUNK = 64 << 20
_ALIGNMENT = 64  # bytes, a cache line: what torch's own allocator gives
_PIECE = 64 << 20  # bytes that a backup writes at a time


class MemorySaver(Protocol):
    """What a runner asks for, whatever the device."""

    def region(self, tag: str, *, is_kept: bool = False) -> AbstractContextManager[Any]:
        """Tensors that are made inside belong to the tag. is_kept: their values survive a pause; zeros otherwise."""
        ...

    def pause(self, tags: Iterable[str]) -> None:
        """Give the memory of these back; their values must not be used until they are resumed."""
        ...

    def resume(self, tags: Iterable[str]) -> None: ...

    def is_paused(self, tag: str) -> bool: ...

    def in_children(self) -> AbstractContextManager[Any]:
        """Processes that are started inside can have regions."""
        ...


class NoMemorySaver:
    """Regions are nothing, and pausing is refused."""

    def region(self, tag: str, *, is_kept: bool = False) -> AbstractContextManager[Any]:
        del tag, is_kept
        return nullcontext()

    def pause(self, tags: Iterable[str]) -> None:
        raise BadConfig(f"{', '.join(tags)} can't be released", fix="start with enable_memory_saver")

    resume = pause

    def is_paused(self, tag: str) -> bool:
        del tag
        return False

    def in_children(self) -> AbstractContextManager[Any]:
        return nullcontext()


class CpuMemorySaver:
    """Arenas by tag."""

    def __init__(self) -> None:
        self.arenas: dict[str, Arena] = {}

    def region(self, tag: str, *, is_kept: bool = False) -> AbstractContextManager[Any]:
        arena = self.arenas.setdefault(tag, Arena(tag, is_kept=is_kept))
        if arena.is_kept != is_kept:
            raise BadConfig(f"regions of {tag} are kept and not kept", fix="use another tag")
        return _Region(arena)

    def adopt(self, tensors: Iterable[Tensor], tag: str, *, is_kept: bool = False) -> None:
        """Move tensors that were made elsewhere: their addresses change once, here."""
        region = self.region(tag, is_kept=is_kept)
        assert isinstance(region, _Region)
        for tensor in tensors:
            moved = region.arena.empty(tensor.shape, tensor.dtype)
            tensor.data = moved.copy_(tensor.data) if moved is not None else tensor.data

    def pause(self, tags: Iterable[str]) -> None:
        for arena in self._of(tags):
            arena.pause()

    def resume(self, tags: Iterable[str]) -> None:
        for arena in self._of(tags):
            arena.resume()

    def is_paused(self, tag: str) -> bool:
        return tag in self.arenas and self.arenas[tag].is_paused

    def in_children(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def _of(self, tags: Iterable[str]) -> list[Arena]:
        wanted = list(tags)
        if unknown := [each for each in wanted if each not in self.arenas]:
            raise BadConfig(f"no memory is tagged {', '.join(unknown)}", fix=f"use some of {sorted(self.arenas)}")
        return [self.arenas[each] for each in wanted]


class Arena:
    """Private mappings, filled from the front and never reused: what was not written yet costs nothing and is zero."""

    def __init__(self, tag: str, *, is_kept: bool) -> None:
        self.tag, self.is_kept, self.is_paused = tag, is_kept, False
        self._chunks: list[mmap.mmap] = []
        self._used: list[int] = []
        self._backup: IO[bytes] | None = None

    @property
    def num_bytes(self) -> int:
        return sum(self._used)

    def empty(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor | None:
        """Zeros, in fact. None for a tensor without numbers, which has no memory."""
        if self.is_paused:
            raise BadConfig(f"{self.tag} is released", fix="resume it first")
        size = torch.Size(shape).numel() * dtype.itemsize
        if not size:
            return None
        if not self._chunks or self._used[-1] + size > len(self._chunks[-1]):
            self._chunks.append(_mapping(max(size, _CHUNK)))
            self._used.append(0)
        at = self._used[-1]
        self._used[-1] = at + -(-size // _ALIGNMENT) * _ALIGNMENT
        made = torch.frombuffer(self._chunks[-1], dtype=torch.uint8, count=size, offset=at)
        return made.view(dtype).view(tuple(shape))

    def pause(self) -> None:
        """Twice is once. Raises NotEnoughMemory when what is kept can't be written; then nothing is given back."""
        if self.is_paused:
            return
        if self.is_kept:
            self._backup = self._written()
        for chunk in self._chunks:
            chunk.madvise(mmap.MADV_DONTNEED)
        self.is_paused = True
        log.info("memory released: tag=%s bytes=%d kept=%s", self.tag, self.num_bytes, self.is_kept)

    def resume(self) -> None:
        if not self.is_paused:
            return
        if self._backup is not None:
            self._backup.seek(0)
            for chunk, used in zip(self._chunks, self._used, strict=True):
                with memoryview(chunk) as whole:
                    for at in range(0, min(used, len(chunk)), _PIECE):
                        piece = whole[at : min(at + _PIECE, used, len(chunk))]
                        if self._backup.readinto(piece) != len(piece):  # type: ignore[attr-defined]
                            raise NotEnoughMemory(f"the backup of {self.tag} is cut short", fix="load the model again")
            self._backup.close()
            self._backup = None
        self.is_paused = False
        log.info("memory taken again: tag=%s bytes=%d", self.tag, self.num_bytes)

    def _written(self) -> IO[bytes]:
        backup = tempfile.TemporaryFile(prefix=f"unmoved-{self.tag}-")  # noqa: SIM115 - closed by resume
        try:
            for chunk, used in zip(self._chunks, self._used, strict=True):
                with memoryview(chunk) as whole:
                    for at in range(0, min(used, len(chunk)), _PIECE):
                        backup.write(whole[at : min(at + _PIECE, used, len(chunk))])
            backup.flush()
        except OSError as error:
            backup.close()
            raise NotEnoughMemory(
                f"{self.num_bytes} bytes of {self.tag} can't be written to {tempfile.gettempdir()}: {error.strerror}",
                fix="make room there, or set TMPDIR",
            ) from error
        return backup


def _mapping(size: int) -> mmap.mmap:
    """Private: pages of a shared mapping would outlive MADV_DONTNEED. In huge pages where the system has them."""
    size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    made = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            made.madvise(mmap.MADV_HUGEPAGE)
        except OSError:
            log.debug("no huge pages here: bytes=%d", size)
    return made


_aten = torch.ops.aten
# Made without being written: their memory is the arena's from the start. The rest is made elsewhere and moved.
_UNWRITTEN = {_aten.empty.memory_format, _aten.zeros.default}
_FACTORIES = {
    _aten.empty_strided.default, _aten.empty_like.default, _aten.zeros_like.default, _aten.new_empty.default,
    _aten.new_zeros.default, _aten.full.default, _aten.full_like.default, _aten.ones.default, _aten.ones_like.default,
}  # fmt: skip


class _Region(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Tensors that torch makes anew on the CPU, in an arena instead."""

    def __init__(self, arena: Arena) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.arena = arena

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        options = kwargs or {}
        device = options.get("device")
        if func in _UNWRITTEN and (device is None or torch.device(device).type == "cpu"):
            made = self.arena.empty(args[0], options.get("dtype") or torch.get_default_dtype())
            if made is not None:
                return made
        found = func(*args, **options)
        if func not in _FACTORIES or found.device.type != "cpu" or not found.is_contiguous():
            return found
        made = self.arena.empty(found.shape, found.dtype)
        return found if made is None else made.copy_(found)


class CudaMemorySaver:
    """The same through torch_memory_saver, whose hooks have to be there before a process starts."""

    def __init__(self) -> None:
        try:
            from torch_memory_saver import torch_memory_saver
        except ImportError as error:
            raise BadConfig(
                "enable_memory_saver on CUDA needs torch_memory_saver", fix="pip install torch_memory_saver"
            ) from error
        self._saver: Any = torch_memory_saver
        self._paused: set[str] = set()

    def region(self, tag: str, *, is_kept: bool = False) -> AbstractContextManager[Any]:
        made: AbstractContextManager[Any] = self._saver.region(tag=tag, enable_cpu_backup=is_kept)
        return made

    def pause(self, tags: Iterable[str]) -> None:
        for tag in set(tags) - self._paused:
            self._saver.pause(tag=tag)
            self._paused.add(tag)

    def resume(self, tags: Iterable[str]) -> None:
        for tag in set(tags) & self._paused:
            self._saver.resume(tag=tag)
            self._paused.discard(tag)

    def is_paused(self, tag: str) -> bool:
        return tag in self._paused

    def in_children(self) -> AbstractContextManager[Any]:
        made: AbstractContextManager[Any] = self._saver.configure_subprocess()
        return made


def memory_saver(device_type: str, *, is_enabled: bool) -> MemorySaver:
    """Raises BadConfig for a device that nobody wrote one for."""
    if not is_enabled:
        return NoMemorySaver()
    if device_type == "cpu":
        return CpuMemorySaver()
    if device_type == "cuda":
        return CudaMemorySaver()
    raise BadConfig(f"enable_memory_saver on {device_type}", fix="leave it off there")
