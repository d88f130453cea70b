"""Which parameters take the place of `self` in a method, what each is called, and what the caller passes for it.

The naming rule: an attribute's name without leading underscores; when that is a parameter, local, global or builtin the
body uses, `self_` + name; then numbered. A name the plan gives is taken as it is, or refused."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from codemods.schema.hazards import Refusal
from codemods.schema.plan import ExtractMethod
from codemods.source.binder import table
from codemods.source.parse import Function, Source
from codemods.source.scopes import Role
from codemods.source.usage import Use, UseKind, receiver_name, self_uses


class How(Enum):
    """How the value comes in."""

    VALUE = "value"
    LAZY = "lazy"  # a getter
    OPTIONAL = "optional"  # getattr with None
    DYNAMIC = "dynamic"  # the getattr call as the body had it
    OWNER = "owner"  # the object itself


class Parameter(Struct, frozen=True, kw_only=True, eq=False):
    """One new keyword-only parameter.

    path: the attribute, or the dotted chain whose leaf is passed. uses: the places it stands for."""

    name: str
    path: str
    how: How
    uses: tuple[Use, ...]
    annotation: str = ""
    lookup: str = ""  # for DYNAMIC: the text after `getattr(self, `

    @property
    def attribute(self) -> str:
        return self.path.partition(".")[0]

    def argument(self, receiver: str) -> str:
        """What a caller that holds the object as `receiver` passes."""
        if self.how is How.OWNER:
            return receiver
        if self.how is How.LAZY:
            return f"lambda: {receiver}.{self.path}"
        if self.how is How.OPTIONAL:
            return f'getattr({receiver}, "{self.path}", None)'
        if self.how is How.DYNAMIC:
            return f"getattr({receiver}, {self.lookup}"
        return f"{receiver}.{self.path}"

    def declared(self) -> str:
        """As it stands in the parameter list."""
        return f"{self.name}: {self.annotation}" if self.annotation else self.name


class Needs(Struct, frozen=True, kw_only=True, eq=False):
    """Everything a method takes from `self`: `parameters` by first use; `written`: attribute -> local name,
    in the order of first write."""

    receiver: str
    uses: tuple[Use, ...]
    parameters: tuple[Parameter, ...]
    written: dict[str, str]
    refusals: tuple[Refusal, ...] = ()

    def parameter_of(self, use: Use) -> Parameter | None:
        return next((each for each in self.parameters if use in each.uses), None)


def needs_of(source: Source, function: Function, step: ExtractMethod, *, recursive: bool = True) -> Needs:
    """What the method takes from `self`, with names chosen. recursive: calls of the method itself are no attributes."""
    uses = self_uses(source, function)
    receiver = receiver_name(function)
    if step.owner:
        return _owner_needs(source, function, step, uses, receiver)
    groups: dict[tuple[str, str], list[Use]] = {}
    for use in uses:
        if use.kind is UseKind.ESCAPE or (recursive and use.attribute == function.name and use.is_called):
            continue
        groups.setdefault(_group(source, use, uses, step), []).append(use)
    taken = taken_names(source, function)
    refusals: list[Refusal] = []
    parameters: list[Parameter] = []
    written: dict[str, str] = {}
    for (path, lookup), group in groups.items():
        wanted = step.parameters.get(path, "") or step.parameters.get(path.partition(".")[0], "")
        name = _name(path, wanted, taken)
        if wanted and name != wanted:
            refusals.append(_name_taken(source, function, path, wanted))
        taken.add(name)
        how = How.DYNAMIC if lookup else How.VALUE
        how = How.LAZY if path in step.lazy else How.OPTIONAL if path in step.optional else how
        parameters.append(Parameter(name=name, path=path, how=how, uses=tuple(group), lookup=lookup))
        if any(use.kind in (UseKind.WRITE, UseKind.UPDATE) for use in group):
            written[path] = name
    refusals += _unknown_keys(source, function, step, {path for path, _ in groups})
    return Needs(
        receiver=receiver, uses=tuple(uses), parameters=tuple(parameters), written=written, refusals=tuple(refusals)
    )


def _owner_needs(source: Source, function: Function, step: ExtractMethod, uses: list[Use], receiver: str) -> Needs:
    refusals: list[Refusal] = []
    if step.owner in taken_names(source, function) and step.owner != receiver:
        refusals.append(_name_taken(source, function, receiver, step.owner))
    parameter = Parameter(name=step.owner, path="", how=How.OWNER, uses=tuple(uses))
    return Needs(receiver=receiver, uses=tuple(uses), parameters=(parameter,), written={}, refusals=tuple(refusals))


def _group(source: Source, use: Use, uses: list[Use], step: ExtractMethod) -> tuple[str, str]:
    """The path the parameter stands for, and the text of a dynamic lookup."""
    if use.is_dynamic:
        call = use.node
        assert isinstance(call, ast.Call)
        lookup = source.body[source.start(call.args[1]) : source.end(call)].decode()
        return use.attribute, lookup
    leaves = () if isinstance(step.leaves, bool) else step.leaves
    for leaf in leaves:
        if use.chain == leaf or use.chain.startswith(leaf + "."):
            return leaf, ""
    if step.leaves is True and use.kind is UseKind.READ:
        same = [other for other in uses if other.attribute == use.attribute]
        heads = {".".join(other.chain.split(".")[:2]) for other in same}
        is_one_leaf = len(heads) == 1 and all("." in other.chain and not other.is_called for other in same)
        if is_one_leaf and all(other.kind is UseKind.READ for other in same):
            return heads.pop(), ""
    return use.attribute, ""


def taken_names(source: Source, function: Function) -> set[str]:
    """Names that a new parameter may not have: bound anywhere in the function, or read in it from outside."""
    scopes = table(source)
    receiver = receiver_name(function)
    return {
        occurrence.name
        for occurrence in scopes.between(source.start(function), source.end(function))
        if occurrence.name != receiver and (occurrence.role is not Role.DEFINE or occurrence.node is not function)
    }


def _name(path: str, wanted: str, taken: set[str]) -> str:
    if wanted and wanted not in taken and wanted.isidentifier() and not keyword.iskeyword(wanted):
        return wanted
    leaf = path.rpartition(".")[2].lstrip("_") or "value"
    candidates = [leaf, f"self_{leaf}", *(f"self_{leaf}_{number}" for number in range(2, 1000))]
    return next(each for each in candidates if each not in taken and not keyword.iskeyword(each))


def _name_taken(source: Source, function: Function, path: str, wanted: str) -> Refusal:
    return Refusal(
        code="U107",
        path=source.path,
        line=function.lineno,
        message=f"the parameter for {path} can't be called {wanted}: {function.name} uses that name already",
        settle="choose another name in `parameters`, or leave it to the tool",
    )


def _unknown_keys(source: Source, function: Function, step: ExtractMethod, paths: Iterable[str]) -> list[Refusal]:
    """Plan keys that name attributes the method does not use are typos, and typos are refused."""
    known = set(paths) | {path.partition(".")[0] for path in paths}
    leaves = () if isinstance(step.leaves, bool) else step.leaves
    asked = {"lazy": step.lazy, "optional": step.optional, "parameters": tuple(step.parameters), "leaves": leaves}
    return [
        Refusal(
            code="unknown-attribute",
            path=source.path,
            line=function.lineno,
            message=f"`{key}` names {name}, which {function.name} does not use",
            settle=f"use one of {', '.join(sorted(known)) or 'none'}",
        )
        for key, names in asked.items()
        for name in names
        if name not in known
    ]
