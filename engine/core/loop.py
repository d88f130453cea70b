"""The engine's step: plan, compute, tell. Requests are taken apart into choices and put together from what the steps
give; who computes is an executor, which knows nothing of requests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection
from typing import Any, Protocol

from engine.config.server_args import ServerArgs
from engine.core.choice import Choice, Matcher
from engine.kv.blocks import BlockPool
from engine.kv.radix import RadixCache
from engine.kv.window import WindowPool
from engine.sampling.oracle import oracle_id
from engine.scheduler.scheduler import Limits, Scheduler
from engine.scheduler.sequence import Sequence
from engine.schema.errors import BadConfig, BadRequest
from engine.schema.frames import fault_of
from engine.schema.messages import Abort, Add, Delta, Stats
from engine.schema.output import FinishReason, PositionLogprobs
from engine.schema.sampling import SamplingParams, check
from engine.schema.step import PromptTargets, Sampled, StepInput, StepOutput, StepPlan
from engine.speculative.ngram import propose


class Info(Protocol):
    """What an executor says of its model. context: tokens that a sequence may have in all. window: that layers with
    blocks of their own, num_window_blocks, look back; 0 where all have the same. num_blocks counts the
    padding block."""

    @property
    def model(self) -> str: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def num_blocks(self) -> int: ...
    @property
    def block_tokens(self) -> int: ...
    @property
    def num_window_blocks(self) -> int: ...
    @property
    def window(self) -> int: ...


class Executor(Protocol):
    """All ranks as one. call: on every rank, what each answered."""

    @property
    def info(self) -> Info: ...
    def execute(self, step: StepInput) -> StepOutput: ...
    def call(self, method: str, **arguments: Any) -> list[Any]: ...
    def shutdown(self) -> None: ...


class Grammars(Protocol):
    """None for a request without a grammar."""

    def compile(self, params: SamplingParams) -> Matcher | None: ...


# Of the executor's: these change nothing that KV was computed with. After any other, all of it is computed again.
_HARMLESS = frozenset(
    """
    describe start_profile stop_profile get_weights_by_name check_weights save_sharded_model
    init_weights_update_group destroy_weights_update_group
    """.split()
)
_COUNTS = ("prompt_tokens", "cached_tokens", "output_tokens", "drafts", "drafts_accepted")


class EngineCore:
    """One thread's. grammars: None for a model whose tokens have no text."""

    def __init__(
        self,
        args: ServerArgs,
        executor: Executor,
        *,
        eos_ids: Collection[int] = (),
        grammars: Grammars | None = None,
    ) -> None:
        self.info, self._args, self._executor, self._grammars = executor.info, args, executor, grammars
        self._eos_ids = frozenset(eos_ids)
        self._pool = BlockPool(self.info.num_blocks, self.info.block_tokens)
        limits = Limits(
            num_running=args.max_running_requests,
            step_tokens=args.chunked_prefill_size,
            num_adapters=args.max_loras_per_batch,
        )
        info, window = self.info, None
        if info.num_window_blocks:
            window = WindowPool(info.num_window_blocks, info.block_tokens, info.window)
        cache = None if args.disable_radix_cache else RadixCache(self._pool, window)
        self._scheduler = Scheduler(self._pool, limits, cache, window)
        self._choices: dict[int, Choice] = {}  # by sequence
        self._requests: dict[str, list[int]] = {}  # sequences by request, those alone that still run
        self._ids, self._generations = itertools.count(1), itertools.count(1)
        self._adapters = {name: next(self._generations) for name, _ in args.lora_paths}
        self._random = random.Random(args.seed)
        self._untold: list[Delta] = []
        self._is_asleep, self._has_weights = False, True
        self._counts = dict.fromkeys(
            ("prompt_tokens", "cached_tokens", "output_tokens", "drafts", "drafts_accepted"), 0
        )

    # -- requests

    @property
    def has_work(self) -> bool:
        """Whether step() would do or tell something."""
        return bool(self._untold) or self._can_step

    @property
    def _can_step(self) -> bool:
        return self._scheduler.has_work and not self.is_paused

    @property
    def is_paused(self) -> bool:
        """Requests wait while memory is given back, and until weights that were lost are there again."""
        return self._is_asleep or not self._has_weights

    def add(self, add: Add) -> None:
        """Raises BadRequest, and then nothing of it runs."""
        if add.request_id in self._requests:
            raise BadRequest("request_id", f"{add.request_id!r} is being answered", fix="use another one")
        matchers = self._checked(add)
        seed = self._random.getrandbits(62) if add.params.seed is None else add.params.seed
        sequences = []
        for index, matcher in enumerate(matchers):
            seq = Sequence(
                next(self._ids),
                add.prompt_ids,
                add.params,
                max_length=self.info.context,
                eos_ids=self._eos_ids,
                adapter=add.adapter,
                namespace=None if add.adapter is None else (add.adapter, self._adapters[add.adapter]),
                must_compute=index == 0 and add.params.prompt_logprobs is not None,
            )
            self._scheduler.add(seq)
            self._choices[seq.seq_id] = Choice(
                add, index, seq, seed=seed, oracle_id=oracle_id(add.request_id, index), matcher=matcher
            )
            sequences.append(seq.seq_id)
        self._requests[add.request_id] = sequences
        if add.adapter is not None:
            self._executor.call("hold_lora_adapter", name=add.adapter)

    def _checked(self, add: Add) -> list[Matcher | None]:
        """The grammar of each choice."""
        check(add.params, vocab_size=self.info.vocab_size)
        if add.prompt_ids and not 0 <= min(add.prompt_ids) <= max(add.prompt_ids) < self.info.vocab_size:
            raise BadRequest("prompt", "a token does not exist", fix=f"use ids of 0 to {self.info.vocab_size - 1}")
        if add.adapter is not None and add.adapter not in self._adapters:
            known = ", ".join(sorted(self._adapters)) or "none"
            raise BadRequest("model", f"no adapter {add.adapter!r} is loaded", fix=f"load it first; loaded: {known}")
        if add.params.json_schema is None and add.params.regex is None:
            return [None] * add.params.n
        if add.params.min_tokens:
            raise BadRequest("min_tokens", "a grammar decides when an answer may end", fix="leave it out")
        if self._grammars is None:
            raise BadRequest("json_schema", "the model's tokens have no text", fix="leave the grammar out")
        return [self._grammars.compile(add.params) for _ in range(add.params.n)]

    def abort(self, abort: Abort) -> None:
        """The next step tells that it ended. One that has finished is no error."""
        for seq_id in list(self._requests.get(abort.request_id, ())):
            choice = self._choices[seq_id]
            if abort.index is None or abort.index == choice.index:
                self._scheduler.abort([seq_id])
                self._tell(choice, FinishReason.ABORT)

    def abort_all(self) -> None:
        for request_id in list(self._requests):
            self.abort(Abort(request_id=request_id))

    # -- a step

    def step(self) -> list[Delta]:
        """What it added to each choice. Raises what the executor raises; the same step can be tried again then."""
        if self._can_step:
            plan = self._scheduler.plan(self._guesses())
            if plan.slices:
                try:
                    output = self._executor.execute(self._input(plan))
                except BaseException:
                    self._scheduler.drop()
                    raise
                self._take(plan, output)
        told, self._untold = self._untold, []
        return told

    def _guesses(self) -> dict[int, tuple[int, ...]]:
        args = self._args
        if args.speculative_algorithm is None:
            return {}
        if args.speculative_algorithm == "draft":
            return {seq.seq_id: self._choices[seq.seq_id].drafts for seq in self._scheduler.running}
        return {
            seq.seq_id: propose(
                seq.tokens,
                num_drafts=args.speculative_num_draft_tokens,
                min_match=args.speculative_ngram_min_match,
                max_match=args.speculative_ngram_max_match,
            )
            for seq in self._scheduler.running
            if seq.num_missing == 1
        }

    def _input(self, plan: StepPlan) -> StepInput:
        rows, targets = [], dict[int, PromptTargets]()
        for part in plan.slices:
            choice = self._choices[part.seq_id]
            if part.is_sampled:
                rows.append(choice.row(part))
            if (wanted := choice.targets(part)) is not None:
                targets[part.seq_id] = wanted
        return StepInput(plan=plan, rows=tuple(rows), prompt_targets=targets)

    def _take(self, plan: StepPlan, output: StepOutput) -> None:
        sampled = {each.seq_id: each for each in output.sampled}
        for part in plan.slices:
            if part.seq_id in output.prompt_logprobs:
                self._choices[part.seq_id].weigh(part, output.prompt_logprobs[part.seq_id])
        self._scheduler.done(output.sampled)
        for part in plan.slices:
            if part.is_sampled:
                self._counts["drafts"] += part.num_drafts
                self._counts["drafts_accepted"] += len(sampled[part.seq_id].token_ids) - 1 if part.num_drafts else 0
                self._chosen(self._choices[part.seq_id], sampled[part.seq_id])

    def _chosen(self, choice: Choice, sampled: Sampled) -> None:
        new = choice.untold
        choice.drafts = sampled.drafts
        choice.accept(new)
        reason = choice.seq.finish_reason
        if choice.fault is not None:
            self._scheduler.finish(choice.seq.seq_id, FinishReason.ERROR)
            reason, new = FinishReason.ERROR, ()
        self._tell(choice, reason, new, sampled.logprobs[: len(new)])

    def _tell(
        self,
        choice: Choice,
        reason: FinishReason | None,
        token_ids: tuple[int, ...] = (),
        logprobs: tuple[PositionLogprobs, ...] = (),
    ) -> None:
        seq = choice.seq
        is_first = choice.num_told == 0 and bool(token_ids)
        if is_first:
            self._counts["prompt_tokens"] += seq.num_prompt
            self._counts["cached_tokens"] += seq.num_cached
        choice.num_told += len(token_ids)
        self._counts["output_tokens"] += len(token_ids)
        self._untold.append(
            Delta(
                request_id=choice.request_id,
                index=choice.index,
                token_ids=token_ids,
                logprobs=logprobs,
                prompt_logprobs=tuple(choice.prompt_logprobs) if is_first else (),
                finish_reason=reason,
                matched_stop=seq.matched_stop if reason is FinishReason.STOP else None,
                num_prompt=seq.num_prompt,
                num_cached=seq.num_cached,
                fault=None if choice.fault is None else fault_of(choice.fault),
            )
        )
        if reason is not None:
            del self._choices[seq.seq_id]
            left = self._requests[choice.request_id]
            left.remove(seq.seq_id)
            if not left:
                del self._requests[choice.request_id]
                if seq.adapter is not None:
                    self._executor.call("release_lora_adapter", name=seq.adapter)

    # -- other than requests

    def stats(self) -> Stats:
        return Stats(
            num_running=self._scheduler.num_running,
            num_waiting=self._scheduler.num_waiting,
            num_blocks_held=self._pool.num_held,
            num_blocks=self._pool.num_blocks - 1,
            preemptions=self._scheduler.preemptions,
            **self._counts,
        )

    def call(self, method: str, **arguments: Any) -> Any:
        """Between two steps: the core's own methods, and those of the executor, whose answers come as a list, by rank.
        Raises BadConfig for what nobody does."""
        if method == "stats":
            return self.stats()
        if method in ("load_lora_adapter", "load_lora_adapter_from_tensors", "unload_lora_adapter"):
            return self._change_adapters(method, **arguments)
        if method == "list_lora_adapters":
            return sorted(self._adapters)
        if method == "flush_cache":
            return self._scheduler.preempt_all()
        if method not in _HARMLESS:
            self._scheduler.preempt_all()  # before: a call that fails half-way may have changed something too
        answers = self._executor.call(method, **arguments)
        if method in ("sleep", "release_memory_occupation"):
            self._is_asleep = True
        elif method in ("wake_up", "resume_memory_occupation"):
            self._is_asleep = bool(answers[0]["released"])
            self._has_weights = not answers[0]["are_weights_lost"]
        elif method == "update_weights_from_disk":
            self._has_weights = True
        return answers

    def _change_adapters(self, method: str, name: str, **arguments: Any) -> dict[str, Any]:
        """What the first rank answers, as all do: the adapters that are there now. An adapter that comes may push out
        one that nobody uses; one that is unloaded in use goes with its last request."""
        if method == "unload_lora_adapter" and name not in self._adapters:
            raise BadConfig(f"no adapter {name!r} is loaded", fix=f"loaded are {', '.join(self._adapters) or 'none'}")
        answer: dict[str, Any] = self._executor.call(method, name=name, **arguments)[0]
        known = self._adapters
        # Who comes by a name that was there before is another: nothing computed with the earlier one is its own.
        self._adapters = {
            each: next(self._generations) if each == name or each not in known else known[each]
            for each in answer["adapters"]
        }
        return answer

    def close(self) -> None:
        self._executor.shutdown()
