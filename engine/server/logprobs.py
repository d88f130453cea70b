"""Log-probabilities of tokens in the forms of the two endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.schema.output import TokenLogprob
from engine.server.choice import Entry
from engine.text.vocabulary import Vocabulary


def chat(vocabulary: Vocabulary, entries: Iterable[Entry]) -> dict[str, Any]:
    """A token that is no whole character shows as U+FFFD; its bytes say what it is."""

    def of(each: TokenLogprob) -> dict[str, Any]:
        raw = vocabulary.bytes_of(each.token_id, skip_special=False)
        return {"token": raw.decode("utf-8", "replace"), "logprob": _finite(each.logprob), "bytes": list(raw)}

    return {
        "content": [
            {**of(each.logprobs.chosen), "top_logprobs": [of(top) for top in each.logprobs.top]} for each in entries
        ],
        "refusal": None,
    }


def completion(vocabulary: Vocabulary, entries: Sequence[Entry | int], *, offset: int = 0) -> dict[str, Any]:
    """entries: a number in place of one is a first token, of which nothing is known but its id. offset: where the text
    begins that the entries count from."""
    tokens, offsets = list[str](), list[int]()
    chosen, top = list[float | None](), list[dict[str, float] | None]()
    for each in entries:
        if isinstance(each, int):
            tokens.append(_written(vocabulary, each))
            chosen.append(None)
            top.append(None)
            offsets.append(offset)
            continue
        of = each.logprobs
        tokens.append(_written(vocabulary, of.chosen.token_id))
        chosen.append(_finite(of.chosen.logprob))
        # A token that was chosen stands there too, as with OpenAI, where it is not among the likeliest.
        top.append({_written(vocabulary, one.token_id): _finite(one.logprob) for one in (*of.top, of.chosen)})
        offsets.append(offset + each.start)
    return {"tokens": tokens, "token_logprobs": chosen, "top_logprobs": top, "text_offset": offsets}


def _written(vocabulary: Vocabulary, token: int) -> str:
    """As OpenAI writes a token that is no text: by its bytes."""
    raw = vocabulary.bytes_of(token, skip_special=False)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{each:02x}" for each in raw)


def _finite(value: float) -> float:
    """JSON has no infinity: what can't come is very unlikely."""
    return max(value, -9999.0)
