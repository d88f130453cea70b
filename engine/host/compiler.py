"""Compiles C++ for this very machine, once, into a cache. Which code that is, and what happens where there is no
compiler, is the caller's."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from engine.schema.errors import EngineError

COMPILERS = ("g++", "c++", "clang++")
_FLAGS = ("-std=c++17", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-shared", "-fPIC")
_TIMEOUT_S = 180.0


class NoCompiler(EngineError):
    """There is none, or it can't compile this."""

    code = "no-compiler"


def compiled(source: Path, cache: Path, *, flags: Sequence[str] = (), compiler: str | None = None) -> Path:
    """The shared library of a source file and the headers beside it, from the cache where nothing of them changed:
    source, flags, compiler, CPU. Two processes may compile at the same time; the last one's stays.

    Raises NoCompiler when there is none or it fails; the message ends with what it said."""
    found = compiler or next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if found is None:
        raise NoCompiler(f"none of {', '.join(COMPILERS)} is installed", fix="install g++ for faster products")
    used = [*_FLAGS, *flags]
    target = cache / f"{source.stem}-{_key(source, found, used)}.so"
    if target.is_file():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="compile-", dir=cache) as folder:
            made = Path(folder) / target.name
            ran = subprocess.run(
                [found, *used, str(source), "-o", str(made)],
                capture_output=True,
                text=True,
                check=False,
                timeout=_TIMEOUT_S,
                stdin=subprocess.DEVNULL,
            )
            if ran.returncode != 0:
                last = ran.stderr.strip().splitlines()[-1:] or [f"exit {ran.returncode}"]
                raise NoCompiler(f"{found} can't compile {source.name}: {last[0]}", fix="see whether it knows C++17")
            os.replace(made, target)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCompiler(f"{source.name} can't be compiled into {cache}: {error}", fix="see the folder") from error
    return target


def _key(source: Path, compiler: str, flags: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for path in sorted((*source.parent.glob("*.h"), source)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    stat = os.stat(compiler)
    digest.update(repr((compiler, stat.st_size, stat.st_mtime_ns, list(flags), _cpu())).encode())
    return digest.hexdigest()[:16]


def _cpu() -> str:
    """What `-march=native` looks at: a cache may be shared by machines."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    wanted = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in text.splitlines() if line.startswith(wanted)}))
