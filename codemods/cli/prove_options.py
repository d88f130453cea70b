"""The options of `unmoved prove`: how they are spelt, and texts to numbers."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from codemods.cli.plain_options import PlainCommand
from codemods.cli.session import UsageProblem

_PAIRS = "unmoved.prove.pairs"


class ProveFormat(str, Enum):
    """How `prove` reports."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    HTML = "html"
    JUNIT = "junit"
    GITHUB = "github"
    SARIF = "sarif"


TargetsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="TARGET [OTHER]", help="A..B, a commit, DIR_A DIR_B, a plan or specs (*.toml)."),
]
PairOption = Annotated[
    list[str] | None,
    typer.Option("--pair", metavar="OLD NEW", help="Prove these two, as MODULE:QUALNAME or MODULE. Repeatable."),
]
AllOption = Annotated[bool, typer.Option("--all", help="Every changed callable, class and import, certified or not.")]
WholeOption = Annotated[bool, typer.Option("--squash", help="Take a range as one change, not commit by commit.")]
SpecOption = Annotated[
    list[str] | None,
    typer.Option("--spec", metavar="FILE", help="Pairs with domains and declared differences. Repeatable."),
]
JobsOption = Annotated[
    str | None, typer.Option("-j", "--jobs", metavar="N", help="Processes. Default: one for each core.")
]
PathsOption = Annotated[str | None, typer.Option(metavar="N", help="Paths of a pair. Default: 20000.")]
FaultsOption = Annotated[str | None, typer.Option(metavar="N", help="Single faults of a pair. Default: 100000.")]
SecondsOption = Annotated[str | None, typer.Option(metavar="S", help="Time for a pair. Default: 60.")]
PowerOption = Annotated[
    bool, typer.Option("--power/--no-power", help="Whether mutants of the new side must be told apart.")
]
MutantsOption = Annotated[str | None, typer.Option(metavar="N", help="Mutants of a pair. Default: 60.")]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Prove again what has been proved before.")]
SeedOption = Annotated[str | None, typer.Option(metavar="N", help="Of all that is drawn. Default: 0.")]
TestsOption = Annotated[
    Path | None,
    typer.Option("--tests", metavar="DIR", help="Write a pytest file there for each pair that differs."),
]
ProveFormatOption = Annotated[
    ProveFormat | None,
    typer.Option(
        "--format",
        metavar="|".join(each.value for each in ProveFormat),
        case_sensitive=False,
        help="How to report; all but text goes to stdout, what is for people then to stderr. Default: text.",
    ),
]


class ProveCommand(PlainCommand):
    """`--pair OLD NEW`, repeatable: typer has no option that is both of two values and of many."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        left: list[str] = []
        pairs: list[tuple[str, str]] = []
        at = 0
        while at < len(args):
            if args[at] == "--":
                left += args[at:]
                break
            if args[at].partition("=")[0] != "--pair":
                left.append(args[at])
                at += 1
                continue
            given = [args[at].partition("=")[2]] if "=" in args[at] else []
            values = [*given, *args[at + 1 : at + 3]][:2]
            if len(values) < 2 or any(each[:1] in ("", "-") for each in values):
                raise typer.BadParameter("--pair needs two names, the old one and the new one", ctx=ctx)
            pairs.append((values[0], values[1]))
            at += 3 - len(given)
        ctx.meta[_PAIRS] = pairs
        return super().parse_args(ctx, left)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Two directories or several specs are many values, but no target is repeated without end."""
        return [each.removesuffix("...") for each in super().collect_usage_pieces(ctx)]


def pairs_given(context: typer.Context) -> tuple[tuple[str, str], ...]:
    """What `--pair` was given, in order."""
    return tuple(context.meta.get(_PAIRS, ()))


def whole_number(text: str | None, default: int, option: str, *, least: int = 0, most: int = 10**9) -> int:
    """Raises UsageProblem."""
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or not least <= int(text[:12]) <= most:
        raise UsageProblem(
            f"{option} {text} is no number from {least} to {most}", fix=f"mend it, or leave {option} out"
        )
    return int(text)


def seconds_of(text: str | None, default: float, option: str) -> float:
    """Raises UsageProblem."""
    if text is None:
        return default
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 86_400:
        raise UsageProblem(f"{option} {text} is no number of seconds", fix="give one above 0 and up to 86400")
    return found
