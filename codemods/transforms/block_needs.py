"""Which variables cross the edge of a block: what the new function takes, what it gives back, what speaks against it.

Locals of the function around; attributes of `self` in a block that leaves the class are block_self.py's."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal
from codemods.source.binder import table
from codemods.source.flow import Flow, Kind, Risk, flow_of
from codemods.source.flow_points import Point
from codemods.source.flow_region import Region
from codemods.source.scopes import BINDING, Role, Scope, ScopeKind, lookup
from codemods.transforms.block_check import Ending
from codemods.transforms.block_find import Part, own_nodes
from codemods.transforms.block_host import Host


class Crossing(Struct, frozen=True, kw_only=True, eq=False):
    """parameters: names by first use, those that only come in because some path does not write them last.

    results: names the caller assigns. global_names: names the new function has to declare global."""

    parameters: tuple[str, ...]
    results: tuple[str, ...]
    global_names: tuple[str, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def crossing_of(host: Host, part: Part, ending: Ending, without: str) -> Crossing:
    """What crosses. without: the receiver, where it comes in by itself or attribute by attribute."""
    region = host.region(part)
    inner = _inner_variables(host, part) if part.expression is not None else ()
    known = region.maybe_bound
    inputs = [key for key in region.inputs if key in known and key != without]
    results = region.outputs
    late_in = [key for key in results if key not in region.surely_written]
    late_in = [key for key in (*late_in, *_needing_a_home(host, part, region)) if key in known and key not in inputs]
    problems = [
        *_unbound_inputs(host, part, region, inputs, without),
        *_unbound_results(host, part, region, [key for key in results if key not in region.surely_written]),
        *_deleted(host, part, region),
        *_lost(host, region),
        *_shared(host, part, region),
        *_results_on_return(host, part, results, ending),
    ]
    order = [*dict.fromkeys([*_by_first_use(host, part, [*inputs, *inner]), *late_in])]
    return Crossing(
        parameters=tuple(order),
        results=results if ending is Ending.CALL else (),
        global_names=_global_names(host, part),
        hazards=tuple(each for each in problems if isinstance(each, Hazard)),
        refusals=tuple(each for each in problems if isinstance(each, Refusal)),
    )


def _by_first_use(host: Host, part: Part, wanted: list[str]) -> list[str]:
    start, end = host.source.start(part.nodes[0]), host.source.end(part.nodes[-1])
    seen = [each.name for each in table(host.source).between(start, end) if each.name in wanted]
    return list(dict.fromkeys([*seen, *wanted]))


def _inner_variables(host: Host, part: Part) -> list[str]:
    """Variables of lambdas, comprehensions and nested functions around an expression, which it reads."""
    assert part.expression is not None
    source, scopes = host.source, table(host.source)
    home = scopes.scope_of(host.function)
    found: list[str] = []
    for occurrence in scopes.between(part.start, part.end):
        owner = lookup(occurrence.scope, occurrence.name)
        if owner is None or owner is home or owner.kind is ScopeKind.MODULE or occurrence.role is not Role.LOAD:
            continue
        is_around = part.expression in list(source.ancestors(occurrence.node)) or occurrence.node is part.expression
        is_made_inside = any(node is owner.node for node in ast.walk(part.expression))
        if is_around and not is_made_inside and owner.kind is not ScopeKind.CLASS:
            found.append(occurrence.name)
    return list(dict.fromkeys(found))


def _needing_a_home(host: Host, part: Part, region: Region) -> list[str]:
    """Names that a function made in the block declares nonlocal and that nothing else in the block binds."""
    names = [
        name for root in part.nodes for node in ast.walk(root) if isinstance(node, ast.Nonlocal) for name in node.names
    ]
    return [name for name in dict.fromkeys(names) if name in host.locals and name not in region.written]


# -- what speaks against it


def _unbound_inputs(
    host: Host, part: Part, region: Region, inputs: list[str], without: str
) -> Iterator[Hazard | Refusal]:
    """A name without a value can't be passed; one that may have none is read earlier than it was."""
    always_read = _read_first(host, part)
    for key in region.inputs:
        if key == without or key in region.surely_bound or key in always_read:
            continue
        if key in inputs:
            yield host.hazard(
                "U102",
                part.line,
                f"{key} may have no value here; it was read on some paths only and is now read at the call",
                f"give {key} a value before the block, or take the lines that do into the block",
            )
        elif key not in region.written:
            yield host.refusal(
                "unbound-name",
                part.line,
                f"{key} has no value before the block and gets one only behind it",
                f"take the lines that give {key} its value into the block, or leave those that read it out",
            )


def _read_first(host: Host, part: Part) -> frozenset[str]:
    """Names that the block reads whatever happens, before it does anything that shows."""
    statements = part.statements or [ast.Expr(part.expression)]  # type: ignore[arg-type]
    inner = flow_of(statements, host.flow.graph.key_of)
    unread = inner.forward([(inner.graph.entry, inner.everything)], _still_unread(inner))
    later = 0
    for point in inner.points:
        later |= unread.get(point.number, 0) if point.risk >= Risk.OPERATION else 0
    return inner.read_on_every_path - inner.set_of(later)


def _still_unread(inner: Flow) -> Callable[[Point, int], int]:
    def transfer(point: Point, mask: int) -> int:
        return mask & ~inner.bit[point.key] if point.kind is Kind.READ and not point.late else mask

    return transfer


def _unbound_results(host: Host, part: Part, region: Region, keys: list[str]) -> Iterator[Hazard]:
    for key in keys:
        is_new = key not in region.maybe_bound and region.is_read_at_once(key)
        if (key not in region.surely_bound and not is_new) or key in region.maybe_gone:
            yield host.hazard(
                "U102",
                part.line,
                f"some path through the block leaves {key} without a value, which the new function could not return",
                f"give {key} a value before the block",
            )


def _deleted(host: Host, part: Part, region: Region) -> Iterator[Refusal]:
    for node in own_nodes(part):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del) and node.id in region.deleted:
            yield host.refusal(
                "deletes-local",
                node,
                f"{node.id} is deleted here, but the function around would keep it alive",
                "leave the `del` out of the block",
            )


def _lost(host: Host, region: Region) -> Iterator[Hazard]:
    for key, node in region.lost_on_error.items():
        yield host.hazard(
            "U103",
            node,
            f"when this raises, the handler around the block reads {key} as it was before the block",
            f"take the whole `try` into the block, or assign {key} outside of it",
        )


def _shared(host: Host, part: Part, region: Region) -> Iterator[Hazard | Refusal]:
    inside = {id(node) for root in part.nodes for node in ast.walk(root)}
    for key, node in region.shared.items():
        is_write = id(node) in inside and not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        message = f"{key} is shared with a function made {'in' if id(node) in inside else 'outside of'} the block"
        settle = "take both the function and the lines that change the variable into the block, or leave both out"
        if is_write:
            yield host.refusal("U106", node, message, settle)
        else:
            yield host.hazard("U106", node, message, settle)


def _results_on_return(host: Host, part: Part, results: tuple[str, ...], ending: Ending) -> Iterator[Refusal]:
    if ending in (Ending.RETURN, Ending.CALL_RETURN, Ending.VALUE) and results:
        name = results[0]
        message = f"the block gives {name} a value and leaves by something else; {name} is read afterwards"
        yield host.refusal("two-results", part.line, message, f"assign {name} outside of the block")


def out_of_reach(host: Host, part: Part, parameters: tuple[str, ...], results: tuple[str, ...]) -> list[Refusal]:
    """Names in code that never runs, or in annotations, whose variable would be on the other side of the edge."""
    scopes = table(host.source)
    home = scopes.scope_of(host.function)
    known = {(name, True) for name in parameters} | {(name, False) for name in (*results, *host.parameter_names)}
    reads: dict[tuple[str, bool], int] = {}
    for each in scopes.between(host.source.start(host.function), host.source.end(host.function)):
        if each.name not in host.locals or scopes.resolve(each) is not home:
            continue
        is_inside = part.start <= each.start < part.end
        if each.role in BINDING and each.scope is home:
            known.add((each.name, is_inside))
        elif not isinstance(each.node, ast.Constant) and not (is_inside and each.in_annotation):
            reads.setdefault((each.name, is_inside), each.start)
    return [
        host.refusal(
            "out-of-reach",
            host.source.text.line_of(at),
            f"{name} is named here, where it would not be known any more",
            f"take this line into the block as well, or leave out of it what gives {name} its value",
        )
        for (name, is_inside), at in reads.items()
        if (name, is_inside) not in known
    ]


# -- global declarations


def _global_names(host: Host, part: Part) -> tuple[str, ...]:
    """Names the block binds that the function has declared global outside of the block."""
    declared = {name for node in own_nodes(part) if isinstance(node, ast.Global) for name in node.names}
    scopes = table(host.source)
    home = scopes.scope_of(host.function)
    start, end = host.source.start(part.nodes[0]), host.source.end(part.nodes[-1])
    found = [
        each.name
        for each in scopes.between(start, end)
        if each.name in host.global_names
        and each.name not in declared
        and each.role not in (Role.LOAD, Role.DECLARE)
        and _function_scope(each.scope) is home
    ]
    return tuple(dict.fromkeys(found))


def _function_scope(scope: Scope) -> Scope:
    while scope.kind is ScopeKind.COMPREHENSION and scope.parent is not None:
        scope = scope.parent
    return scope
