"""Checked commits kept on disk until all are known, so that a report of a long range needs no more memory than one of a
short range. Can be gone through more than once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import msgspec

from codemods.repo.scratch import scratch_file
from codemods.report.verify_model import CheckedCommit, VerifyTotals


class Spool:
    """Close it, or use it as a context manager."""

    def __init__(self) -> None:
        self._file: IO[bytes] = scratch_file()
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(CheckedCommit)
        self.totals = VerifyTotals()

    def add(self, commit: CheckedCommit) -> None:
        self._file.seek(0, 2)
        self._file.write(self._encoder.encode(commit) + b"\n")
        self.totals.add(commit)

    def __len__(self) -> int:
        return self.totals.commits

    def raw(self) -> Iterator[bytes]:
        """Each commit as JSON, in order."""
        self._file.seek(0)
        for line in self._file:
            yield line.rstrip(b"\n")

    def __iter__(self) -> Iterator[CheckedCommit]:
        return (self._decoder.decode(line) for line in self.raw())

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
