"""Where a root keeps what is unmoved's own: ROOT/.unmoved_cache, hidden from git and from backup tools."""

from __future__ import annotations

from pathlib import Path

from codemods.schema.errors import SourceError

NAME = ".unmoved_cache"
_FILES = {
    # The signature is fixed by the Cache Directory Tagging Specification; tools compare these bytes.
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# Written by unmoved.\n",
    ".gitignore": "*\n",
}


def cache_dir(root: Path) -> Path:
    """The directory, made when it is missing. Raises SourceError when it can't be, or leads elsewhere."""
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
