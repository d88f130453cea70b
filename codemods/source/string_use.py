"""What a string expression in Python code is used for: a patch target, a getattr name, an export, a logger's name.

Goes by the names of functions as they are written (`mock.patch`, `monkeypatch.setattr`); what the text then names is
strings.py's."""

from __future__ import annotations

import ast
from enum import Enum
from typing import Literal

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Source
from codemods.source.scopes import Scope, ScopeTable, lookup

Kind = Literal[
    "patch-target",
    "setattr-name",
    "getattr",
    "dunder-all",
    "slots",
    "import",
    "entry-point",
    "document",
    "pickle",
    "logger",
    "other",
]

IMPORTERS = frozenset(
    {"import_module", "__import__", "importorskip", "resolve_name", "run_module", "find_spec", "import_string"}
)
RESOURCES = frozenset({"files", "path", "open_text", "open_binary", "read_text", "read_binary", "get_data", "contents"})
_GETTERS = frozenset({"getattr", "hasattr", "getattr_static"})
_SETTERS = frozenset({"setattr", "delattr"})
_SETTER_HOOKS = frozenset({"__setattr__", "__delattr__"})
_HOOKS = _SETTER_HOOKS | {"__getattribute__", "__getattr__"}
_NAMESPACES = frozenset({"globals", "locals", "vars"})
_LOGGER_CALLS = frozenset({"getLogger", "get_logger", "assertLogs", "assertNoLogs"})


class Reads(Enum):
    """How the text is to be read."""

    PATH = "a dotted path from a module on"
    MEMBER = "the name of an attribute of `receiver`"
    OWN = "the name of something in this very module"
    SLOT = "the name of an attribute of the class around"
    LOOSE = "text that may hold a dotted path"


class Use(Struct, frozen=True, eq=False):
    """receiver: the expression whose attribute is named, where there is one; others: more of them, for the same text.
    is_data: the text is used for something else as well."""

    kind: Kind
    reads: Reads
    receiver: ast.expr | None = None
    others: tuple[ast.expr, ...] = ()
    is_data: bool = False


_LOOSE = Use("other", Reads.LOOSE)


def use_of(source: Source, node: ast.expr) -> Use:
    """What a whole string expression (see string_text.fold) is for."""
    above = source.parents.get(node)
    if isinstance(above, ast.Expr):
        return Use("document", Reads.LOOSE)
    if isinstance(above, ast.keyword):
        call = source.parents.get(above)
        return use_as_keyword(call, above.arg or "") if isinstance(call, ast.Call) else _LOOSE
    if isinstance(above, ast.Call) and node in above.args:
        return use_as_argument(above, above.args.index(node))
    if isinstance(above, ast.Subscript) and above.slice is node:
        return use_as_key(above.value)
    if isinstance(above, ast.Compare):
        return _compared(source, above)
    if isinstance(above, ast.Assign) and above.value is node:
        through = _through_name(source, above)
        if through is not None:
            return through
    return _in_list(source, node, above)


def _through_name(source: Source, assignment: ast.Assign) -> Use | None:
    """`target = "pkg.mod.f"` whose name is only passed on: the text is for whatever all those calls take it for."""
    uses = [use_as_argument(call, index) for call, index in calls_through(source, assignment)]
    is_one = len({(use.kind, use.reads) for use in uses}) == 1
    return _united(uses) if is_one else None


def _united(uses: list[Use], *, is_data: bool = False) -> Use:
    """One text for several lookups."""
    receivers = {ast.dump(use.receiver): use.receiver for use in uses if use.receiver is not None}
    first, *others = receivers.values() or [None]
    return Use(uses[0].kind, uses[0].reads, first, tuple(each for each in others if each is not None), is_data)


def calls_through(source: Source, assignment: ast.Assign) -> list[tuple[ast.Call, int]]:
    """The calls that a name is passed to, with its position, when it is passed on everywhere it is read; else none."""
    target = assignment.targets[0]
    if len(assignment.targets) > 1 or not isinstance(target, ast.Name):
        return []
    scopes = table(source)
    home = lookup(_scope_of(scopes, target), target.id)
    found: list[tuple[ast.Call, int]] = []
    for each in scopes.named(target.id):
        if scopes.resolve(each) is not home or each.node is target:
            continue
        call = source.parents.get(each.node)
        if not isinstance(each.node, ast.Name) or not isinstance(call, ast.Call) or each.node not in call.args:
            return []
        found.append((call, call.args.index(each.node)))
    return found


def _scope_of(scopes: ScopeTable, target: ast.Name) -> Scope:
    return next(each.scope for each in scopes.named(target.id) if each.node is target)


def callee(call: ast.Call) -> list[str]:
    """The names of the called expression: ["mock", "patch", "object"]; what is no name is left out."""
    names: list[str] = []
    at: ast.expr = call.func
    while isinstance(at, ast.Attribute):
        names.append(at.attr)
        at = at.value
    if isinstance(at, ast.Name):
        names.append(at.id)
    return names[::-1]


def looked_up(call: ast.Call) -> ast.expr | None:
    """The expression by whose text a call looks up an attribute; None when the call is no such thing."""
    last = callee(call)[-1:]
    if last and last[0] in _GETTERS | _SETTERS | _HOOKS and len(call.args) > 1:
        return call.args[1]
    return call.args[0] if last and last[0] in {"attrgetter", "methodcaller"} and call.args else None


def use_as_argument(call: ast.Call, index: int) -> Use:
    """What a call takes the text at a position for."""
    names = callee(call)
    last = names[-1] if names else ""
    before = names[-2] if len(names) > 1 else ""
    is_method = isinstance(call.func, ast.Attribute)
    if last == "patch" or before == "patch" or last == "spy":
        return _as_patch(call, index, last, before)
    if last in _HOOKS:
        return _as_hook(call, index, last, before)
    if last in _SETTERS:
        return _as_setter(call, index, is_method=is_method)
    if last in _GETTERS and index == 1:
        return Use("getattr", Reads.MEMBER, call.args[0])
    if last == "attrgetter" or (last == "methodcaller" and index == 0):
        return Use("getattr", Reads.MEMBER)
    is_resource = last in RESOURCES and before in {"resources", "pkgutil", ""}
    if index == 0 and (last in IMPORTERS or is_resource):
        return Use("import", Reads.PATH)
    if index == 0 and last in _LOGGER_CALLS:
        return Use("logger", Reads.PATH)
    if last in {"get", "pop", "setdefault"} and index == 0 and isinstance(call.func, ast.Attribute):
        return use_as_key(call.func.value)
    return Use("dunder-all", Reads.OWN) if before == "__all__" else _LOOSE


def _as_patch(call: ast.Call, index: int, last: str, before: str) -> Use:
    is_path = last == "patch" or (before == "patch" and last in {"multiple", "dict"})
    if is_path and index == 0:
        return Use("patch-target", Reads.PATH)
    if last in {"object", "spy"} and index == 1:
        return Use("patch-target", Reads.MEMBER, call.args[0])
    return _LOOSE


def _as_hook(call: ast.Call, index: int, last: str, before: str) -> Use:
    """`object.__setattr__(self, "x", v)`, `super().__setattr__("x", v)`."""
    kind: Kind = "setattr-name" if last in _SETTER_HOOKS else "getattr"
    if before in {"object", "type"}:
        return Use(kind, Reads.MEMBER, call.args[0]) if index == 1 else _LOOSE
    return Use(kind, Reads.SLOT) if index == 0 else _LOOSE


def _as_setter(call: ast.Call, index: int, *, is_method: bool) -> Use:
    """The builtin `setattr(x, "a", v)`; pytest's `monkeypatch.setattr`, which takes a dotted path as well."""
    first = call.args[0]
    if is_method and index == 0:
        return Use("setattr-name", Reads.PATH)
    if index != 1 or (is_method and isinstance(first, (ast.Constant, ast.JoinedStr))):
        return _LOOSE
    return Use("setattr-name", Reads.MEMBER, first)


def use_as_keyword(call: ast.Call, name: str) -> Use:
    """What a call takes a keyword for."""
    names = callee(call)
    last = names[-1] if names else ""
    before = names[-2] if len(names) > 1 else ""
    if name == "target" and last == "patch":
        return Use("patch-target", Reads.PATH)
    if name == "attribute" and last == "object" and before == "patch":
        target = (
            call.args[0] if call.args else next((each.value for each in call.keywords if each.arg == "target"), None)
        )
        return Use("patch-target", Reads.MEMBER, target)
    if name == "logger" or (name == "name" and last in _LOGGER_CALLS):
        return Use("logger", Reads.PATH)
    return _LOOSE


def use_as_key(holder: ast.expr) -> Use:
    """What `holder[text]` takes the text for."""
    if isinstance(holder, ast.Call) and isinstance(holder.func, ast.Name) and holder.func.id in _NAMESPACES:
        if holder.args:
            return Use("getattr", Reads.MEMBER, holder.args[0])
        return Use("getattr", Reads.OWN) if holder.func.id == "globals" else _LOOSE
    if isinstance(holder, ast.Attribute) and holder.attr == "__dict__":
        return Use("getattr", Reads.MEMBER, holder.value)
    if isinstance(holder, ast.Attribute) and holder.attr == "modules":
        return Use("import", Reads.PATH)
    return _LOOSE


def _compared(source: Source, node: ast.Compare) -> Use:
    """`record.name == "pkg.mod"` asks for a logger; `name == "x"` in a `__getattr__` answers for an attribute."""
    sides = [node.left, *node.comparators]
    if any(isinstance(side, ast.Attribute) and side.attr == "name" for side in sides):
        return Use("logger", Reads.PATH)
    return _answered(source, node) or _LOOSE


def _answered(source: Source, node: ast.AST) -> Use | None:
    """Inside `__getattr__` of a module or a class, any text may be the name of an attribute that it answers for."""
    function = source.enclosing(node, *FUNCTIONS)
    if getattr(function, "name", "") not in {"__getattr__", "__getattribute__"}:
        return None
    assert function is not None
    owner = source.enclosing(function, *DEFINITIONS)
    return Use("getattr", Reads.SLOT if isinstance(owner, ast.ClassDef) else Reads.OWN)


def _in_list(source: Source, node: ast.expr, above: ast.AST | None) -> Use:
    answered = _answered(source, node)
    if answered is not None:
        return answered
    if isinstance(above, (ast.List, ast.Tuple)):
        place = above.elts.index(node)
        before = above.elts[place - 1] if place else None
        if isinstance(before, ast.Constant) and before.value == "-m":
            return Use("import", Reads.PATH)
    if isinstance(above, ast.Dict) and node in above.keys and _is_modules_patch(source, above):
        return Use("import", Reads.PATH)
    named = _assigned_name(source, node)
    if named == "__all__":
        return Use("dunder-all", Reads.OWN)
    if named in {"__slots__", "__match_args__"}:
        return Use("slots", Reads.SLOT)
    if named == "pytest_plugins":
        return Use("import", Reads.PATH)
    receiver = _looped_getter(source, above) if isinstance(above, (ast.List, ast.Tuple, ast.Set)) else None
    return receiver or _LOOSE


def _is_modules_patch(source: Source, node: ast.Dict) -> bool:
    call = source.parents.get(node)
    if not isinstance(call, ast.Call) or not call.args or callee(call)[-1:] not in (["dict"], ["setitem"]):
        return False
    return isinstance(call.args[0], ast.Attribute) and call.args[0].attr == "modules"


def _assigned_name(source: Source, node: ast.expr) -> str:
    """The variable that the list around a text is assigned to, added to or extended with; "" when there is none."""
    for above in source.ancestors(node):
        if isinstance(above, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            target = above.targets[0] if isinstance(above, ast.Assign) else above.target
            return target.id if isinstance(target, ast.Name) else ""
        if isinstance(above, ast.Call):
            names = callee(above)
            if names[-1:] and names[-1] in {"extend", "append", "insert", "remove"} and len(names) == 2:
                return names[0]
            if names[-1:] not in (["list"], ["tuple"], ["sorted"], ["set"], ["frozenset"]):
                return ""
        elif not isinstance(above, (ast.List, ast.Tuple, ast.Set, ast.BinOp, ast.Starred, ast.Dict)):
            return ""
    return ""


def _looped_getter(source: Source, above: ast.AST) -> Use | None:
    """`for name in ("a", "b"): getattr(x, name)`: each text is an attribute's name."""
    loop = source.parents.get(above)
    if not isinstance(loop, (ast.For, ast.AsyncFor, ast.comprehension)) or loop.iter is not above:
        return None
    if not isinstance(loop.target, ast.Name):
        return None
    body = source.parents[loop] if isinstance(loop, ast.comprehension) else loop
    uses: list[Use] = []
    is_data = False
    for inner in ast.walk(body):
        if isinstance(inner, ast.Name) and inner.id == loop.target.id and isinstance(inner.ctx, ast.Load):
            call = source.parents.get(inner)
            last = callee(call)[-1:] if isinstance(call, ast.Call) and inner in call.args[1:2] else []
            if isinstance(call, ast.Call) and last and last[0] in _GETTERS | _SETTERS:
                uses.append(Use("getattr" if last[0] in _GETTERS else "setattr-name", Reads.MEMBER, call.args[0]))
            else:
                is_data = True
    return _united(uses, is_data=is_data) if uses else None
