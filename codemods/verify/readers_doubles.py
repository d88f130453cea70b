"""Test doubles that still define what a class no longer has: they keep readers that were left behind alive (U120).

A double is a class of the tests that derives from the class or is named after it, or an object made by a mock library
or SimpleNamespace under a name that stands for the class. Doubles made in ways of their own are not seen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.files import FileSet
from codemods.source.index import has_word, mentioning
from codemods.source.nodes import below
from codemods.source.parse import FUNCTIONS, Source, load
from codemods.verify.readers_family import Family, is_test_path, snake
from codemods.verify.readers_gone import GoneMember
from codemods.verify.readers_inventory import inventory, text_of

_MAKERS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "SimpleNamespace", "create_autospec"})
_MAKERS_TEXT = b"|".join(sorted(name.encode() for name in _MAKERS))
_CALLS = [name.encode() + b"(" for name in _MAKERS]
_MAKER = re.compile(rb"\b(?:%s)\(" % _MAKERS_TEXT)
_STANDS_IN = re.compile(
    r"\A_*\w*?(?:Mock(?:ed)?|Fake|Stub(?:bed)?|Dummy|Spy|Double|Toy|Tiny|Mini(?:mal)?|Simple|Null|Noop)_?"
)


def doubles(files: FileSet, family: Family, gone: Iterable[GoneMember]) -> Iterator[Problem]:
    """The doubles of one class that still define its lost members."""
    wanted: dict[str, set[str]] = {}
    for member in gone:
        for path in mentioning(files, member.name):
            if is_test_path(path):
                wanted.setdefault(path, set()).add(member.name)
    loose = sorted(name.encode() for name in {*family.loose, snake(family.key.name)})
    held = b"|".join(re.escape(name) for name in loose)
    made = re.compile(rb"(?:%s)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(?:%s)\(" % (held, _MAKERS_TEXT))
    maker = re.compile(rb"def \w*%s\(" % re.escape(snake(family.key.name).encode()))
    called = [name.encode() for name in family.below]
    spec = re.compile(rb"(?:spec|spec_set|autospec)\b[(=][\w.]*\b(?:%s)\b" % b"|".join(called))
    for path, names in sorted(wanted.items()):
        raw = text_of(files, path)
        yield from _classes(files, family, path, names, raw)
        tried = [each for each, parts in ((made, loose), (maker, [b"def "]), (spec, called)) if _has_any(raw, parts)]
        if tried and _has_any(raw, _CALLS) and _MAKER.search(raw) and any(each.search(raw) for each in tried):
            yield from _objects(files, family, path, names)


def _has_any(raw: bytes, parts: Iterable[bytes]) -> bool:
    """A first look, far quicker than a pattern."""
    return any(part in raw for part in parts)


def _problem(family: Family, path: str, line: int, name: str, double: str) -> Problem:
    return Problem(path, line, "U120", f"{double} still defines {name}, which {family.key.name} no longer has")


# -- classes


def _classes(files: FileSet, family: Family, path: str, names: set[str], raw: bytes) -> Iterator[Problem]:
    heirs = {heir.name for heir in family.heirs if heir.path == path}
    words = [family.key.name, family.key.module.rpartition(".")[2]]
    is_near = "_" in snake(family.key.name) or any(has_word(raw, word.encode()) for word in words)
    if not heirs and not (is_near and family.key.name.encode() in raw):
        return  # a class of one word has namesakes: its doubles count where the class or its module is named
    for found in inventory(files, path).classes.values():
        if not (
            found.name in heirs
            or ((not found.has_bases or found.name == family.key.name) and _named_after(files, family, found.name))
        ):
            continue
        for name in names & found.names:
            line = found.members[name].line if name in found.members else found.assigned[name]
            yield _problem(family, path, line, name, found.name)


def _named_after(files: FileSet, family: Family, name: str) -> bool:
    """Whether a test's class is called for this class and not for another that the product has."""
    if not name.endswith(family.key.name):
        return False
    if name.lstrip("_") == family.key.name:
        return True
    marked = _STANDS_IN.match(name)
    if marked is None or family.has_rival:
        return False
    meant = name[marked.end() :]
    if meant == family.key.name:
        return True
    header = re.compile(rb"^[ \t]*class[ \t]+" + re.escape(meant.encode()) + rb"\b", re.MULTILINE)
    paths = [path for path in mentioning(files, meant) if not is_test_path(path)] if meant else []
    return not any(header.search(text_of(files, path)) for path in paths)


# -- objects


def _objects(files: FileSet, family: Family, path: str, names: set[str]) -> Iterator[Problem]:
    try:
        source = load(files, path)
    except SourceError:
        return
    for node in below(source.tree):
        if isinstance(node, ast.Call) and _is_maker(node):
            given = [each for each in node.keywords if each.arg in names]
            if given and _stands_for(source, family, node):
                for each in given:
                    yield _problem(family, path, each.value.lineno, str(each.arg), f"{ast.unparse(node.func)}(…)")
        elif isinstance(node, ast.Attribute) and node.attr in names and isinstance(node.ctx, ast.Store):
            made = _made(source, node.value)
            if made is not None and _stands_for(source, family, made):
                yield _problem(family, path, node.lineno, node.attr, ast.unparse(node.value))


def _is_maker(call: ast.Call) -> bool:
    return getattr(call.func, "attr", getattr(call.func, "id", "")) in _MAKERS


def _made(source: Source, receiver: ast.expr) -> ast.Call | None:
    """The call that made the double which the function around knows by this expression."""
    kinds = FUNCTIONS if isinstance(receiver, ast.Name) else (ast.ClassDef,)
    around = source.enclosing(receiver, *kinds) or source.tree
    text = ast.unparse(receiver)
    assigned = [node for node in below(around) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    for node in assigned:
        assert isinstance(node.value, ast.Call)
        if _is_maker(node.value) and any(ast.unparse(target) == text for target in node.targets):
            return node.value
    return None


def _stands_for(source: Source, family: Family, call: ast.Call) -> bool:
    """Whether a double is made in place of the class: by its spec, by its name, or by the name of its maker."""
    for keyword in call.keywords:
        if keyword.arg in {"spec", "spec_set", "autospec"}:
            return ast.unparse(keyword.value).rpartition(".")[2] in family.below
    if getattr(call.func, "attr", getattr(call.func, "id", "")) == "create_autospec" and call.args:
        return ast.unparse(call.args[0]).rpartition(".")[2] in family.below
    above = source.parents.get(call)
    if isinstance(above, ast.keyword):
        return above.arg is not None and family.holds(above.arg)
    if isinstance(above, ast.Return):
        return _is_maker_of(source, family, call)
    if not isinstance(above, ast.Assign):
        return False
    for target in above.targets:
        if isinstance(target, ast.Name) and _is_maker_of(source, family, call):
            around = source.enclosing(call, *FUNCTIONS)
            returned = [each.value for each in below(around) if isinstance(each, ast.Return)] if around else []
            if any(isinstance(each, ast.Name) and each.id == target.id for each in returned):
                return True
        leaf = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if family.holds(leaf) and not family.denies(source.body, leaf.lstrip("_")):
            return True
    return False


def _is_maker_of(source: Source, family: Family, call: ast.Call) -> bool:
    around = source.enclosing(call, *FUNCTIONS)
    name = str(getattr(around, "name", "")).lower()
    meant = snake(family.key.name)
    return not family.has_rival and "_" in meant and (name == meant or name.endswith(f"_{meant}"))
