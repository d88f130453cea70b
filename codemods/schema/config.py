"""What can be configured, and what a run gets of it. Where the values come from is cli/config.py's."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from codemods.schema.gate import GatePolicy

DEFAULT_LINE_LENGTH = 88


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The keys of `[tool.unmoved]` in pyproject.toml, or of unmoved.toml.

    exclude: patterns as in a .gitignore at the root, of paths that are neither read nor changed.
    source_roots: directories, relative to the root, from which modules are imported; () looks for them.
    line_length: how long a line that the tool writes may be; None takes ruff's or black's, else 88.
    accept: hazard codes that are accepted in every step, each with the reason.
    redact: names of secrets, as in a shell, besides those that recordings hide by themselves; `!name` is none.
    real: modules that run for real in `prove`, besides the pure ones of the standard library; the rest is opaque.
    format: how commands report.
    gate: what `unmoved gate` demands."""

    exclude: tuple[str, ...] = ()
    source_roots: tuple[str, ...] = ()
    line_length: Annotated[int, Meta(ge=20, le=1000)] | None = None
    accept: dict[str, str] = {}
    redact: tuple[str, ...] = ()
    real: tuple[str, ...] = ()
    format: Literal["text", "json"] = "text"
    gate: GatePolicy = GatePolicy()


class Settings(Struct, frozen=True, kw_only=True):
    """The part of the configuration that planning and applying depend on, with every value decided."""

    exclude: tuple[str, ...] = ()
    source_roots: tuple[str, ...] = ()
    line_length: int = DEFAULT_LINE_LENGTH
    accept: dict[str, str] = {}


class Setting(Struct, frozen=True, kw_only=True):
    """One configured value as `--show-config` prints it: `origin` says who decided."""

    key: str
    value: bool | int | str | list[str] | dict[str, str]
    origin: str
