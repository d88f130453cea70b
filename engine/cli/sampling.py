"""The options of one request that `generate` and `chat` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.schema.errors import BadRequest
from engine.schema.sampling import SamplingParams

PANEL = "Answer"
MaxTokens = Annotated[int, typer.Option("--max-tokens", help="Tokens of an answer, at most.", rich_help_panel=PANEL)]
Temperature = Annotated[
    float, typer.Option("--temperature", help="0 takes the likeliest token.", rich_help_panel=PANEL)
]
TopP = Annotated[
    float, typer.Option("--top-p", help="Choose among the likeliest with this sum.", rich_help_panel=PANEL)
]
TopK = Annotated[int, typer.Option("--top-k", help="Choose among so many; 0 for all.", rich_help_panel=PANEL)]
RepetitionPenalty = Annotated[
    float, typer.Option("--repetition-penalty", help="Above 1, what came is less likely.", rich_help_panel=PANEL)
]
RequestSeed = Annotated[
    int | None, typer.Option("--sampling-seed", help="The same one gives the same answer.", rich_help_panel=PANEL)
]
Stop = Annotated[
    list[str] | None,
    typer.Option("--stop", help="A text that ends the answer; repeatable.", rich_help_panel=PANEL),
]
JsonSchema = Annotated[
    str | None,
    typer.Option("--json-schema", help="A schema that the answer keeps to, or its file.", rich_help_panel=PANEL),
]
Regex = Annotated[
    str | None, typer.Option("--regex", help="An expression that the answer matches.", rich_help_panel=PANEL)
]
Lora = Annotated[str | None, typer.Option("--use-lora", help="A loaded adapter that answers.", rich_help_panel=PANEL)]


def schema_text(given: str | None) -> str | None:
    """A schema as it is, or out of its file."""
    if given is None or given.lstrip().startswith(("{", "true", "false")):
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except OSError as error:
        raise BadRequest(
            "json_schema", f"{given} can't be read: {error.strerror}", fix="give a schema, or a file with one"
        ) from error


def make_params(
    *,
    max_tokens: int,
    temperature: float,
    top_p: float,
    top_k: int,
    repetition_penalty: float,
    seed: int | None,
    stop: list[str] | None,
    json_schema: str | None,
    regex: str | None,
) -> SamplingParams:
    return SamplingParams(
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        repetition_penalty=repetition_penalty,
        seed=seed,
        stop=tuple(stop or ()),
        json_schema=schema_text(json_schema),
        regex=regex,
    )
