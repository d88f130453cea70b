"""The baseline of a gate as a file: read, held against what fails, written anew. What an entry is, report/ says."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from codemods.cli.session import Session
from codemods.report.gate_baseline import BaselineEntry, BaselineFile, allowed, entry_of, stale
from codemods.report.gate_model import GatedCommit, GateVerdict, Status
from codemods.schema.errors import ConfigError


class BadBaseline(ConfigError):
    """The file of --baseline is missing, or is none."""

    code = "bad-baseline"


class Baseline:
    """path: None for none. writes: at the end, what fails becomes the file where there is none, and a file that is
    there loses what does not fail any more."""

    def __init__(self, session: Session, path: Path | None, *, writes: bool, is_frozen: bool) -> None:
        self._session, self._path, self._writes = session, path, writes
        self._is_new = writes and path is not None and not path.exists()
        self._of = "frozen" if is_frozen else "commits"
        self._entries = () if path is None or self._is_new else self._read(path)
        self._used: set[BaselineEntry] = set()

    def applied(self, commit: GatedCommit) -> GatedCommit:
        failing = {entry_of(each) for each in commit.of(Status.FAIL)}
        self._used |= failing if self._is_new else failing.intersection(self._entries)
        return allowed(commit, self._used)

    def finish(self) -> list[GatedCommit]:
        """What is said of the baseline itself."""
        if self._path is None:
            return []
        if self._writes:
            self._write(self._path)
            return []
        found = list(stale(self._entries, self._used, os.fspath(self._path)))
        return [GatedCommit(commit="baseline", verdict=GateVerdict.FAIL, obligations=found)] if found else []

    def _read(self, path: Path) -> tuple[BaselineEntry, ...]:
        place = os.fspath(path)
        try:
            found = msgspec.json.decode(path.read_bytes(), type=BaselineFile)
        except OSError as error:
            raise BadBaseline(
                f"the baseline can't be read: {error.strerror}", fix="write one with --write-baseline", path=place
            ) from error
        except (msgspec.DecodeError, ValueError) as error:
            raise BadBaseline(
                f"this is no baseline: {error}", fix="write it anew with --write-baseline", path=place
            ) from error
        if found.of != self._of:
            raise BadBaseline(
                f"this is a baseline of {found.of}, and {self._of} are looked at", fix="name another file", path=place
            )
        return found.entries

    def _write(self, path: Path) -> None:
        body = {"schema": 1, "of": self._of, "entries": [msgspec.to_builtins(each) for each in sorted(self._used)]}
        try:
            path.write_bytes(msgspec.json.format(msgspec.json.encode(body)) + b"\n")
        except OSError as error:
            raise BadBaseline(
                f"the baseline can't be written: {error.strerror}", fix="name another file", path=os.fspath(path)
            ) from error
        self._session.written = f"the baseline was written to {path}"
