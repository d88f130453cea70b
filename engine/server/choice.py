"""One answer while it comes: tokens to text that may be sent, with the log-probabilities of the tokens in it. Decides
when a stop text ends the answer; what of the text is a tool call is the reader's to know."""

from __future__ import annotations

from typing import NamedTuple

from engine.schema.messages import Delta
from engine.schema.output import FinishReason, PositionLogprobs
from engine.schema.sampling import SamplingParams
from engine.server.tools import CallDelta, PlainReader, Reader
from engine.text.detokenizer import Detokenizer
from engine.text.tokenizer import Tokenizer


class Entry(NamedTuple):
    """A token of the text. start: its first character in the answer."""

    start: int
    logprobs: PositionLogprobs


class Piece(NamedTuple):
    """What a delta added. reason: OpenAI's word for why the answer ended, None while it goes on."""

    text: str = ""
    entries: tuple[Entry, ...] = ()
    calls: tuple[CallDelta, ...] = ()
    reason: str | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.entries or self.calls or self.reason)


class Choice:
    """prompt: its last tokens, whose unfinished character the answer may finish. shown: control tokens that are text
    here, because tool calls are written with them. Without the tokens (has_output=False) nothing is added: an echo."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        params: SamplingParams,
        *,
        prompt: tuple[int, ...] = (),
        reader: Reader | None = None,
        shown: frozenset[int] = frozenset(),
        has_output: bool = True,
    ) -> None:
        self._params, self._has_output = params, has_output
        self._ends = tokenizer.eos_ids | frozenset(params.stop_token_ids)
        self._hidden = tokenizer.vocabulary.special - shown if params.skip_special_tokens else frozenset()
        self._detokenizer = Detokenizer(
            tokenizer.vocabulary, stop=params.stop, is_stop_kept=params.is_stop_kept, skip_special=False, prompt=prompt
        )
        self._reader: Reader = reader or PlainReader()
        self._waiting: list[Entry] = []
        self.num_tokens = 0
        self.reason: str | None = None
        self.is_aborted = False  # ended by the engine, for reasons of its own
        self.is_cut = False  # ended here, while the engine goes on

    @property
    def is_ended(self) -> bool:
        return self.reason is not None

    def push(self, delta: Delta) -> Piece:
        """After the end nothing is added."""
        if self.is_ended or self.is_aborted:
            return Piece()
        if delta.finish_reason in (FinishReason.ABORT, FinishReason.ERROR):
            self.is_aborted = True
            return Piece()
        text = self._push_tokens(delta) if self._has_output else ""
        if delta.finish_reason is not None:
            text += self._detokenizer.finish().text
        content, calls = self._reader.push(text)
        reason = self._reason(delta.finish_reason)
        if reason is not None:
            rest, more = self._reader.finish()
            content, calls = content + rest, (*calls, *more)
            if self._reader.num_calls and reason == "stop":
                reason = "tool_calls"
        self.reason, self.is_cut = reason, reason is not None and delta.finish_reason is None
        return Piece(content, self._released(), calls, reason)

    def _reason(self, given: FinishReason | None) -> str | None:
        """A stop text ends an answer before whatever the engine saw in the same step."""
        if self._detokenizer.matched is not None or (given is None and self._reader.is_full):
            return "stop"
        if given is None:
            return None
        return "length" if given is FinishReason.LENGTH else "stop"

    def _push_tokens(self, delta: Delta) -> str:
        is_stopped = delta.finish_reason is FinishReason.STOP
        text = ""
        for at, token in enumerate(delta.token_ids):
            self.num_tokens += 1
            if is_stopped and at == len(delta.token_ids) - 1 and token in self._ends and not self._params.is_stop_kept:
                break  # what ends an answer is no part of it
            if at < len(delta.logprobs):
                self._waiting.append(Entry(self._detokenizer.num_decoded, delta.logprobs[at]))
            if token not in self._hidden:
                can_stop = self.num_tokens > self._params.min_tokens
                text += self._detokenizer.push((token,), can_stop=can_stop).text
            if self._detokenizer.matched is not None:
                break
        return text

    def _released(self) -> tuple[Entry, ...]:
        """Entries of tokens whose text has been given out; at the end also those that have no text."""
        end = len(self._detokenizer.text)
        is_all = self.reason is not None and self._detokenizer.matched is None
        ready = [each for each in self._waiting if is_all or each.start < end]
        self._waiting = [] if self.reason is not None else self._waiting[len(ready) :]
        return tuple(ready)
