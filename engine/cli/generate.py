"""`generate`: one prompt, its answer while it comes."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import msgspec
import typer

from engine.cli import sampling
from engine.cli.console import OK, err, fetch, out, start_log
from engine.cli.follow import followed
from engine.cli.options import server_options
from engine.config.server_args import ServerArgs
from engine.schema.errors import BadRequest


@server_options
def generate(
    args: ServerArgs,
    prompt: Annotated[str, typer.Argument(help="The prompt; - reads it from stdin.")],
    raw: Annotated[
        bool, typer.Option("--raw", help="Continue the prompt as it is, without the model's chat template.")
    ] = False,
    system: Annotated[str | None, typer.Option("--system", help="What the model is told first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole result as one JSON object, at the end.")] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Say on stderr how fast it was.")] = False,
    max_tokens: sampling.MaxTokens = 256,
    temperature: sampling.Temperature = 0.0,
    top_p: sampling.TopP = 1.0,
    top_k: sampling.TopK = 0,
    repetition_penalty: sampling.RepetitionPenalty = 1.0,
    sampling_seed: sampling.RequestSeed = None,
    stop: sampling.Stop = None,
    json_schema: sampling.JsonSchema = None,
    regex: sampling.Regex = None,
    use_lora: sampling.Lora = None,
) -> int:
    """Answer one prompt, token by token.

    python -m engine generate "Why is the sky blue?"
    """
    start_log()
    params = sampling.make_params(
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        repetition_penalty=repetition_penalty,
        seed=sampling_seed,
        stop=stop,
        json_schema=json_schema,
        regex=regex,
    )
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text:
        raise BadRequest("prompt", "it is empty", fix="write one")
    if (status := followed(args)) is not None:
        return status
    begun = time.perf_counter()
    fetch(args)
    from engine.core.llm import LLM

    with LLM(**msgspec.structs.asdict(args)) as llm:
        loaded = time.perf_counter()
        made = _prompt(llm, text, raw=raw, system=system)
        if as_json:
            out(msgspec.json.encode(llm.generate([made], params, lora=use_lora)[0]).decode())
            return OK
        first = None
        for piece in llm.stream(made, params, lora=use_lora):
            first = first or time.perf_counter()
            out(piece.text, end="")
        out("")
        if stats:
            _tell(llm.stats().output_tokens, loaded - begun, (first or loaded) - loaded, time.perf_counter() - loaded)
    return OK


def _prompt(llm: Any, text: str, *, raw: bool, system: str | None) -> Any:
    tokenizer = llm.tokenizer
    if raw or tokenizer is None or tokenizer.template is None:
        if system is not None:
            raise BadRequest("system", "a raw prompt has no place for it", fix="write it into the prompt")
        return text
    messages = [{"role": "system", "content": system}] if system is not None else []
    return llm.chat_prompt([*messages, {"role": "user", "content": text}])


def _tell(num_tokens: int, load_s: float, first_s: float, all_s: float) -> None:
    speed = (num_tokens - 1) / (all_s - first_s) if num_tokens > 1 and all_s > first_s else 0.0
    err(
        f"loaded in {load_s:.2f} s, first text after {first_s:.2f} s, {num_tokens} tokens in {all_s:.2f} s "
        f"({speed:.1f} tokens a second after the first)"
    )
