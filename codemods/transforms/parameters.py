"""Which parameters take the place of `self` in a method, what each is called, and what the caller passes for it.

The naming rule: an attribute's name without leading underscores (`MAX` becomes `max`); when that is a parameter, local,
global or builtin the body uses, `self_` + name; then numbered. A local that only stands for the attribute gives its
name to the parameter. A name the plan gives is taken as it is, or refused."""

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
from codemods.transforms.static_alias import alias_of
from codemods.transforms.static_receiver import Receiver


class How(Enum):
    """How the value comes in."""

    VALUE = "value"
    LAZY = "lazy"  # a getter
    OPTIONAL = "optional"  # getattr with None
    DYNAMIC = "dynamic"  # the getattr or hasattr call as the body had it
    OWNER = "owner"  # the object itself


class Parameter(Struct, frozen=True, kw_only=True, eq=False):
    """One new keyword-only parameter.

    path: the attribute, or the dotted chain whose leaf is passed. uses: the places it stands for. alias: a statement
    that only gave the attribute this very name, and goes. lookup: for DYNAMIC the call's text around the receiver."""

    name: str
    path: str
    how: How
    uses: tuple[Use, ...]
    annotation: str = ""
    lookup: tuple[str, str] = ("", "")
    alias: ast.Assign | None = None

    @property
    def attribute(self) -> str:
        return self.path.partition(".")[0]

    @property
    def key(self) -> str:
        """The variable that stands for it in the flow of the method."""
        return self.uses[0].key if self.lookup[0] else self.attribute

    @property
    def is_needed(self) -> bool:
        """Whether anything but a bare annotation is behind it."""
        return self.how is How.OWNER or any(use.kind is not UseKind.ANNOTATION for use in self.uses)

    def argument(self, receiver: Receiver) -> str:
        """What a caller passes."""
        if self.how is How.OWNER:
            return receiver.text
        if self.how is How.OPTIONAL:
            return f'getattr({receiver.text}, "{receiver.real(self.path)}", None)'
        if self.how is How.LAZY:
            head = f"lambda {receiver.kept}={receiver.text}" if receiver.kept else "lambda"
            return f"{head}: {self._value(receiver, receiver.kept)}"
        return self._value(receiver)

    def _value(self, receiver: Receiver, kept: str = "") -> str:
        text = kept or receiver.text
        if self.lookup[0]:
            return f"{self.lookup[0]}{text}{self.lookup[1]}"
        return ".".join([text, *(receiver.spelled(part) for part in self.path.split("."))])

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

    @property
    def is_owner(self) -> bool:
        """Whether the object itself is passed."""
        return any(each.how is How.OWNER for each in self.parameters)


def needs_of(source: Source, function: Function, step: ExtractMethod, *, avoid: frozenset[str] = frozenset()) -> Needs:
    """What the method takes from `self`, with names chosen. avoid: names that callers use for keywords of their own.

    Without a wrapper, calls of the method itself are no attributes: they are rewritten like any other call of it."""
    uses = self_uses(source, function)
    receiver = receiver_name(function)
    if step.owner:
        return _owner_needs(source, function, step, uses, receiver)
    groups: dict[tuple[str, tuple[str, str]], list[Use]] = {}
    for use in uses:
        is_recursive = not step.wrapper and use.attribute == function.name and use.is_called
        if use.kind is not UseKind.ESCAPE and not is_recursive:
            groups.setdefault(_group(source, use, uses, step), []).append(use)
    taken = taken_names(source, function) | avoid
    refusals: list[Refusal] = []
    parameters: list[Parameter] = []
    written: dict[str, str] = {}
    for (path, lookup), group in groups.items():
        wanted = "" if lookup[0] else step.parameters.get(path, "")
        is_written = any(use.is_write for use in group)
        how = How.DYNAMIC if lookup[0] else How.VALUE
        how = How.LAZY if path in step.lazy else How.OPTIONAL if path in step.optional and not lookup[0] else how
        leaf = wanted or leaf_of(path, lookup[0])
        alias = None
        if how in (How.VALUE, How.OPTIONAL) and not is_written and leaf not in avoid:
            alias = alias_of(source, function, group, path, leaf)
        name = leaf if alias is not None else _name(leaf, wanted, taken)
        if wanted and name != wanted:
            refusals.append(_name_taken(source, function, path, wanted))
        taken.add(name)
        parameters.append(Parameter(name=name, path=path, how=how, uses=tuple(group), lookup=lookup, alias=alias))
        if is_written:
            written[path] = name
    refusals += _unknown_keys(source, function, step, {path for path, _ in groups})
    refusals += _unclear(source, function, parameters, written)
    return Needs(
        receiver=receiver, uses=tuple(uses), parameters=tuple(parameters), written=written, refusals=tuple(refusals)
    )


def _owner_needs(source: Source, function: Function, step: ExtractMethod, uses: list[Use], receiver: str) -> Needs:
    refusals: list[Refusal] = []
    is_name = step.owner.isidentifier() and not keyword.iskeyword(step.owner)
    if (step.owner in taken_names(source, function) and step.owner != receiver) or not is_name:
        refusals.append(_name_taken(source, function, receiver, step.owner))
    parameter = Parameter(name=step.owner, path="", how=How.OWNER, uses=tuple(uses))
    return Needs(receiver=receiver, uses=tuple(uses), parameters=(parameter,), written={}, refusals=tuple(refusals))


def _group(source: Source, use: Use, uses: list[Use], step: ExtractMethod) -> tuple[str, tuple[str, str]]:
    """The path the parameter stands for, and for a dynamic lookup the text around the object."""
    if use.lookup:
        start, end = source.start(use.node), source.end(use.node)
        name_start, name_end = source.start(use.name), source.end(use.name)
        around = source.body[start:name_start].decode(), source.body[name_end:end].decode()
        return use.attribute, around
    nothing = ("", "")
    for leaf in () if isinstance(step.leaves, bool) else step.leaves:
        if use.chain == leaf or use.chain.startswith(leaf + "."):
            return leaf, nothing
    if step.leaves is True and use.kind is UseKind.READ:
        same = [other for other in uses if other.attribute == use.attribute]
        heads = {".".join(other.chain.split(".")[:2]) for other in same}
        is_one_leaf = len(heads) == 1 and all("." in other.chain and not other.is_called for other in same)
        if is_one_leaf and all(other.kind is UseKind.READ and not other.lookup for other in same):
            return heads.pop(), nothing
    return use.attribute, nothing


def taken_names(source: Source, function: Function) -> set[str]:
    """Names that a new parameter may not have: bound anywhere in the function, or read in it from outside."""
    scopes = table(source)
    receiver = receiver_name(function)
    return {
        occurrence.name
        for occurrence in scopes.between(source.start(function), source.end(function))
        if occurrence.name != receiver and (occurrence.role is not Role.DEFINE or occurrence.node is not function)
    }


def leaf_of(path: str, lookup: str = "") -> str:
    """The name a parameter for this path would like: `_kv.pool_` -> `pool_`, `__class__` -> `class`, `MAX` -> `max`."""
    last = path.rpartition(".")[2]
    leaf = last.strip("_") if last.startswith("__") and last.endswith("__") else last.lstrip("_")
    leaf = leaf.lower() if leaf.isupper() and len(leaf) > 1 else leaf
    return ("has_" if lookup.startswith("hasattr") else "") + (leaf or "value")


def _name(leaf: str, wanted: str, taken: set[str]) -> str:
    if wanted and wanted not in taken and wanted.isidentifier() and not keyword.iskeyword(wanted):
        return wanted
    candidates = [leaf, f"self_{leaf}", *(f"self_{leaf}_{number}" for number in range(2, 1000))]
    return next(each for each in candidates if each not in taken and each != wanted and not keyword.iskeyword(each))


def _refusal(source: Source, line: int, code: str, message: str, settle: str) -> Refusal:
    return Refusal(code=code, path=source.path, line=line, message=message, settle=settle)


def _name_taken(source: Source, function: Function, path: str, wanted: str) -> Refusal:
    why = f"{function.name} uses that name already" if wanted.isidentifier() else "that is no name"
    message = f"the parameter for {path} can't be called {wanted}: {why}"
    settle = "choose another name in `parameters`, or leave it to the tool"
    return _refusal(source, function.lineno, "U107", message, settle)


def _unclear(source: Source, function: Function, parameters: list[Parameter], written: dict[str, str]) -> list[Refusal]:
    """Parameters that could not follow what the body does to their attribute."""
    found: list[Refusal] = []
    for each in parameters:
        line = each.uses[0].node.lineno
        if each.path in written and each.how is How.LAZY:
            message = f"`lazy` names {each.path}, which {function.name} also writes"
            found.append(_refusal(source, line, "lazy-is-written", message, "pass the object: owner"))
        if "." in each.path and (each.attribute in written or _stores_to(function, each.path)):
            message = f"`leaves` takes {each.path}, which {function.name} also assigns"
            found.append(_refusal(source, line, "leaf-is-written", message, f"leave {each.path} out of `leaves`"))
    return found


def _stores_to(function: Function, path: str) -> bool:
    """Whether the body assigns or deletes something on the chain below the object."""
    receiver = receiver_name(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            text = ast.unparse(node)
            if f"{receiver}.{path}" == text or f"{receiver}.{path}".startswith(f"{text}."):
                return True
    return False


def _unknown_keys(source: Source, function: Function, step: ExtractMethod, paths: Iterable[str]) -> list[Refusal]:
    """Plan keys that name attributes the method does not use are typos, and typos are refused."""
    known = set(paths)
    leaves = () if isinstance(step.leaves, bool) else step.leaves
    asked = {"lazy": step.lazy, "optional": step.optional, "parameters": tuple(step.parameters), "leaves": leaves}
    return [
        _refusal(
            source,
            function.lineno,
            "unknown-attribute",
            f"`{key}` names {name}, which {function.name} does not use",
            f"use one of {', '.join(sorted(known)) or 'none'}",
        )
        for key, names in asked.items()
        for name in names
        if name not in known
    ]
