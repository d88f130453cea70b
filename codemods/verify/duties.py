"""What the kernel can't see in the text: shown here by facts about the whole tree, or else residue or a finding.

A duty that can't be shown makes its line residue; a difference that is certain is a finding. Classes are known by what
is written in the tree: a base from outside may define anything, and is taken to define nothing of ours."""

from __future__ import annotations

import ast
import re

from codemods.schema.verdict import Problem
from codemods.source.index import mentioning
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims, Duty, Line
from codemods.verify.members import Members
from codemods.verify.names import Names
from codemods.verify.values import NEW, OLD

Answer = Problem | tuple[str, str] | None


class Duties:
    """Facts about two trees, found when they are asked for."""

    def __init__(self, change: TreeChange, claims: Claims, old: Names, new: Names) -> None:
        self.change, self.claims, self.names = change, claims, (old, new)
        self.members = (Members(old), Members(new))

    def discharged(self, lines: list[Line], duties: list[Duty]) -> tuple[list[Line], list[Problem]]:
        """The lines with what could not be shown as residue, and what was found out on the way."""
        problems: list[Problem] = []
        extra: list[Line] = []
        for duty in dict.fromkeys(duties):
            answer: Answer = getattr(self, "_" + duty.kind.replace("-", "_"))(duty)
            if isinstance(answer, Problem):
                problems.append(answer)
            elif answer is not None:
                reason, code = answer
                extra.append(Line(duty.side, duty.path, duty.line, duty.line, "residue", reason, code, duty.function))
        return [*lines, *extra], problems

    # ---- when a value is read or written

    def _late(self, duty: Duty) -> Problem:
        text = duty.what[0]
        return Problem(
            duty.path, duty.line, "U103", f"`{text}` is assigned here, after calls that came behind it before"
        )

    def _eager(self, duty: Duty) -> Answer:
        """An attribute is read where it was read only on some paths: is it always there, and does reading it do nothing?"""
        text, path, owner = duty.what[:3]
        first, _, name = text.rpartition(".")
        if owner and "." not in first:
            if self._is_plain(duty.side, path, owner, name):
                return None
            return (f"`{text}` is read here in any case, and may be missing or made when it is read", "U102")
        if self._may_be_none(duty, first):
            return (f"`{text}` is read here in any case, also where `{first}` is None", "U102")
        return None if not self._is_computed(name) else (f"reading `{text}` may do something", "U102")

    def _may_be_none(self, duty: Duty, text: str) -> bool:
        """Whether somebody in the changed files asks if the object is there."""
        word = re.escape(text.encode())
        asked = re.compile(rb"\b%b is (not )?None|\b(if|and|or|not|while) %b\b(?!\.|\()" % (word, word))
        return any(
            asked.search(each.before or b"") is not None for each in self.change.changes if each.path.endswith(".py")
        )

    def _computed(self, duty: Duty) -> Answer:
        """An attribute is read once, as before or more rarely: does reading it do nothing?"""
        text, path, owner = duty.what[:3]
        first, _, name = text.rpartition(".")
        if owner and "." not in first:
            is_computed = self.members[duty.side].is_computed(path, owner, name)
        else:
            is_computed = self._is_computed(name)
        return (f"reading `{text}` may do something", "U101") if is_computed else None

    def _is_plain(self, side: int, path: str, owner: str, name: str) -> bool:
        """Whether every instance of a class has the attribute, as a plain value."""
        members = self.members[side]
        return members.is_always_set(path, owner, name) and not members.is_computed(path, owner, name)

    def _is_computed(self, name: str) -> bool:
        """Whether any class of the tree has a property of this name."""
        for path in mentioning(self.change.new, name):
            raw = self.change.new.read(path)
            if re.search(rb"@[\w.]*property\b[^\n]*\n(\s*@[^\n]*\n)*\s*def " + name.encode() + rb"\(", raw):
                return True
        return False

    def _stable(self, duty: Duty) -> Answer:
        """An attribute is read once where it was read again behind calls: does anybody write it after construction?"""
        text, path, owner = duty.what[:3]
        first, _, name = text.rpartition(".")
        if owner and "." not in first:
            if self.members[duty.side].is_computed(path, owner, name):
                return (f"`{text}` is computed at each read, and is read once now", "U101")
            if not self.members[duty.side].is_written_later(path, owner, name):
                return None
        elif not self._is_computed(name):
            return None
        return (f"`{text}` may have changed where it was read again", "U101")

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
        return None if self._is_steady(value) else ("made anew in this module, by a call", "U109")

    def _is_steady(self, call: ast.Call) -> bool:
        """Whether a function without arguments keeps its answer: it is cached, in the text of the tree."""
        function = ast.unparse(call.func).rpartition(".")[2]
        for each in mentioning(self.change.new, function):
            raw = self.change.new.read(each)
            at = re.search(rb"^((?:@[^\n]*\n)*)def " + function.encode() + rb"\(\)", raw, re.MULTILINE)
            if at is not None:
                return b"cache" in at[1]
        return False

    def _reflects(self, duty: Duty) -> Answer:
        return (f"`{duty.what[0]}` depends on where it stands", "U105" if "super" in duty.what[0] else "U110")

    def _eager_import(self, duty: Duty) -> Answer:
        module, *names = duty.what
        words = [module, *(f"{module}.{name}" for name in names)] if module else names
        if any(self._is_loaded(OLD, duty.path, each) for each in words):
            return None
        return Problem(
            duty.path,
            duty.line,
            "U109",
            f"the import of {words[0]} was done when the function ran, and is not any more",
        )

    def _is_loaded(self, side: int, path: str, module: str) -> bool:
        """Whether a module is imported at the top of a file."""
        names = self.names[side]
        if path not in names.files:
            return False
        for node in names.tree(path).body:
            if isinstance(node, ast.Import) and any(alias.name == module for alias in node.names):
                return True
            if isinstance(node, ast.ImportFrom):
                base = names.modules.absolute(path, node.level, node.module)
                if base == module or any(f"{base}.{alias.name}" == module for alias in node.names):
                    return True
        return False

    # ---- who is meant

    def _dispatch(self, duty: Duty) -> Answer:
        """A call on self was taken to reach this very method: does another class have a say?"""
        path, owner, name = duty.what[:3]
        for side in (OLD, NEW):
            rival = self.members[side].rival(path, owner, name)
            if rival:
                return (f"`{name}` may be another one: {rival}", "U104")
        return None

    def _receiver(self, duty: Duty) -> Answer:
        """A call on something unknown was taken to reach this method: is there another of that name?"""
        path, owner, name = duty.what[:3]
        for side in (OLD, NEW):
            others = [each for each in self.members[side].definers(name) if each != (path, owner)]
            if others:
                return (f"`{name}` is a method of {others[0][1]} too", "U115")
        return None

    def _alias(self, duty: Duty) -> Answer:
        return None

    def _renamed(self, duty: Duty) -> Answer:
        return self._is_holder(duty)

    def _redirected(self, duty: Duty) -> Answer:
        return self._is_holder(duty)

    def _is_holder(self, duty: Duty) -> Answer:
        """Whether what the attribute is read from is an instance of the class that changed."""
        return None
