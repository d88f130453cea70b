"""What the kernel can't see in the text: shown here by facts about the whole tree, or else residue or a finding.

A duty that can't be shown makes its line residue; a difference that is certain is a finding. Classes are known by what
is written in the tree: a base from outside may define anything, and is taken to define nothing of ours. Whatever has to
be looked for in the tree is looked for once, for all duties together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from codemods.schema.verdict import Problem
from codemods.verify.asked_lines import Asked
from codemods.verify.change import TreeChange
from codemods.verify.class_text import ClassText
from codemods.verify.duties_between import Between, called
from codemods.verify.duties_made import still_made
from codemods.verify.duties_names import Answer, Renames
from codemods.verify.frames import Claims, Duty, Line
from codemods.verify.members import Members
from codemods.verify.members_set import Presence
from codemods.verify.members_writes import Writers
from codemods.verify.moments import NEW, OLD
from codemods.verify.names import Names
from codemods.verify.steady import is_steady
from codemods.verify.tree_lines import TreeLines


class Duties:
    """Facts about two trees, found when they are asked for."""

    def __init__(self, change: TreeChange, claims: Claims, old: Names, new: Names) -> None:
        self.change, self.claims, self.names = change, claims, (old, new)
        self._begun: frozenset[Duty] | None = None
        self._calls: set[tuple[str, int]] = set()
        self._nones: dict[str, bool] = {}
        self._doubles: dict[tuple[str, str], tuple[int, ClassText, list[str]]] = {}

    def begin(self, duties: Iterable[Duty]) -> None:
        """Begins to look for what these duties need."""
        self._begun = frozenset(duties)
        self._prepare(self._begun)

    def discharged(self, lines: list[Line], duties: list[Duty]) -> tuple[list[Line], list[Problem]]:
        """The lines with what could not be shown as residue, and what was found out on the way."""
        duties = list(dict.fromkeys(duties))
        self._calls = {(duty.path, duty.line) for duty in duties if duty.kind == "made"}
        if self._begun is None or not self._begun.issuperset(duties):
            self.begin(duties)
        problems: dict[tuple[str, ...], Problem] = {}
        extra: list[Line] = []
        for duty in duties:
            answer: Answer = getattr(self, "_" + duty.kind.replace("-", "_"))(duty)
            if isinstance(answer, Problem):
                problems.setdefault((answer.path, answer.code, answer.message), answer)
            elif answer is not None:
                reason, code = answer
                extra.append(Line(duty.side, duty.path, duty.line, duty.line, "residue", reason, code, duty.function))
        found = [*problems.values(), *self._in_doubles()]
        return [*lines, *extra, *self.renames.still_meant()], found

    def _in_doubles(self) -> Iterator[Problem]:
        """One finding for each function that reads early what a class of the tests does not set."""
        for (path, _), (line, double, texts) in self._doubles.items():
            names = ", ".join(f"`{text}`" for text in dict.fromkeys(texts))
            message = f"{names} read here in any case; {double.name} in {double.path} is made without"
            yield Problem(path, line, "U102", message)

    def _prepare(self, duties: Iterable[Duty]) -> None:
        asked = Asked()
        for duty in duties:
            if duty.kind in ("stable", "computed", "eager", "constant", "plain"):
                *_, name = duty.what[0].split(".")
                asked.defined.add(name)
                if duty.kind in ("stable", "constant"):
                    asked.written.add(name)
                asked.defined |= called(duty)
            elif duty.kind == "rebound":
                asked.written.add(duty.what[-1])
            elif duty.kind in ("dispatch", "receiver"):
                asked.defined.add(duty.what[2])
            asked.classes |= {each.rpartition(".")[2] for each in self._owners(duty)}
        self.renames = Renames(self.change, self.claims, self.names, asked)
        self.lines = TreeLines(self.change, asked)
        if duties or self.renames.lost or self.renames.static:
            self.lines.begin()
        self.members = (Members(OLD, self.names[OLD], self.lines), Members(NEW, self.names[NEW], self.lines))
        self.presence = tuple(Presence(each) for each in self.members)
        self.writers = tuple(Writers(each, self.lines) for each in self.members)
        sides = zip(self.members, self.writers, strict=True)
        self.between = tuple(Between(each, writers, self.writers[OLD]) for each, writers in sides)
        self.renames.look(self.lines, self.members, self.writers)

    def _owners(self, duty: Duty) -> Iterator[str]:
        """The classes a duty is about, as far as it says."""
        if duty.kind in ("dispatch", "receiver"):
            yield duty.what[1]
        elif duty.kind in ("made", "injected"):
            return
        elif duty.kind in ("stable", "computed", "eager", "constant", "plain", "alias") and duty.what[2]:
            yield duty.what[2]

    # ---- when a value is read or written

    def _late(self, duty: Duty) -> Problem:
        text = duty.what[0]
        return Problem(
            duty.path, duty.line, "U103", f"`{text}` is assigned here, after calls that came behind it before"
        )

    def _eager(self, duty: Duty) -> Answer:
        """An attribute is read that was read on some paths only: is it always there, and does reading it do nothing?"""
        text, path, owner = duty.what[:3]
        first, _, name = text.rpartition(".")
        members, presence = self.members[duty.side], self.presence[duty.side]
        klass = members.type_of(path, duty.function, owner, first)
        if klass is None:
            if self._may_be_none(first):
                return (f"`{text}` is read here in any case, also where `{first}` is None", "U102")
            return (f"reading `{text}` may do something", "U102") if self._is_computed(duty.side, name) else None
        if members.is_computed(klass, name):
            return (f"`{text}` is read here in any case, and is made when it is read", "U102")
        if owner and "." not in first:
            if presence.is_set_at(klass, duty.function.rpartition(".")[2], duty.line, name):
                double = presence.double_without(klass, name)
                if double is not None:
                    self._doubles.setdefault((duty.path, duty.function), (duty.line, double, []))[2].append(text)
                return None
            return (f"`{text}` is read here in any case, and may be missing", "U102")
        if self._may_be_none(first):
            return (f"`{text}` is read here in any case, also where `{first}` is None", "U102")
        if presence.is_always_set(klass, name):
            return None
        return (f"`{text}` is read here in any case, and may be missing", "U102")

    def _may_be_none(self, text: str) -> bool:
        """Whether somebody in the changed files asks if the object is there."""
        word = re.escape(text.encode())
        asked = re.compile(rb"\b%b is (not )?None|\b(if|and|or|not|while) %b\b(?!\.|\()" % (word, word))
        if text not in self._nones:
            self._nones[text] = any(
                text.encode() in (each.before or b"") and asked.search(each.before or b"") is not None
                for each in self.change.changes
                if each.path.endswith(".py")
            )
        return self._nones[text]

    def _constant(self, duty: Duty) -> Answer:
        """A value is handed out where the object was that has it: does it stay?"""
        text, path, owner = duty.what[:3]
        first, _, name = text.rpartition(".")
        klass = self.members[duty.side].type_of(path, duty.function, owner, first)
        if klass is None or self.members[duty.side].is_computed(klass, name):
            return (f"`{text}` may be another one later", "U101")
        is_method = any("method" in each.kinds(name) for each in self.members[duty.side].line(klass))
        if not is_method and any(b".%b(" % name.encode() in (each.after or b"") for each in self.change.changes):
            return (f"`{text}` is called back, and whoever has the object may set another", "U101")
        writers = self.writers[duty.side]
        stores = re.compile(rb"\bself\.%b\s*(?::[^=\n]+)?[-+*/|&^%%@]?=(?!=)" % re.escape(name.encode()))
        below = any(stores.search(each.block) is not None for each in self.members[duty.side].heirs(klass))
        later = any(
            each.method_at(line) == duty.function.rpartition(".")[2] and each.path == duty.path and line > duty.line
            for each in self.members[duty.side].line(klass)
            for match in stores.finditer(each.block)
            for line in [each.line + each.block.count(b"\n", 0, match.start())]
        )
        is_written = below or later or writers.others(klass, name) or writers.methods(klass, name)
        return (f"`{text}` may be written later", "U101") if is_written else None

    def _computed(self, duty: Duty) -> Answer:
        """An attribute is read once, as before or more rarely: does reading it do nothing?"""
        text, path, owner = duty.what[:3]
        first, _, name = text.rpartition(".")
        klass = self.members[duty.side].type_of(path, duty.function, owner, first)
        if klass is None:
            is_computed = self._is_computed(duty.side, name)
        else:
            is_computed = self.members[duty.side].is_computed(klass, name)
        return (f"reading `{text}` may do something", "U101") if is_computed else None

    def _is_computed(self, side: int, name: str) -> bool:
        """Whether any class of the tree computes an attribute of this name."""
        members = self.members[side]
        for path, owner in members.definers(name):
            klass = members.klass((path, owner))
            if klass is not None and "computed" in klass.kinds(name):
                return True
        return False

    def _stable(self, duty: Duty) -> Answer:
        return self.between[duty.side].stable(duty)

    def _plain(self, duty: Duty) -> Answer:
        return self.between[duty.side].plain(duty)

    def _rebound(self, duty: Duty) -> Answer:
        return self.between[duty.side].rebound(duty)

    def _unbound(self, duty: Duty) -> Answer:
        return (f"`{duty.what[0]}` may have no value here", "U102")

    # ---- what stands where

    def _repeated(self, duty: Duty) -> Answer:
        name = duty.what[0]
        ref = self.names[NEW].resolve(duty.path, name)
        node = self.names[NEW].definitions(ref[1]).get(ref[2])
        value = getattr(node, "value", None)
        if not isinstance(value, ast.Call):
            return None
        if ast.unparse(value) == "logging.getLogger(__name__)":
            module = self.names[NEW].modules.module_of(ref[1])
            return Problem(duty.path, duty.line, "U110", f"log records of `{name}` come from the logger {module} now")
        is_steady = self._is_steady(ref[1], ast.unparse(value.func))
        return None if is_steady else ("made anew in this module, by a call", "U109")

    def _is_steady(self, path: str, function: str) -> bool:
        """Whether a function without arguments keeps its answer."""
        place = self.members[NEW].found(path, function)
        return place is not None and is_steady(self.lines.raw(NEW, place[0]), place[1])

    def _reflects(self, duty: Duty) -> Answer:
        return (f"`{duty.what[0]}` depends on where it stands", "U105" if "super" in duty.what[0] else "U110")

    def _eager_import(self, duty: Duty) -> Answer:
        module, *names = duty.what
        words = [module, *(f"{module}.{name}" for name in names)] if module else names
        if any(self._is_loaded(OLD, duty.path, each) for each in words):
            return None
        text = f"the import of {words[0]} was done when the function ran, and is not any more"
        return Problem(duty.path, duty.line, "U109", text)

    def _is_loaded(self, side: int, path: str, module: str) -> bool:
        """Whether a module is imported at the top of a file."""
        return path in self.names[side].files and module in set(self._loaded(side, path))

    def _loaded(self, side: int, path: str) -> Iterator[str]:
        names = self.names[side]
        for node in names.tree(path).body:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = names.modules.absolute(path, node.level, node.module)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)

    # ---- who is meant

    def _dispatch(self, duty: Duty) -> Answer:
        """A call on self was taken to reach this very method: does another class have a say?"""
        path, owner, name = duty.what[:3]
        for side in (OLD, NEW):
            klass = self.members[side].klass((path, owner))
            rival = self.members[side].rival(klass, name) if klass is not None else ""
            if rival:
                return (f"`{name}` may be another one: {rival}", "U104")
        return None

    def _receiver(self, duty: Duty) -> Answer:
        """A call on something unknown was taken to reach this method: is there another of that name?"""
        path, owner, name = duty.what[:3]
        klass = None
        if len(duty.what) == 6 and re.fullmatch(r"[\w.]+", duty.what[3]):
            text, home, of = duty.what[3:]
            klass = self.members[duty.side].type_of(home, duty.function, of, text)
        if klass is not None and (klass.path, klass.name) == (path, owner.rpartition(".")[2]):
            rival = self.members[duty.side].rival(klass, name)
            return (f"`{name}` may be another one: {rival}", "U104") if rival else None
        for side in (OLD, NEW):
            others = [each for each in self.members[side].definers(name) if each != (path, owner.rpartition(".")[2])]
            if others:
                return (f"`{name}` is a method of {others[0][1]} too", "U115")
        return None

    def _made(self, duty: Duty) -> Answer:
        """A call that was compared; `_injected` asks for it."""
        del duty
        return None

    def _injected(self, duty: Duty) -> Answer:
        """A class is given other things, and keeps them: was every call that makes an object of it compared?"""
        path, owner, name = duty.what
        klass = self.members[NEW].klass((path, owner))
        writers = self.writers[NEW]
        if klass is None or writers.others(klass, name) or writers.methods(klass, name):
            return (f"`{name}` may be written again", "U101")
        paths = {hit.path for hit in self.lines.says(owner.rpartition(".")[2]) if hit.side == NEW}
        place = still_made((path, owner), paths, self.names[NEW], self._calls)
        return (f"{place} may give `{owner}` what it was given before", "U121") if place else None

    def _alias(self, duty: Duty) -> Answer:
        return self.renames.alias(duty)

    def _renamed(self, duty: Duty) -> Answer:
        return self.renames.renamed(duty)

    def _redirected(self, duty: Duty) -> Answer:
        return self.renames.redirected(duty)
