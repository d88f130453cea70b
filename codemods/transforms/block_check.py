"""What a block must not contain to become a function of its own, and how it ends. Syntax only; which variables cross
its edge is block_needs.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from codemods.schema.hazards import Hazard, Refusal
from codemods.source.binder import table
from codemods.source.flow import Kind, flow_of, names
from codemods.source.scopes import Role, ScopeKind
from codemods.transforms.block_find import Part, is_docstring, own_nodes, suites
from codemods.transforms.block_host import Host

# Builtins that look at the caller's frame, and with how many arguments they no longer do.
_FRAME_BUILTINS = {"locals": 1, "vars": 1, "dir": 1, "eval": 2, "exec": 2}
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Ending(Enum):
    """What stands in the block's place."""

    CALL = "call"  # the call, its results assigned
    RETURN = "return"  # `return` of the call
    CALL_RETURN = "call, return"  # the call, then a bare return
    VALUE = "value"  # an expression: the call itself


def ending_of(host: Host, part: Part) -> Ending | Refusal:
    """How the block may leave. Refuses where control would have to leave two functions at once."""
    if part.expression is not None:
        return Ending.VALUE
    leaving = next(_leaving_loops(list(part.statements)), None)
    if leaving is not None:
        word = "break" if isinstance(leaving, ast.Break) else "continue"
        return host.refusal(
            "leaves-loop",
            leaving,
            f"this `{word}` leaves a loop that stays behind",
            "take the whole loop, or leave this statement out of the block",
        )
    returns = [node for node in own_nodes(part) if isinstance(node, ast.Return)]
    if not returns:
        return Ending.CALL
    gives_value = any(not _is_none(node.value) for node in returns)
    goes_on = any(way.kind is Kind.END for way in flow_of(part.statements, names()).exits)
    if goes_on and not is_at_end(host, part):
        return host.refusal(
            "returns-inside",
            returns[0],
            "the block returns on some paths only and code follows it",
            "end the block before this return, or take everything up to the end of the function",
        )
    if gives_value:
        return Ending.RETURN
    return Ending.CALL if is_at_end(host, part) else Ending.CALL_RETURN


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _leaving_loops(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """break and continue whose loop is not among the statements."""
    for statement in statements:
        if isinstance(statement, (ast.Break, ast.Continue)):
            yield statement
        elif isinstance(statement, _LOOPS):
            yield from _leaving_loops(statement.orelse)
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                yield from _leaving_loops(getattr(statement, name, []))
            for inner in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
                yield from _leaving_loops(inner.body)


def is_at_end(host: Host, part: Part) -> bool:
    """Whether falling off the block's end is falling off the function's end (past managers and `finally` at most)."""
    last: ast.AST = part.statements[-1]
    if last is not part.suite[-1]:
        return False
    while True:
        above = host.source.parents[last]
        if above is host.function:
            return last is host.function.body[-1]
        if isinstance(above, _LOOPS):
            return False
        is_try = isinstance(above, ast.Try) or type(above).__name__ == "TryStar"
        if is_try and last in above.body and above.orelse:  # type: ignore[attr-defined]
            return False  # the `else` of a `try` comes next
        if isinstance(above, ast.stmt):
            suite = next(block for block in suites(host.function) if above in block)
            if above is not suite[-1]:
                return False
        last = above


def is_async_part(part: Part) -> bool:
    """Whether the block can only run inside `async def`."""
    nodes = list(own_nodes(part))
    has_async_loop = any(isinstance(node, ast.comprehension) and node.is_async for node in nodes)
    return has_async_loop or any(isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in nodes)


def yields(part: Part) -> list[ast.AST]:
    """The block's own yields."""
    return [node for node in own_nodes(part) if isinstance(node, (ast.Yield, ast.YieldFrom))]


# -- refusals


def check_part(host: Host, part: Part, kind: str) -> tuple[list[Refusal], list[Hazard]]:
    """What speaks against the block itself, whatever its variables are."""
    refusals = [*_shape(host, part), *_frames(host), *_generator(host, part), *_type_parameters(host, part, kind)]
    hazards = [*_stack_levels(host, part), *_stopped(host, part)]
    for problem in _class_bound(host, part, kind):
        (refusals if isinstance(problem, Refusal) else hazards).append(problem)  # type: ignore[arg-type]
    return refusals, hazards


def _shape(host: Host, part: Part) -> Iterator[Refusal]:
    if part.statements and is_docstring(host.function, part.statements[0]):
        yield host.refusal(
            "docstring", part.statements[0], "the block begins with the docstring", "begin the block behind it"
        )
    region = host.region(part)
    if region.points and not region.entries:
        settle = "name code that runs, or delete this first"
        yield host.refusal("unreachable-block", part.line, "nothing ever reaches this code", settle)
    if part.expression is not None and any(True for _ in _class_scopes(host, part)):
        message = f"the expression belongs to a class body inside {host.name}"
        yield host.refusal("in-class-body", part.line, message, "extract something outside of the class body")


def _class_scopes(host: Host, part: Part) -> Iterator[ast.AST]:
    assert part.expression is not None
    for above in host.source.ancestors(part.expression):
        if above is host.function:
            return
        if isinstance(above, ast.ClassDef):
            yield above


def _frames(host: Host) -> Iterator[Refusal]:
    """Calls that look at the frame they run in: with a part of the locals gone they would see something else."""
    for node in ast.walk(host.function):
        if not isinstance(node, ast.Call):
            continue
        word = _called(node)
        is_builtin = isinstance(node.func, ast.Name) and len(node.args) < _FRAME_BUILTINS.get(word, 0)
        is_stack = word in ("stack", "trace") and ast.unparse(node.func).startswith("inspect.")
        if is_builtin or is_stack or word in ("_getframe", "currentframe"):
            yield host.refusal(
                "frame-dependent",
                node,
                f"{word}() looks at the running frame, which would hold other variables",
                f"replace {word}() in {host.name} first",
            )


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _generator(host: Host, part: Part) -> Iterator[Refusal]:
    found = yields(part)
    if found and host.is_async:
        message = "a yield of an asynchronous generator can't be handed on by `yield from`"
        yield host.refusal("U113", found[0], message, "leave the yield out of the block")
    elif found and part.expression is not None:
        message = "the value of a yield is sent by whoever runs the generator"
        yield host.refusal("U113", found[0], message, "take the whole statement instead")


def _stopped(host: Host, part: Part) -> Iterator[Hazard]:
    """A generator or coroutine can't let StopIteration out: it becomes a RuntimeError, which no handler here awaits."""
    if not yields(part) and not is_async_part(part):
        return
    inside: ast.AST = part.nodes[0]
    for above in host.source.ancestors(inside):
        if above is host.function:
            return
        if inside in getattr(above, "body", ()):
            for handler in getattr(above, "handlers", ()):
                caught = ast.unparse(handler.type) if handler.type is not None else ""
                if "StopIteration" in caught or "StopAsyncIteration" in caught:
                    yield host.hazard(
                        "U113",
                        handler,
                        f"this handler waits for {caught}, which can't leave the new coroutine or generator",
                        "take the whole `try` into the block",
                    )
        inside = above


def _type_parameters(host: Host, part: Part, kind: str) -> Iterator[Refusal]:
    scopes = table(host.source)
    start, end = host.source.start(part.nodes[0]), host.source.end(part.nodes[-1])
    for occurrence in scopes.between(start, end):
        home = scopes.resolve(occurrence)
        if occurrence.role is not Role.LOAD or home is None or home.kind is not ScopeKind.TYPE_PARAMETERS:
            continue
        if home.node is host.function or kind == "function":
            yield host.refusal(
                "type-parameter",
                occurrence.node,
                f"{occurrence.name} is a type parameter of {getattr(home.node, 'name', 'this')}, not known outside",
                "leave this statement out of the block",
            )


def _stack_levels(host: Host, part: Part) -> Iterator[Hazard]:
    for node in own_nodes(part):
        if isinstance(node, ast.Call) and any(keyword.arg == "stacklevel" for keyword in node.keywords):
            yield host.hazard(
                "U110",
                node,
                "stacklevel counts frames, and there is one more between this call and the caller",
                "leave this call out of the block, or accept U110 and raise the number by hand",
            )


def _class_bound(host: Host, part: Part, kind: str) -> Iterator[Refusal | Hazard]:
    """`super()` and `__class__` belong to the frame of the method; a mangled name to the class."""
    for node in (inner for root in part.nodes for inner in ast.walk(root)):
        word = _implicit_class(host, node)
        if word:
            message = f"{word} finds its class and object in the frame it stands in"
            if kind == "method":
                settle = "accept U105 (a method of the same class gives it the same), or name them: super(Class, self)"
                yield host.hazard("U105", node, message, settle)
            else:
                settle = 'name class and object: super(Class, self), or kind = "method"'
                yield host.refusal("U105", node, message, settle)
        if kind == "function" and host.owner is not None and not _is_in_inner_class(host, node):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            is_mangled = isinstance(name, str) and name.startswith("__") and not name.endswith("__")
            is_own = isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == host.receiver
            if is_mangled and not is_own:
                message = f"{name} is spelt with the name of the class around it, which a function does not have"
                yield host.refusal("U105", node, message, 'keep it in the class: kind = "method"')


def _is_in_inner_class(host: Host, node: ast.AST) -> bool:
    """Whether a class made in the function is around the node: its frames and its names are its own."""
    for above in host.source.ancestors(node):
        if above is host.function:
            return False
        if isinstance(above, ast.ClassDef):
            return True
    return False


def _implicit_class(host: Host, node: ast.AST) -> str:
    """`super()` or `__class__` when the node is one of them; `super(Class, self)` says itself what it means."""
    if not isinstance(node, ast.Name) or node.id not in ("super", "__class__") or _is_in_inner_class(host, node):
        return ""
    above = host.source.parents[node]
    is_explicit = isinstance(above, ast.Call) and above.func is node and bool(above.args)
    return "" if is_explicit and node.id == "super" else "super()" if node.id == "super" else node.id
