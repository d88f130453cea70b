"""Who may be an instance of a class, as far as text tells: heirs by their class headers, and names that hold instances.

A first look that reads no syntax tree, so that only files in which something may be found are parsed. A name holds the
class when annotations or constructor calls somewhere in the tree say so and none says otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from msgspec import Struct

from codemods.source.classes import ClassKey, mro
from codemods.source.files import FileSet
from codemods.source.index import expect, has_word, mentioning
from codemods.source.mentions import occurrences
from codemods.source.modules import modules_of
from codemods.verify.readers_inventory import text_of

_HEADER = re.compile(rb"class[ \t]+(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)[ \t]*:")
_CLASS_LINE = re.compile(rb"^([ \t]*)class[ \t]+(\w+)", re.MULTILINE)
_BEFORE_TYPE = re.compile(rb"(\w+)\s*:\s*(?:[\w.]+\[\s*)*[\"']?(?:[\w.]+\s*\|\s*)*(?:\w+\.)*\Z")
_BEFORE_CALL = re.compile(rb"(\w+)\s*(?::[^=\n]{1,80})?=\s*(?:await\s+)?(?:\w+\.)*\Z")
_GIVEN = rb"%s\s*(?::\s*([^=,)\n#]+)|=\s*(?:\w+\.)*_*([A-Z]\w*)\()"
_TYPE_NAME = re.compile(rb"\b_*[A-Z]\w*[a-z]\w*")
_NO_CLASS = frozenset(
    b"Optional Union Any List Dict Tuple Set Sequence Iterable Callable Type Literal Final ClassVar None True False "
    b"Annotated Mapping Iterator Awaitable Generator Mock MagicMock AsyncMock SimpleNamespace".split()
)
_TEST_PATH = re.compile(r"(^|/)(tests?|testing|test_[^/]*|[^/]*_tests?|conftest\.py|[^/]*_test\.py|mocks?|fakes?)(/|$)")
_MAY_PRECEDE = tuple(bytes([each]) for each in b":\"'[.|=")
_DEFINED = re.compile(rb"def[ \t]+(\w+)")
_AROUND = 160  # bytes before a class name in which its annotation or assignment starts
_CHAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
_FARTHEST = 400  # bytes in which a receiver starts
_SPACE = b" \t\r\n\\"


class Heir(Struct, frozen=True):
    """A class whose header names a class of the family. Where two classes share a name, either may be meant."""

    path: str
    name: str
    is_test: bool


@lru_cache(maxsize=16384)
def is_test_path(path: str) -> bool:
    """Whether a file belongs to tests: by a directory or file name that says so."""
    return _TEST_PATH.search(path) is not None or path.rpartition("/")[2].startswith("test_")


@lru_cache(maxsize=16384)
def snake(name: str) -> str:
    """The customary name of a variable for a class: ModelRunner -> model_runner."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.lstrip("_")).lower()


def class_around(raw: bytes, at: int) -> str:
    """The innermost class around an offset, by indentation; "" outside of classes."""
    line = raw.rfind(b"\n", 0, at) + 1
    width = at - line - len(raw[line:at].lstrip(b" \t"))
    end = line
    while end > 0:
        start = raw.rfind(b"class ", 0, end)
        if start < 0:
            return ""
        first = raw.rfind(b"\n", 0, start) + 1
        match = _CLASS_LINE.match(raw, first)
        if match is not None and match.end() > start and len(match[1]) < width:
            return match[2].decode("utf-8", "replace")
        end = start
    return ""


def receiver_before(raw: bytes, at: int) -> bytes | None:
    """What stands before the dot before an offset, without arguments: `a.b`, `make()`, `rows[]`; None without a dot."""
    before = raw[max(at - _FARTHEST, 0) : at].rstrip(_SPACE)
    if before[-1:] != b".":
        return None
    before = before[:-1].rstrip(_SPACE)
    last = before[-1:]
    if last not in (b")", b"]"):
        return before[len(before.rstrip(_CHAIN)) :]
    opening = b"(" if last == b")" else b"["
    depth = 0
    for place in range(len(before) - 1, -1, -1):
        each = before[place : place + 1]
        depth += (each == last) - (each == opening)
        if depth == 0:
            chain = before[:place].rstrip(_SPACE)
            return chain[len(chain.rstrip(_CHAIN)) :] + opening + last
    return opening + last


class Family:
    """The classes around one that lost members: `key`, what it derives from in the tree, and its heirs.

    members: what was lost. Heirs of heirs are looked for only in files that name one of these or the class."""

    def __init__(self, files: FileSet, key: ClassKey, members: Iterable[str] = ()) -> None:
        self.files, self.key, self.members = files, key, tuple(members)
        self.path = modules_of(files).path_of(key.module) or ""
        self.above = mro(files, key).classes[1:]
        self._votes: dict[str, tuple[int, int]] = {}
        self._glances: dict[tuple[str, bytes], bool] = {}

    @cached_property
    def heirs(self) -> tuple[Heir, ...]:
        """Classes below, found by their headers, file by file."""
        found: dict[tuple[str, str], Heir] = {}
        level, seen = {self.key.name}, {self.key.name}
        paths = mentioning(self.files, self.key.name)
        while level:
            heirs = list(self._direct(level, paths))
            found.update({(heir.path, heir.name): heir for heir in heirs})
            level = {heir.name for heir in heirs if not heir.is_test} - seen
            seen |= level
            # A search of the tree for every level would cost more than all the rest.
            paths = sorted({path for word in (self.key.name, *self.members) for path in mentioning(self.files, word)})
        return tuple(found.values())

    @property
    def words(self) -> list[str]:
        """What `votes` will look for."""
        return [word for each in sorted(self.loose) for word in (each, f"_{each}")]

    def _direct(self, names: set[str], paths: Iterable[str]) -> Iterator[Heir]:
        word = re.compile(rb"\b(?:%s)\b" % b"|".join(re.escape(name.encode()) for name in sorted(names)))
        for path in paths:
            for match in _HEADER.finditer(text_of(self.files, path)):
                if word.search(match[2]):
                    yield Heir(path, match[1].decode("utf-8", "replace"), is_test_path(path))

    @cached_property
    def below(self) -> frozenset[str]:
        """Simple names of the class and of its heirs."""
        return frozenset({self.key.name, *(heir.name for heir in self.heirs)})

    @cached_property
    def names(self) -> frozenset[str]:
        """Simple names of every class whose `self` may be an instance."""
        return self.below | {each.name for each in self.above}

    def is_mentioned(self, path: str, raw: bytes) -> bool:
        """Whether a file names any class of the family."""
        key = (path, b"")
        if key not in self._glances:
            self._glances[key] = any(has_word(raw, name.encode()) for name in self.names)
        return self._glances[key]

    def may_hold(self, path: str, raw: bytes, receiver: bytes) -> bool:
        """Whether a receiver as it is written may be one of the family, by what the file says of its last name."""
        key = (path, receiver)
        if key not in self._glances:
            self._glances[key] = self._glance(path, raw, receiver)
        return self._glances[key]

    def _glance(self, path: str, raw: bytes, receiver: bytes) -> bool:
        head, _, last = receiver.rpartition(b".")
        leaf = last.decode("utf-8", "replace")
        if leaf.endswith("()"):
            made = leaf.removesuffix("()")
            is_passed_on = made in {"", "super", "cast", "copy", "deepcopy", "proxy"} and self.is_mentioned(path, raw)
            return made in self.makers or made in self.names or made.removeprefix("get_") in self.loose or is_passed_on
        leaf = leaf.removesuffix("[]")
        if leaf.lstrip("_") in self.loose or leaf in self.names:
            return True
        if not head and self._comes_from_one(raw, last):
            return True
        return self.is_mentioned(path, raw) and self.gives(raw, leaf)

    def _comes_from_one(self, raw: bytes, name: bytes) -> bool:
        """Whether a file gives the name the value of one that may hold the class: `mr = self.model_runner`."""
        for match in re.finditer(re.escape(name) + rb"\s*(?::[^=\n]+)?(?:=(?!=)|\bin\b)([^\n]*)", raw):
            words = re.findall(rb"([A-Za-z]\w*)(?![\w]|\s*[.(])", match[1])  # not what an attribute is read from
            if any(word.decode("utf-8", "replace") in self.loose for word in words):
                return True
        return False

    @cached_property
    def loose(self) -> frozenset[str]:
        """Names, without leading underscores, that some annotation or constructor call of the tree binds to one."""
        found = {snake(self.key.name)}
        for path in mentioning(self.files, self.key.name):
            raw = text_of(self.files, path)
            for at in occurrences(raw, self.key.name.encode()):
                end = at + len(self.key.name.encode())
                before = raw[max(at - _AROUND, 0) : at]
                if before.rstrip()[-1:] not in _MAY_PRECEDE:
                    continue
                typed = _BEFORE_TYPE.search(before)
                if typed is None and raw[end : end + 1] == b"(":
                    typed = _BEFORE_CALL.search(before)
                if typed is not None:
                    found.add(typed[1].decode("utf-8", "replace").lstrip("_"))
        return frozenset(found - {"self", "cls", "return", ""})

    @cached_property
    def makers(self) -> frozenset[str]:
        """Functions that say by their annotation that they give one."""
        found: set[str] = set()
        for path in mentioning(self.files, self.key.name):
            raw = text_of(self.files, path)
            for at in occurrences(raw, self.key.name.encode()):
                if b"->" in raw[max(at - 40, 0) : at]:
                    name = _DEFINED.match(raw, raw.rfind(b"def ", 0, at))
                    found.update({name[1].decode("utf-8", "replace")} if name is not None else ())
        return frozenset(found)

    @cached_property
    def has_rival(self) -> bool:
        """Whether another class of the tree has the very same name."""
        header = rb"class[ \t]+" + re.escape(self.key.name.encode()) + rb"\b"
        near, defines = re.compile(header), re.compile(rb"^[ \t]*" + header, re.MULTILINE)
        for path in mentioning(self.files, self.key.name):
            if path != self.path and not is_test_path(path):
                raw = text_of(self.files, path)
                if near.search(raw) is not None and defines.search(raw) is not None:
                    return True
        return False

    @cached_property
    def is_made(self) -> bool:
        """Whether some product code calls the class itself."""
        call = re.compile(rb"(?<!class )(?<!\w)" + re.escape(self.key.name.encode()) + rb"\(")
        paths = [path for path in mentioning(self.files, self.key.name) if not is_test_path(path)]
        return any(call.search(text_of(self.files, path)) for path in paths)

    def holds(self, name: str) -> bool:
        """Whether a name without a type of its own stands for an instance: the tree says so, and nothing else."""
        bare = name.lstrip("_")
        if bare not in self.loose or self.has_rival:
            return False
        if bare == snake(self.key.name) and "_" in bare:
            return True  # two words or more: nobody calls anything else so
        ours, others = self.votes(bare)
        return ours > 0 and others == 0

    def votes(self, name: str) -> tuple[int, int]:
        """How many annotations and constructor calls give the name a class of the family, and how many another."""
        if not self._votes:
            expect(self.files, self.words)
        if name not in self._votes:
            given = re.compile(_GIVEN % re.escape(name.encode()))
            ours = others = 0
            for path in {*mentioning(self.files, name), *mentioning(self.files, f"_{name}")}:
                raw = text_of(self.files, path)
                for match in given.finditer(raw):
                    is_ours = self.verdict(raw, match)
                    ours += is_ours is True
                    others += is_ours is False and not is_test_path(path)
            self._votes[name] = (ours, others)
        return self._votes[name]

    def verdict(self, raw: bytes, match: re.Match[bytes]) -> bool | None:
        """Whether one annotation or call gives the name a class of the family; None when it names no class."""
        before = raw[match.start() - 1 : match.start()].strip(b"_")
        if before.isalnum() or before in (b'"', b"'"):
            return None
        named = set(_TYPE_NAME.findall(match[1] or match[2])) - _NO_CLASS
        if not named:
            return None
        return any(each.decode("utf-8", "replace") in self.names for each in named)

    def gives(self, raw: bytes, name: str) -> bool:
        """Whether a file gives the name a class of the family."""
        return any(self.verdict(raw, each) for each in re.finditer(_GIVEN % re.escape(name.encode()), raw))

    def denies(self, raw: bytes, name: str) -> bool:
        """Whether a file gives the name another class, and never one of the family."""
        found = [self.verdict(raw, each) for each in re.finditer(_GIVEN % re.escape(name.encode()), raw)]
        return False in found and True not in found
