"""Which names of modules and classes hold what depends on the moment of a call: tables that functions fill, objects and
classes whose attributes they set. Such a name is an input of a world, whatever it holds when the module is loaded.

One answer for both sides: what a function of either changes. By the text of the tree; only files that may change a name
are read, and where those are too many, it is taken as changed. A change through a name that no text shows
(`vars(x)[k]`, a computed `setattr`) is not seen."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from codemods.prove.changing import CHANGING, Changes, Path, changes_about, changes_of
from codemods.prove.sides import ModuleFacts, Side
from codemods.prove.stable import Twins
from codemods.schema.errors import SourceError
from codemods.source.index import mentioning

_MOST_FILES = 60  # that are parsed for one name
_DATA_BASES = frozenset("Struct NamedTuple BaseModel BaseSettings".split())
_DATA_DECORATORS = ("dataclass", "define", "attrs", "frozen", "mutable")


class _Anything(frozenset[str]):
    """The names of all functions."""

    def __contains__(self, _: object) -> bool:
        return True


ANYTHING = _Anything(["*"])


class _TooMany(Exception):
    """More files may change a name than are read for one."""


class Moments:
    """For both sides of a pair."""

    def __init__(self, twins: Twins) -> None:
        self._twins = twins
        self._changers: dict[tuple[str, str], frozenset[str] | None] = {}
        self._fields: dict[tuple[str, str, str], str] = {}
        self._rebound: dict[str, bool] = {}

    # -- names of modules

    def changers(self, key: str, *, is_empty: bool) -> frozenset[str] | None:
        """The names of the functions that may change what a name of a module (by its key on the old side) holds; None
        where none does. is_empty: it holds nothing when the module is loaded."""
        known = (key, str(is_empty))
        if known not in self._changers:
            try:
                self._changers[known] = self._found_changers(key, is_empty=is_empty) or None
            except _TooMany:
                self._changers[known] = ANYTHING
        return self._changers[known]

    def _found_changers(self, key: str, *, is_empty: bool) -> frozenset[str]:
        found: set[str] = set()
        for side, mine in self._sides(key):
            module, _, name = mine.partition(":")
            for changes, path in self._named(side, module, name, is_empty=is_empty):
                for table in (changes.contents, *((changes.handed,) if is_empty else ())):
                    found |= changes.reaching(table.get(path, set())) if path in table else set()
                for other, functions in changes.stored.items():
                    if other[: len(path)] == path and len(other) > len(path):
                        found |= changes.reaching(functions)
        return frozenset(found)

    def is_rebound(self, key: str) -> bool:
        """Whether a function binds the name anew: `global name`, `module.name = ...`."""
        if key not in self._rebound:
            try:
                self._rebound[key] = any(
                    self._is_rebound(side, *mine.partition(":")[::2]) for side, mine in self._sides(key)
                )
            except _TooMany:
                self._rebound[key] = True
        return self._rebound[key]

    def _is_rebound(self, side: Side, module: str, name: str) -> bool:
        facts = _facts(side, module)
        if facts is None:
            return False
        leaf = module.rpartition(".")[2]  # who binds it anew has the module by its name
        return name in facts.rebound or any(
            path in changes.stored
            for changes, path in self._elsewhere(side, module, name, _binding(name, in_module=True), leaf)
        )

    def _sides(self, key: str) -> Iterator[tuple[Side, str]]:
        yield self._twins.old, key
        if self._twins.new is not self._twins.old:
            yield self._twins.new, self._twins.original(key)

    def _named(self, side: Side, module: str, name: str, *, is_empty: bool) -> Iterator[tuple[Changes, Path]]:
        """The modules that may change a name of a module, each with what they call it."""
        home = _facts(side, module)
        if home is not None:
            yield changes_of(home), (name,)
            yield from self._elsewhere(side, module, name, None if is_empty else _changing(name))

    @staticmethod
    def _elsewhere(
        side: Side, module: str, name: str, is_told: Told | None, *words: str
    ) -> Iterator[tuple[Changes, Path]]:
        """The same of other modules. is_told: what their text must have, None for any mention."""
        leaf = module.rpartition(".")[2]
        may_mean = _meaning(name, leaf)
        for facts in _mentioning(side, name, lambda raw: may_mean(raw) and (is_told is None or is_told(raw)), *words):
            if facts.stars and side.resolve(facts.module, name).key == f"{module}:{name}" and facts.module != module:
                yield _where(facts, name), (name,)
            for bound, (_, alias) in facts.imports.items() if facts.module != module else ():
                if alias.name == name and side.resolve(facts.module, bound).key == f"{module}:{name}":
                    yield _where(facts, bound), (bound,)
                elif alias.name.rpartition(".")[2] == leaf:
                    yield _where(facts, name), (bound, name)
                    yield _where(facts, name), (*module.split("."), name)

    # -- names of classes

    def field(self, key: str, name: str) -> str:
        """What a name that a class binds to a value is, by the key of the class on the old side: `instance` where
        instances may hold something else, `class` where the class itself may, `both`, or empty for a constant."""
        known = (*key.partition(":")[::2], name)
        if known not in self._fields:
            found: set[str] = set()
            for side, mine in self._sides(key):
                module, _, qualname = mine.partition(":")
                if _facts(side, module) is not None:
                    try:
                        found |= self._how(side, module, qualname, name)
                    except _TooMany:
                        found |= {"instance", "class"}
            self._fields[known] = "both" if len(found) > 1 else "".join(found)
        return self._fields[known]

    def _how(self, side: Side, module: str, qualname: str, name: str) -> set[str]:
        node = side.definition(module, qualname)[0]
        if not isinstance(node, ast.ClassDef):
            return set()
        if is_field(node, name):
            return {"instance"}
        found: set[str] = set()
        home = _facts(side, module)
        assert home is not None
        found |= _stored(changes_of(home), node.name, name, is_home=True)
        is_bound, kin, attribute = _binding(name), node.name.encode(), f".{name}".encode()
        for facts in _mentioning(side, name, lambda raw: (kin in raw or attribute in raw) and is_bound(raw)):
            is_kin = kin in side.files.read(facts.path)
            if facts is not home:
                found |= _stored(changes_of(facts), node.name, name, is_home=is_kin)
            found |= {"instance"} if is_kin and _is_overridden(facts, node.name, name) else set()
        return found

    def field_changers(self, key: str, name: str, *, is_empty: bool) -> frozenset[str] | None:
        """The same as `changers`, of a table that a class holds."""
        known = (f"{key}.{name}", str(is_empty))
        if known not in self._changers:
            try:
                self._changers[known] = self._found_field_changers(key, name, is_empty=is_empty) or None
            except _TooMany:
                self._changers[known] = ANYTHING
        return self._changers[known]

    def _found_field_changers(self, key: str, name: str, *, is_empty: bool) -> frozenset[str]:
        found: set[str] = set()
        for side, mine in self._sides(key):
            leaf = mine.rpartition(":")[2].rpartition(".")[2]
            for facts in _mentioning(side, name, _any_attribute(name) if is_empty else _changing(rf"\.{name}")):
                changes = changes_of(facts)
                for table in (changes.contents, *((changes.handed,) if is_empty else ())):
                    for path, functions in table.items():
                        if len(path) > 1 and path[-1] == name and (path[0] in ("self", "cls") or leaf in path):
                            found |= changes.reaching(functions)
        return frozenset(found)


def _where(facts: ModuleFacts, name: str) -> Changes:
    """What a module changes: all of it where it may change the name at all, as whoever calls who does, does."""
    about = changes_about(facts, name)
    is_told = any(name in path for table in (about.contents, about.stored, about.handed) for path in table)
    return changes_of(facts) if is_told else about


Told = Callable[[bytes], object]  # whether a text may have what is looked for; parsing it is slow


def _mentioning(side: Side, name: str, is_told: Told | None, *words: str) -> Iterator[ModuleFacts]:
    """The modules that mention a name, and these words, in such a way. Raises _TooMany."""
    found = [path for path in mentioning(side.files, name, *words) if path.endswith(".py")]
    if is_told is not None:
        found = [path for path in found if is_told(side.files.read(path))]
    if len(found) > _MOST_FILES:
        raise _TooMany
    for path in found:
        facts = _facts(side, side.modules.module_of(path))
        if facts is not None:
            yield facts


def _meaning(name: str, leaf: str) -> Told:
    """What mentions the module, imports the name from wherever it is handed on, or everything from somewhere."""
    listed = rf"(?:\([^)]*\b{name}\b|[^(\n]*\b{name}\b)"
    given = re.compile(rf"\bimport\s+(?:\*|{listed})|\b{leaf}\b".encode())
    return given.search


def _binding(name: str, *, in_module: bool = False) -> Told:
    """`x.name = `, `x.name += `, `name: T = ` in a class, `setattr(x, "name"`, and what looks like it. in_module: only
    what is bound from outside."""
    front = r"\." if in_module else ""
    after = r"\b\s*(?::[^=\n]*|,[^=\n]*|\)\s*)?[-+*/|&^%@<>]{0,2}=(?!=)"
    bound = re.compile(f"{front}{name}{after}".encode())
    spelled = re.compile(f"[\"']{name}[\"']".encode())
    return lambda raw: bound.search(raw) or (b"setattr(" in raw and spelled.search(raw))


def _any_attribute(name: str) -> Told:
    return lambda raw: f".{name}".encode() in raw


def _changing(name: str) -> Told:
    """`name[`, `name.append(`, `del x.name`, `other = name`, `f(name)`."""
    methods = "|".join(sorted(CHANGING))
    changed = re.compile(rf"{name}\s*(?:\[|\.\s*(?:{methods})\b|[-+|&*^]=|[,)]|$)".encode(), re.MULTILINE)
    gone = re.compile(rf"\bdel\b[^\n]*\b{name}\b".encode())
    return lambda raw: changed.search(raw) or gone.search(raw)


def _stored(changes: Changes, owner: str, name: str, *, is_home: bool) -> set[str]:
    """How the functions of a module bind an attribute. is_home: the module knows the class, and its `self` may be
    one."""
    found: set[str] = set()
    for path in changes.stored:
        if path[-1] != name or len(path) < 2:
            continue
        if path[-2] in ("cls", owner):
            found |= {"class"} if is_home else set()
        elif is_home or path[-2] != "self":
            found.add("instance")
    return found


def is_field(node: ast.ClassDef, name: str) -> bool:
    """Whether a name is a field of a data class, a struct, a model: each instance has its own."""
    bases = {ast.unparse(each).rpartition(".")[2].partition("[")[0] for each in node.bases}
    decorators = [ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in node.decorator_list]
    if not bases & _DATA_BASES and not any(each in _DATA_DECORATORS for each in decorators):
        return False
    return any(
        isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and each.target.id == name
        and "ClassVar" not in ast.unparse(each.annotation)
        for each in node.body
    )


def _is_overridden(facts: ModuleFacts, owner: str, name: str) -> bool:
    """Whether a class of the module that inherits from one of this name binds the attribute anew."""
    kin = {owner}
    for each in [each for each in ast.walk(facts.tree) if isinstance(each, ast.ClassDef)]:
        if kin.isdisjoint(ast.unparse(base).rpartition(".")[2] for base in each.bases):
            continue
        kin.add(each.name)
        for statement in each.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return True
    return False


def _facts(side: Side, module: str) -> ModuleFacts | None:
    try:
        return side.facts(module)
    except SourceError:
        return None


def moments_of(twins: Twins) -> Moments:
    """One for both sides of a pair and all mutants of it."""
    found = twins.notes.setdefault("moments", Moments(twins))
    assert isinstance(found, Moments)
    return found
