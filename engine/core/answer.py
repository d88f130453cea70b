"""One choice put together from what the steps give: its tokens, its text as far as it is safe to show, where it ends.
Whether anybody streams it is the caller's."""

from __future__ import annotations

from msgspec import Struct, structs

from engine.schema.messages import Delta, Fault
from engine.schema.output import FinishReason, PositionLogprobs, TokenLogprob
from engine.schema.sampling import SamplingParams
from engine.text.detokenizer import Detokenizer
from engine.text.tokenizer import Tokenizer


class Output(Struct, frozen=True, kw_only=True):
    """One choice. token_ids: all of them, also what ended it. logprobs: one a token, where they were asked for. stop:
    the text or token that ended it; None for an end of text, and for a length."""

    index: int
    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    logprobs: tuple[PositionLogprobs, ...] = ()
    stop: str | int | None = None


class Answer:
    """tokenizer: None where tokens have no text: then nothing but tokens comes. prompt: its tokens, whose unfinished
    character the answer may finish."""

    def __init__(
        self, tokenizer: Tokenizer | None, params: SamplingParams, *, index: int, prompt: tuple[int, ...]
    ) -> None:
        self._tokenizer, self._is_kept, self.index = tokenizer, params.is_stop_kept, index
        self._min_tokens = params.min_tokens
        self._ends = (tokenizer.eos_ids if tokenizer is not None else frozenset()) | frozenset(params.stop_token_ids)
        self._detokenizer = None
        if tokenizer is not None:
            self._detokenizer = Detokenizer(
                tokenizer.vocabulary,
                stop=params.stop,
                is_stop_kept=params.is_stop_kept,
                skip_special=params.skip_special_tokens,
                prompt=prompt,
            )
        self._token_ids: list[int] = []
        self._logprobs: list[PositionLogprobs] = []
        self._stop: str | int | None = None
        self.finish_reason: FinishReason | None = None
        self.fault: Fault | None = None

    def push(self, delta: Delta) -> str:
        """The text that it adds. A stop text ends the answer (finish_reason is set) although the engine goes on."""
        if self.is_over:
            return ""
        text, is_over = "", False
        for at, token in enumerate(delta.token_ids):
            self._token_ids.append(token)
            if at < len(delta.logprobs):
                self._logprobs.append(self._named(delta.logprobs[at]))
            is_last = at == len(delta.token_ids) - 1
            if is_last and delta.finish_reason is FinishReason.STOP and token in self._ends and not self._is_kept:
                break  # what ends an answer is no part of it
            text += self._decode(token)
            if self._detokenizer is not None and self._detokenizer.matched is not None:
                is_over = True
                break
        if is_over:
            assert self._detokenizer is not None
            self.finish_reason, self._stop = FinishReason.STOP, self._detokenizer.matched
        elif delta.finish_reason is not None:
            text += self._finish(delta)
        return text

    def _finish(self, delta: Delta) -> str:
        self.finish_reason, self._stop, self.fault = delta.finish_reason, delta.matched_stop, delta.fault
        if self._detokenizer is None:
            return ""
        rest = self._detokenizer.finish()
        if rest.matched is not None:
            self.finish_reason, self._stop = FinishReason.STOP, rest.matched
        return rest.text

    def _decode(self, token: int) -> str:
        if self._detokenizer is None:
            return ""
        return self._detokenizer.push((token,), can_stop=len(self._token_ids) > self._min_tokens).text

    def _named(self, logprobs: PositionLogprobs) -> PositionLogprobs:
        return named(self._tokenizer, logprobs)

    @property
    def is_over(self) -> bool:
        return self.finish_reason is not None

    @property
    def num_tokens(self) -> int:
        return len(self._token_ids)

    def output(self) -> Output:
        assert self.finish_reason is not None, "it has not ended"
        return Output(
            index=self.index,
            text=self._detokenizer.text if self._detokenizer is not None else "",
            token_ids=tuple(self._token_ids),
            finish_reason=self.finish_reason,
            logprobs=tuple(self._logprobs),
            stop=self._stop,
        )


def named(tokenizer: Tokenizer | None, logprobs: PositionLogprobs) -> PositionLogprobs:
    """With the text of each token."""
    if tokenizer is None:
        return logprobs

    def of(each: TokenLogprob) -> TokenLogprob:
        return structs.replace(each, text=tokenizer.decode([each.token_id], skip_special=False))

    return PositionLogprobs(of(logprobs.chosen), tuple(of(each) for each in logprobs.top))
