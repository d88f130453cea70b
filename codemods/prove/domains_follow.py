"""Reads a call: of a built-in method, of the standard library, or of a function of the tree, which is read in turn."""

from __future__ import annotations

import ast

from codemods.prove.domains_calls import builtin_call, method_call, pattern_call
from codemods.prove.domains_evidence import NOTHING, Value, united
from codemods.prove.domains_harvest import DEEPEST_CALL, Reading
from codemods.prove.domains_home import Home, member
from codemods.source.parse import FUNCTIONS, Function

_MOST_CALLS = 200  # functions read for the sake of one
_KIND_NAMES = frozenset({"str", "int", "float", "bool", "bytes", "list", "tuple", "dict", "set", "frozenset"})


def follow(reading: Reading, node: ast.Call) -> Value:
    """What a call may return."""
    args = [reading.value(arg.value if isinstance(arg, ast.Starred) else arg) for arg in node.args]
    keywords = {each.arg: reading.value(each.value) for each in node.keywords}
    name = reading.home.meant(node.func)
    if name == "isinstance" and len(node.args) == 2:
        _isinstance(reading, args[0], node.args[1])
        return NOTHING
    if name in {"enumerate", "zip"} and name not in reading.env:
        columns = [reading.element(arg) for arg in args]
        return Value(united(*columns).spots, items=(NOTHING, *columns[:1]) if name == "enumerate" else tuple(columns))
    if name == "map" and len(args) == 2 and isinstance(node.args[0], ast.Name):
        applied = ast.Call(node.args[0], [ast.Name("", ast.Load())], [])
        _applied(reading, applied, reading.element(args[1]))
        return Value(args[1].spots)
    if isinstance(node.func, ast.Attribute):
        found = _method(reading, node.func, args, keywords)
        if found is not None:
            return found
    called = _of_tree(reading, node, args, keywords)
    if called is not None:
        return called
    if reading.home.dotted(node.func) not in reading.env:
        known = builtin_call(reading.facts, name, args)
        if known is not None:
            return known
    # What an unknown function makes of a value often still has the value's separators.
    given = [each for each in [*args, *keywords.values()] if each.spots]
    return united(*given).step("result") if given else NOTHING


def _applied(reading: Reading, call: ast.Call, element: Value) -> None:
    before = reading.env.get("")
    reading.env[""] = element
    follow(reading, call)
    if before is None:
        del reading.env[""]


def _isinstance(reading: Reading, value: Value, kinds: ast.expr) -> None:
    for each in kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]:
        name = reading.home.dotted(each)
        if name in _KIND_NAMES:
            reading.facts.note(value, "kind", f"is_{name}")
        elif name:
            reading.facts.note(value, "kind", "instance")


def _method(
    reading: Reading, func: ast.Attribute, args: list[Value], keywords: dict[str | None, Value]
) -> Value | None:
    if isinstance(func.value, ast.Constant) and isinstance(func.value.value, str):
        if func.attr == "join" and args:
            reading.facts.note(args[0], "kind", "iterated")
            reading.facts.note(args[0].step("item"), "kind", "str")
            return args[0].step("joined")
        return NOTHING
    base = reading.home.dotted(func.value)
    if reading.owner is not None and base in {"self", "cls", reading.owner.name, "type(self)"}:
        method = member(reading.owner, func.attr)
        if isinstance(method, FUNCTIONS):
            bound = base if _is_bound(method) else ""
            return _enter(reading, reading.home, method, reading.owner, args, keywords, bound)
    pattern = _compiled(reading, func.value)
    if pattern:
        return pattern_call(reading.facts, pattern, func.attr, args)
    owner = reading.value(func.value)
    if isinstance(owner.constant, dict) and func.attr in {"get", "pop", "__getitem__", "setdefault"} and args:
        for key in owner.constant:
            reading.facts.equal(args[0], key)
        return NOTHING
    if isinstance(owner.constant, (list, tuple)) and func.attr in {"index", "count"} and args:
        for each in owner.constant:
            reading.facts.equal(args[0], each)
        return NOTHING
    if owner.spots:
        found = method_call(reading.facts, owner, func.attr, args)
        if found is not None:
            return found
        # A method of an unknown object; its name is no attribute that holds a plain value.
        if owner.root:
            reading.facts.add((f"{owner.root}.{func.attr}", ()), "kind", "called")
        return united(owner, *args).step("result")
    return None


def _is_bound(method: Function) -> bool:
    return not any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in method.decorator_list)


def _compiled(reading: Reading, node: ast.expr) -> str:
    """The text of a pattern that a module-level name holds compiled, or that is compiled on the spot."""
    name = reading.home.dotted(node)
    found = reading.home.find(name) if name and name.partition(".")[0] not in reading.env else None
    home, made = reading.home, node
    if found is not None and isinstance(found.node, (ast.Assign, ast.AnnAssign)) and found.node.value is not None:
        home, made = reading.home.of(found), found.node.value
    if isinstance(made, ast.Call) and home.meant(made.func) == "re.compile" and made.args:
        pattern = home.constant(made.args[0])
        return pattern if isinstance(pattern, str) else ""
    return ""


def _of_tree(reading: Reading, node: ast.Call, args: list[Value], keywords: dict[str | None, Value]) -> Value | None:
    name = reading.home.dotted(node.func)
    if not name or name.partition(".")[0] in reading.env:
        return None
    found = reading.home.find(name)
    if found is None:
        return None
    home = reading.home.of(found)
    if isinstance(found.node, FUNCTIONS):
        owner = home.find(name.rpartition(".")[0]) if "." in name else None
        around = owner.node if owner is not None and isinstance(owner.node, ast.ClassDef) else None
        return _enter(reading, home, found.node, around, args, keywords, None)
    if isinstance(found.node, ast.ClassDef):
        start = member(found.node, "__init__")
        if isinstance(start, FUNCTIONS):
            _enter(reading, home, start, found.node, [NOTHING, *args], keywords, None)
        return united(*args, *keywords.values()).step("made") if args or keywords else NOTHING
    return None


def _enter(
    reading: Reading,
    home: Home,
    node: Function,
    owner: ast.ClassDef | None,
    args: list[Value],
    keywords: dict[str | None, Value],
    bound: str | None,
) -> Value:
    """Reads the called function with the values it is given. A function that is being read already says nothing new.

    bound: the name of the object whose method it is, "" for a static one, None for one of no known object."""
    if node in reading.stack or reading.depth >= DEEPEST_CALL:
        return NOTHING
    if bound is None and not any(value.spots for value in (*args, *keywords.values())):
        return NOTHING
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    env: dict[str, Value] = {}
    if bound and names:
        env[names.pop(0)] = reading.env.get(bound, NOTHING)
    env.update(zip(names, args, strict=False))
    env.update((name, value) for name, value in keywords.items() if name is not None)
    if bound == "self":
        env.update((name, value) for name, value in reading.env.items() if name.startswith("self."))
    for name in (*names, *(each.arg for each in node.args.kwonlyargs)):
        env.setdefault(name, _default(home, node, name))
    key = (node, tuple(value.spots for value in env.values()))
    known = reading.read_calls.get(key)
    if known is None:
        if len(reading.read_calls) >= _MOST_CALLS:
            return NOTHING
        reading.read_calls[key] = NOTHING
        known = reading.read_calls[key] = Reading(home, reading.facts, owner, follow, reading).read(node, env)
    return known


def _default(home: Home, node: Function, name: str) -> Value:
    constant = home.constant(default_of(node, name))
    return Value(constant=constant, expr=ast.Constant(constant) if isinstance(constant, (str, int, float)) else None)


def default_of(node: Function, name: str) -> ast.expr | None:
    """The default of a parameter."""
    positional = [*node.args.posonlyargs, *node.args.args]
    tail = positional[len(positional) - len(node.args.defaults) :]
    for parameter, default in zip(tail, node.args.defaults, strict=True):
        if parameter.arg == name:
            return default
    for parameter, chosen in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if parameter.arg == name:
            return chosen
    return None
