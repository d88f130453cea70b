"""The options that several commands share, spelt once."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Format(str, Enum):
    """How a command reports."""

    TEXT = "text"
    JSON = "json"


Root = Annotated[
    Path | None,
    typer.Option("--root", metavar="DIR", help="The tree to work on. Default: UNMOVED_ROOT, else where you are."),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="text|json",
        case_sensitive=False,
        help="How to report; json goes to stdout, what is for people then to stderr. Default: text.",
    ),
]
ConfigOption = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="KEY=VALUE",
        help="Set one key of the configuration, the value in TOML: --config 'line-length=100'. Repeatable.",
    ),
]
ShowConfig = Annotated[
    bool, typer.Option("--show-config", help="Print the configuration of this command and who decided it, then stop.")
]


def format_text(chosen: Format | None) -> str | None:
    return chosen.value if chosen else None
