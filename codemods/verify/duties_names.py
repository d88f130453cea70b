"""What a class or module no longer calls by its old name: may anybody still mean it, and do the new readers mean it?

Asked once for each name that was lost, whoever claims what became of it. Readers that surely mean it are the readers_*
modules' findings; here, one that may mean it keeps the lost definition from being certified."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.verdict import Problem
from codemods.verify.asked_lines import Asked
from codemods.verify.change import TreeChange
from codemods.verify.class_text import ClassText, class_in, classes_in
from codemods.verify.frames import Claims, Duty, Line
from codemods.verify.members import Members
from codemods.verify.members_writes import CONSTRUCTORS, Writers
from codemods.verify.moments import NEW, OLD
from codemods.verify.names import Names
from codemods.verify.tree_lines import Hit, TreeLines

Answer = Problem | tuple[str, str] | None
_STRING = re.compile(rb"([\"'])((?:\\.|(?!\1).)*)\1")
_ASKS = re.compile(rb"\b(?:getattr|hasattr|setattr|delattr)\(\s*([\w.]+)\s*,\s*[\"'](\w+)[\"']")
_BY_NAME = re.compile(
    rb"\b(?:attrgetter|methodcaller|itemgetter|__slots__|__getattribute__|__dict__|vars)\b|\bgetattr\b"
)


_COMPUTED = re.compile(rb"\b(?:getattr|setattr|hasattr)\(\s*[\w.]+\s*,\s*(?![\"'\s])|\battrgetter\((?![\"'])")


class Lost(Struct, frozen=True, eq=False):
    """A name that a class (or a module, without one) had and has not any more. line: where the old side gives it."""

    name: str
    path: str
    line: int
    old: ClassText | None = None
    new: ClassText | None = None


class Renames:
    """The names a change takes away from classes and modules, and who may still mean them."""

    def __init__(self, change: TreeChange, claims: Claims, names: tuple[Names, Names], asked: Asked) -> None:
        self.change, self.claims, self.names = change, claims, names
        self._computing: dict[tuple[int, str], bool] = {}
        self.lost = [*self._lost_members(), *self._lost_functions()]
        self.static = list(self._made_static())
        asked.said |= {each.name for each in [*self.lost, *self.static]}
        asked.defined |= {each.name for each in self.lost if each.old is not None}
        asked.classes |= {each.new.name for each in self.lost if each.new is not None}
        asked.said |= {owner.rpartition(".")[2] for _, owner, *_ in claims.injected}
        asked.written |= {name.removesuffix("()") for name in claims.injected.values()}
        for (holder, name), old in claims.redirects.items():
            asked.written |= {holder, name, old}

    def look(self, lines: TreeLines, members: tuple[Members, Members], writers: tuple[Writers, ...]) -> None:
        """What was found in the tree."""
        self.lines, self.members, self.writers = lines, members, writers

    # ---- what was lost

    def _lost_members(self) -> Iterator[Lost]:
        """Only names that are claimed to live on: under another name, behind another object, or as a function."""
        moved = {
            before[1].rpartition(".")[2]: before for before, after in self.claims.pairs.items() if "." in before[1]
        }
        wanted = {*self.claims.attributes.values(), *self.claims.redirects.values(), *moved}
        wanted |= {holder for *_, holder, _ in self.claims.injected}
        for path in sorted(self.claims.changed) if wanted else ():
            if path not in self.change.old:
                continue
            there = self.claims.modules.get(path, path)
            after = classes_in(there, self.change.new.read(there)) if there in self.change.new else {}
            for old in classes_in(path, self.change.old.read(path)).values():
                new = self._partner(old, after)
                for name in sorted(wanted) if new is not None else ():
                    line = _line_of(old, name)
                    if line and new is not None and not _line_of(new, name):
                        yield Lost(name, path, line, old, new)

    def _partner(self, old: ClassText, after: dict[str, ClassText]) -> ClassText | None:
        path, name = self.claims.pairs.get((old.path, old.name), ("", old.name))
        if path and path not in (old.path, self.claims.modules.get(old.path, old.path)):
            return classes_in(path, self.change.new.read(path)).get(name)
        return after.get(name)

    def _lost_functions(self) -> Iterator[Lost]:
        for before, after in self.claims.pairs.items():
            name = before[1]
            if "." not in name and after[1].rpartition(".")[2] != name:
                yield Lost(name, before[0], self.names[OLD].definitions(before[0])[name].lineno)

    def _made_static(self) -> Iterator[Lost]:
        """Methods that take no object any more."""
        for path in sorted(self.claims.changed):
            if path not in self.change.old or path not in self.change.new:
                continue
            before, after = self.names[OLD].definitions(path), self.names[NEW].definitions(path)
            for qualname, node in after.items():
                owner, _, name = qualname.rpartition(".")
                if owner and _is_static(node) and qualname in before and not _is_static(before[qualname]):
                    raws = self.change.old.read(path), self.change.new.read(path)
                    old, new = (class_in(path, raw, owner.rpartition(".")[2]) for raw in raws)
                    yield Lost(name, path, node.lineno, old, new)

    # ---- the answers

    def still_meant(self) -> list[Line]:
        """Residue at what was lost where somebody may still mean it."""
        found = []
        for lost in self.lost:
            why = self._still_meant(lost)
            if why:
                reason, code = why, "U119" if lost.old is not None else "U111"
                title = f"{lost.old.name}.{lost.name}" if lost.old is not None else lost.name
                found.append(Line(OLD, lost.path, lost.line, lost.line, "residue", reason, code, title))
        for each in self.static:
            call = self._call_on_class(each)
            if call:
                title = f"{each.new.name}.{each.name}" if each.new is not None else each.name
                found.append(Line(NEW, each.path, each.line, each.line, "residue", call, "U120", title))
        return found

    def _call_on_class(self, lost: Lost) -> str:
        """A call that still gives an object to a method that takes none."""
        kin = self.writers[NEW].relatives(lost.new) if lost.new is not None else frozenset()
        call = re.compile(rb"(?<!\w)(\w+)\.%b\(" % re.escape(lost.name.encode()))
        for hit in self.lines.says(lost.name):
            found = call.search(hit.text)
            # Calls in changed files are compared by the kernel; what was not changed still passes the object.
            is_left = hit.side == NEW and hit.path not in self.lines.changed
            if is_left and found is not None and found[1].decode("utf-8", "replace") in kin:
                return f"{hit.path}:{hit.number} calls `{lost.name}` on the class, with the object"
        return ""

    def renamed(self, duty: Duty) -> Answer:
        """Whether the object that an attribute is read from is one whose attribute was renamed."""
        receiver, _, name = duty.what[0].rpartition(".")
        return self._is_holder(duty, receiver, self.claims.attributes[name])

    def redirected(self, duty: Duty) -> Answer:
        """Whether the object is one that has its attribute behind another object now."""
        receiver, holder, name = duty.what[0].rsplit(".", 2)
        return self._is_holder(duty, receiver, self.claims.redirects[holder, name])

    def _is_holder(self, duty: Duty, receiver: str, old: str) -> Answer:
        owners = [each for each in self.lost if each.name == old and each.new is not None]
        answer = (f"`{receiver}` may be an object whose attribute `{old}` is still its own", "U115")
        path, owner = duty.what[1:3]
        members, writers = self.members[NEW], self.writers[NEW]
        klass = members.type_of(path, duty.function, owner, receiver)
        family = {name for each in owners if each.new is not None for name in writers.relatives(each.new)}
        if klass is not None:
            return None if klass.name in family else answer
        hit = Hit(NEW, duty.path, duty.line, b"")
        return None if any(each.new and writers.looks_like(hit, receiver, each.new) for each in owners) else answer

    def alias(self, duty: Duty) -> Answer:
        """An attribute is gone because another object has its value: did both always have the same?"""
        text, _, owner = duty.what[:3]
        old = text.rpartition(".")[2]
        lost = next(
            (each for each in self.lost if each.name == old and each.old and each.old.name == _last(owner)), None
        )
        if lost is None or lost.old is None or lost.new is None:
            return (f"`{text}` is gone, and is read elsewhere as if it were not", "U119")
        for (holder, name), each in self.claims.redirects.items():
            if each == old and self._is_same_value(lost.old, lost.new, old, holder, name):
                why = self._written(lost.old, lost.new, old, holder, name)
                return (f"`{text}` and `{holder}.{name}` may become different: {why}", "U101") if why else None
        return (f"`{text}` had not surely the value that is read now", "U101")

    def _is_same_value(self, before: ClassText, after: ClassText, old: str, holder: str, name: str) -> bool:
        """Whether the attribute was given what the other object has: `self.a = ps.a` beside `self.ps = ps`."""
        values = _stored_values(before, old)
        holders = _stored_values(after, holder) or [
            value for each in self.members[NEW].line(after) for value in _stored_values(each, holder)
        ]
        if len(values) != 1 or len(holders) != 1:
            return False
        value, made = values[0], holders[0]
        if value in (f"{made}.{name}", f"self.{holder}.{name}"):
            return True
        return re.search(rf"\b{name}={re.escape(value)}\s*[,)]", made) is not None

    def _written(self, before: ClassText, after: ClassText, old: str, holder: str, name: str) -> str:
        """Who may write one of the two and not the other."""
        for side, klass, each in ((OLD, before, old), (NEW, after, holder)):
            others = self.writers[side].others(klass, each)
            methods = self.writers[side].methods(klass, each)
            if others:
                return f"{others[0].path}:{others[0].number} writes {each}"
            if methods:
                return f"{min(methods)} writes {each}"
        inner = self.members[NEW].type_of_attribute(after, holder)
        if inner is not None and inner.is_frozen:
            return ""
        found = self.writers[NEW].others(inner, name) if inner is not None else self.writers[NEW].anybody(name, holder)
        own = self.writers[NEW].methods(inner, name) if inner is not None else ()
        if found or own:
            return f"{found[0].path}:{found[0].number} writes {name}" if found else f"{min(own)} writes {name}"
        return ""

    # ---- who may still mean it

    def _still_meant(self, lost: Lost) -> str:
        """A place that may still mean what was lost; "" for none."""
        if lost.old is not None and lost.new is not None:
            rival = self._relative_with(lost)
            if rival:
                return rival
        is_shared = lost.old is not None and self._others_have(lost)
        for hit in self.lines.says(lost.name):
            if hit.side == NEW and hit.text.lstrip()[:1] != b"#" and self._means(lost, hit, is_shared):
                return f"{hit.path}:{hit.number} may still mean `{lost.name}`"
        return ""

    def _relative_with(self, lost: Lost) -> str:
        """A class above or below that still has a method of the name, and so answers in its place."""
        assert lost.new is not None
        if "method" not in (lost.old.kinds(lost.name) if lost.old is not None else ()):
            return ""
        members = self.members[NEW]
        for each in [*members.line(lost.new), *members.heirs(lost.new)]:
            if "method" in each.kinds(lost.name):
                return f"{each.name} in {each.path} still has `{lost.name}`"
        return ""

    def _others_have(self, lost: Lost) -> bool:
        """Whether some class of no kin has a member of this name: then most who say it mean that one."""
        assert lost.new is not None
        kin = self.writers[NEW].relatives(lost.new)
        word = re.escape(lost.name.encode())
        gives = re.compile(rb"\bself\.%b[ \t]*(?::[^=\n]+)?=(?!=)|^[ \t]+(?:def[ \t]+)?%b[ \t]*[(:=]" % (word, word))
        return any(
            hit.side == NEW and gives.search(hit.text) is not None and self.lines.class_around(hit) not in {*kin, ""}
            for hit in self.lines.says(lost.name)
        )

    def _means(self, lost: Lost, hit: Hit, is_shared: bool) -> bool:
        word = re.escape(lost.name.encode())
        strings = [match[2] for match in _STRING.finditer(hit.text) if re.search(rb"(?<!\w)%b(?!\w)" % word, match[2])]
        if lost.old is None or lost.new is None:
            is_called = any(re.search(rb"(?<![\w.])%b\(" % word, text) for text in strings)
            return is_called or (lost.name.encode() in strings and self._is_looked_up(lost, hit))
        for asked in _ASKS.finditer(hit.text):
            if asked[2] == lost.name.encode():
                receiver = asked[1].decode("utf-8", "replace")
                return self._may_be(lost, hit, receiver, is_shared)
        if any(re.search(rb"\{[^{}]*\.%b\b" % word, text) and b"self.%b" % word not in text for text in strings):
            return not is_shared
        if lost.name.encode() in strings and self._is_by_name(hit):
            return not is_shared or self.lines.class_around(hit) in self.writers[NEW].relatives(lost.new)
        for match in re.finditer(rb"([\w.]*(?:\(\)|\[[^\[\]]*\])*)\.%b\b" % word, hit.text):
            receiver = match[1].decode("utf-8", "replace")
            if b"#" in hit.text[: match.start()] or self._is_module(hit.path, receiver, lost.name):
                continue
            if self._may_be(lost, hit, receiver, is_shared):
                return True
        return False

    def _is_looked_up(self, lost: Lost, hit: Hit) -> bool:
        """Whether a line that says the name of a function as a text says its module, too, or looks it up."""
        module = self.names[OLD].modules.module_of(lost.path).encode()
        says = any(match[2] in (module, module.rpartition(b".")[2]) for match in _STRING.finditer(hit.text))
        return says or _BY_NAME.search(hit.text) is not None

    def _is_by_name(self, hit: Hit) -> bool:
        """Whether a line, or its file, takes attributes by a name that is put together or comes from a table."""
        if _BY_NAME.search(hit.text) is not None:
            return True
        key = (hit.side, hit.path)
        if key not in self._computing:
            self._computing[key] = _COMPUTED.search(self.lines.raw(hit.side, hit.path)) is not None
        return self._computing[key]

    def _is_module(self, path: str, receiver: str, name: str) -> bool:
        """Whether `receiver.name` is a member of a module, in a file of the change."""
        if path not in self.claims.changed or not receiver.replace(".", "").isidentifier():
            return False
        home = self.names[NEW].modules.path_of(receiver, near=path)
        if home is not None and home.endswith(".py") and self.names[NEW].has((home, name)):
            return True
        ref = self.names[NEW].followed(path, [*receiver.split("."), name])
        return ref is not None and ref[0] == "top" and "." not in ref[2]

    def _may_be(self, lost: Lost, hit: Hit, receiver: str, is_shared: bool) -> bool:
        """Whether a receiver that no reader is sure of may be an object of the class."""
        assert lost.new is not None
        writers = self.writers[NEW]
        if receiver in ("self", "cls"):
            around = self.lines.class_around(hit)
            if around not in writers.relatives(lost.new):
                return False
            home = self.members[NEW].klass((hit.path, around))
            return home is not None and not any(_line_of(each, lost.name) for each in self.members[NEW].line(home))
        if not writers.may_be_called(receiver, lost.new, is_shared) or writers.is_typed(hit, receiver):
            return False  # where it is typed, it is another class, or for the readers_* modules to say
        if is_shared:
            return writers.looks_like(hit, receiver, lost.new)
        return writers.may_be(hit, receiver, lost.new)


def _is_static(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
        isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list
    )


def _last(qualname: str) -> str:
    return qualname.rpartition(".")[2]


def _line_of(klass: ClassText, name: str) -> int:
    """The line that gives a class a member of this name; 0 for none."""
    if name.encode() not in klass.block:
        return 0
    word = re.escape(name.encode())
    found = re.search(
        rb"^%b(?:async[ \t]+)?(?:def[ \t]+%b\b|%b[ \t]*[:=])|\bself\.%b\b[ \t]*(?:,[^=()\n]*)?(?::[^=\n]+)?=(?!=)"
        % (klass.indent, word, word, word),
        klass.block,
        re.MULTILINE,
    )
    return klass.line + klass.block.count(b"\n", 0, found.start()) if found is not None else 0


def _stored_values(klass: ClassText, name: str) -> list[str]:
    """What constructors of a class assign to an attribute, as text without spaces at its ends; "" elsewhere."""
    found = []
    pattern = re.compile(
        rb"\bself\.%b[ \t]*(?::[^=\n]+)?=(?!=)[ \t]*((?:[^()\n]|\((?:[^()]|\([^()]*\))*\))*)" % re.escape(name.encode())
    )
    for match in pattern.finditer(klass.block):
        method = klass.method_at(klass.line + klass.block.count(b"\n", 0, match.start()))
        found.append(match[1].decode("utf-8", "replace").strip() if method in CONSTRUCTORS else "")
    return found
