"""A plan and its steps as frozen structs, one per `do`. What a person decides; everything else the tool finds.

Decoding from TOML, with file and line in its errors, is plan/load.py."""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct


class StepBase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do"):
    """Keys every step has. `accept` maps a hazard code to the reason why it is accepted here."""

    accept: dict[str, str] = {}
    subject: str = ""

    target_key: ClassVar[str] = ""
    destination_key: ClassVar[str] = "to"

    @property
    def do(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    def target(self) -> str:
        return str(getattr(self, self.target_key))

    @property
    def destination(self) -> str:
        return str(getattr(self, self.destination_key, ""))


class ExtractMethod(StepBase, frozen=True, kw_only=True, tag="extract-method"):
    """Take a method out of its class: prep (static, parameters for attributes), move, post.

    to: destination module; "" stops after prep (the method becomes static in place).
    name: the function's name; default the method's.
    wrapper: keep a same-named method that calls the function.
    call: how call sites name the function: `module.f(...)` or `f(...)`.
    returns: attributes the method writes, in the order they are returned; None lets the tool decide.
    leaves: attribute chains (`server_args.host`) passed as their leaf; True for all of one use.
    lazy: attributes passed as a getter (`lambda: self.x`) because they must be read when the body reads them.
    optional: attributes passed as `getattr(self, "x", None)`.
    parameters: attribute -> parameter name.
    owner: pass the whole object under this parameter name where `self` itself escapes.
    annotate: copy annotations of attributes onto the new parameters.
    carry: module-level names (constants, helpers) that move along.
    strings: what to do with strings that name the old place."""

    method: str
    to: str = ""
    name: str = ""
    wrapper: bool = False
    call: Literal["module", "name"] = "module"
    returns: tuple[str, ...] | None = None
    leaves: bool | tuple[str, ...] = False
    lazy: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    parameters: dict[str, str] = {}
    owner: str = ""
    annotate: bool = True
    carry: tuple[str, ...] = ()
    strings: Literal["rewrite", "keep"] = "rewrite"

    target_key: ClassVar[str] = "method"


class Move(StepBase, frozen=True, kw_only=True, tag="move"):
    """Move a module-level function, class or constant to another module.

    reexport: keep the old name importable from the old module (`from new import name  # noqa: F401`).
    carry, call, strings: as in extract-method."""

    definition: str
    to: str
    reexport: bool = False
    call: Literal["module", "name"] = "name"
    carry: tuple[str, ...] = ()
    strings: Literal["rewrite", "keep"] = "rewrite"

    target_key: ClassVar[str] = "definition"


class Rename(StepBase, frozen=True, kw_only=True, tag="rename"):
    """Rename a definition, an attribute (`pkg.mod:Class.attr`), a local (`pkg.mod:func.local`) or a module in place.

    definition: MODULE:QUALNAME, or a bare MODULE to rename a module or package.
    to: the new name (for a module: the new dotted name)."""

    definition: str
    to: str
    strings: Literal["rewrite", "keep"] = "rewrite"

    target_key: ClassVar[str] = "definition"


class InlineMethod(StepBase, frozen=True, kw_only=True, tag="inline-method"):
    """Put a thin forwarder's body at its call sites and remove it. Also takes a module-level function, and a local
    (`pkg.mod:func.name`) that is assigned once."""

    method: str

    target_key: ClassVar[str] = "method"


class ExtractFunction(StepBase, frozen=True, kw_only=True, tag="extract-function"):
    """A block of statements, or one expression, of `function` becomes a function (or a method of the same class).

    first, last: source text of the first line of the first and of the last statement of the block, as it stands in the
    file, without indentation; any beginning of the statement's text will do, and more lines of it where one is not
    enough. `last` defaults to `first` (one statement). A text that fits in several ways is refused.
    expression: source text of one expression instead of first/last; `first` then names the statement it stands in.
    name: the new function's name.
    to: destination module; "" keeps it beside the function.
    kind: "function" (module level), "method" or "staticmethod" of the same class.
    call: as in extract-method, used when `to` is another module."""

    function: str
    name: str
    first: str = ""
    last: str = ""
    expression: str = ""
    to: str = ""
    kind: Literal["function", "method", "staticmethod"] = "function"
    call: Literal["module", "name"] = "module"
    carry: tuple[str, ...] = ()
    annotate: bool = True

    target_key: ClassVar[str] = "function"


class Piece(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One new method of a split: `first`/`last` as in extract-function."""

    name: str
    first: str
    last: str = ""


class SplitMethod(StepBase, frozen=True, kw_only=True, tag="split-method"):
    """A long method becomes several methods of the same class, in order; the method calls them. One commit."""

    method: str
    pieces: tuple[Piece, ...]

    target_key: ClassVar[str] = "method"


class ResultStruct(StepBase, frozen=True, kw_only=True, tag="result-struct"):
    """A function that returns a tuple returns a frozen keyword-only msgspec.Struct; call sites unpack it by field.

    function: MODULE:QUALNAME. name: the struct. fields: in the order of the tuple; () takes the names returned.
    Those may also be listed in another order: results that have names are told by them.
    types: field -> annotation; a field without one gets `object`."""

    function: str
    name: str
    fields: tuple[str, ...] = ()
    types: dict[str, str] = {}

    target_key: ClassVar[str] = "function"


class RedirectAttribute(StepBase, frozen=True, kw_only=True, tag="redirect-attribute"):
    """`self.tp_size` is read as `self.ps.tp_size` everywhere.

    attribute: MODULE:Class.attr. via: the attribute path between (`ps`), may be dotted.
    to: the leaf's new name; default the same. drop: also remove the assignments of the old attribute."""

    attribute: str
    via: str
    to: str = ""
    drop: bool = False

    target_key: ClassVar[str] = "attribute"


Step = ExtractMethod | Move | Rename | InlineMethod | ExtractFunction | SplitMethod | ResultStruct | RedirectAttribute


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`id` goes into the trailers of every commit; `step` keeps TOML's own spelling of `[[step]]`."""

    id: str
    title: str = ""
    step: tuple[Step, ...]
