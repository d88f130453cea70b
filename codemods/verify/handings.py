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
        if not isinstance(node, (ast.Name, ast.Attribute)) or (held := self.value(node, frame)) is None:
            return
        if held[0] not in ("const", "ref", "tuple"):
            self._handed.append(Handed(f"{frame.path}:{ast.unparse(node)}", (held,), asked=asked))
            self._reached = len(self._handed)

    def _operate(self, node: ast.AST, frame: Frame) -> None:
        """What is handed to methods of its own by an operator, a key, a question or a text."""
        parts: list[ast.AST] = []
        if isinstance(node, ast.Subscript):
            parts = [node.value]
        elif isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.UnaryOp):
            parts = [node.operand]
        elif isinstance(node, (ast.FormattedValue, ast.Starred)):
            parts = [node.value]
        for each in parts:
            self._hand(each, frame, _ASKED[type(node)])
