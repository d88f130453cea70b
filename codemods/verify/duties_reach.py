"""Whether a call that does not get an object may lead to a store of its attribute: by a global, a field or a closure.

Follows functions by name, methods of unknown objects by name where they are called first, methods of `self` at any
depth. What is called on an unknown object further in is passed over where it is not itself a method that stores the
attribute, and so is code outside of the tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.nodes import walk
from codemods.verify.class_text import ClassText
from codemods.verify.frames import Duty
from codemods.verify.members import Members
from codemods.verify.members_writes import Writers
from codemods.verify.store_text import by_text
from codemods.verify.tree_lines import Hit

_MAX_CALLS = 200
_OWN = ("self", "cls", "super()")
Call = tuple[str, str, ClassText | None]  # path, text of what is called, class of the object it is called on
Body = tuple[str, ast.AST, ClassText | None]  # path, code, the class it is in


class Code(Struct, frozen=True, eq=False):
    """A function that may run: what it calls, and the (object, attribute) it stores. home: the class it is in."""

    path: str
    node: ast.AST
    home: ClassText | None
    calls: list[Call]
    stored: list[tuple[str, str]]


def leaf_of(text: str) -> str:
    """The name of the method that is called on something; "" where no name ends the text."""
    found = re.search(r"\.([A-Za-z_]\w*)\Z", text)
    return found[1] if found is not None else ""


class Reach:
    """Answers for the old side, whose calls are looked at."""

    def __init__(self, members: Members, writers: Writers) -> None:
        self.members, self.writers = members, writers
        self._functions: dict[tuple[str, str], ast.AST | None] = {}
        self._known: dict[tuple[str, str, str, str], list[Code] | None] = {}
        self._read: dict[int, Code] = {}

    def leads(
        self,
        handed: str,
        duty: Duty,
        klass: ClassText | None,
        name: str,
        writers: frozenset[str],
        others: list[Hit],
    ) -> bool:
        """Whether a call may lead to a store of an attribute. handed: path and text; klass: whose attribute it is;
        writers: the methods of its objects that store it; others: where anybody else does."""
        path, _, text = handed.partition(":")
        receiver = self.members.type_of(path, duty.function, duty.what[2], text.rpartition(".")[0])
        code = self._code((path, leaf_of(text) if receiver else text, receiver))
        strange = self._methods_at(others)
        return code is None or any(
            self._stores(each, name, klass)
            or any(self._is_writer(call, klass, writers) or self._is_one_of(call, strange) for call in each.calls)
            for each in code
        )

    def _methods_at(self, hits: list[Hit]) -> list[tuple[ClassText, str]]:
        """The methods around some lines, with their classes."""
        homes = [(self.members.klass((hit.path, self.writers.lines.class_around(hit))), hit.number) for hit in hits]
        return list(
            dict.fromkeys((home, name) for home, at in homes if home is not None and (name := home.method_at(at)))
        )

    def _is_one_of(self, call: Call, methods: list[tuple[ClassText, str]]) -> bool:
        """Whether a call on an unknown object may be one of these methods."""
        path, text, home = call
        leaf, receiver = leaf_of(text), text.rpartition(".")[0]
        return home is None and any(
            leaf and leaf == name and self._may_be(path, receiver, owner) for owner, name in methods
        )

    def _code(self, call: Call) -> list[Code] | None:
        """All the code that a call may run, as far as it can be followed; None where it can't be."""
        key = (call[0], call[1], call[2].path if call[2] else "", call[2].name if call[2] else "")
        if key not in self._known:
            self._known[key] = self._followed(self._bodies(call, is_first=True))
        return self._known[key]

    def _followed(self, first: list[Body] | None) -> list[Code] | None:
        if first is None:
            return None
        found: dict[int, Code] = {}
        todo = list(first)
        while todo:
            body = todo.pop()
            if id(body[1]) in found:
                continue
            if len(found) > _MAX_CALLS:
                return None
            if id(body[1]) not in self._read:
                self._read[id(body[1])] = Code(*body, _calls(*body), list(_stored(body[1])))
            found[id(body[1])] = self._read[id(body[1])]
            for each in found[id(body[1])].calls:
                todo += self._bodies(each, is_first=False) or []
        return list(found.values())

    def _is_writer(self, call: Call, klass: ClassText | None, writers: frozenset[str]) -> bool:
        """Whether it is a call of one of the methods that store the attribute, on what may be such an object."""
        path, text, home = call
        if home is not None:
            return text in writers and (klass is None or home.name in self.writers.relatives(klass))
        if leaf_of(text) not in writers:
            return False
        return klass is None or self._may_be(path, text.rpartition(".")[0], klass)

    def _stores(self, code: Code, name: str, klass: ClassText | None) -> bool:
        """Whether a piece of code may store an attribute of this name of such an object."""
        for receiver, stored in code.stored:
            if stored not in ("", name):
                continue
            if klass is None:
                return True
            if receiver == "self" and code.home is not None:
                if code.home.name in self.writers.relatives(klass):
                    return True
            elif (self._may_be if stored else self._looks_like)(code.path, receiver, klass):
                return True
        return False

    def _looks_like(self, path: str, receiver: str, klass: ClassText) -> bool:
        return self.writers.looks_like(Hit(self.members.side, path, 0, b""), receiver, klass)

    def _may_be(self, path: str, receiver: str, klass: ClassText) -> bool:
        return self.writers.may_be(Hit(self.members.side, path, 0, b""), receiver, klass)

    def _bodies(self, call: Call, *, is_first: bool) -> list[Body] | None:
        """The code that a call may run; None where nothing is known of it."""
        path, text, klass = call
        if klass is not None:
            family = [*self.members.line(klass), *self.members.heirs(klass)]
            return [(each.path, node, each) for each in family if (node := each.method(text)) is not None]
        place = self.members.found(path, text) if re.fullmatch(r"[\w.]+", text) else None
        if place is not None:
            owner = self.members.klass(place)
            if owner is not None:
                makers = [owner.method(name) for name in ("__init__", "__post_init__")]
                return [(owner.path, each, owner) for each in makers if each is not None]
            function = self._function(place)
            return [(place[0], function, None)] if function is not None else None
        leaf = leaf_of(text)
        if not leaf or not is_first:
            return None
        owners = [self.members.klass(owner) for owner in self.members.definers(leaf)]
        known = [each for each in owners if each is not None and self._may_be(path, text.rpartition(".")[0], each)]
        return [(each.path, node, each) for each in known if (node := each.method(leaf)) is not None]

    def _function(self, place: tuple[str, str]) -> ast.AST | None:
        """A function of a module, cut out of its text."""
        if place not in self._functions:
            raw = self.members.lines.raw(self.members.side, place[0])
            start = re.search(rb"^(?:async[ \t]+)?def[ \t]+%b\b" % re.escape(place[1].encode()), raw, re.MULTILINE)
            end = re.compile(rb"^[^\s#)\]}]", re.MULTILINE).search(raw, start.end()) if start is not None else None
            text = raw[start.start() : end.start() if end is not None else len(raw)] if start is not None else b""
            try:
                self._functions[place] = ast.parse(text) if text else None
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._functions[place] = None
        return self._functions[place]


def _calls(path: str, node: ast.AST, klass: ClassText | None) -> list[Call]:
    found: list[Call] = []
    for call in walk(node):
        if not isinstance(call, ast.Call):
            continue
        func = call.func
        if klass is not None and isinstance(func, ast.Attribute) and ast.unparse(func.value) in _OWN:
            found.append((path, func.attr, klass))
        elif isinstance(func, (ast.Name, ast.Attribute)):
            found.append((path, ast.unparse(func), None))
    return found


def _stored(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The objects that a piece of code may store an attribute into, as they are written, and the attribute's name; ""
    for one that is put together."""
    for each in walk(node):
        if isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load):
            yield ast.unparse(each.value), each.attr
    yield from by_text(node)
