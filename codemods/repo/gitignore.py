"""Patterns of .gitignore files as git reads them: which of several decides, and what it says about one path.

An entry is matched by its own path and never by that of a directory above it; that an ignored directory hides what is
in it is for the reader of directories to see to. Which files hold patterns is walk.py's to know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "cntrl": "\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\t-\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_NEVER = r"(?!)"


class Rule(NamedTuple):
    """One line. `by_name`: matched against the last part of a path, wherever that is."""

    pattern: re.Pattern[str]
    by_name: bool
    is_negated: bool
    only_directories: bool


class Ignored:
    """The patterns that hold in one directory: its own and those above it, the deepest first."""

    def __init__(self, levels: tuple[tuple[str, tuple[Rule, ...]], ...] = ()) -> None:
        self._levels = levels

    def below(self, directory: str, lines: Iterable[str]) -> Ignored:
        """The same with the patterns of `directory` (with a final `/`, "" at the root) on top."""
        rules = tuple(rule for line in lines if (rule := parse(line)) is not None)
        return Ignored(((directory, rules), *self._levels))

    def hides(self, path: str, *, is_directory: bool) -> bool:
        """What the last rule of the deepest file that matches says; False when none does."""
        name = path.rpartition("/")[2]
        for directory, rules in self._levels:
            below = path[len(directory) :]
            for rule in reversed(rules):
                if rule.only_directories and not is_directory:
                    continue
                if rule.pattern.match(name if rule.by_name else below):
                    return not rule.is_negated
        return False


def parse(line: str) -> Rule | None:
    """The rule a line stands for; None for a comment, an empty line, and what git passes over as no pattern."""
    text = line.removesuffix("\r")
    if text.startswith("#"):
        return None
    while text.endswith(" ") and not _is_escaped(text, len(text) - 1):
        text = text[:-1]
    is_negated = text.startswith("!")
    text = text.removeprefix("!")
    only_directories = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    by_name = "/" not in text
    regex = _regex(text.removeprefix("/"), crosses_slash=by_name)
    return Rule(re.compile(f"(?s:{regex})\\Z"), by_name, is_negated, only_directories)


def _is_escaped(text: str, at: int) -> bool:
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _regex(glob: str, *, crosses_slash: bool) -> str:
    parts: list[str] = []
    # git compares the text before the first special character by itself, so that a `**` right after it is as good as at
    # the start: `a**/b` is `a/x/b` too, whatever the manual says.
    plain_end = next((index for index, char in enumerate(glob) if char in "*?[\\"), len(glob))
    at = 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            end = at + len(glob[at:]) - len(glob[at:].lstrip("*"))
            is_alone = (at == plain_end or glob[at - 1] == "/") and (end == len(glob) or glob[end] == "/")
            if crosses_slash or end - at == 1 or not is_alone:
                parts.append(".*" if crosses_slash else "[^/]*")
            elif end == len(glob):
                parts.append(".*")
            else:  # `**/` is any number of directories, none as well
                parts.append("(?:.*/)?")
                end += 1
            at = end
        elif char == "?":
            parts.append("[^/]")
            at += 1
        elif char == "[":
            found = _bracket(glob, at + 1)
            if found is None:
                return _NEVER
            parts.append(found[0])
            at = found[1]
        elif char == "\\":
            if at + 1 == len(glob):
                return _NEVER
            parts.append(re.escape(glob[at + 1]))
            at += 2
        else:
            parts.append(re.escape(char))
            at += 1
    return "".join(parts)


def _bracket(glob: str, at: int) -> tuple[str, int] | None:
    """A set of characters as a regex and where it ends; None when it does not end or names an unknown class."""
    is_negated = glob[at : at + 1] in ("!", "^")
    at += is_negated
    members: list[str] = []
    last = ""  # the character that a following `-` makes a range of
    start = at
    while at < len(glob) and (glob[at] != "]" or at == start):
        char = glob[at]
        if glob.startswith("[:", at):
            end = glob.find(":]", at)
            if end < 0 or glob[at + 2 : end] not in _CLASSES:
                return None
            members.append(_CLASSES[glob[at + 2 : end]])
            last, at = "", end + 2
            continue
        if char == "-" and last and glob[at + 1 : at + 2] not in ("", "]"):
            at += 1 + (glob[at + 1] == "\\")
            high = glob[at : at + 1]
            if last <= high:
                members.append(f"{re.escape(last)}-{re.escape(high)}")
            last, at = "", at + 1
            continue
        if char == "\\":
            at += 1
            char = glob[at : at + 1]
        members.append(re.escape(char))
        last, at = char, at + 1
    if at >= len(glob):
        return None
    if not members:
        return ("[^/]" if is_negated else _NEVER), at + 1
    return f"(?!/)[{'^' if is_negated else ''}{''.join(members)}]", at + 1
