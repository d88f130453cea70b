"""One Python file as text: encoding, newlines, and the way between (line, column) and byte offsets.

Works on UTF-8 bytes without BOM, because that is what `ast` counts columns in; `encode` gives the file's own form back.
Knows nothing of syntax."""

from __future__ import annotations

import codecs
import io
import tokenize
from bisect import bisect_right
from itertools import accumulate

from codemods.schema.errors import SourceError

_BOM = codecs.BOM_UTF8


class NotText(SourceError):
    """Bytes that can't be decoded with the encoding the file declares."""

    code = "not-text"


class Text:
    """`body` is UTF-8 without BOM; offsets everywhere in source/ count bytes of `body`."""

    def __init__(self, path: str, raw: bytes) -> None:
        self.path, self.raw = path, raw
        self.bom = raw.startswith(_BOM)
        stripped = raw[len(_BOM) :] if self.bom else raw
        self.encoding = _encoding(path, raw)
        self.body = stripped if self.encoding == "utf-8" else _to_utf8(path, stripped, self.encoding)
        if b"\x00" in self.body:
            raise NotText("has a NUL byte", path=path, fix="remove the byte or exclude the file in [tool.unmoved]")
        # Python ends a physical line at \n, \r\n or \r only. So do bytes; str also ends one at form feeds and U+2028.
        self.line_starts = [0, *accumulate(map(len, self.body.splitlines(keepends=True)))]
        if len(self.line_starts) > 1 and not self.body.endswith((b"\n", b"\r")):
            self.line_starts.pop()  # no line starts at the end of the last one
        self.newline = _dominant_newline(self.body)

    def offset(self, line: int, column: int) -> int:
        """line: 1-based; column: 0-based in UTF-8 bytes, as `ast` counts."""
        return self.line_starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        """The inverse of `offset`."""
        index = bisect_right(self.line_starts, offset) - 1
        return index + 1, offset - self.line_starts[index]

    def line_of(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset)

    def line_start(self, offset: int) -> int:
        """Offset of the first byte of the physical line that `offset` is on."""
        return self.line_starts[bisect_right(self.line_starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        """Offset after the newline of the physical line that `offset` is on (end of file without one)."""
        index = bisect_right(self.line_starts, offset)
        return self.line_starts[index] if index < len(self.line_starts) else len(self.body)

    def line_text(self, line: int) -> bytes:
        """A physical line without its newline."""
        start = self.line_starts[line - 1]
        return self.body[start : self.line_end(start)].rstrip(b"\r\n")

    def indent_at(self, offset: int) -> bytes:
        """Leading blanks of the physical line that `offset` is on."""
        line = self.body[self.line_start(offset) : self.line_end(offset)]
        return line[: len(line) - len(line.lstrip(b" \t\x0c"))]

    def encode(self, body: bytes) -> bytes:
        """A new body in the file's own form: same BOM, same encoding.

        Raises NotText when the new text has characters the declared encoding lacks."""
        if self.encoding == "utf-8":
            return (_BOM if self.bom else b"") + body
        try:
            return body.decode("utf-8").encode(self.encoding)
        except UnicodeEncodeError as error:
            raise NotText(
                f"the new text has {error.object[error.start]!r}, which {self.encoding} lacks",
                path=self.path,
                fix="change the file's encoding to utf-8 first",
            ) from error


def _encoding(path: str, raw: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise NotText(f"can't be decoded: {error}", path=path, fix="save it as UTF-8") from error
    if encoding in {"utf-8", "utf-8-sig"}:
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise NotText(
                f"is not UTF-8 (byte {raw[error.start]:#04x}) and declares no other encoding",
                path=path,
                line=line,
                fix="save it as UTF-8, declare its encoding, or exclude it in [tool.unmoved]",
            ) from error
        return "utf-8"
    return encoding


def _to_utf8(path: str, raw: bytes, encoding: str) -> bytes:
    try:
        decoded = raw.decode(encoding)
        if decoded.encode(encoding) != raw:
            raise NotText(f"does not survive a round trip through {encoding}", path=path, fix="save it as UTF-8")
        return decoded.encode("utf-8")
    except (UnicodeDecodeError, LookupError) as error:
        raise NotText(f"can't be decoded as {encoding}", path=path, fix="save it as UTF-8") from error


def _dominant_newline(body: bytes) -> bytes:
    crlf = body.count(b"\r\n")
    lf = body.count(b"\n") - crlf
    cr = body.count(b"\r") - crlf
    return max(((lf, b"\n"), (crlf, b"\r\n"), (cr, b"\r")), key=lambda pair: pair[0])[1]
