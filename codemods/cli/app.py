"""The command `unmoved`: its commands, its own options, and what a wrong command line looks like."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from codemods.cli.apply import apply
from codemods.cli.check import check
from codemods.cli.console import Console
from codemods.cli.explain import explain
from codemods.cli.freeze import freeze
from codemods.cli.gate import gate
from codemods.cli.gate_options import GateCommand
from codemods.cli.options import FormatOption, Root, format_text
from codemods.cli.plain_options import PlainCommand, PlainGroup
from codemods.cli.plan import plan
from codemods.cli.prove import prove
from codemods.cli.prove_options import ProveCommand
from codemods.cli.record import RecordCommand, record
from codemods.cli.replay import replay
from codemods.cli.session import COULD_NOT, INTERRUPTED, Session, UsageProblem, internal, run, show_error
from codemods.cli.verify import verify
from codemods.report.lines import Span, Style, line
from codemods.schema.errors import UnmovedError

# Help without rich: it would cost more time than everything else that `--help` does.
app = typer.Typer(
    name="unmoved",
    cls=PlainGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 110},
)
app.command("plan", cls=PlainCommand)(plan)
app.command("apply", cls=PlainCommand)(apply)
app.command("verify", cls=PlainCommand)(verify)
app.command("check", cls=PlainCommand)(check)
app.command("prove", cls=ProveCommand)(prove)
app.command("gate", cls=GateCommand)(gate)
app.command("record", cls=RecordCommand)(record)
app.command("replay", cls=PlainCommand)(replay)
app.command("freeze", cls=PlainCommand)(freeze)
app.command("explain", cls=PlainCommand)(explain)


def _print_version(wanted: bool) -> None:
    if wanted:
        # Not at the top: loading it takes longer than printing the help.
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("unmoved")
        except PackageNotFoundError:
            number = "(not installed)"
        Console(os.environ).out([line(f"unmoved {number}")])
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _unmoved(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, then stop.")
    ] = False,
    show_config: Annotated[
        bool, typer.Option("--show-config", help="Print the configuration and who decided it, then stop.")
    ] = False,
    root: Root = None,
    format_: FormatOption = None,
) -> None:
    """Split a god class one method at a time: the code moves, the behaviour does not.

    \b
    unmoved plan MODULE:Class --suggest              what can leave the class?
    unmoved plan MODULE:Class.method --to MODULE     the step, with what the tool found
    unmoved apply plan.toml --branch NAME            prep, move and post commits on a new branch
    unmoved verify main..HEAD                        which operation made each changed line, and what is left
    unmoved check CERT                               does a certificate of `verify` hold?
    unmoved prove main..HEAD                         does what is left behave the same, on every path?
    unmoved gate main..HEAD                          both, and whether it may pass: what CI runs
    unmoved record TARGET --to DIR -- COMMAND        keep real calls of a running program
    unmoved replay DIR                               does the function still do what was recorded?
    unmoved freeze plan.toml                         keep what a plan is about to change
    unmoved explain U104                             what a hazard is and what settles it

    Settings come from the command line, then from UNMOVED_... variables, then from [tool.unmoved] in pyproject.toml or
    from unmoved.toml. Exit status: 0 pass, 1 the check says no, 2 it could not be done, 130 interrupted.
    """
    del version
    if context.invoked_subcommand is not None:
        # What stands before the command is meant for it; what stands behind it comes later and wins.
        before = {"root": root, "format_": format_, "show_config": show_config or None}
        known = {name: value for name, value in before.items() if value is not None}
        context.default_map = {context.invoked_subcommand: known}
        return
    if show_config:
        raise typer.Exit(run(_nothing, root=root, format_=format_text(format_), show_config=True))
    typer.echo(context.get_help())
    raise typer.Exit(COULD_NOT)


def _nothing(session: Session) -> int:
    del session
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. The exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # it was closed before the start (`>&-`): nobody wants to hear
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (as long as the process)
    try:
        status = app(args=given, prog_name="unmoved", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        Console(os.environ).err([line(Span("interrupted: ", Style.BAD), "nothing was changed")])
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 -- the last place before Python's own traceback
        # typer has no public name for the error of a wrong command line; every such error can say what is wrong.
        problem: UnmovedError
        if hasattr(error, "format_message"):
            problem = UsageProblem(error.format_message(), fix=f"see `{_help_command(error)} --help`")
        else:
            problem = internal(error, "nothing was changed")
        return show_error(Console(os.environ), problem, is_json=_asks_for_json(given))
    return status if isinstance(status, int) else 0


def _help_command(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return str(context.command_path) if context is not None else "unmoved"


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """What the format is when the command line could not be understood."""
    for at, argument in enumerate(arguments):
        if argument.startswith("--format"):
            value = argument.partition("=")[2] or "".join(arguments[at + 1 : at + 2])
            return value.lower() == "json"
    return os.environ.get("UNMOVED_FORMAT") == "json"
