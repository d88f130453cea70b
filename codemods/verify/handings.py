"""What an effect may reach: what a call gets, and the objects whose own methods an operator, a key, a loop or a text
runs."""

from __future__ import annotations

import ast

from codemods.verify.frames import Frame
from codemods.verify.moments import Handed
from codemods.verify.values import Values

_ASKED = {
    ast.Subscript: "item:",
    ast.BinOp: "operator:",
    ast.Compare: "operator:",
    ast.UnaryOp: "operator:",
    ast.FormattedValue: "text:",
    ast.Starred: "each:",
    ast.Dict: "key:",
    ast.Set: "key:",
    ast.Slice: "key:",
    ast.Assert: "truth:",
}


class Handings(Values):
    """Notes effects as they come."""

    def _handing(self, call: ast.Call, frame: Frame) -> Handed:
        """What a call may reach: the object whose method it is, and what it is given."""
        parts = [call.func, *call.args, *(k.value for k in call.keywords)]
        parts += [call.func.value] if isinstance(call.func, ast.Attribute) else []
        names = {each.id for each in parts if isinstance(each, ast.Name)}
        values = [self.value(each, frame) for each in parts if isinstance(each, (ast.Name, ast.Attribute))]
        is_own = any((home := frame.home(name)) is not None and home.selfname == name for name in names)
        text = f"{frame.path}:{ast.unparse(call.func)}"
        known = tuple(each for each in values if each is not None)
        return Handed(text, known, is_own=is_own, is_foreign=self._is_foreign(call.func, frame))

    def _is_foreign(self, node: ast.expr, frame: Frame) -> bool:
        """Whether something was imported from outside of the tree, or is built in."""
        while isinstance(node, ast.Attribute):
            node = node.value
        held = self.value(node, frame) if isinstance(node, ast.Name) else None
        if held is None or held[0] != "ref" or "top" in held or "mod" in held:
            return False
        modules = self.canon[frame.side].names.modules
        return not modules.is_package_directory(str(held[-1]).partition(".")[0]) and held[1] in (
            "builtin",
            "ext",
            "same",
        )

    def _hand(self, node: ast.AST | None, frame: Frame, asked: str = "") -> None:
        """An object is entered, gone through, indexed, added or shown, by methods of its own."""
        while isinstance(node, ast.NamedExpr):
            node = node.value
        if not isinstance(node, (ast.Name, ast.Attribute)) or (held := self.value(node, frame)) is None:
            return
        if held[0] not in ("const", "ref", "tuple"):
            self._handed.append(Handed(f"{frame.path}:{ast.unparse(node)}", (held,), asked=asked))
            self._reached = len(self._handed)

    def _operate(self, node: ast.AST, frame: Frame) -> None:
        """What is handed to methods of its own by an operator, a key, a question or a text."""
        for each in _operands(node):
            self._hand(each, frame, _ASKED[type(node)])
        if isinstance(node, ast.Subscript):
            self._hand(node.slice, frame, "key:")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):  # of a text: what is put into it
            for each in node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]:
                self._hand(each, frame, "text:")
        elif isinstance(node, ast.Compare):
            for each in node.comparators:
                self._hand(each, frame, "item:")
        elif isinstance(node, ast.Call):
            for each in node.keywords:
                if each.arg is None:
                    self._hand(each.value, frame, "item:")
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                self._hand_bound(each, frame)

    def _hand_bound(self, node: ast.expr, frame: Frame) -> None:
        """An argument that may be a method, which brings its object along."""
        held = self.value(node.value, frame) if isinstance(node, ast.Attribute) else None
        if held is not None and held[0] not in ("const", "ref", "tuple"):
            self._handed.append(Handed(f"{frame.path}:{ast.unparse(node)}", (held,), asked="bound:"))
            self._reached = len(self._handed)


def _operands(node: ast.AST) -> list[ast.AST | None]:
    """The objects whose methods are asked."""
    if isinstance(node, (ast.Subscript, ast.FormattedValue, ast.Starred)):
        return [node.value]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Dict):
        return [*node.keys, *(value for key, value in zip(node.keys, node.values, strict=True) if key is None)]
    if isinstance(node, ast.Set):
        return list(node.elts)
    if isinstance(node, ast.Slice):
        return [node.lower, node.upper, node.step]
    return [node.test] if isinstance(node, ast.Assert) else []
