"""Which files mention a name: a byte search over the whole tree, so that only those files are ever parsed.

Holds the text of the base once (36 MB for a tree of 2,573 files) and searches it at memory speed; what a plan has
changed is searched beside it. Says nothing of what a mention means."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

from codemods.source.files import FileSet, Tree

PYTHON_SUFFIXES = (".py", ".pyi")
DOCUMENT_SUFFIXES = (".rst", ".md", ".txt", ".toml", ".cfg", ".ini", ".yaml", ".yml")
_LARGEST = 20 * 1024 * 1024  # a larger file is data, not text that names a definition

_FEW = 200  # files: up to here it is faster to look for a further word in each of them than in the whole tree

_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | frozenset(range(128, 256))


class _Blob:
    """All searchable text of a base, joined; `starts[i]` is where `paths[i]` begins."""

    def __init__(self, base: Tree) -> None:
        self.paths: list[str] = []
        self.starts: list[int] = []
        self.text = bytearray()
        paths = [path for path in base.paths() if path.endswith(PYTHON_SUFFIXES + DOCUMENT_SUFFIXES)]
        read_many = getattr(base, "read_many", None)  # faster, where a base has it
        found: Iterable[tuple[str, bytes]] = (
            read_many(paths) if read_many else ((each, base.read(each)) for each in paths)
        )
        for path, raw in found:
            if len(raw) > _LARGEST:
                continue
            self.paths.append(path)
            self.starts.append(len(self.text))
            self.text += raw
            self.text += b"\n"
        self.starts.append(len(self.text))
        self._found: dict[bytes, tuple[int, ...]] = {}
        self._touched: dict[bytes, tuple[int, ...]] = {}

    def mentioning(self, words: list[bytes]) -> set[str]:
        """The files with every word. One word is searched in the whole tree, the others where that one is."""
        first = min(words, key=lambda word: (word not in self._found, len(self._found.get(word, ())), -len(word)))
        found = self._with(first)
        for word in words:
            if word in self._found or len(found) > _FEW:
                numbers = frozenset(self._with(word))
                found = tuple(each for each in found if each in numbers)
            else:
                found = tuple(each for each in found if self._is_in(word, each))
        return {self.paths[each] for each in found}

    def _with(self, word: bytes) -> tuple[int, ...]:
        """The numbers of the files that have the word as a whole identifier."""
        if word not in self._found:
            part = min(
                (known for known in self._touched if known in word),
                key=lambda known: len(self._touched[known]),
                default=None,
            )
            self._touched[word] = self._holding(word) if part is None else self._narrowed(self._touched[part], word)
            self._found[word] = tuple(each for each in self._touched[word] if self._is_in(word, each))
        return self._found[word]

    def _holding(self, word: bytes) -> tuple[int, ...]:
        """The numbers of the files that have the bytes, in a longer identifier or not."""
        found: list[int] = []
        at = self.text.find(word)
        while at >= 0:
            number = bisect_right(self.starts, at) - 1
            found.append(number)
            at = self.text.find(word, self.starts[number + 1])
        return tuple(found)

    def _narrowed(self, numbers: tuple[int, ...], word: bytes) -> tuple[int, ...]:
        starts = self.starts
        return tuple(each for each in numbers if self.text.find(word, starts[each], starts[each + 1]) >= 0)

    def _is_in(self, word: bytes, number: int) -> bool:
        end = self.starts[number + 1]
        at = self.text.find(word, self.starts[number], end)
        while at >= 0:
            if is_whole(self.text, at, len(word)):
                return True
            at = self.text.find(word, at + 1, end)
        return False


_blobs: WeakKeyDictionary[Tree, _Blob] = WeakKeyDictionary()


def mentioning(files: FileSet, *words: str, suffixes: tuple[str, ...] = PYTHON_SUFFIXES) -> list[str]:
    """Paths of the files in which every word stands as a whole identifier, sorted."""
    if not words:
        raise ValueError("name at least one word")
    encoded = [word.encode() for word in words]
    hits = _asked(files.base, words)
    if hits is None:
        blob = _blobs.get(files.base)
        if blob is None:
            blob = _blobs[files.base] = _Blob(files.base)
        hits = blob.mentioning(encoded)
    for path, raw in files.overlay().items():
        hits.discard(path)
        if raw is not None and all(has_word(raw, word) for word in encoded):
            hits.add(path)
    return sorted(path for path in hits if path.endswith(suffixes))


def expect(files: FileSet, words: Iterable[str]) -> None:
    """Says which words `mentioning` will be asked for, so that a base which searches by itself (`expect(words)`) can
    begin, and do it in one go."""
    begin = None if files.base in _blobs else getattr(files.base, "expect", None)
    if begin is not None:
        begin(words)


def _asked(base: Tree, words: Sequence[str]) -> set[str] | None:
    """The files with every word as the base itself knows them: a base may have `mentions(words)`, word -> paths, which
    is faster than reading all of it. None when it has not, or has been asked so often that reading is faster."""
    mentions = None if base in _blobs else getattr(base, "mentions", None)
    found: Mapping[str, Collection[str]] | None = mentions(words) if mentions is not None else None
    if not found:
        return None
    return set.intersection(*(set(paths) for paths in found.values()))


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
