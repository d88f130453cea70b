"""An executor without a model. Its token at a position is the token oracle's; in place of keys and values it keeps the
tokens themselves, by block, and reads every sequence back through its blocks at every step: what is not there as it was
written, or not what the sequence truly is, fails there and then."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from engine.config.server_args import ServerArgs
from engine.sampling.oracle import oracle_id, oracle_token
from engine.schema.errors import BadConfig
from engine.schema.output import PositionLogprobs, TokenLogprob
from engine.schema.step import RowOptions, Sampled, Slice, StepInput, StepOutput

VOCAB = 50


class Info(Struct, frozen=True, kw_only=True):
    model: str = "oracle"
    vocab_size: int = VOCAB
    context: int = 4096
    num_blocks: int
    block_tokens: int
    num_window_blocks: int = 0
    window: int = 0


class Truth:
    """What one choice is, whatever happens to it: its prompt, then what the oracle says."""

    def __init__(self, prompt: tuple[int, ...], oracle: int, adapter: str | None) -> None:
        self.tokens, self.num_prompt, self.oracle, self.adapter = list(prompt), len(prompt), oracle, adapter

    def upto(self, length: int) -> list[int]:
        while len(self.tokens) < length:
            self.tokens.append(oracle_token(self.oracle, len(self.tokens), VOCAB))
        return self.tokens


class OracleExecutor:
    """draft_rate: how likely each guess of its draft model is right; None for no draft model."""

    def __init__(self, info: Info, *, num_drafts: int = 0, draft_rate: float = 0.8, seed: int = 0) -> None:
        self.info, self._size = info, info.block_tokens
        self._num_drafts, self._draft_rate, self._random = num_drafts, draft_rate, random.Random(seed)
        self.truths: dict[int, Truth] = {}  # by oracle id
        self._known: dict[int, Truth] = {}  # by sequence
        self._blocks: dict[int, tuple[int, str | None, list[int]]] = {}  # first position, adapter, tokens
        self._window_slots: dict[tuple[int, int], tuple[int, int, str | None]] = {}  # token, position, adapter
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.adapters, self.holds, self.max_adapters = list[str](), dict[str, int](), 8
        self.on_step: Callable[[StepInput], None] = lambda _: None
        self.num_steps = self.num_checked = self.num_preempted = 0
        self.is_closed = False

    def know(self, request_id: str, prompt: tuple[int, ...], *, n: int = 1, adapter: str | None = None) -> list[Truth]:
        """Before the request is added: what its choices are."""
        made = [Truth(prompt, oracle_id(request_id, index), adapter) for index in range(n)]
        self.truths.update((each.oracle, each) for each in made)
        return made

    def execute(self, step: StepInput) -> StepOutput:
        self.on_step(step)
        self.num_steps += 1
        self.num_preempted += len(step.plan.preempted)
        slices = step.plan.slices
        assert [each.seq_id for each in step.rows] == [each.seq_id for each in slices if each.is_sampled]
        singles = [len(each.token_ids) == 1 for each in slices]
        assert singles == sorted(singles, reverse=True), "what decodes stands first"
        self._write(slices)
        rows = {each.seq_id: each for each in step.rows}
        made = [self._sample(each, rows[each.seq_id]) for each in slices if each.is_sampled]
        weighed = {}
        for part in slices:
            if part.seq_id in step.prompt_targets:
                targets = step.prompt_targets[part.seq_id]
                assert len(targets.token_ids) <= len(part.token_ids)
                weighed[part.seq_id] = tuple(
                    weight(token, at) for at, token in enumerate(targets.token_ids, part.start + 1)
                )
        return StepOutput(number=step.plan.number, sampled=tuple(made), prompt_logprobs=weighed)

    def call(self, method: str, **arguments: Any) -> list[Any]:
        self.calls.append((method, arguments))
        if method.endswith("_lora_adapter"):
            return [self._adapter(method.removesuffix("_lora_adapter"), arguments["name"])]
        if method in ("sleep", "wake_up"):
            return [
                {"released": ["weights"] if method == "sleep" else [], "are_weights_lost": arguments.get("tags") == []}
            ]
        if method == "fail":
            raise BadConfig("as asked", fix="don't")
        if method == "break":
            raise ZeroDivisionError("as asked")
        return [arguments]

    def _adapter(self, what: str, name: str) -> dict[str, Any]:
        """As the runner keeps them: over `max_adapters` the one that was loaded first goes, unless it is held."""
        if what == "load":
            assert name not in self.holds, "its requests have not ended"
            self.adapters.append(name)
            if len(self.adapters) > self.max_adapters:
                self.adapters.remove(next(each for each in self.adapters if not self.holds.get(each)))
        elif what == "unload":
            self.adapters.remove(name)
        elif what == "hold":
            assert name in self.adapters
            self.holds[name] = self.holds.get(name, 0) + 1
        else:
            self.holds[name] -= 1
            if not self.holds[name]:
                del self.holds[name]
        return {"adapters": sorted(self.adapters)}

    def shutdown(self) -> None:
        self.is_closed = True

    def forget(self) -> None:
        """All keys and values: other weights."""
        self._blocks.clear()

    # -- the store

    def _write(self, slices: tuple[Slice, ...]) -> None:
        owners: dict[int, int] = {}
        for part in slices:
            assert part.adapter is None or self.holds[part.adapter] > 0
            assert len(part.block_ids) >= -(-part.end // self._size) and 0 not in part.block_ids
            assert max(part.block_ids) < self.info.num_blocks
            for at, token in enumerate(part.token_ids, part.start):
                block, offset = part.block_ids[at // self._size], at % self._size
                assert owners.setdefault(block, part.seq_id) == part.seq_id, "two write to one block"
                if offset == 0:
                    self._blocks[block] = (at, part.adapter, [])
                first, adapter, tokens = self._blocks[block]
                assert (first, adapter) == (at - offset, part.adapter) and len(tokens) >= offset
                del tokens[offset:]
                tokens.append(token)
        for part in slices:
            read = part.block_ids[: part.start // self._size]
            assert not any(owners.get(each, part.seq_id) != part.seq_id for each in read), "reads what is being written"
        if self.info.num_window_blocks:
            self._write_windows(slices)

    def _write_windows(self, slices: tuple[Slice, ...]) -> None:
        """The second pool: what each token sees in it is what the first has."""

        def slot(part: Slice, at: int) -> tuple[int, int]:
            block = part.window_block_ids[at // self._size]
            assert 0 < block < self.info.num_window_blocks, "a token that is seen has no block"
            return block, at % self._size

        for part in slices:
            for at, token in enumerate(part.token_ids, part.start):
                self._window_slots[slot(part, at)] = (token, at, part.adapter)
        for part in slices:
            for at in range(max(part.start + 1 - self.info.window, 0), part.end):
                token = self._blocks[part.block_ids[at // self._size]][2][at % self._size]
                assert self._window_slots[slot(part, at)] == (token, at, part.adapter)

    def _check(self, part: Slice, truth: Truth, length: int) -> None:
        tokens = truth.upto(length)
        for at in range(0, length, self._size):
            first, adapter, found = self._blocks[part.block_ids[at // self._size]]
            count = min(self._size, length - at)
            assert (first, adapter) == (at, truth.adapter)
            assert found[:count] == tokens[at : at + count], "keys and values of other tokens"
        self.num_checked += 1

    # -- choosing

    def _sample(self, part: Slice, row: RowOptions) -> Sampled:
        truth = self.truths[row.oracle_id]
        assert self._known.setdefault(part.seq_id, truth) is truth
        before = part.end - part.num_drafts
        assert row.position == before and part.adapter == truth.adapter
        self._check(part, truth, before)
        self._check_options(row, truth)
        drafts = part.token_ids[len(part.token_ids) - part.num_drafts :]
        right = truth.upto(before + len(drafts) + 1)[before:]
        count = 0
        while count < len(drafts) and drafts[count] == right[count]:
            count += 1
        chosen = tuple(right[: count + 1])
        wanted = row.params.logprobs is not None
        return Sampled(
            seq_id=part.seq_id,
            token_ids=chosen,
            logprobs=tuple(weight(each, at) for at, each in enumerate(chosen, before)) if wanted else (),
            drafts=self._guess(truth, before + len(chosen)),
        )

    def _guess(self, truth: Truth, length: int) -> tuple[int, ...]:
        right = truth.upto(length + self._num_drafts)[length : length + self._num_drafts]
        return tuple(each if self._random.random() < self._draft_rate else (each + 1) % VOCAB for each in right)

    def _check_options(self, row: RowOptions, truth: Truth) -> None:
        tokens, num_prompt = truth.tokens, truth.num_prompt
        if row.params.repetition_penalty != 1.0:
            assert row.prompt == tuple(tokens[:num_prompt])
        if row.params.repetition_penalty != 1.0 or row.params.min_tokens or row.params.presence_penalty:
            assert row.output == tuple(tokens[num_prompt : row.position])


def weight(token: int, position: int) -> PositionLogprobs:
    """A log-probability that tells which token at which position it is of."""
    return PositionLogprobs(TokenLogprob(token, -float(position) - token / VOCAB, 1))


def small(args: ServerArgs) -> OracleExecutor:
    """For a core's own process: everything it is asked about is a request that only the oracle answers."""
    return _Open(Info(num_blocks=200, block_tokens=args.block_tokens))


class _Open(OracleExecutor):
    """Learns what a sequence is from its own prompt. Token 13 at the start of a prompt breaks the step. No faster than
    a small model: what runs when a test interferes should still run a moment later."""

    def execute(self, step: StepInput) -> StepOutput:
        time.sleep(0.002)
        prompts = {each.seq_id: each for each in step.plan.slices if each.start == 0}
        for row in step.rows:
            if row.oracle_id not in self.truths:
                part = prompts[row.seq_id]
                if part.token_ids[0] == 13:
                    raise ZeroDivisionError("as asked")
                self.truths[row.oracle_id] = Truth(part.token_ids, row.oracle_id, part.adapter)
        return super().execute(step)
