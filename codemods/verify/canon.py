"""Blocks in one normal form, so that the kernel need not know how a programmer chose to write them.

A guard (`if x: return` and the rest) is the rest under the opposite condition; nested conditions are one; the last
`return` or `continue` of a block is nothing; a call of a function that only this side has, or that takes other
parameters there, is the function's body between the binding of its parameters and the use of its result."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from codemods.verify.frames import Bind, Body, Claims, Duty, Frame, Glue, If, Inner, Item, Line, Literal
from codemods.verify.names import Definition, Function, Names, Ref, local_names

RESULT = "<result>"
_MAX_DEPTH = 8
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_FLAT = {ast.Is: (ast.Is, False), ast.IsNot: (ast.Is, True), ast.In: (ast.In, False), ast.NotIn: (ast.In, True)}
_DATA = frozenset({"NamedTuple", "Struct", "dataclass", "dataclasses.dataclass", "msgspec.Struct", "typing.NamedTuple"})


class Canon:
    """One side: its names, its frames and its blocks."""

    def __init__(
        self, side: int, names: Names, other: Names, claims: Claims, lines: list[Line], duties: list[Duty]
    ) -> None:
        self.side, self.names, self.other, self.claims = side, names, other, claims
        self.lines, self.duties = lines, duties
        self._partner = {new: old for old, new in claims.pairs.items()} if side else claims.pairs
        self._moved = claims.modules if not side else {}
        self._count = 0
        self.entered_definitions: set[Definition] = set()
        self.bound: dict[Definition, dict[str, ast.expr]] = {}  # what a call gave to the parameters, in terms of `self`

    # ---- frames and names

    def frame(self, definition: Definition, kind: str = "", *, inlined_in: Frame | None = None) -> Frame:
        """A fresh activation of a function of this side."""
        path, qualname = definition
        node = self.names.definitions(path)[qualname]
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        owner = qualname.rpartition(".")[0]
        names = local_names(node) | ({RESULT} if inlined_in else frozenset())
        self._count += 1
        chain = (*inlined_in.chain, definition) if inlined_in else (definition,)
        return Frame(
            side=self.side, path=path, names=names, number=self._count, function=node, title=qualname, kind=kind,
            owner=owner if _takes_self(node, owner) else "", scope=owner, is_inlined=inlined_in is not None, chain=chain,
        )  # fmt: skip

    def reference(self, name: str, frame: Frame) -> Ref:
        """What a global name means, in terms of the new tree. ("same", name, text) is a value that any module may make
        for itself: a plain constant, the module's logger, the answer of a function without arguments."""
        ref = self.names.resolve(frame.path, name)
        return self.repeatable(ref) or self._comparable(ref)

    def repeatable(self, ref: Ref) -> Ref | None:
        """The ("same", name, text) of a module-level name, when it has one."""
        if ref[0] != "top" or ref[1] not in self.claims.changed or len(self.names.table(ref[1]).get(ref[2], ())) != 1:
            return None
        node = self.names.definitions(ref[1]).get(ref[2])
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if value is None or not _is_repeatable(value):
            return None
        callee = ()
        if isinstance(value, ast.Call):
            callee = self._comparable(self.names.resolve(ref[1], ast.unparse(value.func).partition(".")[0]))
        return ("same", ref[2], ast.dump(value), *callee)

    def imported(self, node: ast.Import | ast.ImportFrom, name: str, frame: Frame) -> Ref:
        return self._comparable(self.names.imported(frame.path, node, name))

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
        return (ref[0], self._moved.get(ref[1], ref[1]), *ref[2:])

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

    # ---- blocks

    def body(self, frame: Frame) -> list[Item]:
        """A function's whole body."""
        return self.items(_without_docstring(definition_of(frame).body), frame, last=ast.Return)

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
                is_taken = bool(rest) and (_ends(node.body) or _ends(node.orelse))
                goes_second = is_taken and _ends(node.body)
                first = self._items([*node.body, *(rest if is_taken and not goes_second else ())], frame, is_value)
                second = self._items([*node.orelse, *(rest if goes_second else ())], frame, is_value)
                out += self._decided(node, frame, first, second) or [If(node, frame, blocks=(first, second))]
                if is_taken:
                    return out
            else:
                out += self._statement(node, frame, is_value)
        return out

    def _statement(self, node: ast.stmt, frame: Frame, is_value: bool) -> list[Item]:
        inline = self._inlined(node, frame, is_value)
        if inline is not None:
            return inline
        if isinstance(node, ast.Return) and is_value:
            target = ast.Name(RESULT, ast.Store())
            return [Glue(node, frame, targets=(target,), value=node.value or ast.Constant(None))]

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

    def _strip(self, items: list[Item], kind: type) -> None:
        """Takes off what does nothing at the end: `return`, `return None`, `continue`."""
        while items:
            node = items[-1].node
            if isinstance(items[-1], Body) and isinstance(node, ast.Return) and kind is ast.Return:
                self._strip(items[-1].inside, kind)
                return
            if isinstance(items[-1], If) or (kind is ast.Return and isinstance(node, (ast.With, ast.AsyncWith))):
                for block in items[-1].blocks:
                    self._strip(block, kind)
                return
            is_none = not isinstance(node, ast.Return) or node.value is None or _is_none(node.value)
            if not (isinstance(node, kind) and is_none) or items[-1].source is not None:
                return
            self._cover(items.pop())

    def _cover(self, item: Item) -> None:
        last = item.node.end_lineno or item.node.lineno
        frame = item.frame
        self.lines.append(Line(self.side, frame.path, item.node.lineno, last, "guard", function=frame.title))

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
                self._cover(inner)
                test = [*test, replace(inner.test[0], binds=(*binds, *inner.test[0].binds)), *inner.test[1:]]
                first = inner.blocks[0]
        return replace(item, blocks=(first, second), test=tuple(test))

    # ---- calls

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
        body = _without_docstring(definition_of(inner.frame).body)
        if not is_kept and not _returns_last(body, is_last=True):
            return None
        made = self._items(body, inner.frame, not is_kept and not _is_silent(body))
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
        """A condition that is a call of a function of this side alone: the two blocks go where the answers are given."""
        call, swapped = node.test, False
        while isinstance(call, ast.UnaryOp) and isinstance(call.op, ast.Not):
            call, swapped = call.operand, not swapped
        inner = self.entered(call, frame) if isinstance(call, ast.Call) else None
        if inner is None or inner.result is not None:
            return None
        definition = inner.frame.chain[-1]
        body = _without_docstring(definition_of(inner.frame).body)
        if self.other.has(self._partner.get(definition, definition)) or not _returns_last(body, is_last=True):
            return None
        made = self._items(body, inner.frame, True)
        if not _answered(made, second if swapped else first, first if swapped else second):
            return None
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
        if not is_plain or isinstance(node, ast.AsyncFunctionDef) is not is_awaited or _is_generator(node):
            return None
        inner = self.frame(definition, "inline" if not self.side else "extract", inlined_in=frame)
        binds = self._binds(call, frame, inner, receiver)
        if binds is None:
            return None
        self.entered_definitions.add(definition)
        given = {bind.targets[0].id: bind.value for bind in binds if _root(bind.value) == frame.selfname != ""}  # type: ignore[attr-defined]
        self.bound.setdefault(definition, given)  # type: ignore[arg-type]
        if isinstance(call.func, ast.Attribute) and "." in definition[1] and self._raw(call.func, frame) is None:
            home = frame.home(call.func.value.id) if isinstance(call.func.value, ast.Name) else None
            is_own = home is not None and home.owner and home.selfname == call.func.value.id  # type: ignore[attr-defined]
            owner, _, name = definition[1].rpartition(".")
            what = (home.path, home.owner, name) if is_own and home else (definition[0], owner, name)
            kind = "dispatch" if is_own else "receiver"
            self.duties.append(Duty(kind, self.side, frame.path, call.lineno, what, frame.title))
        self.cover_head(inner)
        body = _without_docstring(node.body)
        result = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        return Inner(inner, tuple(binds), result, body[0] if body else None)

    def cover_head(self, frame: Frame) -> None:
        """The lines of a function outside its statements: decorators, signature, docstring."""
        node = definition_of(frame)
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        start = (
            _without_docstring(node.body)[0].lineno if _without_docstring(node.body) else (node.end_lineno or first) + 1
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
        return found, (func.value if _takes_self(node, found[1].rpartition(".")[0]) else None)

    def _knows(self, ref: Ref) -> bool:
        return ref[1] in self.claims.changed and self.names.has((ref[1], ref[2]))

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

    def record(self, call: ast.Call, frame: Frame) -> list[tuple[str, ast.expr]] | None:
        """The fields that a call of a plain record class of this side fills; None when it is none or leaves some out."""
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
        self._cover(Item(node, replace(frame, path=ref[1], title=ref[2])))
        return [(name, given[name]) for name in names]


def record_fields(node: ast.stmt) -> list[str] | None:
    """The fields of a class that is nothing but fields: NamedTuple, dataclass or msgspec.Struct without methods."""
    if not isinstance(node, ast.ClassDef):
        return None
    words = [
        ast.unparse(each.func if isinstance(each, ast.Call) else each) for each in [*node.bases, *node.decorator_list]
    ]
    if not words or not set(words) <= _DATA:
        return None
    body = _without_docstring(node.body)
    if not all(
        isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not each.value for each in body
    ):
        return None
    return [each.target.id for each in body]  # type: ignore[attr-defined]


def signature(node: ast.stmt, definition: Definition) -> tuple[str, ...]:
    """What a caller has to know: kinds, names and defaults of the parameters, and whether there is a `self`."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ()
    args, takes_self = node.args, _takes_self(node, definition[1].rpartition(".")[0])
    parts = [
        *(f"/{arg.arg}" for arg in args.posonlyargs),
        *(arg.arg for arg in args.args),
        *(f"*{arg.arg}" for arg in args.kwonlyargs),
        f"**{args.vararg and args.vararg.arg} {args.kwarg and args.kwarg.arg}",
    ]
    defaults = [ast.dump(each) if each else "" for each in [*args.defaults, *args.kw_defaults]]
    return (str(takes_self), *parts, *defaults)


def literals(node: ast.expr, frame: Frame, negated: bool) -> list[Literal]:
    """A condition as parts that must all hold, `not` driven inwards."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return literals(node.operand, frame, not negated)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or if negated else ast.And):
        return [each for value in node.values for each in literals(value, frame, negated)]
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _FLAT:
        operator, is_not = _FLAT[type(node.ops[0])]
        return [Literal(node.left, frame, negated is not is_not, operator, node.comparators[0])]
    return [Literal(node, frame, negated)]


def _is_repeatable(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        plain = not node.args and not node.keywords and isinstance(node.func, (ast.Name, ast.Attribute))
        return plain or ast.unparse(node) == "logging.getLogger(__name__)"
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Tuple):
        return all(_is_repeatable(part) for part in node.elts)
    return isinstance(node, ast.Constant)


def definition_of(frame: Frame) -> Function:
    assert isinstance(frame.function, (ast.FunctionDef, ast.AsyncFunctionDef))
    return frame.function


def _ends(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    return isinstance(last, _ENDS) or (isinstance(last, ast.If) and _ends(last.body) and _ends(last.orelse))


def _returns_last(body: Sequence[ast.stmt], *, is_last: bool) -> bool:
    """Whether nothing of the block runs after any of its `return`s."""
    for at, node in enumerate(body):
        is_end = is_last and at == len(body) - 1
        if isinstance(node, ast.Return):
            if at != len(body) - 1 or not (is_last or _ends(body)):
                return False
        elif isinstance(node, ast.If):
            for arm in (node.body, node.orelse):
                if _has_return(arm) and not (
                    (is_end or _ends(arm)) and _returns_last(arm, is_last=is_end or _ends(arm))
                ):
                    return False
        elif isinstance(node, (ast.With, ast.AsyncWith)) and is_end:
            if not _returns_last(node.body, is_last=True):
                return False
        elif _has_return([node]):
            return False
    return True


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
    else:
        items += no
    return True


def _is_silent(body: Sequence[ast.stmt]) -> bool:
    """Whether no `return` of the block gives anything."""
    return not any(
        isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value)
        for each in body
        for node in ast.walk(each)
    )


def _has_return(body: Sequence[ast.stmt]) -> bool:
    return _any(body, ast.Return)


def _is_generator(node: Function) -> bool:
    return _any(node.body, (ast.Yield, ast.YieldFrom))


def _any(body: Sequence[ast.AST], kinds: type | tuple[type, ...]) -> bool:
    """Whether a node of these kinds is in the block itself, not in a function of its own."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, kinds):
            return True
        if not isinstance(node, _SCOPES):
            todo += ast.iter_child_nodes(node)
    return False


def _root(node: ast.expr | None) -> str:
    """The name a chain of attributes starts from."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    first = body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1:] if is_text else body


def _takes_self(node: Function, owner: str) -> bool:
    words = [ast.unparse(each) for each in node.decorator_list]
    return (
        bool(owner)
        and "staticmethod" not in words
        and "classmethod" not in words
        and bool(node.args.posonlyargs or node.args.args)
    )


def turned_round(item: If) -> If:
    """The same under the opposite condition, where the condition is that of one statement; else the item itself."""
    assert isinstance(item.node, ast.If)
    for negated in (False, True):
        known = literals(item.node.test, item.frame, negated)
        if [(each.node, each.is_negated) for each in known] == [(each.node, each.is_negated) for each in item.test]:
            first, second = item.blocks
            return replace(item, blocks=(second, first), test=tuple(literals(item.node.test, item.frame, not negated)))
    return item
