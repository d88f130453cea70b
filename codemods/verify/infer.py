"""Which definitions, modules and attributes of two trees seem to belong together. Guesses: the kernel checks them.

Looks at changed files only. A guess that is wrong makes residue; one that is missing does too."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import TypeVar

from codemods.source.nodes import below, walk
from codemods.verify.change import TreeChange
from codemods.verify.forms import signature
from codemods.verify.frames import Claims
from codemods.verify.infer_injected import infer_injected
from codemods.verify.names import Definition, Names

_ALIKE = 0.55
_ALIKE_RENAMED = 0.75
_SAME_FILE = 0.5
_STRANGE = 0.35
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAX_GUESSES = 40_000
_Said = TypeVar("_Said", str, bytes)


def infer(change: TreeChange, old: Names, new: Names, paths: Iterable[str]) -> Claims:
    """Everything that is assumed about a change. paths: the changed files that can be read on both sides."""
    paths = list(paths)
    befores = [path for path in paths if path in change.old]
    afters = [path for path in paths if path in change.new]
    claims = Claims(changed=frozenset(paths))
    claims.modules.update(_modules(change, befores, afters))
    gone = _only(old, befores, new, claims.modules)
    came = _only(new, afters, old, {after: before for before, after in claims.modules.items()})
    claims.pairs.update(_paired(old, new, claims))
    strangers = _strangers(old, befores, new, afters, claims.modules)
    moved = dict(_moved(old, [*gone, *strangers], new, [*came, *strangers.values()]))
    # A method that only calls what became of it stays itself: both must have found somebody else.
    strangers = {each: now for each, now in strangers.items() if each in moved and now in moved.values()}
    moved = dict(_moved(old, [*gone, *strangers], new, [*came, *strangers.values()]))
    left = [each for each in gone if each not in moved], [each for each in came if each not in moved.values()]
    moved.update(_moved(old, left[0], new, left[1], {_last(a): _last(b) for a, b in moved.items()}))
    moved.update(_values_renamed(old, gone, new, came, moved))
    claims.pairs.update(moved)
    claims.unpaired = frozenset(each for each in strangers if moved.get(each, each) != each)
    claims.ambiguous = _ambiguous(old, befores, new, afters) | {_last(each) for each in [*gone, *came]}
    _attributes(old, befores, new, claims)
    infer_injected(old, befores, new, claims)
    claims.loose = (_loose(old, befores, new, claims.pairs), _loose(new, afters, old, _turned(claims.pairs)))
    return claims


def _modules(change: TreeChange, befores: list[str], afters: list[str]) -> Iterator[tuple[str, str]]:
    """Files that are gone and files that came with mostly the same lines."""
    gone = [path for path in befores if path not in change.new]
    came = [path for path in afters if path not in change.old]
    lines = {path: Counter(change.old.read(path).splitlines()) for path in gone}
    others = {path: Counter(change.new.read(path).splitlines()) for path in came}
    ranked = sorted(
        ((_share(lines[a], others[b]), a, b) for a in gone for b in came), key=lambda each: (-each[0], each[1:])
    )
    taken: set[str] = set()
    for share, before, after in ranked:
        if share >= _SAME_FILE and before not in taken and after not in taken:
            taken |= {before, after}
            yield before, after


def _share(a: Counter[_Said], b: Counter[_Said]) -> float:
    total = sum(a.values()) + sum(b.values())
    return 2 * sum((a & b).values()) / total if total else 1.0


def _only(names: Names, paths: list[str], other: Names, moved: dict[str, str]) -> list[Definition]:
    """Definitions that the other side lacks at the same place."""
    return [
        (path, qualname)
        for path in paths
        for qualname in names.kinds(path)
        if not other.has((moved.get(path, path), qualname))
    ]


def _strangers(
    old: Names, befores: list[str], new: Names, afters: list[str], modules: dict[str, str]
) -> dict[Definition, Definition]:
    """Functions that share their name and place with one of the other side, and hardly anything else, or that stand
    word for word in another file."""
    counts = Counter(qualname for path in afters for qualname in new.kinds(path))
    found = {}
    bodies = {
        (qualname, new.digests(path)[qualname]): path
        for path in afters
        for qualname, kind in new.kinds(path).items()
        if kind in _FUNCTIONS and counts[qualname] > 1
    }
    for path in befores:
        after = modules.get(path, path)
        if after not in new.files:
            continue
        for qualname, kind in old.kinds(path).items():
            text, other = old.digests(path)[qualname], new.digests(after).get(qualname)
            if kind not in _FUNCTIONS or text == other or new.kinds(after).get(qualname) not in _FUNCTIONS:
                continue
            is_elsewhere = bodies.get((qualname, text), after) != after
            if is_elsewhere or _share(_words(old, (path, qualname)), _words(new, (after, qualname))) < _STRANGE:
                found[path, qualname] = (after, qualname)
    return found


def _values_renamed(
    old: Names, gone: list[Definition], new: Names, came: list[Definition], moved: dict[Definition, Definition]
) -> Iterator[tuple[Definition, Definition]]:
    """Constants of one module that have the same value under another name, when no other has that value."""
    texts: dict[tuple[str, str], tuple[list[Definition], list[Definition]]] = {}
    taken = {*moved, *moved.values()}
    for side, (names, ones) in enumerate(((old, gone), (new, came))):
        for each in ones:
            if each in taken or names.kinds(each[0])[each[1]] not in (ast.Assign, ast.AnnAssign):
                continue
            node = names.definitions(each[0])[each[1]]
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                key = (each[0], ast.dump(node.value))
                texts.setdefault(key, ([], []))[side].append(each)
    for before, after in texts.values():
        if len(before) == len(after) == 1:
            yield before[0], after[0]


def _paired(old: Names, new: Names, claims: Claims) -> Iterator[tuple[Definition, Definition]]:
    for before, after in claims.modules.items():
        for qualname in old.kinds(before):
            if new.has((after, qualname)):
                yield (before, qualname), (after, qualname)


def _moved(
    old: Names, gone: list[Definition], new: Names, came: list[Definition], renamed: dict[str, str] | None = None
) -> Iterator[tuple[Definition, Definition]]:
    """The best matches first: most words in common, a name in common counting much. renamed: words that are others
    on the new side."""
    words_old = {each: _words(old, each, renamed or {}) for each in gone}
    words_new = {each: _words(new, each) for each in came}
    if len(gone) * len(came) > _MAX_GUESSES:
        by_name = {_bare(each): each for each in came}
        guesses = [(each, by_name[_bare(each)]) for each in gone if _bare(each) in by_name]
    else:
        guesses = [(before, after) for before in gone for after in came]
    ranked: list[tuple[float, Definition, Definition]] = []
    for before, after in guesses:
        kinds = {_kind(old, before), _kind(new, after)}
        if len(kinds) > 1:
            continue
        share = _share(words_old[before], words_new[after])
        is_namesake = _bare(before) == _bare(after)
        if share >= (_ALIKE if is_namesake else _ALIKE_RENAMED):
            ranked.append((share + is_namesake, before, after))
    ranked.sort(key=lambda each: (-each[0], each[1:]))
    taken: set[tuple[int, Definition]] = set()
    for _, before, after in ranked:
        if (0, before) not in taken and (1, after) not in taken:
            taken |= {(0, before), (1, after)}
            yield before, after


def _kind(names: Names, definition: Definition) -> str:
    kind = names.kinds(definition[0])[definition[1]]
    if kind in _FUNCTIONS:
        return "function"
    return "class" if kind is ast.ClassDef else "value"


def _bare(definition: Definition) -> str:
    return definition[1].rpartition(".")[2].lstrip("_")


def _last(definition: Definition) -> str:
    return definition[1].rpartition(".")[2]


def _ambiguous(old: Names, befores: list[str], new: Names, afters: list[str]) -> frozenset[str]:
    """Names that changed files import from more than one module: these may be one thing or several."""
    found: dict[str, set[str]] = {}
    for names, paths in ((old, befores), (new, afters)):
        for path in paths:
            for name, module in names.taken(path):
                found.setdefault(name, set()).add(module)
    return frozenset(name for name, modules in found.items() if len(modules) > 1)


def _words(names: Names, definition: Definition, renamed: dict[str, str] | None = None) -> Counter[str]:
    """What a definition says; kept, for it is compared with many."""
    kept = None if renamed else names.words.get(definition)
    if kept is None:
        kept = Counter(_spoken(names.definitions(definition[0])[definition[1]], renamed or {}))
        for word in ("self", "Load"):
            kept.pop(word, None)
        if not renamed:
            names.words[definition] = kept
    return kept


def _spoken(node: ast.AST, renamed: dict[str, str]) -> Iterator[str]:
    for each in walk(node):
        if isinstance(each, ast.Name):
            yield renamed.get(each.id, each.id)
        elif isinstance(each, ast.Attribute):
            yield renamed.get(each.attr, each.attr)
        elif isinstance(each, ast.Constant):
            yield repr(each.value)
        elif isinstance(each, (ast.BinOp, ast.UnaryOp)):
            yield type(each.op).__name__
        elif isinstance(each, ast.Compare):
            yield from (type(operator).__name__ for operator in each.ops)
        elif isinstance(each, ast.stmt):
            yield type(each).__name__
            if isinstance(each, ast.AugAssign):
                yield type(each.op).__name__


def _turned(pairs: dict[Definition, Definition]) -> dict[Definition, Definition]:
    return {new: old for old, new in pairs.items()}


def _loose(names: Names, paths: list[str], other: Names, pairs: dict[Definition, Definition]) -> dict[str, Definition]:
    """Methods that only this side has, or with other parameters: what a call on an unknown receiver may mean."""
    found: dict[str, list[Definition]] = {}
    for path in paths:
        for qualname, kind in names.kinds(path).items():
            owner, _, name = qualname.rpartition(".")
            there = pairs.get((path, qualname), (path, qualname))
            if owner and kind in _FUNCTIONS and not _is_called_alike(names, (path, qualname), other, there):
                found.setdefault(name, []).append((path, qualname))
    return {name: each[0] for name, each in found.items() if len(each) == 1}


def _is_called_alike(names: Names, definition: Definition, other: Names, there: Definition) -> bool:
    """Whether the other side has a function that is called as this one."""
    if not other.has(there):
        return False
    if definition[1] == there[1] and names.digests(definition[0])[definition[1]] == other.digests(there[0])[there[1]]:
        return True
    nodes = [each.definitions(place[0])[place[1]] for each, place in ((names, definition), (other, there))]
    return signature(nodes[0], definition) == signature(nodes[1], there)


def _attributes(old: Names, befores: list[str], new: Names, claims: Claims) -> None:
    """Attributes that were renamed, or are read through another object now."""
    for path in befores:
        after = claims.modules.get(path, path)
        if after not in new.files:
            continue
        for qualname, kind in old.kinds(path).items():
            there = claims.pairs.get((path, qualname), (after, qualname))
            other_kind = new.kinds(there[0])[there[1]] if new.has(there) else None
            if kind in _FUNCTIONS and other_kind in _FUNCTIONS:
                _renamed_method((path, qualname), there, claims)
            is_class = kind is other_kind is ast.ClassDef
            if not is_class or old.digests(path)[qualname] == new.digests(there[0])[there[1]]:
                continue
            node, other = old.definitions(path)[qualname], new.definitions(there[0])[there[1]]
            assert isinstance(node, ast.ClassDef)
            assert isinstance(other, ast.ClassDef)
            _renamed_fields(node, other, claims)
            before, now = _stores(node), _stores(other)
            lost = {name: _spelled(value) for name, value in before.items() if name not in now}
            gained = {name: _spelled(value) for name, value in now.items() if name not in before}
            for name, value in lost.items():
                twins = [each for each, its in gained.items() if its == value and name not in now]
                if len(twins) == 1:
                    claims.attributes[twins[0]] = name
                elif (chain := _chain(name, other, now)) is not None:
                    claims.redirects[chain, name] = name
                elif (through := re.fullmatch(r"(\w+)\.(\w+)", value)) is not None:
                    names = (each for each, its in now.items() if isinstance(its, ast.Name) and its.id == through[1])
                    holder = next(names, None)
                    if holder is not None:
                        claims.redirects[holder, through[2]] = name


def _renamed_method(before: Definition, after: Definition, claims: Claims) -> None:
    """A method that stays in its class under another name."""
    owner, _, old = before[1].rpartition(".")
    home, _, new = after[1].rpartition(".")
    is_same_class = owner and home and claims.pairs.get((before[0], owner), (before[0], owner))[1] == home
    if is_same_class and old != new:
        claims.attributes[new] = old


def _renamed_fields(node: ast.ClassDef, other: ast.ClassDef, claims: Claims) -> None:
    """Fields in the body of a class, one by one, where they are as many as before."""
    before, after = (
        [each for each in part.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]
        for part in (node, other)
    )
    names = [[each.target.id for each in part] for part in (before, after)]  # type: ignore[union-attr]
    if len(before) != len(after):
        return
    for x, y, old, new in zip(before, after, *names, strict=True):
        is_twin = ast.dump(x.annotation) == ast.dump(y.annotation)
        if is_twin and old != new and old not in names[1] and new not in names[0]:
            claims.attributes[new] = old


def _spelled(value: ast.expr | None) -> str:
    return ast.unparse(value) if value is not None else ""


def _stores(node: ast.ClassDef) -> dict[str, ast.expr | None]:
    """Attribute of self -> the first value it gets."""
    found: dict[str, ast.expr | None] = {}
    for each in _assignments(node):
        for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
            for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self":
                    found.setdefault(part.attr, each.value if part is target else None)
    return found


def _assignments(node: ast.AST) -> Iterator[ast.Assign | ast.AnnAssign]:
    """Every assignment below, in the order of `ast.walk`; expressions, which have none, are not entered."""
    waiting = [node]
    for at in waiting:
        if isinstance(at, (ast.Assign, ast.AnnAssign)):
            yield at
        for block in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting += getattr(at, block, ())


def _chain(name: str, node: ast.ClassDef, now: Container[str]) -> str | None:
    """The attribute through which `name` is read in the new class, when it is always the same one."""
    holders = Counter(
        each.value.attr
        for each in below(node)
        if isinstance(each, ast.Attribute)
        and each.attr == name
        and isinstance(each.value, ast.Attribute)
        and isinstance(each.value.value, ast.Name)
        and each.value.value.id == "self"
        and each.value.attr in now
    )
    return next(iter(holders)) if len(holders) == 1 else None
