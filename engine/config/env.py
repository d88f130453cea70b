"""The one reader of the environment. A bad value is an error that names the variable; nobody else looks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from engine.schema.errors import BadConfig

PREFIX = "ENGINE_"


class EnvSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """cpu_omp_threads_bind: `all`, or one CPU list a rank, separated by `|`. dist_init_method: overrides the address
    that the options give. is_memory_balance_enforced: unequal free memory over the ranks ends start-up.
    is_native: whether kernels of our own are compiled for this machine, where there is a compiler."""

    cpu_omp_threads_bind: str = "all"
    dist_init_method: str | None = None
    host_ip: str | None = None
    is_memory_balance_enforced: bool = True
    is_batch_invariant: bool = False
    is_numa_bind_strict: bool = False
    is_native: bool = True
    cache_dir: Path = Path("~/.cache/unmoved-engine")
    log_level: str = "info"
    local_rank: int | None = None
    world_rank: int | None = None
    world_size: int | None = None
    local_world_size: int | None = None


_LEVELS = ("debug", "info", "warning", "error")
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


def read_env(environ: Mapping[str, str]) -> EnvSettings:
    """The settings that the variables ask for. torchrun's RANK, WORLD_SIZE, LOCAL_RANK and
    LOCAL_WORLD_SIZE are read as they are.

    Raises BadConfig for a value that can't be one, and for an `ENGINE_` variable that does not exist."""
    known = {f"{PREFIX}{name}" for name in _NAMES}
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            raise BadConfig(f"{name} is set and means nothing", fix=f"unset it; known are {', '.join(sorted(known))}")
    found = {field: environ[f"{PREFIX}{name}"] for name, field in _NAMES.items() if f"{PREFIX}{name}" in environ}
    default = EnvSettings()
    level = found.get("log_level", default.log_level).lower()
    if level not in _LEVELS:
        raise BadConfig(f"ENGINE_LOG_LEVEL={level!r}", fix=f"use one of {', '.join(_LEVELS)}")
    cache = Path(found.get("cache_dir", str(default.cache_dir)))
    if "cache_dir" not in found and environ.get("XDG_CACHE_HOME"):
        cache = Path(environ["XDG_CACHE_HOME"]) / "unmoved-engine"
    return EnvSettings(
        cpu_omp_threads_bind=found.get("cpu_omp_threads_bind", default.cpu_omp_threads_bind).strip() or "all",
        dist_init_method=found.get("dist_init_method") or None,
        host_ip=found.get("host_ip") or None,
        is_memory_balance_enforced=_flag(found, "is_memory_balance_enforced", default.is_memory_balance_enforced),
        is_batch_invariant=_flag(found, "is_batch_invariant", default.is_batch_invariant),
        is_numa_bind_strict=_flag(found, "is_numa_bind_strict", default.is_numa_bind_strict),
        is_native=_flag(found, "is_native", default.is_native),
        cache_dir=_expanded(cache),
        log_level=level,
        local_rank=_whole(environ, "LOCAL_RANK"),
        world_rank=_whole(environ, "RANK"),
        world_size=_whole(environ, "WORLD_SIZE"),
        local_world_size=_whole(environ, "LOCAL_WORLD_SIZE"),
    )


_NAMES = {
    "CPU_OMP_THREADS_BIND": "cpu_omp_threads_bind",
    "DIST_INIT_METHOD": "dist_init_method",
    "HOST_IP": "host_ip",
    "MEMORY_BALANCE": "is_memory_balance_enforced",
    "BATCH_INVARIANT": "is_batch_invariant",
    "NUMA_BIND_STRICT": "is_numa_bind_strict",
    "NATIVE": "is_native",
    "CACHE_DIR": "cache_dir",
    "LOG_LEVEL": "log_level",
}


def _expanded(cache: Path) -> Path:
    """A container's user may have no home: neither the variable nor an entry that names one."""
    try:
        return cache.expanduser()
    except RuntimeError as error:
        raise BadConfig(f"{cache}: this user has no home folder", fix="set ENGINE_CACHE_DIR, or HOME") from error


def _flag(found: Mapping[str, str], field: str, default: bool) -> bool:
    if field not in found:
        return default
    text = found[field].strip().lower()
    if text not in _TRUE + _FALSE:
        name = next(name for name, each in _NAMES.items() if each == field)
        raise BadConfig(f"{PREFIX}{name}={found[field]!r} is no flag", fix="use 1 or 0")
    return text in _TRUE


def _whole(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit():
        raise BadConfig(f"{name}={text!r} is no rank or size", fix="unset it, or start with torchrun, which sets it")
    return int(text)
