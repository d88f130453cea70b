"""The large real tree: sglang's sources before and after its own split, from the wheels on the package registry.

Kept in a cache directory outside of the repository and put under git there; nothing of it is ever committed here.
UNMOVED_TEST_REAL names a folder that has `before/` and `after/` already."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

RELEASES = {"before": "0.5.15.post1", "after": "0.5.16"}
_GIT = ("git", "-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "gc.auto=0")
_DOWNLOAD_SECONDS = 180


class Unreachable(Exception):
    """The registry did not give the wheel. The text says what it said."""


def real_tree(which: str) -> Path:
    """The folder of one release, a git repository with one commit. Raises Unreachable."""
    given = os.environ.get("UNMOVED_TEST_REAL")
    if given:
        return _under_git(Path(given) / which)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unmoved-tests"
    folder = home / f"sglang-{RELEASES[which]}"
    if not folder.exists():
        _fetch(RELEASES[which], folder)
    return _under_git(folder)


def _fetch(version: str, folder: Path) -> None:
    part = folder.with_name(f"{folder.name}.part-{os.getpid()}")
    part.mkdir(parents=True, exist_ok=True)
    try:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        try:
            done = subprocess.run(
                [*command, "--dest", str(part / "wheel"), f"sglang=={version}"],
                capture_output=True,
                text=True,
                timeout=_DOWNLOAD_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise Unreachable(f"the registry took more than {_DOWNLOAD_SECONDS} s") from error
        wheels = list((part / "wheel").glob("*.whl")) if done.returncode == 0 else []
        if not wheels:
            raise Unreachable(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no wheel came")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(part / "tree")
        (part / "tree").rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _under_git(folder: Path) -> Path:
    if not folder.is_dir():
        raise Unreachable(f"there is no {folder}")
    if not (folder / ".git").exists():
        for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "As released")):
            subprocess.run([*_GIT, *arguments], cwd=folder, check=True, capture_output=True)
    return folder


def clone(folder: Path, to: Path) -> Path:
    """A work tree of its own, so that tests don't share one."""
    subprocess.run(["git", "clone", "-q", "--shared", str(folder), str(to)], check=True, capture_output=True)
    return to
