"""The options of `unmoved gate`: how they are spelt. What they mean together is gate.py's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from codemods.cli.plain_options import PlainCommand

FORMATS = ("text", "json", "jsonl", "github", "sarif", "junit", "markdown", "html")

FormatsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        help="How to report. Repeatable: the n-th goes to the n-th --output, and what has none to stdout.",
    ),
]
OutputsOption = Annotated[
    list[str] | None, typer.Option("--output", metavar="FILE", help="Where the report of --format goes. Repeatable.")
]


class GateCommand(PlainCommand):
    """Two directories are two values, but no target is repeated without end."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [each.removesuffix("...") for each in super().collect_usage_pieces(ctx)]


TargetsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="TARGET [OTHER]", help="A..B, a commit, or DIR_A DIR_B.")
]
StagedOption = Annotated[bool, typer.Option("--staged", help="What is staged, as the commit that it would become.")]
PushedOption = Annotated[
    bool, typer.Option("--pushed", help="What is about to be pushed; pre-commit says which commits that are.")
]
FrozenOption = Annotated[
    bool, typer.Option("--frozen", help="The pairs of specs that name an old tree of their own, too.")
]
NoProveOption = Annotated[
    bool, typer.Option("--no-prove", help="Verify alone: quick, and only readers left behind can fail.")
]
BaselineOption = Annotated[
    Path | None, typer.Option("--baseline", metavar="FILE", help="What may fail for now; stale entries fail.")
]
WriteBaselineOption = Annotated[
    bool, typer.Option("--write-baseline", help="Write what fails to --baseline; one that is there only shrinks.")
]
