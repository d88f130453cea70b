"""Texts worth trying, assembled from what the code takes them apart with: parsers break at missing, doubled, empty
and odd parts. Which of them a case gets is domains_cases.py's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from random import Random

from codemods.prove.domains import Text
from codemods.prove.domains_regex import samples

SAMPLES: dict[str, tuple[str, ...]] = {
    "address": (
        "127.0.0.1",
        "::1",
        "[::1]",
        "localhost",
        "[::1]:80",
        "127.0.0.1:80",
        "::1:80",
        "fe80::1%eth0",
        "256.0.0.1",
        "2001:db8::ff",
        "[127.0.0.1]:80",
        "[::1",
        "::",
    ),
    "path": ("a/b.txt", "/a/b", "/", "..", "a//b", "./a", "a/", "~/a", "a b", ".hidden", "x.tar.gz", "a\\b", "../a"),
    "json": (
        "{}",
        "[]",
        '{"a": 1}',
        "[1, 2]",
        "null",
        "1",
        '"a"',
        '{"a": {"b": [1, null]}}',
        "{",
        "NaN",
        "true",
        '{"a": 1, "a": 2}',
        "[1,]",
    ),
    "lines": ("a\nb", "a\n", "\n", "a\r\nb", "a\n\nb", "\n a", "a\n# b\nc", "a\x0bb"),
    "number": (
        "0",
        "1",
        "-1",
        "007",
        " 5 ",
        "1_0",
        "٣",
        "1.5",
        "1e3",
        "inf",
        "nan",
        "+1",
        "0x10",
        "--1",
        "99999999999999999999",
    ),
    "url": ("http://a/b?c=d#e", "a", "http://[::1]:80/", "file:///x", "//a", "http://a:b@c:1", "http://a:99999/", "?"),
    "date": ("2024-02-29", "2024-01-01T00:00:00", "2024-01-01T00:00:00+00:00", "2023-02-29", "00:00", "2024-1-1"),
    "words": ("a b", "a 'b c'", 'a "b', "  ", "a\\ b", "a\tb"),
}
_PAIRS = {"[": "]", "(": ")", "{": "}", "<": ">", '"': '"', "'": "'"}
_WORDS = ("a", "b", "c", "x1", "host", "B", "0", "1", "2", "10")
_ODD = (" ", "é", "٣", "\n", "A", "None", "\x00", "𝟙", "a b", "a" * 300, "\u200b", "ß")
_LOOSE = (",", " ", ":", "=", ".", "-", "/", "|", "_", "\n", ";")
LETTERS = "abcAB012 ,:;=./|-_[]{}()\"'\\\t\né٣ß𝟙\x00%#@+*"


def text_levels(text: Text, limit: int) -> list[str]:
    """The texts to try first, every sort of them before the second of any sort."""
    groups: list[Iterable[str]] = [
        text.exact,
        ("", "a"),
        _joined(text),
        _wrapped(text),
        [sample for style in text.styles for sample in SAMPLES.get(style, ())],
        _numbers(text),
        text.pieces,
        [sample for pattern in text.patterns for sample in samples(pattern, 6)],
        _near_misses(text),
        _ODD,
        [f"a{mark}b" for mark in _LOOSE] if not text.separators else (),
        ["b", "10", "9", "B"],
    ]
    return _interleaved(groups, limit)


def _interleaved(groups: list[Iterable[str]], limit: int) -> list[str]:
    found: dict[str, None] = {}
    for row in zip_longest(*groups):
        found.update((each, None) for each in row if each is not None)
        if len(found) >= limit:
            break
    return list(found)[:limit]


def _wrapped(text: Text) -> Iterator[str]:
    """With and without a beginning and an end that the code looks for."""
    first, second = (*_parts(text), *_WORDS)[:2]
    bodies = [first, *(SAMPLES[style][1] for style in text.styles if style in SAMPLES)]
    marks = _marks(text)
    for start in text.starts:
        end = _PAIRS.get(start, text.ends[0] if text.ends else "")
        yield from (start + first + end, start, start + first, start + end)
        for body in bodies:
            yield start + body + end
            for mark in marks:
                yield from (f"{start}{body}{end}{mark}{second}", f"{start}{body}{end}{mark}")
    for end in text.ends:
        yield from (first + end, end, f"{first}{end}{end}")


def _joined(text: Text) -> Iterator[str]:
    """Parts with separators between them: two, more, none, empty ones, equal ones, spaces around."""
    marks = _marks(text)
    first, second, third = (*_parts(text), *_WORDS)[:3]
    for mark in marks:
        yield f"{first}{mark}{second}"
    for count in (4, 3):
        for mark in marks:
            yield mark.join((first, second, third, "d")[:count])
    for mark in marks:
        yield from (mark, f"{first}{mark}", f"{mark}{second}", f"{first}{mark}{mark}{second}", f"{first}{mark}{first}")
        yield from (f" {first} {mark} {second} ", f"{first} {mark}{second}", f"{mark}{mark}", mark.join("abcdefgh"))
    for one in marks:
        for other in marks:
            if one != other:
                yield f"{first}{one}{second}{other}{third}{one}d"


def _parts(text: Text) -> list[str]:
    styled = [SAMPLES[style][0] for style in text.styles if style in SAMPLES]
    return list(dict.fromkeys([*styled, *text.pieces, *_numbers(text)[:3]]))[:3]


def _marks(text: Text) -> list[str]:
    found = [*text.separators, *(start for start in text.starts if not any(letter.isalnum() for letter in start))]
    if "lines" in text.styles:
        found.append("\n")
    return list(dict.fromkeys(mark for mark in found if mark))


def _numbers(text: Text) -> list[str]:
    found: list[str] = []
    for number in text.numbers:
        if isinstance(number, int):
            found.extend(str(number + offset) for offset in (0, 1, -1))
        else:
            found.append(str(number))
    return list(dict.fromkeys(found))


def _near_misses(text: Text) -> Iterator[str]:
    for one in text.exact:
        if one:
            yield from (one.upper(), f"{one} ", one[:-1], one + one, f" {one}", one.title())


class TextDrawer:
    """Draws texts of one domain; its pools are made once."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.marks = _marks(text)
        styled = [sample for style in text.styles for sample in SAMPLES.get(style, ())]
        matched = [sample for pattern in text.patterns for sample in samples(pattern, 12)]
        self.levels = text_levels(text, 160)
        self.whole = [*text.exact, *styled, *matched, ""]
        self.pool = [*text.exact, *text.pieces, *_numbers(text), *styled, *matched]
        self.starts = [*text.starts, *(each for each in self.marks if each in _PAIRS)]
        self.is_plain = not (self.marks or self.starts or text.ends or self.pool)

    def draw(self, rng: Random) -> str:
        chance = rng.random()
        if chance < 0.25:
            return rng.choice(self.levels)
        if chance < 0.35:
            return rng.choice(self.whole)
        if self.is_plain:
            return self._plain(rng)
        text = self._compose(rng)
        if rng.random() < 0.12:
            text = self._damaged(rng, text)
        return text

    def _plain(self, rng: Random) -> str:
        if rng.random() < 0.6:
            return rng.choice(_WORDS)
        if rng.random() < 0.5:
            return rng.choice(_LOOSE).join(rng.choice(_WORDS) for _ in range(rng.randint(1, 4)))
        return "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 12)))

    def _compose(self, rng: Random, deep: int = 0) -> str:
        count = rng.choice((1, 2, 2, 2, 3, 3, 4, 5, 7)) if self.marks else 1
        mark = rng.choice(self.marks) if self.marks else ""
        parts = [self._part(rng, deep) for _ in range(count)]
        if rng.random() < 0.1 and count > 1:
            parts[-1] = parts[0]
        if rng.random() < 0.2:
            text = "".join(part + rng.choice(self.marks or [""]) for part in parts)[: -len(mark) or None]
        else:
            text = mark.join(parts)
        if self.starts and rng.random() < 0.15:
            text = rng.choice(self.starts) + text
        if self.text.ends and rng.random() < 0.15:
            text += rng.choice(self.text.ends)
        return text

    def _part(self, rng: Random, deep: int) -> str:
        chance = rng.random()
        if chance < 0.08:
            return ""
        if chance < 0.18 and self.marks and deep < 1:
            part = self._compose(rng, deep + 1)
        elif chance < 0.65 and self.pool:
            part = rng.choice(self.pool)
        elif chance < 0.95:
            part = rng.choice(_WORDS)
        else:
            part = rng.choice(_ODD)
        if self.starts and rng.random() < 0.25:
            start = rng.choice(self.starts)
            part = start + part + _PAIRS.get(start, rng.choice(self.text.ends or ("",)))
        if rng.random() < 0.05:
            part = f" {part}" if rng.random() < 0.5 else f"{part} "
        return part

    def _damaged(self, rng: Random, text: str) -> str:
        at = rng.randint(0, len(text))
        how = rng.randint(0, 4)
        if how == 0:
            return text[:at] + text[at + 1 :]
        if how == 1:
            return text[:at] + text[at : at + 1] * 2 + text[at + 1 :]
        if how == 2:
            return text[:at] + rng.choice(self.marks or list(_LOOSE)) + text[at:]
        if how == 3:
            return text[::-1]
        return text.upper() if rng.random() < 0.5 else text + rng.choice(LETTERS)
