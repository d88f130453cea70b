"""Where documents and configuration (.rst, .md, .toml, .cfg, .yaml, docstrings) name a dotted path of the tree.

Finds the text only; a hit is what `meaning` says it is. Whether a change log, which tells history, is to follow is the
caller's to say."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

CONFIG_SUFFIXES = (".toml", ".cfg", ".ini", ".yaml", ".yml")

_NAME = r"[^\W\d]\w*"
_DOTTED = re.compile(
    rf"(?<![\w.\\/-]){_NAME}(?:\.{_NAME})+(?::{_NAME}(?:\.{_NAME})*)?|(?<![\w.\\/-]){_NAME}:{_NAME}(?:\.{_NAME})*"
)
_ROLE = re.compile(rf":(?:\w+:)?(\w+):`(?:[^`<>]*<)?[~!]*(\.?{_NAME}(?:\.{_NAME})*)(?:\(\))?>?`")
_DIRECTIVE = re.compile(rf"^[ \t]*\.\. (?:py:)?(\w+)::[ \t]+({_NAME}(?:\.{_NAME})*)", re.MULTILINE)
_IMPORT_FROM = re.compile(rf"\bfrom[ \t]+({_NAME}(?:\.{_NAME})*)[ \t]+import[ \t]+\(?((?:[^\n()#;`])*)")
_IMPORT = re.compile(rf"(?:^|[`>;][ \t]*)[ \t]*import[ \t]+({_NAME})\b|-m[ \t]+({_NAME})(?![\w.:/-])", re.MULTILINE)
_CODE_ROLES = frozenset(
    {"func", "meth", "class", "attr", "data", "mod", "exc", "const", "obj", "ref", "any", "deco", "type"}
)
_MODULE_DIRECTIVES = frozenset({"module", "currentmodule", "automodule"})
_CODE_DIRECTIVES = re.compile(
    r"(?:auto)?(?:module|class|function|method|attribute|data|exception|decorator|property)\Z"
)
_HISTORY = re.compile(r"(?:change|history|news|release)", re.IGNORECASE)

# The end, in a dotted text, of the part that names what is looked for; None when the text names something else.
Meaning = Callable[[str], "int | None"]


class Written(Struct, frozen=True):
    """text[start:end] names what is looked for. is_sure: it can mean nothing else and is not history."""

    start: int
    end: int
    is_sure: bool


def is_history(path: str) -> bool:
    return _HISTORY.match(posixpath.basename(path)) is not None


def written_in(text: str, leaf: str, meaning: Meaning, *, scopes: tuple[str, ...] = (), single: bool) -> list[Written]:
    """Every place in a text that names what is looked for, in order.

    leaf: a word without which no place counts. scopes: what a relative name in a role may be relative to (the module
    and class of a docstring). single: what is looked for is a top-level module, so one word may name it."""
    found: dict[int, Written] = {}
    for each in _places(text, leaf, meaning, scopes, single):
        kept = found.get(each.start)
        if kept is None or (each.is_sure and not kept.is_sure):
            found[each.start] = each
    return [found[start] for start in sorted(found)]


def _places(text: str, leaf: str, meaning: Meaning, scopes: tuple[str, ...], single: bool) -> Iterator[Written]:
    for match in _DOTTED.finditer(text):
        if leaf in match.group():
            end = meaning(match.group())
            if end is not None:
                yield Written(match.start(), match.start() + end, not _in_address(text, match.start()))
    if ":" in text:
        yield from _in_markup(text, leaf, meaning, scopes, single)
    if "import" in text or "-m" in text:
        yield from _in_code(text, leaf, meaning, single)


def _in_address(text: str, start: int) -> bool:
    """Inside a URL or a file name, where a dotted path is not read by Python."""
    word = text[max(text.rfind(" ", 0, start), text.rfind("\n", 0, start)) + 1 : start]
    return "://" in word


def _in_markup(text: str, leaf: str, meaning: Meaning, scopes: tuple[str, ...], single: bool) -> Iterator[Written]:
    directives = list(_DIRECTIVE.finditer(text))
    current = [(match.start(), match[2]) for match in directives if match[1] in _MODULE_DIRECTIVES]
    hits = [(match, match[1] in _MODULE_DIRECTIVES or bool(_CODE_DIRECTIVES.match(match[1]))) for match in directives]
    hits += [(match, match[1] in _CODE_ROLES) for match in _ROLE.finditer(text)]
    for match, is_code in hits:
        name = match[2].lstrip(".")
        start = match.start(2) + len(match[2]) - len(name)
        if leaf not in name or not is_code:
            continue
        if single or "." in name:
            end = meaning(name)
            if end is not None:
                yield Written(start, start + end, True)
                continue
        module = next((module for at, module in reversed(current) if at < match.start()), "")
        for scope in (*([module] if module else []), *scopes):
            end = meaning(f"{scope}.{name}")
            if end is not None and end > len(scope) + 1:
                yield Written(start, start + end - len(scope) - 1, True)
                break


def _in_code(text: str, leaf: str, meaning: Meaning, single: bool) -> Iterator[Written]:
    """Imports as prose and examples show them."""
    for match in _IMPORT_FROM.finditer(text):
        for name in re.finditer(_NAME, match[2]):
            before = match[2][: name.start()].rstrip()
            if name.group() == leaf and not before.endswith(" as"):
                end = meaning(f"{match[1]}.{leaf}")
                if end == len(match[1]) + 1 + len(leaf):
                    yield Written(match.start(2) + name.start(), match.start(2) + name.end(), True)
        if single and "." not in match[1] and meaning(match[1]) is not None:
            yield Written(match.start(1), match.end(1), True)
    if single:
        for match in _IMPORT.finditer(text):
            group = 1 if match[1] else 2
            if match[group] == leaf and meaning(leaf) is not None:
                yield Written(match.start(group), match.end(group), True)
