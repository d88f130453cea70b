"""Calls that the kernel looks into: which function is meant, what its parameters get, which records are filled."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from codemods.source.nodes import first_line
from codemods.verify.forms import (
    definition_of,
    is_generator,
    record_fields,
    root,
    signature,
    takes_self,
    without_docstring,
)
from codemods.verify.frames import Bind, Duty, Frame, Inner, Item, Line
from codemods.verify.names import Definition
from codemods.verify.side import Side

_MAX_DEPTH = 8


class Calls(Side):
    """Enters functions that the other side lacks, or that take other parameters there."""

    def entered(self, call: ast.Call, frame: Frame, *, is_awaited: bool = False) -> Inner | None:
        """The function a call enters, when the other side has no such function or one with other parameters."""
        found = self._callee(call, frame)
        if found is None or len(frame.chain) > _MAX_DEPTH or found[0] in frame.chain:
            return None
        definition, receiver = found
        node = self.names.definitions(definition[0])[definition[1]]
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not self.is_opened(definition):
            return None
        is_plain = all(ast.unparse(each) == "staticmethod" for each in node.decorator_list)
        if not is_plain or isinstance(node, ast.AsyncFunctionDef) is not is_awaited or is_generator(node):
            return None
        inner = self.frame(definition, "inline" if not self.side else "extract", inlined_in=frame)
        binds = self._binds(call, frame, inner, receiver)
        if binds is None:
            return None
        self.entered_definitions.add(definition)
        given = {bind.targets[0].id: bind.value for bind in binds if root(bind.value) == frame.selfname != ""}  # type: ignore[attr-defined]
        self.bound.setdefault(definition, given)  # type: ignore[arg-type]
        if isinstance(call.func, ast.Attribute) and "." in definition[1] and self._raw(call.func, frame) is None:
            home = frame.home(call.func.value.id) if isinstance(call.func.value, ast.Name) else None
            is_own = home is not None and home.owner and home.selfname == call.func.value.id  # type: ignore[attr-defined]
            owner, _, name = definition[1].rpartition(".")
            what: tuple[str, ...] = (definition[0], owner, name, *self.described(call.func.value, frame))
            if is_own and home:
                what = (home.path, home.owner, name)
            kind = "dispatch" if is_own else "receiver"
            self.duties.append(Duty(kind, self.side, frame.path, call.lineno, what, frame.title))
        self.cover_head(inner)
        body = without_docstring(node.body)
        result = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        return Inner(inner, tuple(binds), result, body[0] if body else None)

    def cover_head(self, frame: Frame) -> None:
        """The lines of a function outside its statements: decorators, signature, docstring."""
        node = definition_of(frame)
        first = first_line(node)
        start = (
            without_docstring(node.body)[0].lineno if without_docstring(node.body) else (node.end_lineno or first) + 1
        )
        last = max(start - 1, node.lineno)
        self.lines.append(Line(self.side, frame.path, first, last, frame.kind, function=frame.title))

    def _callee(self, call: ast.Call, frame: Frame) -> tuple[Definition, ast.expr | None] | None:
        func = call.func
        ref = self._raw(func, frame)
        if ref is not None and ref[0] == "top":
            return ((ref[1], ref[2]), None) if self._knows(ref) else None
        if not isinstance(func, ast.Attribute):
            return None
        home = frame.home(func.value.id) if isinstance(func.value, ast.Name) else None
        if home is not None and home.owner and home.selfname == func.value.id:  # type: ignore[attr-defined]
            found = self.names.method(home.path, home.owner, func.attr)
        else:
            found = self.claims.loose[self.side].get(func.attr)
        if found is None:
            return None
        node = self.names.definitions(found[0])[found[1]]
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        return found, (func.value if takes_self(node, found[1].rpartition(".")[0]) else None)

    def is_reached(self, definition: Definition) -> bool:
        """Whether a call of this side was seen to enter the function."""
        return definition in self.entered_definitions

    def is_opened(self, definition: Definition) -> bool:
        """Whether calls of the function are replaced by its body: the other side lacks it or calls it differently."""
        if definition[0] not in self.claims.changed:
            return False
        other = self._partner.get(definition, definition)
        if not self.other.has(other) or (other == definition and other in self.claims.unpaired):
            return True
        a = self.names.definitions(definition[0])[definition[1]]
        b = self.other.definitions(other[0])[other[1]]
        return signature(a, definition) != signature(b, other)

    def _binds(self, call: ast.Call, frame: Frame, inner: Frame, receiver: ast.expr | None) -> list[Bind] | None:
        """Parameter by parameter what the call gives; None when that can't be told."""
        assert inner.function is not None
        args = inner.function.args
        if args.vararg or args.kwarg or any(isinstance(arg, ast.Starred) for arg in call.args):
            return None
        positional = [arg.arg for arg in [*args.posonlyargs, *args.args]]
        given: list[tuple[str, ast.expr]] = []
        values = [*([receiver] if receiver is not None else []), *call.args]
        if len(values) > len(positional) or any(keyword.arg is None for keyword in call.keywords):
            return None
        given += zip(positional, values, strict=False)
        given += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
        names = [name for name, _ in given]
        wanted = [*positional, *(arg.arg for arg in args.kwonlyargs)]
        if len(set(names)) != len(names) or not set(names) <= set(wanted):
            return None
        defaults = dict(zip(reversed(positional), reversed(args.defaults), strict=False))
        defaults |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}
        binds = [self._bind(name, value, inner, frame, frame) for name, value in given]
        for name in wanted:
            if name not in names:
                if not isinstance(defaults.get(name), ast.Constant):
                    return None
                binds.append(self._bind(name, defaults[name], inner, inner, inner))
        return binds

    def _bind(self, name: str, value: ast.expr, inner: Frame, source: Frame, where: Frame) -> Bind:
        return Bind(value, inner, source=source, where=where, targets=(ast.Name(name, ast.Store()),), value=value)  # type: ignore[arg-type]

    def again(self, call: ast.Call, frame: Frame) -> tuple[Definition, dict[str, ast.expr]] | None:
        """A call of a function from within itself: which one, in terms of the new tree, and what it gives."""
        found = self._callee(call, frame)
        if found is None or found[0] not in frame.chain:
            return None
        binds = self._binds(call, frame, self.frame(found[0]), found[1])
        if binds is None:
            return None
        definition = found[0] if self.side else self._partner.get(found[0], found[0])
        return definition, {bind.targets[0].id: bind.value for bind in binds if bind.value is not None}  # type: ignore[attr-defined]

    def all_of(self, inner: Definition, outer: Definition, frame: Frame) -> dict[str, ast.expr] | None:
        """What a function is given that is entered from another one, which does nothing but call it."""
        if inner not in frame.chain or outer not in frame.chain:
            return None
        at = frame.chain.index(inner)
        if at == 0 or frame.chain[at - 1] != outer:
            return None
        node = self.names.definitions(outer[0])[outer[1]]
        body = without_docstring(node.body) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
        call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        around = self.frame(outer)
        found = self._callee(call, around) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or found is None or found[0] != inner:
            return None
        binds = self._binds(call, around, self.frame(inner), found[1]) or []
        given = {bind.targets[0].id: bind.value for bind in binds if bind.value is not None}  # type: ignore[attr-defined]
        shared = [value for name, value in given.items() if name in around.names]
        is_passed = all(isinstance(value, ast.Name) and given.get(value.id) is value for value in shared)
        return given if given and is_passed else None

    def made(self, call: ast.Call, frame: Frame) -> tuple[Definition | None, dict[str, ast.expr] | None]:
        """The class of this side that a call makes an object of, in terms of the new tree, and what it gives to the
        parameters of its __init__; None where that can't be told."""
        ref = self._raw(call.func, frame)
        if ref is None or ref[0] != "top" or not self._knows(ref):
            return None, None
        node = self.names.definitions(ref[1])[ref[2]]
        maker = self.names.definitions(ref[1]).get(f"{ref[2]}.__init__")
        if not isinstance(node, ast.ClassDef) or not isinstance(maker, ast.FunctionDef):
            return None, None
        there = self._comparable(ref)
        args = maker.args
        if args.vararg or args.kwarg or any(isinstance(each, ast.Starred) for each in call.args):
            return (there[1], there[2]), None
        names = [each.arg for each in [*args.posonlyargs, *args.args]][1:]
        given = dict(zip(names, call.args, strict=False)) | {each.arg: each.value for each in call.keywords if each.arg}
        is_told = len(given) == len(call.args) + len(call.keywords)
        return (there[1], there[2]), given if is_told else None

    def record(self, call: ast.Call, frame: Frame) -> list[tuple[str, ast.expr]] | None:
        """The fields that a call of a plain record class of this side fills; None when it leaves some out."""
        ref = self._raw(call.func, frame)
        if ref is None or ref[0] != "top" or not self._knows(ref) or self.other.has((ref[1], ref[2])):
            return None
        node = self.names.definitions(ref[1])[ref[2]]
        names = record_fields(node)
        if names is None or any(isinstance(arg, ast.Starred) for arg in call.args):
            return None
        given = dict(zip(names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
        if set(given) != set(names) or len(call.args) + len(call.keywords) != len(names):
            return None
        self.cover(Item(node, replace(frame, path=ref[1], title=ref[2])))
        return [(name, given[name]) for name in names]

    def cover(self, item: Item) -> None:
        last = item.node.end_lineno or item.node.lineno
        frame = item.frame
        self.lines.append(Line(self.side, frame.path, item.node.lineno, last, "guard", function=frame.title))
