"""Blocks in one normal form, so that the kernel need not know how a programmer chose to write them.

A guard (`if x: return` and the rest) is the rest under the opposite condition; nested conditions are one; the last
`return` or `continue` of a block is nothing; a call of a function that only this side has, or that takes other
parameters there, is the function's body between the binding of its parameters and the use of its result."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from codemods.source.nodes import walk
from codemods.verify.calls import Calls
from codemods.verify.forms import (
    as_condition,
    definition_of,
    ends,
    is_name_returned,
    is_none,
    is_silent,
    leaves_on_error,
    literals,
    returns_last,
    with_rest,
    without_docstring,
)
from codemods.verify.frames import Bind, Body, Frame, Glue, If, Inner, Item
from codemods.verify.scopes import Function
from codemods.verify.side import RESULT


class Canon(Calls):
    """One side: its names, its frames and its blocks."""

    def body(self, frame: Frame) -> list[Item]:
        """A function's whole body."""
        return self.items(without_docstring(definition_of(frame).body), frame, last=ast.Return)

    def nested(self, node: Function | ast.Lambda, frame: Frame) -> list[Item]:
        """The body of a function inside a function, or of a lambda."""
        if isinstance(node, ast.Lambda):
            return [Item(ast.copy_location(ast.Return(node.body), node.body), frame)]
        return self.items(node.body, frame, last=ast.Return)

    def items(
        self, body: Sequence[ast.stmt], frame: Frame, *, last: type | None = None, is_value: bool = False
    ) -> list[Item]:
        """A block in normal form. last: the kind of statement that does nothing at its end."""
        made = self._items(body, frame, is_value)
        if last is not None:
            self._strip(made, last)
        return [self._oriented(item) for item in made]

    def _items(self, body: Sequence[ast.stmt], frame: Frame, is_value: bool) -> list[Item]:
        out: list[Item] = []
        for at, node in enumerate(body):
            rest = body[at + 1 :]
            if isinstance(node, ast.If):
                ended = ends(node.body), ends(node.orelse)
                is_answer = len(rest) == 1 and is_name_returned(rest[0]) and bool(node.orelse)
                is_taken = bool(rest) and (any(ended) or is_answer)
                first, second = (
                    self._items([*block, *(rest if is_taken and not has_ended else ())], frame, is_value)
                    for block, has_ended in zip((node.body, node.orelse), ended, strict=True)
                )
                out += self._decided(node, frame, first, second) or [If(node, frame, blocks=(first, second))]
                if is_taken:
                    return out
            elif rest and isinstance(node, ast.Try) and leaves_on_error(node):
                out += self._statement(with_rest(node, rest), frame, is_value)
                return out
            elif (chosen := as_condition(node)) is not None:
                return out + self._items([chosen, *rest], frame, is_value)
            else:
                out += self._statement(node, frame, is_value)
        return out

    def _statement(self, node: ast.stmt, frame: Frame, is_value: bool) -> list[Item]:
        inline = self._inlined(node, frame, is_value)
        if inline is not None:
            return inline
        if isinstance(node, ast.Return) and is_value:
            target = ast.Name(RESULT, ast.Store())
            return self._parted(node, (target,), node.value or ast.Constant(None), frame)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
            targets = tuple(node.targets) if isinstance(node, ast.Assign) else (node.target,)
            if self.record(node.value, frame) is not None:
                return self._parted(node, targets, node.value, frame)

        def inner(body: Sequence[ast.stmt], last: type | None = None) -> list[Item]:
            made = self._items(body, frame, is_value)
            if last is not None:
                self._strip(made, last)
            return made

        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return [Item(node, frame, blocks=(inner(node.body, ast.Continue), inner(node.orelse)))]
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            handlers = [inner(handler.body) for handler in node.handlers]  # type: ignore[attr-defined]
            blocks = (inner(node.body), inner(node.orelse), inner(node.finalbody), *handlers)  # type: ignore[attr-defined]
            return [Item(node, frame, blocks=blocks)]
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return [Item(node, frame, blocks=(inner(node.body),))]
        if isinstance(node, ast.Match):
            return [Item(node, frame, blocks=tuple(inner(case.body) for case in node.cases))]
        return [Item(node, frame)]

    def _parted(self, node: ast.stmt, targets: tuple[ast.expr, ...], value: ast.expr, frame: Frame) -> list[Item]:
        """A tuple or a record that is made of more than names: its parts first, each in a place of its own."""
        fields = self.record(value, frame) if isinstance(value, ast.Call) else None
        if isinstance(value, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in value.elts):
            fields = [(str(number), part) for number, part in enumerate(value.elts)]
        if fields is None or all(isinstance(part, (ast.Name, ast.Attribute, ast.Constant)) for _, part in fields):
            return [Glue(node, frame, targets=targets, value=value)]
        out: list[Item] = []
        for name, part in fields:
            out.append(Glue(part, frame, targets=(ast.Name(f"<{name}>", ast.Store()),), value=part))  # type: ignore[arg-type]
        names = [ast.Name(f"<{name}>", ast.Load()) for name, _ in fields]
        if isinstance(value, ast.Call):
            keywords = [ast.keyword(name, each) for (name, _), each in zip(fields, names, strict=True)]
            made: ast.expr = ast.copy_location(ast.Call(value.func, [], keywords), value)
        else:
            made = ast.copy_location(ast.Tuple(list(names), ast.Load()), value)
        return [*out, Glue(node, frame, targets=targets, value=made)]

    def _strip(self, items: list[Item], kind: type) -> None:
        """Takes off what does nothing at the end: `return`, `return None`, `continue`."""
        while items:
            node = items[-1].node
            if isinstance(items[-1], Body) and isinstance(node, ast.Return) and kind is ast.Return:
                self._strip(items[-1].inside, kind)
                return
            if isinstance(node, ast.Try) and not node.finalbody and kind is ast.Return:
                for block in items[-1].blocks[1:] if node.orelse else items[-1].blocks:
                    self._strip(block, kind)
                return
            if isinstance(items[-1], If) or (kind is ast.Return and isinstance(node, (ast.With, ast.AsyncWith))):
                for block in items[-1].blocks:
                    self._strip(block, kind)
                return
            is_bare = not isinstance(node, ast.Return) or node.value is None or is_none(node.value)
            if not (isinstance(node, kind) and is_bare) or items[-1].source is not None:
                return
            self.cover(items.pop())

    def _oriented(self, item: Item) -> Item:
        blocks = tuple([self._oriented(inner) for inner in block] for block in item.blocks)
        item = replace(item, blocks=blocks)
        if isinstance(item, Body):
            return replace(item, inside=[self._oriented(inner) for inner in item.inside])
        if not isinstance(item, If):
            return item
        node = item.node
        assert isinstance(node, ast.If)
        first, second = blocks
        test, flipped = literals(node.test, item.frame, False), literals(node.test, item.frame, True)
        if (second and not first) or (second and len(test) == 1 and test[0].is_negated):
            first, second, test = second, first, flipped
        if first and not second and isinstance(first[-1], If) and not first[-1].blocks[1]:
            inner, binds = first[-1], first[:-1]
            if all(isinstance(each, Bind) for each in binds):
                self.cover(inner)
                test = [*test, replace(inner.test[0], binds=(*binds, *inner.test[0].binds)), *inner.test[1:]]
                first = inner.blocks[0]
        return replace(item, blocks=(first, second), test=tuple(test))

    def _inlined(self, node: ast.stmt, frame: Frame, is_value: bool) -> list[Item] | None:
        """The body of the function a statement calls, where the statement does nothing else."""
        value = getattr(node, "value", None)
        if not isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)) or value is None:
            return None
        call = value.value if isinstance(value, ast.Await) else value
        if not isinstance(call, ast.Call):
            return None
        is_kept = isinstance(node, ast.Return) and not is_value
        inner = self.entered(call, frame, is_awaited=call is not value)
        if inner is None or (inner.result is not None and isinstance(node, ast.Expr)):
            return None
        body = without_docstring(definition_of(inner.frame).body)
        if not is_kept and not returns_last(body, is_last=True):
            return None
        made = self._items(body, inner.frame, not is_kept and not is_silent(body))
        if not is_kept:
            self._strip(made, ast.Return)
        target = ast.Name(RESULT, ast.Store())
        head = Bind(node, inner.frame, where=frame, targets=(target,), value=ast.Constant(None))
        out: list[Item] = [*inner.binds, head, *made]
        if is_kept:
            return self._group(node, frame, inner, out)
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = tuple(node.targets) if isinstance(node, ast.Assign) else (node.target,)
        elif isinstance(node, ast.Return):
            targets = (target,)
        else:
            return self._group(node, frame, inner, out)
        glue = Glue(node, frame, source=inner.frame, targets=targets, value=ast.Name(RESULT, ast.Load()))
        return self._group(node, frame, inner, [*out, glue])

    def _decided(self, node: ast.If, frame: Frame, first: list[Item], second: list[Item]) -> list[Item] | None:
        """A condition that is a call of a function of this side alone: the blocks go where the answers are."""
        call, swapped = node.test, False
        while isinstance(call, ast.UnaryOp) and isinstance(call.op, ast.Not):
            call, swapped = call.operand, not swapped
        inner = self.entered(call, frame) if isinstance(call, ast.Call) else None
        if inner is None or inner.result is not None:
            return None
        definition = inner.frame.chain[-1]
        body = without_docstring(definition_of(inner.frame).body)
        if self.other.has(self._partner.get(definition, definition)) or not returns_last(body, is_last=True):
            return None
        made = self._items(body, inner.frame, True)
        if not _answered(made, second if swapped else first, first if swapped else second):
            return None
        for each in walk(definition_of(inner.frame)):
            if isinstance(each, ast.Return):  # which of the blocks is run, and nothing else
                self.cover(Item(each, inner.frame))
        target = ast.Name(RESULT, ast.Store())
        head = Bind(node, inner.frame, where=frame, targets=(target,), value=ast.Constant(None))
        return [*inner.binds, head, *made]

    def _group(self, node: ast.stmt, frame: Frame, inner: Inner, items: list[Item]) -> list[Item]:
        """A body that is only looked into where the other side has the body of its partner, or that has no partner."""
        definition = inner.frame.chain[-1]
        partner = self._partner.get(definition, definition)
        if not self.other.has(partner):
            return items
        key = definition if self.side else partner
        return [Body(node, frame, inside=items, definition=key)]


def _answered(items: list[Item], yes: list[Item], no: list[Item]) -> bool:
    """Puts blocks in place of the constants that a body gives; False where it gives something else."""
    last = items[-1] if items else None
    if isinstance(last, If):
        return all(_answered(block, yes, no) for block in last.blocks)
    if isinstance(last, Glue) and last.source is None:
        if not isinstance(last.value, ast.Constant):
            return False
        items.pop()
        items += yes if last.value.value else no
    elif last is not None and any(_gives(block) for block in last.blocks):
        return False
    else:
        items += no
    return True


def _gives(items: list[Item]) -> bool:
    """Whether a body gives its result from inside of a `try`, a `with` or the like."""
    return any(isinstance(each, Glue) or any(_gives(block) for block in each.blocks) for each in items)


def turned_round(item: If) -> If:
    """The same under the opposite condition, where the condition is that of one statement; else the item itself."""
    assert isinstance(item.node, ast.If)
    for negated in (False, True):
        known = literals(item.node.test, item.frame, negated)
        if [(each.node, each.is_negated) for each in known] == [(each.node, each.is_negated) for each in item.test]:
            first, second = item.blocks
            return replace(item, blocks=(second, first), test=tuple(literals(item.node.test, item.frame, not negated)))
    return item
