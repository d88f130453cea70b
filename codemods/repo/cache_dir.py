"""Where a root keeps what is unmoved's own: ROOT/.unmoved_cache, hidden from git and from backup tools. A bare
repository is nobody's to write into: what is kept of one is in the user's cache directory."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from codemods.schema.errors import SourceError

NAME = ".unmoved_cache"
_FILES = {
    # The signature is fixed by the Cache Directory Tagging Specification; tools compare these bytes.
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# Written by unmoved.\n",
    ".gitignore": "*\n",
}


def user_cache_dir() -> Path:
    """Of this user on this machine, for what belongs to no root."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~"), ".cache")) / "unmoved"


def is_bare(root: Path) -> bool:
    """Whether a directory is a git directory itself, with no work tree around it."""
    return (root / "HEAD").is_file() and all((root / name).is_dir() for name in ("objects", "refs"))


def cache_dir(root: Path) -> Path:
    """The directory, made when it is missing. Raises SourceError when it can't be, or leads elsewhere."""
    if is_bare(root):
        name = hashlib.blake2b(os.fsencode(root.resolve()), digest_size=12).hexdigest()
        root = user_cache_dir() / "roots" / name
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(
                f"can't be made: {error.strerror}", fix=f"make {root.parent} writable", path=NAME
            ) from error
    place = root / NAME
    if place.is_symlink():
        raise SourceError("is a symlink", fix=f"remove {place}; unmoved makes a directory there", path=NAME)
    try:
        place.mkdir(exist_ok=True)
        for name, text in _FILES.items():
            if not (place / name).exists():
                (place / name).write_text(text, encoding="ascii")
    except OSError as error:
        raise SourceError(
            f"can't be made: {error.strerror}",
            fix=f"make {root} writable, or remove {place} if it is a file",
            path=NAME,
        ) from error
    return place


def remove_cache_dir(root: Path) -> None:
    """Removes the directory when nothing but its marks is in it."""
    place = root / NAME
    if place.is_dir() and {entry.name for entry in place.iterdir()} <= set(_FILES):
        for name in _FILES:
            (place / name).unlink(missing_ok=True)
        place.rmdir()
