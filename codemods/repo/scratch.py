"""Files that are gone after use, and what is said where the system has no place for them."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from codemods.schema.errors import ConfigError


class NoTemporaryFiles(ConfigError):
    """The system has no place for files that are gone after the run."""

    code = "no-temporary-files"

    def __init__(self, error: OSError) -> None:
        super().__init__(
            f"temporary files can't be written: {error.strerror}",
            fix="make room for them, or set TMPDIR to a directory that can be written to",
        )


@contextlib.contextmanager
def scratch_directory() -> Iterator[Path]:
    """A new directory. Raises NoTemporaryFiles where it, or a file that the caller writes to it, can't be made."""
    try:
        with tempfile.TemporaryDirectory(prefix="unmoved-") as folder:
            yield Path(folder)
    except OSError as error:
        raise NoTemporaryFiles(error) from error


def scratch_file() -> IO[bytes]:
    """A file without a name, to be closed by the caller. Raises NoTemporaryFiles."""
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise NoTemporaryFiles(error) from error
