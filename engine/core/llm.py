"""The engine in a program of one's own, without a server: prompts in, texts out. One call at a time; what a call is not
finished with when it is left (an error, an interrupt) is aborted, and the next one starts clean."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
from msgspec import Struct

from engine.config import server_args
from engine.config.env import read_env
from engine.config.server_args import ServerArgs
from engine.core.answer import Answer, Output, named
from engine.core.frames import error_of
from engine.core.loop import EngineCore, Executor
from engine.core.text import Text
from engine.loader.pull import DEFAULT
from engine.schema.errors import BadConfig, BadModel, BadRequest
from engine.schema.messages import Abort, Add, Delta, Stats
from engine.schema.output import FinishReason, PositionLogprobs
from engine.schema.sampling import SamplingParams
from engine.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)
Prompt = str | Sequence[int]
Progress = Callable[[int, int], None]  # answers that ended, answers in all


class Result(Struct, frozen=True, kw_only=True):
    """What one prompt got. text, token_ids, finish_reason and logprobs are those of the first choice. prompt: None
    where tokens were given. num_cached: of its tokens, those whose KV was there. prompt_logprobs: from the second token
    on."""

    prompt: str | None
    prompt_token_ids: tuple[int, ...]
    outputs: tuple[Output, ...]
    prompt_logprobs: tuple[PositionLogprobs, ...] = ()
    num_cached: int = 0

    @property
    def text(self) -> str:
        return self.outputs[0].text

    @property
    def token_ids(self) -> tuple[int, ...]:
        return self.outputs[0].token_ids

    @property
    def finish_reason(self) -> FinishReason:
        return self.outputs[0].finish_reason

    @property
    def logprobs(self) -> tuple[PositionLogprobs, ...]:
        return self.outputs[0].logprobs


class Piece(Struct, frozen=True, kw_only=True):
    """What a step added to one choice of one prompt. text: empty where it can't be shown yet."""

    prompt: int
    index: int
    text: str
    finish_reason: FinishReason | None = None


class _Request:
    """One prompt on its way."""

    def __init__(self, number: int, prompt: str | None, add: Add, tokenizer: Tokenizer | None) -> None:
        self.number, self.prompt, self.add, self._tokenizer = number, prompt, add, tokenizer
        self.answers = [
            Answer(tokenizer, add.params, index=index, prompt=add.prompt_ids) for index in range(add.params.n)
        ]
        self._prompt_logprobs: tuple[PositionLogprobs, ...] = ()
        self._num_cached = 0

    def push(self, delta: Delta) -> str:
        if delta.prompt_logprobs:
            self._prompt_logprobs = delta.prompt_logprobs
        self._num_cached = delta.num_cached if delta.index == 0 else self._num_cached
        return self.answers[delta.index].push(delta)

    def result(self) -> Result:
        return Result(
            prompt=self.prompt,
            prompt_token_ids=self.add.prompt_ids,
            outputs=tuple(each.output() for each in self.answers),
            prompt_logprobs=tuple(named(self._tokenizer, each) for each in self._prompt_logprobs),
            num_cached=self._num_cached,
        )


class LLM:
    """model: as in ServerArgs; so are the options. make: who computes, for tests."""

    def __init__(
        self,
        model: str | Path = DEFAULT,
        *,
        make: Callable[[ServerArgs], Executor] | None = None,
        **options: Any,
    ) -> None:
        self.args = _checked({"model": str(model), **options})
        env = read_env(os.environ)
        if make is None:
            # Not at the top: whoever only looks at results needs no torch.
            from engine.runner.executor import Executor as Ranks

            make = Ranks
        executor = make(self.args)
        try:
            text = Text.of(self.args, env, executor.info.vocab_size)
            self._core = EngineCore(self.args, executor, eos_ids=text.eos_ids, grammars=text)
        except BaseException:
            executor.shutdown()
            raise
        self.tokenizer = text.tokenizer
        self._numbers = itertools.count()
        self._is_closed = False

    @property
    def vocab_size(self) -> int:
        return self._core.info.vocab_size

    @property
    def context(self) -> int:
        """Tokens that a prompt and its answer may have together."""
        return self._core.info.context

    def generate(
        self,
        prompts: Prompt | Sequence[Prompt],
        sampling_params: SamplingParams | Sequence[SamplingParams] | None = None,
        *,
        lora: str | None = None,
        progress: Progress | None = None,
        on_text: Callable[[], object] | None = None,
    ) -> list[Result]:
        """Answers in the order of the prompts: texts, or lists of tokens. sampling_params: one for all, or one a
        prompt. lora: a loaded adapter. on_text: called whenever tokens came. Raises BadRequest where a prompt can't
        run (then none runs), and the error of an answer that ended with one."""
        requests = self._requests(_several(prompts), sampling_params, lora)
        total = sum(each.add.params.n for each in requests)
        done = 0
        for piece in self._run(requests):
            if on_text is not None:
                on_text()
            if piece.finish_reason is not None:
                done += 1
                if progress is not None:
                    progress(done, total)
        for request in requests:
            for answer in request.answers:
                if answer.fault is not None:
                    raise error_of(answer.fault)
        return [each.result() for each in requests]

    def stream(
        self, prompt: Prompt, sampling_params: SamplingParams | None = None, *, lora: str | None = None
    ) -> Generator[Piece, None, None]:
        """The answer to one prompt while it comes. Closing it ends the answer."""
        yield from self._run(self._requests([prompt], sampling_params, lora))

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]] | Sequence[Sequence[Mapping[str, Any]]],
        sampling_params: SamplingParams | Sequence[SamplingParams] | None = None,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        lora: str | None = None,
        progress: Progress | None = None,
    ) -> list[Result]:
        """generate() for a conversation, or several, by the model's own template."""
        several = [messages] if not messages or isinstance(messages[0], Mapping) else messages
        prompts = [self.chat_prompt(each, tools=tools) for each in several]  # type: ignore[arg-type]
        return self.generate(prompts, sampling_params, lora=lora, progress=progress)

    def chat_prompt(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = ()
    ) -> list[int]:
        """The tokens of a conversation. Raises BadModel for a model without a template."""
        tokenizer = self._need_tokenizer()
        if tokenizer.template is None:
            raise BadModel("the model has no chat template", fix="use generate() with a prompt of your own")
        return tokenizer.encode(tokenizer.template.render(messages, tools=tools), with_bos=False)

    # -- one call

    def _requests(
        self,
        prompts: Sequence[Prompt],
        params: SamplingParams | Sequence[SamplingParams] | None,
        lora: str | None,
    ) -> list[_Request]:
        if params is None:
            params = SamplingParams()
        each_params = [params] * len(prompts) if isinstance(params, SamplingParams) else list(params)
        if len(each_params) != len(prompts):
            raise BadRequest(
                "sampling_params", f"{len(each_params)} for {len(prompts)} prompts", fix="give one, or one a prompt"
            )
        made = []
        for at, (prompt, each) in enumerate(zip(prompts, each_params, strict=True)):
            if each.stop:
                self._need_tokenizer()
            ids = self._need_tokenizer().encode(prompt) if isinstance(prompt, str) else prompt
            add = Add(request_id=str(next(self._numbers)), prompt_ids=tuple(ids), params=each, adapter=lora)
            made.append(_Request(at, prompt if isinstance(prompt, str) else None, add, self.tokenizer))
        return made

    def _need_tokenizer(self) -> Tokenizer:
        if self.tokenizer is None:
            raise BadModel(
                f"{self.args.model} has no tokenizer", fix="give prompts as lists of tokens, and no stop texts"
            )
        return self.tokenizer

    def _run(self, requests: Sequence[_Request]) -> Iterator[Piece]:
        if self._is_closed:
            raise BadConfig("the LLM is closed", fix="make another one")
        by_id = {each.add.request_id: each for each in requests}
        try:
            for request in requests:
                self._core.add(request.add)
            while self._core.has_work:
                for delta in self._core.step():
                    if (found := by_id.get(delta.request_id)) is not None:
                        yield from self._pushed(found, delta)
            if not all(each.is_over for request in requests for each in request.answers):
                raise self._unfinished()
        finally:
            for request_id in by_id:
                self._core.abort(Abort(request_id=request_id))
            self._core.step()  # tells of these aborts, and computes nothing: nobody else asks this core

    def _unfinished(self) -> BadConfig:
        """Why the core has nothing to do while answers are not complete."""
        if self._core.is_paused:
            return BadConfig("the engine sleeps, or has lost its weights", fix="wake_up(), then update_weights()")
        return BadConfig("another call took the answers of this one", fix="finish or close a stream before the next")

    def _pushed(self, request: _Request, delta: Delta) -> Iterator[Piece]:
        answer = request.answers[delta.index]
        was_over = answer.is_over
        if was_over:
            return  # the engine's own end of what a stop text had ended before
        text = request.push(delta)
        if answer.is_over and delta.finish_reason is None:
            self._core.abort(Abort(request_id=delta.request_id, index=delta.index))
        if delta.token_ids or answer.is_over:
            yield Piece(prompt=request.number, index=delta.index, text=text, finish_reason=answer.finish_reason)

    # -- the engine itself

    def stats(self) -> Stats:
        return self._core.stats()

    def call(self, method: str, **arguments: Any) -> Any:
        """What the executor does besides steps; its answers by rank."""
        return self._core.call(method, **arguments)

    def load_lora(self, name: str, path: str | Path) -> None:
        self.call("load_lora_adapter", name=name, path=str(path))

    def unload_lora(self, name: str) -> None:
        self.call("unload_lora_adapter", name=name)

    def update_weights(self, path: str | Path) -> None:
        """Other weights of the same shape. What was computed with the old ones is forgotten."""
        self.call("update_weights_from_disk", path=str(path))

    def sleep(self, level: int = 1) -> None:
        """Give memory back: 1 keeps the weights aside, 2 forgets them."""
        self.call("sleep", level=level)

    def wake_up(self) -> None:
        self.call("wake_up")

    def close(self) -> None:
        """End what it started. Again and again is fine."""
        if not self._is_closed:
            self._is_closed = True
            self._core.close()

    def __enter__(self) -> LLM:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        self.close()


def _several(prompts: Prompt | Sequence[Prompt]) -> Sequence[Prompt]:
    """A list of tokens is one prompt."""
    if isinstance(prompts, str):
        return [prompts]
    if prompts and all(isinstance(each, int) for each in prompts):
        return [prompts]  # type: ignore[list-item]
    return list(prompts)  # type: ignore[arg-type]


def _checked(options: dict[str, Any]) -> ServerArgs:
    """Raises BadConfig for an option that does not exist, is of another type, or is out of its bounds."""
    known = ServerArgs.__struct_fields__
    for name in options:
        if name not in known:
            raise BadConfig(f"no option {name!r}", fix=f"use one of {', '.join(known)}")
    if isinstance(options.get("lora_paths"), Mapping):
        options["lora_paths"] = tuple(options["lora_paths"].items())
    try:
        made = msgspec.convert(options, ServerArgs, dec_hook=_to_path)
    except msgspec.ValidationError as error:
        raise BadConfig(f"an option is of another type: {error}", fix="see ServerArgs") from error
    return server_args.check(made)


def _to_path(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"{kind.__name__} is no type of an option")
