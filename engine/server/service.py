"""What all routes share: the engine, the tokenizer, what is open, and whether the server is on its way out."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.config.server_args import ServerArgs
from engine.server.errors import ApiError
from engine.server.generation import Generation
from engine.server.limits import Gate, Limits
from engine.server.link import Engine
from engine.server.metrics import Metrics
from engine.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)


class Service:
    """adapters: the paths of LoRA adapters by name; each is a model of its own to clients. created: seconds since the
    epoch, when the server began."""

    def __init__(self, engine: Engine, tokenizer: Tokenizer, args: ServerArgs, limits: Limits, *, created: int) -> None:
        self.engine, self.tokenizer, self.args, self.limits, self.created = engine, tokenizer, args, limits, created
        self.gate = Gate(limits, num_running=args.max_running_requests)
        self.metrics = Metrics(args.name)
        self.adapters = {name: str(path) for name, path in args.lora_paths}
        self.is_leaving = self.is_asleep = self.are_weights_lost = False
        self._open: set[Generation] = set()

    @staticmethod
    def now() -> int:
        """Seconds since the epoch, as answers say when they were made."""
        return int(time.time())

    @property
    def vocab_size(self) -> int:
        return self.engine.ready.vocab_size

    @property
    def context(self) -> int:
        return self.engine.ready.context

    @property
    def num_open(self) -> int:
        return len(self._open)

    def adapter_of(self, model: str) -> str | None:
        """Raises ApiError for a model that is not served."""
        if model in self.adapters:
            return model
        if model != self.args.name:
            known = ", ".join([self.args.name, *self.adapters])
            raise ApiError(
                404, f"model: {model!r} is not served; there is {known}", param="model", code="model_not_found"
            )
        return None

    def check_open(self) -> None:
        """Raises ApiError where a request would not be answered."""
        self.check_alive()
        if self.is_asleep:
            raise ApiError(503, "the engine sleeps; POST /wake_up", code="asleep")
        if self.are_weights_lost:
            raise ApiError(503, "the weights were given back; POST /update_weights", code="weights_lost")

    def check_alive(self) -> None:
        """Raises ApiError once the server is on its way out."""
        if self.is_leaving:
            raise ApiError(503, "the server is shutting down", code="shutting_down", retry_after=5)
        if not self.engine.is_alive:
            raise ApiError(503, "the engine has ended", code="engine-dead")

    @contextmanager
    def counted(self, generation: Generation) -> Iterator[None]:
        """Known to end_all() while it runs."""
        self._open.add(generation)
        try:
            yield
        finally:
            self._open.discard(generation)

    def end_all(self, error: ApiError) -> None:
        """Tell everybody who waits for an answer."""
        for each in self._open:
            each.fail(error)
