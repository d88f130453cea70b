"""The command `python -m engine`: its commands, and what a wrong command line and an error look like."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from engine.cli import model
from engine.cli.bench import bench
from engine.cli.chat import chat
from engine.cli.console import COULD_NOT, INTERRUPTED, err, show_error
from engine.cli.generate import generate
from engine.cli.serve import serve
from engine.schema.errors import BadConfig, EngineError

app = typer.Typer(
    name="engine",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Serve and run language models on this machine. The default model is fetched on first use. "
    "Exit status: 0 done, 2 it could not be done, 130 interrupted.",
)
for command in (generate, chat, serve, bench):
    app.command(command.__name__)(command)
app.add_typer(model.app, name="model")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. The exit status."""
    try:
        status = app(
            args=list(sys.argv[1:] if arguments is None else arguments),
            prog_name="python -m engine",
            standalone_mode=False,
        )
    except (KeyboardInterrupt, typer.Abort):
        err("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # who read it has left
        sys.stdout = None  # nothing is flushed to nobody at the end
        return COULD_NOT
    except EngineError as error:
        return show_error(error)
    except Exception as error:
        # typer has no public name for the error of a wrong command line; every such error can say what is wrong.
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "python -m engine"
        words = error.format_message().strip().rstrip(".") or "no command"
        return show_error(BadConfig(words, fix=f"see `{path} --help`"))
    return status if isinstance(status, int) else 0
