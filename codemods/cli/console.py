"""Where text goes: the stream, in colour or not, and what happens when its reader is gone. The words are report's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from codemods.report.lines import Line, plain
from codemods.schema.errors import UnmovedError


class OutputFailed(UnmovedError):
    """stdout takes no more, and its reader has not simply left."""

    code = "output-failed"


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """NO_COLOR beats FORCE_COLOR, which beats what the stream is. Empty means not set."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb"


class Console:
    """The two streams of a run."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def out(self, lines: Iterable[Line]) -> None:
        self._lines(sys.stdout, lines)

    def err(self, lines: Iterable[Line]) -> None:
        self._lines(sys.stderr, lines)

    def text(self, text: str) -> None:
        """To stdout as it is: surrogates stand for the bytes they came from, line ends are not translated."""
        raw = text.encode("utf-8", "surrogateescape")
        if hasattr(sys.stdout, "buffer"):
            self._bytes(raw)
        else:
            self._write(sys.stdout, text)

    def json(self, raw: bytes) -> None:
        """A document of its own line to stdout, always UTF-8."""
        self.text(raw.decode("utf-8") + "\n")

    def _lines(self, stream: TextIO, lines: Iterable[Line]) -> None:
        found = list(lines)
        if not wants_colour(stream, self._environ):
            self._write(stream, plain(found))
            return
        # Not at the top: a pipe needs no rich, and it takes as long to load as a small plan to check.
        from rich.console import Console as RichConsole
        from rich.text import Text

        rich = RichConsole(file=stream, force_terminal=True, highlight=False, soft_wrap=True, no_color=False)
        with rich.capture() as captured:
            for line in found:
                rich.print(Text.assemble(*((span.text, span.style.value) for span in line)))
        self._write(stream, captured.get())

    def _bytes(self, raw: bytes) -> None:
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(raw)
            sys.stdout.flush()
        except OSError as error:
            _give_up(sys.stdout, error)

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(_speakable(text, stream))
            stream.flush()
        except OSError as error:
            _give_up(stream, error)


def _speakable(text: str, stream: TextIO) -> str:
    """What the stream's encoding lacks is shown escaped, so that no message dies of an arrow."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _give_up(stream: TextIO, error: OSError) -> None:
    """Whoever read the stream has left (`| head`), and nothing needs to be said: the work and its exit status stand. Or
    the disk that it goes to is full: raises OutputFailed then, unless it is stderr, where that would be said."""
    # Python's own flush at the end would complain, so the stream gets a place that takes everything.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    if stream is sys.stdout and not isinstance(error, BrokenPipeError):
        raise OutputFailed(
            f"the output can't be written: {error.strerror}", fix="make room there, or send it somewhere else"
        ) from error
