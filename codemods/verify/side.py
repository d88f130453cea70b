"""One side of a comparison: what its names mean, in terms of the new tree, and the frames its functions run in."""

from __future__ import annotations

import ast
import re

from codemods.verify.forms import is_repeatable, takes_self
from codemods.verify.frames import Claims, Duty, Frame, Line
from codemods.verify.names import Definition, Names, Ref, is_rebound
from codemods.verify.scopes import local_names

RESULT = "<result>"
_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(:[A-Za-z_][\w.]*)?")


class Side:
    """The names and frames of one tree."""

    def __init__(
        self, side: int, names: Names, other: Names, claims: Claims, lines: list[Line], duties: list[Duty]
    ) -> None:
        self.side, self.names, self.other, self.claims = side, names, other, claims
        self.lines, self.duties = lines, duties
        self._partner = {new: old for old, new in claims.pairs.items()} if side else claims.pairs
        self._moved = claims.modules if not side else {}
        self.frames = 0  # so far
        self._repeatable: dict[Ref, Ref | None] = {}
        self.entered_definitions: set[Definition] = set()
        self.bound: dict[Definition, dict[str, ast.expr]] = {}  # what a call gave to the parameters, in terms of `self`

    def frame(self, definition: Definition, kind: str = "", *, inlined_in: Frame | None = None) -> Frame:
        """A fresh activation of a function of this side."""
        path, qualname = definition
        node = self.names.definitions(path)[qualname]
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        owner = qualname.rpartition(".")[0]
        names = local_names(node) | ({RESULT} if inlined_in else frozenset())
        self.frames += 1
        chain = (*inlined_in.chain, definition) if inlined_in else (definition,)
        return Frame(
            side=self.side, path=path, names=names, number=self.frames, function=node, title=qualname, kind=kind,
            owner=owner if takes_self(node, owner) else "", scope=owner, is_inlined=inlined_in is not None, chain=chain,
        )  # fmt: skip

    def reference(self, name: str, frame: Frame) -> Ref:
        """What a global name means, in terms of the new tree. ("same", name, text) is a value that any module may make
        for itself: a plain constant, the module's logger, the answer of a function without arguments."""
        ref = self.names.resolve(frame.path, name)
        return self.repeatable(ref) or self._comparable(ref)

    def repeatable(self, ref: Ref) -> Ref | None:
        """The ("same", name, text) of a module-level name, when it has one."""
        if ref not in self._repeatable:
            self._repeatable[ref] = self._as_repeatable(ref)
        return self._repeatable[ref]

    def _as_repeatable(self, ref: Ref) -> Ref | None:
        if ref[0] != "top" or ref[1] not in self.claims.changed or len(self.names.table(ref[1]).get(ref[2], ())) != 1:
            return None
        if is_rebound(self.names, ref[1], ref[2]):
            return None
        node = self.names.definitions(ref[1]).get(ref[2])
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if value is None or not is_repeatable(value):
            return None
        callee: Ref = ()
        if isinstance(value, ast.Call):
            callee = self._comparable(self.names.resolve(ref[1], ast.unparse(value.func).partition(".")[0]))
        name = ref[2] if self.side else self.claims.pairs.get((ref[1], ref[2]), ("", ref[2]))[1]
        return ("same", name, ast.dump(value), *callee)

    def named(self, text: object, frame: Frame) -> Ref | None:
        """The definition whose dotted path a text is, in terms of the new tree."""
        if not isinstance(text, str) or not _PATH.fullmatch(text):
            return None
        parts = text.replace(":", ".").split(".")
        for at in range(len(parts) - 1, 0, -1):
            module = self.names.modules.path_of(".".join(parts[:at]), near=frame.path)
            if module is not None and module.endswith(".py"):
                ref: Ref | None = ("mod", module)
                for part in parts[at:]:
                    ref = self.names.attribute(ref, part) if ref is not None else None
                return self._comparable(ref) if ref is not None and ref[0] in ("top", "ext") else None
        return None

    def imported(self, node: ast.Import | ast.ImportFrom, name: str, frame: Frame) -> Ref:
        return self._comparable(self.names.imported(frame.path, node, name))

    def loaded(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> list[Ref]:
        """What an import brings in: modules by their whole name, or members of one."""
        if isinstance(node, ast.ImportFrom):
            return [self.imported(node, each.asname or each.name, frame) for each in node.names]
        whole = [ast.alias(each.name, each.name) for each in node.names]
        return [self.imported(ast.Import([each]), each.name, frame) for each in whole]

    def member(self, ref: Ref, name: str) -> Ref | None:
        """`ref.name`, when that is a definition or a module's member. ref: as `reference` gives it."""
        names = self.names
        if not self.side and ref[0] in ("top", "mod"):  # back into the old tree
            back = {new: old for old, new in self.claims.pairs.items()}
            if ref[0] == "top":
                ref = ("top", *back.get((ref[1], ref[2]), (ref[1], ref[2])))
            else:
                ref = ("mod", {new: old for old, new in self.claims.modules.items()}.get(ref[1], ref[1]))
        found = names.attribute(ref, name)
        return None if found is None else self._comparable(found)

    def _comparable(self, ref: Ref) -> Ref:
        if self.side:
            return ref
        if ref[0] == "top":
            path, name = self.claims.pairs.get((ref[1], ref[2]), (ref[1], ref[2]))
            return ("top", self._moved.get(path, path), name)
        if ref[0] == "own":
            return ref
        return (ref[0], self._moved.get(ref[1], ref[1]))

    def static(self, node: ast.Attribute, frame: Frame) -> Ref | None:
        """The function that `self.name` is, when it is a static method of the class of `self`."""
        home = frame.home(node.value.id) if isinstance(node.value, ast.Name) else None
        if home is None or not home.owner or home.selfname != node.value.id:  # type: ignore[attr-defined]
            return None
        found = self.names.method(home.path, home.owner, node.attr)
        function = self.names.definitions(found[0])[found[1]] if found is not None else None
        if found is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        if [ast.unparse(each) for each in function.decorator_list] != ["staticmethod"]:
            return None
        what = (home.path, home.owner, node.attr)
        self.duties.append(Duty("dispatch", self.side, frame.path, node.lineno, what, frame.title))
        return self._comparable(("top", *found))

    def mangled(self, name: str, frame: Frame) -> str:
        if name.startswith("__") and not name.endswith("__") and frame.scope:
            return f"_{frame.scope.rpartition('.')[2].lstrip('_')}{name}"
        return name

    def described(self, node: ast.AST, frame: Frame) -> tuple[str, ...]:
        """What a duty is about: the dotted text, and the class of `self` in it."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = (
                "" if isinstance(node, ast.Import) else self.names.modules.absolute(frame.path, node.level, node.module)
            )
            return (module, *(alias.name for alias in node.names))
        text = ast.unparse(node)
        home = frame.home(text.partition(".")[0])
        owner = home.owner if home is not None and home.selfname == text.partition(".")[0] else ""
        return (text, home.path if owner and home else frame.path, owner)

    def _raw(self, node: ast.expr, frame: Frame) -> Ref | None:
        if isinstance(node, ast.Name):
            home = frame.home(node.id)
            if home is None:
                return self.names.resolve(frame.path, node.id)
            found = home.imports.get(node.id)
            return self.names.imported(home.path, found, node.id) if found is not None else None
        if isinstance(node, ast.Attribute):
            base = self._raw(node.value, frame)
            return None if base is None else self.names.attribute(base, node.attr)
        return None

    def _knows(self, ref: Ref) -> bool:
        return ref[1] in self.claims.changed and self.names.has((ref[1], ref[2]))
