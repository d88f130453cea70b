"""All ranks of a run as one: a step goes to every rank, one answer comes back. A run of one rank stays in this
process."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.config.server_args import ServerArgs, check
from engine.distributed import parallel_state
from engine.runner.model_runner import ModelRunner
from engine.schema.errors import BadConfig
from engine.schema.step import StepInput, StepOutput


class EngineInfo(Struct, frozen=True, kw_only=True):
    """What is known once the model is loaded. context: tokens that a sequence may have in all. num_blocks counts the
    padding block."""

    model: str
    vocab_size: int
    context: int
    num_blocks: int
    block_tokens: int


class Executor:
    """Starts the ranks, and ends them. Raises the EngineError of whichever rank fails."""

    def __init__(self, server_args: ServerArgs) -> None:
        self.server_args = check(server_args)
        self._runner = ModelRunner(server_args)
        self.info = EngineInfo(
            model=server_args.name,
            vocab_size=self._runner.model_config.vocab_size,
            context=self._runner.model_config.max_position,
            num_blocks=self._runner.num_blocks,
            block_tokens=server_args.block_tokens,
        )

    def execute(self, step: StepInput) -> StepOutput:
        made = self._runner.execute(step)
        assert made is not None, "a rank that is alone answers"
        return made

    def call(self, method: str, **arguments: Any) -> list[Any]:
        """Something else than a step, on every rank; what each answered, by rank."""
        if method not in CALLS:
            raise BadConfig(f"no rank does {method!r}", fix=f"use one of {', '.join(sorted(CALLS)) or 'none'}")
        return [getattr(self._runner, method)(**arguments)]

    def shutdown(self) -> None:
        parallel_state.destroy()


CALLS: frozenset[str] = frozenset()
