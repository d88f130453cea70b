"""The simulated device: memory that runs out, a math library that loads on first use, cores that threads are bound to.

Stands where torch and the driver would stand. Everything is deterministic, and `configure` starts over."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

MIB = 1 << 20


class DeviceError(RuntimeError):
    pass


class OutOfMemory(DeviceError):
    pass


class _Device:
    def __init__(self, total_bytes: int):
        self.total_bytes = total_bytes
        self.allocations: Dict[str, int] = {}
        self.is_math_loaded = False

    @property
    def free_bytes(self) -> int:
        return self.total_bytes - sum(self.allocations.values())


_devices: List[_Device] = []
_current = 0
_topology: Dict[int, List[int]] = {}
_bound_cores: Optional[str] = None
_has_amx = True


def configure(
    num_devices: int = 2,
    total_mib: int = 64,
    topology: Optional[Dict[int, Sequence[int]]] = None,
    has_amx: bool = True,
) -> None:
    """Forget everything and start with `num_devices` empty devices."""
    global _current, _bound_cores, _has_amx
    _devices[:] = [_Device(total_mib * MIB) for _ in range(num_devices)]
    _topology.clear()
    _topology.update({node: list(cpus) for node, cpus in (topology or {0: range(4), 1: range(4, 8)}).items()})
    _current, _bound_cores, _has_amx = 0, None, has_amx


def device(index: int) -> _Device:
    if not 0 <= index < len(_devices):
        raise DeviceError(f"invalid device {index}: there are {len(_devices)}")
    return _devices[index]


def num_devices() -> int:
    return len(_devices)


def set_device(index: int) -> None:
    global _current
    device(index)
    _current = index


def current_device() -> int:
    return _current


def mem_info(index: int) -> Tuple[int, int]:
    """Free and total bytes."""
    return device(index).free_bytes, device(index).total_bytes


def allocate(index: int, name: str, num_bytes: int) -> None:
    free = device(index).free_bytes
    if num_bytes > free:
        raise OutOfMemory(f"device {index}: {name} needs {num_bytes} bytes, {free} are free")
    device(index).allocations[name] = num_bytes


def release(index: int, name: str) -> None:
    device(index).allocations.pop(name, None)


def numa_topology() -> Dict[int, List[int]]:
    return {node: list(cpus) for node, cpus in _topology.items()}


def has_amx() -> bool:
    return _has_amx


def bind_threads(cores: str) -> None:
    global _bound_cores
    _bound_cores = cores


def bound_cores() -> Optional[str]:
    return _bound_cores


class Tensor:
    def __init__(self, rows: List[List[float]], dtype: str):
        self.rows = rows
        self.dtype = dtype

    @property
    def shape(self) -> Tuple[int, int]:
        return len(self.rows), len(self.rows[0])

    def __matmul__(self, other: Tensor) -> Tensor:
        device(_current).is_math_loaded = True
        columns = list(zip(*other.rows))
        return Tensor([[sum(a * b for a, b in zip(row, col)) for col in columns] for row in self.rows], self.dtype)


def ones(shape: Tuple[int, int], dtype: str = "float32") -> Tensor:
    return Tensor([[1.0] * shape[1] for _ in range(shape[0])], dtype)


configure()
