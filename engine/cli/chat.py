"""`chat`: a conversation on the terminal, or from a pipe, a line a turn."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import msgspec
import typer

from engine.cli import sampling
from engine.cli.console import OK, err, fetch, out, show_error, start_log
from engine.cli.follow import followed
from engine.cli.options import server_options
from engine.config.server_args import ServerArgs
from engine.schema.errors import BadModel, BadRequest

_WORDS = "/reset begins anew, /exit or the end of the input ends it, an interrupt ends an answer"


@server_options
def chat(
    args: ServerArgs,
    system: Annotated[str | None, typer.Option("--system", help="What the model is told first.")] = None,
    max_tokens: sampling.MaxTokens = 512,
    temperature: sampling.Temperature = 0.2,
    top_p: sampling.TopP = 0.9,
    top_k: sampling.TopK = 0,
    repetition_penalty: sampling.RepetitionPenalty = 1.1,
    sampling_seed: sampling.RequestSeed = None,
    stop: sampling.Stop = None,
    use_lora: sampling.Lora = None,
) -> int:
    """Talk with the model. A line is a turn; /reset begins anew, /exit ends it."""
    start_log()
    params = sampling.make_params(
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        repetition_penalty=repetition_penalty,
        seed=sampling_seed,
        stop=stop,
        json_schema=None,
        regex=None,
    )
    if (status := followed(args)) is not None:
        return status
    fetch(args)
    from engine.core.llm import LLM

    with LLM(**msgspec.structs.asdict(args)) as llm:
        if llm.tokenizer is None or llm.tokenizer.template is None:
            raise BadModel(f"{args.model} has no chat template", fix="use `generate --raw`")
        if sys.stdin.isatty():
            err(f"{args.name}: {_WORDS}")
        first = [{"role": "system", "content": system}] if system is not None else []
        messages = list(first)
        while (line := _read()) is not None and line != "/exit":
            if line == "/reset":
                messages = list(first)
            elif line:
                messages = _turn(llm, messages, line, params, use_lora)
    return OK


def _read() -> str | None:
    """None at the end of the input."""
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


def _turn(llm: Any, messages: list[dict[str, str]], line: str, params: Any, lora: str | None) -> list[dict[str, str]]:
    """The conversation with this turn, or as it was where the turn could not be answered."""
    asked = [*messages, {"role": "user", "content": line}]
    texts: list[str] = []
    stream = None
    try:
        stream = llm.stream(llm.chat_prompt(asked), params, lora=lora)
        for piece in stream:
            texts.append(piece.text)
            out(piece.text, end="")
    except BadRequest as error:
        show_error(error)
        return messages
    except KeyboardInterrupt:
        pass  # what was said until now stays said
    finally:
        if stream is not None:
            stream.close()
    out("")
    return [*asked, {"role": "assistant", "content": "".join(texts)}]
