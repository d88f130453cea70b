"""`/v1/completions`: texts or tokens to what follows them, with an echo of the prompt where that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from engine.schema.messages import Add
from engine.server import fields, logprobs, params, prompts
from engine.server.choice import Choice, Entry
from engine.server.generation import Answer, News
from engine.server.protocol import CompletionRequest, refuse_what_is_not_built
from engine.server.replies import Job, new_id
from engine.server.service import Service
from engine.server.usage import usage
from engine.text.detokenizer import Detokenizer


async def prepare(service: Service, body: bytes) -> Job:
    """Raises ApiError."""
    request = fields.decode(body, CompletionRequest)
    adapter = service.adapter_of(request.model)
    refuse_what_is_not_built(request)
    given = prompts.read(request.prompt, service)
    chosen = params.of_completion(request, vocab_size=service.vocab_size)
    has_output = request.max_tokens != 0
    length_field = "max_tokens" if request.max_tokens else None
    request_id, answers, echoes = new_id("cmpl"), [], []
    for at, prompt in enumerate(given):
        ids = await prompts.encode(service.tokenizer, prompt) if isinstance(prompt, str) else prompt
        place = "prompt" if len(given) == 1 else f"prompt[{at}]"
        prompts.check_fits(ids, chosen, service, place=place, length_field=length_field)
        add = Add(request_id=f"{request_id}-{at}", prompt_ids=ids, params=chosen, adapter=adapter)
        tail = () if request.echo else ids[-8:]
        made = [Choice(service.tokenizer, chosen, prompt=tail, has_output=has_output) for _ in range(chosen.n)]
        answers.append(Answer(add, made))
        echoes.append(_echo(service, prompt, ids) if request.echo else Echo())
    options = request.stream_options
    return Job(
        id=request_id,
        endpoint="completions",
        answers=tuple(answers),
        shape=CompletionShape(
            id=request_id,
            created=service.now(),
            model=request.model,
            service=service,
            echoes={each.add.request_id: echo for each, echo in zip(answers, echoes, strict=True)},
            firsts={each.add.request_id: at * chosen.n for at, each in enumerate(answers)},
            has_logprobs=request.logprobs is not None,
            has_usage=options is not None and bool(options.include_usage),
            has_output=has_output,
        ),
        is_stream=bool(request.stream),
        renamed=params.names_of(request),
    )


class Echo(Struct, frozen=True):
    """text: of the prompt. starts: where each of its tokens begins in it."""

    text: str = ""
    starts: tuple[int, ...] = ()


def _echo(service: Service, prompt: str | tuple[int, ...], ids: Sequence[int]) -> Echo:
    """A prompt that came as text is given back as it came."""
    maker, starts = Detokenizer(service.tokenizer.vocabulary, skip_special=not isinstance(prompt, str)), []
    for each in ids:
        starts.append(maker.num_decoded)
        maker.push((each,))
    maker.finish()
    return Echo(prompt if isinstance(prompt, str) else maker.text, tuple(starts))


class CompletionShape(Struct, frozen=True, kw_only=True, eq=False):
    """The forms of one request's answers. firsts: the number of each prompt's first choice."""

    id: str
    created: int
    model: str
    service: Service
    echoes: dict[str, Echo]
    firsts: dict[str, int]
    has_logprobs: bool
    has_usage: bool
    has_output: bool

    def whole(self, answers: Sequence[Answer], news: Sequence[News]) -> Any:
        of: dict[int, list[News]] = {}
        for each in news:
            of.setdefault(self._number(each), []).append(each)
        choices = [self._choice(number, of[number]) for number in sorted(of)]
        return {**self._head(), "choices": choices, "usage": usage(answers, has_output=self.has_output)}

    def events(self, news: Sequence[News]) -> list[Any]:
        found = []
        for each in news:
            if each.is_first or not each.piece.is_empty:
                chunk = {**self._head(), "choices": [self._choice(self._number(each), [each])]}
                found.append({**chunk, "usage": None} if self.has_usage else chunk)
        return found

    def last(self, answers: Sequence[Answer]) -> list[Any]:
        if not self.has_usage:
            return []
        return [{**self._head(), "choices": [], "usage": usage(answers, has_output=self.has_output)}]

    def _number(self, news: News) -> int:
        return self.firsts[news.answer.add.request_id] + news.index

    def _choice(self, number: int, news: Sequence[News]) -> dict[str, Any]:
        answer = news[0].answer
        echo = self.echoes[answer.add.request_id]
        text = "".join(each.piece.text for each in news)
        made = None
        if self.has_logprobs:
            entries: list[Entry | int] = [entry for each in news for entry in each.piece.entries]
            made = logprobs.completion(self.service.tokenizer.vocabulary, entries, offset=len(echo.text))
        if news[0].is_first and echo.starts:
            text = echo.text + text
            if made is not None:
                before = self._of_prompt(answer, echo)
                made = {name: before[name] + made[name] for name in made}
        return {"index": number, "text": text, "logprobs": made, "finish_reason": news[-1].piece.reason}

    def _of_prompt(self, answer: Answer, echo: Echo) -> dict[str, Any]:
        known = answer.prompt_logprobs
        entries: list[Entry | int] = [answer.add.prompt_ids[0]]
        entries += [Entry(start, each) for start, each in zip(echo.starts[1:], known, strict=False)]
        return logprobs.completion(self.service.tokenizer.vocabulary, entries)

    def _head(self) -> dict[str, Any]:
        return {"id": self.id, "object": "text_completion", "created": self.created, "model": self.model}
