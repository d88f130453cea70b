"""Who may write an attribute of an object after it is made: methods of its own, others, and what calls lead there.

A receiver is told by its class where that is written, else by its name; one that nothing is known of may be anything.
Tests are left out: what a test does to an object it does between calls, not within one."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property

from codemods.source.nodes import walk
from codemods.verify.class_text import ClassText
from codemods.verify.members import Members
from codemods.verify.names import Unreadable
from codemods.verify.readers_family import is_test_path, snake
from codemods.verify.tree_lines import Hit, TreeLines

Owner = tuple[str, str]  # path, name of a class
_INDEXED = re.compile(r"(\(\)|\[[^\[\]]*\])+$")
CONSTRUCTORS = frozenset({"__init__", "__post_init__", "__new__"})
_MAX_CALLS = 60


class Writers:
    """Stores of attributes on one side, told apart by what they may store to."""

    def __init__(self, members: Members, lines: TreeLines) -> None:
        self.members, self.lines = members, lines
        self._by_name: dict[str, list[tuple[Hit, str]]] = {}
        self._relatives: dict[tuple[str, str], frozenset[str]] = {}
        self._evidence: dict[tuple[str, str], frozenset[str]] = {}
        self._answers: dict[tuple[object, ...], bool] = {}
        self._called: dict[Owner, tuple[frozenset[str], tuple[str, ...]]] = {}
        self._unnamed_of: dict[Owner, list[Hit]] = {}

    def relatives(self, klass: ClassText) -> frozenset[str]:
        key = (klass.path, klass.name)
        if key not in self._relatives:
            self._relatives[key] = self.members.relatives(klass)
        return self._relatives[key]

    def methods(self, klass: ClassText, name: str) -> frozenset[str]:
        """The methods of the family that store the attribute on self, without those that only construct."""
        found: set[str] = set()
        owners = self.members.owners(klass)
        for hit, receiver in [*self.stores(name), *self.unnamed]:
            if receiver in ("self", "cls") and (hit.path, self.lines.class_around(hit)) in owners:
                home = self.members.klass((hit.path, self.lines.class_around(hit)))
                method = home.method_at(hit.number) if home is not None else ""
                if method not in CONSTRUCTORS and not (receiver == "cls" and method == "__init_subclass__"):
                    found.add(method)
        return frozenset(each for each in found if not self._is_constructing(klass, each, frozenset()))

    def _is_constructing(self, klass: ClassText, method: str, above: frozenset[str]) -> bool:
        """Whether a private method is called by constructors of the family and by nobody else of it."""
        if method in CONSTRUCTORS:
            return True
        if not method.startswith("_") or method in above:
            return False
        word = re.compile(rb"\bself\.%b\b" % re.escape(method.encode()))
        callers = {
            each.method_at(each.line + each.block.count(b"\n", 0, match.start()))
            for each in [*self.members.line(klass), *self.members.heirs(klass)]
            for match in word.finditer(each.block)
        }
        return bool(callers) and all(self._is_constructing(klass, each, above | {method}) for each in callers)

    def others(self, klass: ClassText, name: str) -> list[Hit]:
        """Stores by anybody else to what may be an instance."""
        key = (klass.path, klass.name)
        if key not in self._unnamed_of:
            self._unnamed_of[key] = list(self._elsewhere(self.unnamed, self.looks_like, klass))
        return [*self._elsewhere(self.stores(name), self.may_be, klass), *self._unnamed_of[key]]

    def _elsewhere(
        self, stores: list[tuple[Hit, str]], is_one: Callable[[Hit, str, ClassText], bool], klass: ClassText
    ) -> Iterator[Hit]:
        for hit, receiver in stores:
            if not (receiver in ("self", "cls") and self.lines.class_around(hit)) and is_one(hit, receiver, klass):
                yield hit

    def anybody(self, name: str, receiver: str) -> list[Hit]:
        """Stores of an attribute of an object whose class nobody knows: by a receiver of the same last name, or by the
        own methods of any class, constructors left out."""
        leaf = receiver.rpartition(".")[2].lstrip("_")
        found = []
        for hit, other in self.stores(name):
            around = self.lines.class_around(hit) if other in ("self", "cls") else ""
            if around:
                home = self.members.klass((hit.path, around))
                if home is None or home.method_at(hit.number) not in CONSTRUCTORS:
                    found.append(hit)
            elif other.rpartition(".")[2].lstrip("_") in ("", leaf):
                found.append(hit)
        return found

    def stores(self, name: str) -> list[tuple[Hit, str]]:
        if name not in self._by_name:
            self._by_name[name] = self._of_side(self.lines.writes(name))
        return self._by_name[name]

    @cached_property
    def unnamed(self) -> list[tuple[Hit, str]]:
        """Stores of attributes whose names are put together."""
        return self._of_side(self.lines.by_text.get("", []))

    def _of_side(self, stores: list[tuple[Hit, str]]) -> list[tuple[Hit, str]]:
        side = self.members.side
        return [
            (hit, receiver)
            for hit, receiver in stores
            if not is_test_path(hit.path) and hit.side == (side if hit.path in self.lines.changed else 1)
        ]

    # ---- who is meant

    def may_be(self, hit: Hit, receiver: str, klass: ClassText) -> bool:
        """Whether a receiver may be an instance of the class."""
        leaf = _INDEXED.sub("", receiver).rpartition(".")[2].lstrip("_")
        if leaf in ("self", "cls") or not leaf:
            return True
        key = ("may be", hit.side, hit.path, leaf, klass.path, klass.name)
        if key not in self._answers:
            is_other = not self._is_called(klass, leaf) and self._is_anothers(leaf)
            evidence = self._given(hit, leaf) if not is_other else frozenset()
            self._answers[key] = not is_other and (not evidence or not evidence.isdisjoint(self.relatives(klass)))
        return self._answers[key]

    def looks_like(self, hit: Hit, receiver: str, klass: ClassText) -> bool:
        """Whether something says that a receiver is an instance: its class in this file, or what it is called."""
        leaf = receiver.rpartition(".")[2].lstrip("_")
        if not leaf:
            return True
        key = ("looks like", hit.side, hit.path, leaf, klass.path, klass.name)
        if key not in self._answers:
            is_called = self._is_called(klass, leaf)
            evidence = self._given(hit, leaf) if is_called or self._is_said(hit, klass) else frozenset()
            self._answers[key] = not evidence.isdisjoint(self.relatives(klass)) if evidence else is_called
        return self._answers[key]

    def _is_said(self, hit: Hit, klass: ClassText) -> bool:
        """Whether its file says the name of the class, or of one of its kin."""
        key = ("said", hit.side, hit.path, klass.path, klass.name)
        if key not in self._answers:
            raw = self.lines.raw(hit.side, hit.path)
            self._answers[key] = any(name.encode() in raw for name in self.relatives(klass))
        return self._answers[key]

    def may_be_called(self, receiver: str, klass: ClassText, is_shared: bool) -> bool:
        """Whether an instance may be called so, by the name alone. is_shared: others have what is asked for, too."""
        leaf = receiver.rpartition(".")[2].lstrip("_")
        return self._is_called(klass, leaf) or not (is_shared or self._is_anothers(leaf))

    def is_typed(self, hit: Hit, receiver: str) -> bool:
        """Whether its file gives a receiver a class."""
        return bool(self._given(hit, receiver.rpartition(".")[2].lstrip("_")))

    def _is_called(self, klass: ClassText, leaf: str) -> bool:
        """Whether objects of a class, or of one of its kin, are called by this name."""
        key = (klass.path, klass.name)
        if key not in self._called:
            kin = self.relatives(klass)
            self._called[key] = (kin | {_initials(klass.name)}, tuple(map(snake, kin)))
        names, spelled = self._called[key]
        return leaf in names or any(
            mine == leaf or mine.endswith(f"_{leaf}") or leaf.endswith(f"_{mine}") for mine in spelled
        )

    def _given(self, hit: Hit, leaf: str) -> frozenset[str]:
        """The classes that a file gives a name by annotation or by making one."""
        key = (hit.path, leaf)
        if key not in self._evidence:
            raw = self.lines.raw(hit.side, hit.path)
            word = re.escape(leaf.encode())
            found = set(re.findall(rb"\b%b\s*:\s*[\"']?(?:Optional\[)?(?:\w+\.)*(\w+)" % word, raw))
            found |= set(re.findall(rb"\b%b\s*(?::[^=\n]+)?=\s*(?:\w+\.)*([A-Z]\w*)\(" % word, raw))
            named = {each.decode("utf-8", "replace") for each in found}
            self._evidence[key] = frozenset(
                each for each in named if each[:1].isupper() and each not in ("Any", "Optional")
            )
        return self._evidence[key]

    def _is_anothers(self, leaf: str) -> bool:
        """Whether a name is what objects of some other class are called."""
        bare = re.sub(r"\d+$", "", leaf)
        return bare in _THINGS or self.lines.is_customary(bare)

    # ---- what calls lead to

    def may_reach(self, klass: ClassText, handed: tuple[str, ...], writers: frozenset[str]) -> bool:
        """Whether calls that get the object may lead to one of its methods. handed: path and text of what is called."""
        todo, seen = list(handed), set[str]()
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            further = self._further(klass, at, writers)
            if further is None or len(seen) > _MAX_CALLS:
                return True
            todo += further
        return False

    def _further(self, klass: ClassText, call: str, writers: frozenset[str]) -> list[str] | None:
        """What a called function hands the object on to; None when it may write, or is not known."""
        path, _, text = call.partition(":")
        head, _, rest = text.partition(".")
        if head == "self" or (rest and self.members.found(path, head) is None and "." not in rest):
            if "." in rest or rest in writers:
                return None
            found: list[str] = []
            family = [*self.members.line(klass), *self.members.heirs(klass)]
            homes = [each for each in family if any(name == rest for _, name in each.starts)]
            for home in homes:
                node = home.method(rest)
                if node is None:
                    return None
                found += _handed(home.path, node, {"self"})
            return found if homes else None
        place = self.members.found(path, text)
        if place is None:
            return None
        return self._function(place)

    def _function(self, place: tuple[str, str]) -> list[str] | None:
        """What a function of a module hands its parameters on to."""
        try:
            node = self.members.names.definitions(place[0]).get(place[1])
        except Unreadable:
            return None
        if isinstance(node, ast.ClassDef):
            functions = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            node = next((each for each in functions if each.name == "__init__"), None)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        names = {each.arg for each in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]} - {"self"}
        return _handed(place[0], node, names)


_THINGS = frozenset((
    "args", "config", "cfg", "options", "state", "params", "param", "tensor", "module", "layer", "model", "batch",
    "req", "request", "response", "result", "ret", "output", "out", "input", "x", "q", "k", "v", "parser", "logger",
    "torch", "hidden_states", "weight", "weights", "data", "event", "stream", "kwargs", "cls", "np", "os", "sys",
))  # fmt: skip


def _initials(name: str) -> str:
    return "".join(part[0] for part in snake(name).split("_") if part)


def _handed(path: str, node: ast.AST, names: set[str]) -> list[str]:
    """The calls in a function that get one of the names, as receiver or argument."""
    found = []
    for call in walk(node):
        if not isinstance(call, ast.Call):
            continue
        func = call.func
        is_own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in names
        if is_own:
            assert isinstance(func, ast.Attribute)
            found.append(f"{path}:self.{func.attr}")
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(isinstance(each, ast.Name) and each.id in names for each in given) and not is_own:
            found.append(f"{path}:{ast.unparse(func)}")
    return found
