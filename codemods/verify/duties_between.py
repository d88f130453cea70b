"""What is read at another moment than before: may anything that runs in between have written it?

A call that gets the object is followed as far as it can be; one that does not get it may have the object all the same
(duties_reach.py). Operators, keys, loops and texts are calls of methods of their object, where its class has such
methods. Code outside of the tree is taken not to call back."""

from __future__ import annotations

import re

from codemods.verify.class_text import ClassText
from codemods.verify.duties_reach import Reach, leaf_of
from codemods.verify.frames import Duty
from codemods.verify.members import Members
from codemods.verify.members_writes import Writers
from codemods.verify.names import is_rebound
from codemods.verify.rebinding import may_rebind

Answer = tuple[str, str] | None
_OPERATORS = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor eq ne lt le gt ge neg pos abs"
_ASKED = {
    "item": re.compile(r"__(?:getitem|setitem|delitem|contains|missing|iter|next|len)__|keys"),
    "operator": re.compile(rf"__[ri]?(?:{_OPERATORS.replace(' ', '|')}|invert|bool|len|hash|iter)__"),
    "key": re.compile(r"__(?:hash|eq|index|iter|getitem)__|keys"),
    "match": re.compile(r"__(?:eq|len|iter|getitem|contains|instancecheck)__|keys|get"),
    "truth": re.compile(r"__(?:bool|len)__"),
    "text": re.compile(r"__(?:str|repr|format)__"),
    "each": re.compile(r"__(?:iter|next|getitem|len|aiter|anext)__"),
    "enter": re.compile(r"__a?(?:enter|exit)__"),
}


def called(duty: Duty) -> set[str]:
    """The names of methods that run in between, to be looked for in the tree."""
    return {leaf_of(each) for each in duty.what[3:] if each.startswith(("?", "bound:"))} - {""}


class Between:
    """Answers for one side. before: those of the old side, whose calls are what runs in between."""

    def __init__(self, members: Members, writers: Writers, before: Writers) -> None:
        self.members, self.writers, self.before = members, writers, before
        self.reach = Reach(before.members, before)

    def stable(self, duty: Duty) -> Answer:
        """An attribute is read once where it was read again behind calls: do they write it?"""
        text, path, owner = duty.what[:3]
        first, _, name = text.rpartition(".")
        members, writers = self.members, self.writers
        klass = members.type_of(path, duty.function, owner, first)
        answer = f"`{text}` may have changed where it was read again"
        if klass is None and self.is_computed(name):
            return (answer, "U101")
        if klass is not None and members.is_computed(klass, name):
            return (f"`{text}` is computed at each read, and is read once now", "U101")
        if klass is not None and klass.is_frozen:
            return None
        others = writers.anybody(name, first) if klass is None else writers.others(klass, name)
        methods = writers.methods(klass, name) if klass is not None else frozenset()
        if not others and not methods:
            return None
        handed = [each for each in duty.what[3:] if self._gets(each, duty)]
        # A method that is handed on as a value counts as called.
        unseen = [each[1:] for each in duty.what[3:] if each[0] == "?"]
        unseen += [each.removeprefix("bound:") for each in duty.what[3:] if each.startswith("bound:")]
        is_found = any(self.reach.leads(each, duty, klass, name, methods, others) for each in unseen)
        if not handed and not is_found:
            return None
        if others:
            return (f"{answer}: {others[0].path}:{others[0].number} writes it", "U101")
        is_own = klass is not None and bool(owner) and "." not in first
        if klass is not None and is_own and not is_found and not self.before.may_reach(klass, tuple(handed), methods):
            return None
        return (f"{answer}: {min(methods)} writes it", "U101")

    def _gets(self, handed: str, duty: Duty) -> bool:
        """Whether it is a call that gets the object; an operation is one where its class has a method for it."""
        kind, _, rest = handed.partition(":")
        if kind not in _ASKED:
            return handed[0] != "?" and kind != "bound"
        path, _, text = rest.partition(":")
        klass = self.before.members.type_of(path, duty.function, duty.what[2], text)
        return klass is None or self._answers(klass, kind)

    def _answers(self, klass: ClassText, kind: str) -> bool:
        """Whether a class, or one of its kin, has methods for a kind of operation."""
        family = [*self.members.line(klass), *self.members.heirs(klass)]
        return any(_ASKED[kind].fullmatch(name) is not None for each in family for _, name in each.starts)

    def is_computed(self, name: str) -> bool:
        """Whether any class of the tree computes an attribute of this name."""
        for path, owner in self.members.definers(name):
            klass = self.members.klass((path, owner))
            if klass is not None and "computed" in klass.kinds(name):
                return True
        return False

    def plain(self, duty: Duty) -> Answer:
        """An attribute is stored: is that all that happens?"""
        text, path, owner = duty.what[:3]
        first, _, name = text.rpartition(".")
        klass = self.members.type_of(path, duty.function, owner, first)
        if klass is None:
            is_more = self.is_computed(name)
        else:
            is_more = self.members.is_computed(klass, name) or any(
                b"__setattr__" in each.block for each in self.members.line(klass)
            )
        return (f"storing `{text}` may do more than that", "U101") if is_more else None

    def rebound(self, duty: Duty) -> Answer:
        """A value of a module is read at another moment, or by a name that an import has bound."""
        home, name = duty.what[-2:]
        modules = self.members.names.modules
        path = home if home.endswith(".py") else modules.path_of(home, near=duty.path) or ""
        raw = self.members.lines.raw(self.members.side, path) if path.endswith(".py") else b""
        word = re.escape(name.encode())
        if re.search(rb"^[ \t]+global\b[^\n]*\b%b\b" % word, raw, re.MULTILINE):
            return (f"`{name}` is bound anew in {path}", "U109")
        if may_rebind(raw) and is_rebound(self.members.names, path, name):
            return (f"`{name}` may be bound anew in {path}", "U109")
        for hit, receiver in self.writers.stores(name):
            if self._is_store(hit.text, word) and self._is_module(hit.path, receiver, {path or home, duty.what[1]}):
                return (f"`{name}` is set in {hit.path}:{hit.number}", "U109")
        return None

    def _is_store(self, line: bytes, word: bytes) -> bool:
        """Whether a line surely stores something: a list of arguments that goes over several lines does not."""
        if line.lstrip().startswith(b"#"):
            return False
        simple = (
            rb"\.%b\b[ \t]*(?::[^=,]*)?[-+*/|&^%%@<>]*=(?!=)|setattr|delattr|__dict__|\bvars\(|\b(?:del|for|as)\b"
            % word
        )
        head = line.partition(b"=")[0]
        return re.search(simple, line) is not None or (
            b"=" in line and re.search(rb"\bNone|True|False\b", head) is None
        )

    def _is_module(self, path: str, receiver: str, homes: set[str]) -> bool:
        """Whether a receiver is one of the modules, as far as imports of its file say."""
        if receiver.rpartition(".")[2] in ("self", "cls", ""):
            return False
        ref = self.members.names.followed(path, receiver.split("."))
        return ref is not None and ref[0] in ("mod", "ext") and ref[1] in homes
