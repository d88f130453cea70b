"""Which files mention a name: a byte search over the whole tree, so that only those files are ever parsed.

Holds the text of the base once (36 MB for a tree of 2,573 files) and searches it at memory speed; what a plan has
changed is searched beside it. Says nothing of what a mention means."""

from __future__ import annotations

from bisect import bisect_right
from weakref import WeakKeyDictionary

from codemods.source.files import FileSet, Tree

PYTHON_SUFFIXES = (".py", ".pyi")
DOCUMENT_SUFFIXES = (".rst", ".md", ".txt", ".toml", ".cfg", ".ini", ".yaml", ".yml")
_LARGEST = 20 * 1024 * 1024  # a larger file is data, not text that names a definition

_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | frozenset(range(128, 256))


class _Blob:
    """All searchable text of a base, joined; `starts[i]` is where `paths[i]` begins."""

    def __init__(self, base: Tree) -> None:
        self.paths: list[str] = []
        self.starts: list[int] = []
        self.text = bytearray()
        for path in base.paths():
            if not path.endswith(PYTHON_SUFFIXES + DOCUMENT_SUFFIXES):
                continue
            raw = base.read(path)
            if len(raw) > _LARGEST:
                continue
            self.paths.append(path)
            self.starts.append(len(self.text))
            self.text += raw
            self.text += b"\n"
        self.starts.append(len(self.text))
        self._found: dict[bytes, tuple[str, ...]] = {}

    def mentioning(self, word: bytes) -> tuple[str, ...]:
        found = self._found.get(word)
        if found is None:
            found = self._found[word] = tuple(self._search(word))
        return found

    def _search(self, word: bytes) -> list[str]:
        hits: list[str] = []
        at = self.text.find(word)
        while at >= 0:
            if is_whole(self.text, at, len(word)):
                index = bisect_right(self.starts, at) - 1
                hits.append(self.paths[index])
                at = self.text.find(word, self.starts[index + 1])
            else:
                at = self.text.find(word, at + 1)
        return hits


_blobs: WeakKeyDictionary[Tree, _Blob] = WeakKeyDictionary()


def mentioning(files: FileSet, *words: str, suffixes: tuple[str, ...] = PYTHON_SUFFIXES) -> list[str]:
    """Paths of the files in which every word stands as a whole identifier, sorted."""
    if not words:
        raise ValueError("name at least one word")
    blob = _blobs.get(files.base)
    if blob is None:
        blob = _blobs[files.base] = _Blob(files.base)
    encoded = [word.encode() for word in words]
    hits = set(blob.mentioning(encoded[0]))
    for word in encoded[1:]:
        hits &= set(blob.mentioning(word))
    for path, raw in files.overlay().items():
        hits.discard(path)
        if raw is not None and all(has_word(raw, word) for word in encoded):
            hits.add(path)
    return sorted(path for path in hits if path.endswith(suffixes))


def has_word(text: bytes, word: bytes) -> bool:
    """Whether the word stands in the text as a whole identifier."""
    at = text.find(word)
    while at >= 0:
        if is_whole(text, at, len(word)):
            return True
        at = text.find(word, at + 1)
    return False


def is_whole(text: bytes | bytearray, at: int, length: int) -> bool:
    """Whether the bytes at:at+length are not part of a longer identifier."""
    before_ok = at == 0 or text[at - 1] not in _WORD_BYTES
    end = at + length
    return before_ok and (end >= len(text) or text[end] not in _WORD_BYTES)
