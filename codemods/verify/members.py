"""Members of the classes of one tree: who defines a method, which attributes every instance has, who writes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.source.index import mentioning
from codemods.verify.names import Names, Unreadable, parameters

Owner = tuple[str, str]  # path, qualname of a class
_PROPERTIES = ("property", "cached_property")


class Members:
    """Asked class by class; parses only files that mention what is asked for."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._definers: dict[str, list[Owner]] = {}
        self._families: dict[Owner, list[Owner]] = {}

    def definers(self, name: str) -> list[Owner]:
        """The classes that define a function or a class-level value of this name."""
        if name not in self._definers:
            found = []
            for path in mentioning(self.names.files, name, suffixes=(".py",)):
                raw = self.names.files.read(path)
                if re.search(rb"^[ \t]+(async )?(def |class )?" + name.encode() + rb"\b\s*[(:=]", raw, re.MULTILINE):
                    found += [owner for owner in self._owners(path) if self._has(owner, name)]
            self._definers[name] = found
        return self._definers[name]

    def _owners(self, path: str) -> Iterator[Owner]:
        try:
            definitions = self.names.definitions(path)
        except Unreadable:
            return
        yield from ((path, qualname) for qualname, node in definitions.items() if isinstance(node, ast.ClassDef))

    def _has(self, owner: Owner, name: str) -> bool:
        node = self._node(owner)
        return node is not None and any(each == name for each, _ in _own(node))

    def _node(self, owner: Owner) -> ast.ClassDef | None:
        try:
            node = self.names.definitions(owner[0]).get(owner[1])
        except (Unreadable, KeyError):
            return None
        return node if isinstance(node, ast.ClassDef) else None

    def bases(self, owner: Owner) -> list[Owner]:
        """The bases that are classes of the tree."""
        node = self._node(owner)
        found = []
        for base in node.bases if node is not None else ():
            if isinstance(base, ast.Subscript):
                base = base.value
            dotted = ast.unparse(base).split(".") if isinstance(base, (ast.Name, ast.Attribute)) else []
            ref = self.names.followed(owner[0], dotted) if dotted else None
            if ref is not None and ref[0] == "top" and self._node((ref[1], ref[2])) is not None:
                found.append((ref[1], ref[2]))
        return found

    def line(self, owner: Owner) -> list[Owner]:
        """The class and everything it inherits from."""
        found, todo = [], [owner]
        while todo:
            at = todo.pop(0)
            if at not in found:
                found.append(at)
                todo += self.bases(at)
        return found

    def rival(self, path: str, owner: str, name: str) -> str:
        """Who else of the family of a class defines or sets `name`; "" when nobody does."""
        me = (path, owner)
        if self._node(me) is None:
            return ""
        mine = self.line(me)
        for other in self.definers(name):
            if other != me and (other in mine or me in self.line(other)):
                return f"{other[1]} in {other[0]} defines it"
        for each in mine:
            node = self._node(each)
            if node is not None and name in _set_on_self(node):
                return f"{each[1]} sets an attribute of that name"
        return ""

    def is_computed(self, path: str, owner: str, name: str) -> bool:
        """Whether reading the attribute runs code: a property, or __getattr__ and the like."""
        for each in self.line((path, owner)):
            node = self._node(each)
            for key, member in _own(node) if node is not None else ():
                if key in ("__getattr__", "__getattribute__"):
                    return True
                if key == name and isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    words = [ast.unparse(one).rpartition(".")[2] for one in member.decorator_list]
                    return any(word not in ("staticmethod", "classmethod") for word in words)
        return False

    def is_always_set(self, path: str, owner: str, name: str) -> bool:
        """Whether every instance has the attribute once it is made: the class has it, or __init__ sets it in any case."""
        for each in self.line((path, owner)):
            node = self._node(each)
            if node is None:
                continue
            for key, member in _own(node):
                if key == name and not (
                    isinstance(member, ast.AnnAssign) and member.value is None and not _is_data(node)
                ):
                    return True
                if (
                    key == "__init__"
                    and isinstance(member, ast.FunctionDef)
                    and name in _surely_set(member.body, member)
                ):
                    return True
        return False

    def is_written_later(self, path: str, owner: str, name: str) -> bool:
        """Whether anybody but __init__ of the family writes the attribute."""
        pattern = re.compile(rb"\b(\w+)\." + name.encode() + rb"\b\s*(?::[^=\n]+)?(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?!=)")
        for each in mentioning(self.names.files, name, suffixes=(".py",)):
            raw = self.names.files.read(each)
            if pattern.search(raw) is None and not (b"setattr" in raw and each == path):
                continue
            if self._writes(each, (path, owner), name):
                return True
        return False

    def _writes(self, path: str, owner: Owner, name: str) -> bool:
        try:
            tree = self.names.tree(path)
        except Unreadable:
            return True
        family: dict[int, bool] = {}
        for qualname, node in self.names.definitions(path).items():
            if isinstance(node, ast.ClassDef):
                related = owner in self.line((path, qualname)) or (path, qualname) in self.line(owner)
                for inner in ast.walk(node):
                    family[id(inner)] = related
                for member in node.body:
                    if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                        for inner in ast.walk(member):
                            family[id(inner)] = False
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, (ast.Store, ast.Del)):
                on_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                if family.get(id(node), False) if on_self else not _is_foreign(node.value, owner[1]):
                    return True
        return False


def _is_foreign(node: ast.expr, owner: str) -> bool:
    """Whether an object is called something that an instance of the class is hardly ever called."""
    text = ast.unparse(node).rpartition(".")[2].lower().replace("_", "")
    return bool(text) and text not in owner.lower() and owner.lower() not in text


def _own(node: ast.ClassDef) -> Iterator[tuple[str, ast.stmt]]:
    for each in node.body:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield each.name, each
        elif isinstance(each, (ast.Assign, ast.AnnAssign)):
            for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                if isinstance(target, ast.Name):
                    yield target.id, each


def _is_data(node: ast.ClassDef) -> bool:
    words = " ".join(ast.unparse(each) for each in [*node.decorator_list, *node.bases])
    return any(word in words for word in ("dataclass", "Struct", "NamedTuple", "BaseModel"))


def _set_on_self(node: ast.ClassDef) -> set[str]:
    return {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Store)
        and isinstance(each.value, ast.Name)
        and each.value.id == "self"
    }


def _surely_set(body: list[ast.stmt], function: ast.FunctionDef) -> set[str]:
    """Attributes of the first parameter that a block sets whatever happens."""
    me = parameters(function)[0].arg if parameters(function) else ""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.If):
            found |= _surely_set(node.body, function) & _surely_set(node.orelse, function)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            found |= _surely_set(node.body, function)
        elif isinstance(node, ast.Try):
            found |= _surely_set(node.finalbody, function)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and getattr(node, "value", None) is not None:
            for each in ast.walk(node):
                if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                    if isinstance(each.value, ast.Name) and each.value.id == me:
                        found.add(each.attr)
        elif isinstance(node, ast.Return):
            break
    return found
