"""The engine's loop under a token oracle: requests of every kind, at random, and every step's tokens, positions and
blocks checked by the executor (tests/support/oracle_executor.py)."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest

from engine.config.server_args import ServerArgs
from engine.core.choice import choice_seed
from engine.core.loop import EngineCore
from engine.schema.errors import BadConfig, BadRequest, EngineError
from engine.schema.messages import Abort, Add, Delta, Stats
from engine.schema.output import FinishReason
from engine.schema.sampling import SamplingParams
from engine.schema.step import StepInput
from tests.support.oracle_executor import VOCAB, Info, OracleExecutor, Truth, weight

EOS = 7


def made(
    *,
    num_blocks: int = 200,
    block_tokens: int = 4,
    num_window_blocks: int = 0,
    window: int = 0,
    num_drafts: int = 0,
    grammars: Any = None,
    **options: Any,
) -> tuple[EngineCore, OracleExecutor]:
    if num_drafts:
        options |= {"speculative_algorithm": "draft", "speculative_draft_model": "x"}
    info = Info(num_blocks=num_blocks, block_tokens=block_tokens, num_window_blocks=num_window_blocks, window=window)
    executor = OracleExecutor(info, num_drafts=num_drafts)
    core = EngineCore(ServerArgs(**options), executor, eos_ids={EOS}, grammars=grammars)
    return core, executor


class Client:
    """Adds requests, keeps what comes, and knows what should have come."""

    def __init__(self, core: EngineCore, executor: OracleExecutor) -> None:
        self.core, self.executor = core, executor
        self.truths: dict[tuple[str, int], Truth] = {}
        self.adds: dict[str, Add] = {}
        self.got: dict[tuple[str, int], list[Delta]] = defaultdict(list)
        self.aborted: set[tuple[str, int]] = set()

    def add(
        self, request_id: str, prompt: tuple[int, ...], params: SamplingParams, *, adapter: str | None = None
    ) -> None:
        truths = self.executor.know(request_id, prompt, n=params.n, adapter=adapter)
        self.adds[request_id] = Add(request_id=request_id, prompt_ids=prompt, params=params, adapter=adapter)
        self.truths.update(((request_id, index), each) for index, each in enumerate(truths))
        self.core.add(self.adds[request_id])

    def step(self) -> None:
        for delta in self.core.step():
            assert self.finish(delta.request_id, delta.index) is None, "something came after the end"
            self.got[delta.request_id, delta.index].append(delta)

    def run(self) -> None:
        while self.core.has_work:
            self.step()

    def abort(self, request_id: str, index: int | None = None) -> None:
        self.aborted.update(each for each in self.truths if each[0] == request_id and index in (None, each[1]))
        self.core.abort(Abort(request_id=request_id, index=index))

    def tokens(self, request_id: str, index: int = 0) -> tuple[int, ...]:
        return tuple(token for delta in self.got[request_id, index] for token in delta.token_ids)

    def finish(self, request_id: str, index: int = 0) -> FinishReason | None:
        got = self.got[request_id, index]
        return got[-1].finish_reason if got else None

    def expected(self, request_id: str, index: int = 0) -> tuple[tuple[int, ...], FinishReason]:
        """What the oracle, the stops and the length say."""
        params, truth = self.adds[request_id].params, self.truths[request_id, index]
        assert params.max_tokens is not None
        tokens = truth.upto(truth.num_prompt + params.max_tokens)[truth.num_prompt :][: params.max_tokens]
        for count, token in enumerate(tokens, 1):
            ends = token in params.stop_token_ids or (token == EOS and not params.ignore_eos)
            if ends and count >= params.min_tokens:
                return tuple(tokens[:count]), FinishReason.STOP
        return tuple(tokens), FinishReason.LENGTH

    def check(self) -> None:
        """No wrong token, each ending once, whole where nobody aborted it."""
        for (request_id, index), truth in self.truths.items():
            tokens, reason = self.expected(request_id, index)
            found, ended = self.tokens(request_id, index), self.finish(request_id, index)
            if ended is FinishReason.ABORT:
                assert (request_id, index) in self.aborted and found == tokens[: len(found)]
            else:
                assert (found, ended) == (tokens, reason), (request_id, index)
            self._check_logprobs(self.adds[request_id].params, truth, self.got[request_id, index], index)

    @staticmethod
    def _check_logprobs(params: SamplingParams, truth: Truth, got: list[Delta], index: int) -> None:
        found = [each for delta in got for each in delta.logprobs]
        count = sum(len(delta.token_ids) for delta in got)
        start = truth.num_prompt
        wanted = count if params.logprobs is not None else 0
        assert found == [weight(truth.tokens[at], at) for at in range(start, start + wanted)]
        weighed = [each for delta in got for each in delta.prompt_logprobs]
        if count and index == 0 and params.prompt_logprobs is not None:
            assert weighed == [weight(truth.tokens[at], at) for at in range(1, start)]
        else:
            assert weighed == []

    def check_nothing_is_left(self) -> None:
        stats = self.core.stats()
        assert (stats.num_running, stats.num_waiting) == (0, 0)
        self.core.call("flush_cache")
        assert self.core.stats().num_blocks_held == 0


def random_params(rng: random.Random) -> SamplingParams:
    """Mostly plain; the rest asks for everything that passes through the loop."""
    params: dict[str, Any] = {"max_tokens": rng.randrange(1, 25), "ignore_eos": rng.random() < 0.3}
    if rng.random() < 0.1:
        params["n"] = rng.randrange(2, 5)
    if rng.random() < 0.1:
        params["logprobs"] = 0
    if rng.random() < 0.08:
        params["prompt_logprobs"] = 0
    if rng.random() < 0.1:
        params["min_tokens"] = rng.randrange(1, params["max_tokens"] + 1)
    if rng.random() < 0.1:
        params["stop_token_ids"] = (rng.randrange(VOCAB),)
    if rng.random() < 0.05:
        params["repetition_penalty"] = 1.5
    return SamplingParams(**params)


CASES = (
    {"num_blocks": 60, "block_tokens": 4, "chunked_prefill_size": 40, "max_loras_per_batch": 1},
    {"num_blocks": 300, "block_tokens": 1, "chunked_prefill_size": 300, "max_running_requests": 50, "num_drafts": 3},
    {"num_blocks": 16, "block_tokens": 16, "chunked_prefill_size": 23, "max_running_requests": 12, "num_drafts": 5},
    {"num_blocks": 60, "block_tokens": 4, "chunked_prefill_size": 70, "disable_radix_cache": True, "num_drafts": 2},
    {"num_blocks": 400, "block_tokens": 8, "chunked_prefill_size": 512, "max_loras_per_batch": 2},
    {"num_blocks": 60, "block_tokens": 4, "chunked_prefill_size": 50, "num_window_blocks": 24, "window": 10}
    | {"num_drafts": 3},
)
NUM_REQUESTS = 2000  # 12,000 in all


@pytest.mark.parametrize("case", range(len(CASES)))
def test_no_wrong_token_and_no_lost_block(case: int) -> None:
    rng = random.Random(case)
    core, executor = made(**CASES[case])
    client = Client(core, executor)
    for name in ("a", "b", "c"):
        core.call("load_lora_adapter", name=name, path="x")
    shared = [tuple(rng.randrange(VOCAB) for _ in range(100)) for _ in range(4)]
    num_added = 0
    while num_added < NUM_REQUESTS or core.has_work:
        for _ in range(min(rng.randrange(4), NUM_REQUESTS - num_added)):
            start = rng.choice(shared)[: rng.choice([0, 8, 16, 37, 70, 100])]
            own = tuple(rng.randrange(VOCAB) for _ in range(rng.randrange(1, 30)))
            adapter = rng.choice([None, None, None, "a", "b", "c"])
            client.add(f"r{num_added}", (*start, *own), random_params(rng), adapter=adapter)
            num_added += 1
        if rng.random() < 0.05:
            victim = rng.choice(list(client.adds))
            client.abort(victim, rng.choice([None, 0, 1]))
        if rng.random() < 0.002:
            executor.forget()
            core.call("update_weights")
        client.step()
    client.check()
    stats = core.stats()
    assert stats.preemptions > 10 or case == 4
    assert (stats.drafts_accepted > 100) == ("num_drafts" in CASES[case])
    assert stats.cached_tokens > 1000 or case == 3
    assert stats.output_tokens == sum(len(client.tokens(*each)) for each in client.truths)
    client.check_nothing_is_left()
    assert executor.holds == {}


def test_choices_have_seeds_of_their_own_and_the_first_has_the_requests() -> None:
    core, executor = made()
    client = Client(core, executor)
    seen: dict[int, int] = {}

    def look(step: StepInput) -> None:
        seen.update((row.oracle_id, row.seed) for row in step.rows)

    executor.on_step = look
    client.add("one", (1, 2, 3), SamplingParams(seed=11, max_tokens=2))
    client.add("four", (1, 2, 3), SamplingParams(seed=11, max_tokens=2, n=4))
    client.add("none", (1, 2, 3), SamplingParams(max_tokens=2, n=2))
    client.run()
    seeds = {key: seen[truth.oracle] for key, truth in client.truths.items()}
    assert seeds["one", 0] == seeds["four", 0] == 11
    assert [seeds["four", index] for index in range(4)] == [choice_seed(11, index) for index in range(4)]
    assert len(set(seeds.values())) == 6


def test_of_prompts_that_begin_alike_one_is_computed() -> None:
    core, executor = made(num_blocks=400, chunked_prefill_size=128)
    client = Client(core, executor)
    start = tuple(at % VOCAB for at in range(200))
    computed = 0

    def count(step: StepInput) -> None:
        nonlocal computed
        computed += sum(len(each.token_ids) for each in step.plan.slices if len(each.token_ids) > 1)

    executor.on_step = count
    for index in range(8):
        client.add(f"r{index}", (*start, index, index), SamplingParams(max_tokens=2, n=2))
    client.run()
    client.check()
    assert computed <= 200 + 16 * 8
    assert core.stats().cached_tokens == 15 * 200


@pytest.mark.parametrize("when", range(12))
def test_an_abort_at_any_moment_ends_that_choice_alone(when: int) -> None:
    core, executor = made(chunked_prefill_size=16)
    client = Client(core, executor)
    prompt = tuple(at % VOCAB for at in range(50))
    client.add("r", prompt, SamplingParams(max_tokens=5, n=3, ignore_eos=True))
    client.add("other", (5, *prompt), SamplingParams(max_tokens=5, ignore_eos=True))
    for _ in range(when):
        client.step()
    client.abort("r", 1)
    client.abort("nobody")
    client.run()
    client.check()
    assert client.finish("r", 0) is client.finish("r", 2) is client.finish("other") is FinishReason.LENGTH
    client.check_nothing_is_left()


def test_a_step_that_fails_can_be_tried_again() -> None:
    core, executor = made()
    client = Client(core, executor)

    def fail(_: StepInput) -> None:
        if executor.num_steps in (0, 3, 4) and rng.random() < 0.7:
            raise KeyboardInterrupt

    rng = random.Random(1)
    executor.on_step = fail
    client.add("r", (1, 2, 3, 4, 5), SamplingParams(max_tokens=8, ignore_eos=True))
    failures = 0
    while core.has_work:
        try:
            client.step()
        except KeyboardInterrupt:  # noqa: PERF203 - a few steps
            failures += 1
    client.check()
    assert failures > 0
    client.check_nothing_is_left()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"prompt_ids": ()}, "prompt"),
        ({"prompt_ids": (1, VOCAB)}, "prompt"),
        ({"prompt_ids": (1, -1)}, "prompt"),
        ({"prompt_ids": (1,) * 4000}, "prompt"),
        ({"params": SamplingParams(temperature=-1.0)}, "temperature"),
        ({"params": SamplingParams(stop_token_ids=(VOCAB,))}, "stop_token_ids"),
        ({"params": SamplingParams(regex="a")}, "json_schema"),
        ({"adapter": "a"}, "model"),
        ({"request_id": "busy"}, "request_id"),
    ],
)
def test_what_can_not_run_is_refused_and_leaves_nothing(change: dict[str, Any], field: str) -> None:
    core, executor = made()
    client = Client(core, executor)
    client.add("busy", (1,), SamplingParams())
    add = {"request_id": "r", "prompt_ids": (1,), "params": SamplingParams(n=2), **change}
    with pytest.raises(BadRequest) as caught:
        core.add(Add(**add))
    assert caught.value.field == field
    client.run()
    client.check()
    client.check_nothing_is_left()


class FakeMatcher:
    """Lets tokens through until the third, then fails, while it makes masks or while it is told."""

    def __init__(self, fails_at: str) -> None:
        self.fails_at, self.seen = fails_at, 0

    def masks(self, drafts: Any) -> tuple[bytes, ...]:
        if self.fails_at == "masks" and self.seen == 2:
            raise EngineError("too deep", fix="make it flat")
        return (b"\xff" * 7,) * (1 + len(drafts))

    def accept(self, token: int) -> None:
        assert 0 <= token < VOCAB
        if self.fails_at == "accept" and self.seen == 2:
            raise EngineError("too deep", fix="make it flat")
        self.seen += 1


@pytest.mark.parametrize("fails_at", ["masks", "accept"])
def test_a_grammar_that_fails_ends_its_choice_alone(fails_at: str) -> None:
    class FakeGrammars:
        def compile(self, params: SamplingParams) -> FakeMatcher | None:
            return None if params.regex is None else FakeMatcher(fails_at)

    core, executor = made(grammars=FakeGrammars())
    client = Client(core, executor)
    client.add("r", (1, 2), SamplingParams(regex="x", max_tokens=9, ignore_eos=True))
    client.add("other", (1, 2), SamplingParams(max_tokens=9, ignore_eos=True))
    client.run()
    last = client.got["r", 0][-1]
    assert (last.finish_reason, last.token_ids) == (FinishReason.ERROR, ())
    assert last.fault is not None and (last.fault.message, last.fault.fix) == ("too deep", "make it flat")
    assert client.tokens("r") == client.expected("r")[0][:2]
    assert client.tokens("other") == client.expected("other")[0]
    client.check_nothing_is_left()


def test_grammars_and_a_minimum_of_tokens_are_refused() -> None:
    core, _ = made()
    with pytest.raises(BadRequest, match="min_tokens"):
        core.add(Add(request_id="r", prompt_ids=(1,), params=SamplingParams(regex="a", min_tokens=2)))


def test_an_adapter_that_is_loaded_again_shares_nothing_with_the_earlier_one() -> None:
    core, executor = made()
    client = Client(core, executor)
    prompt = tuple(at % VOCAB for at in range(40))
    for round_ in range(2):
        core.call("load_lora_adapter", name="a", path=f"{round_}")
        client.add(f"first-{round_}", prompt, SamplingParams(max_tokens=2), adapter="a")
        client.run()
        client.add(f"second-{round_}", prompt, SamplingParams(max_tokens=2), adapter="a")
        client.run()
        assert [client.got[f"{each}-{round_}", 0][0].num_cached for each in ("first", "second")] == [0, 36]
        core.call("unload_lora_adapter", name="a")
    with pytest.raises(BadConfig, match="no adapter 'a'"):
        core.call("unload_lora_adapter", name="a")
    client.check()
    client.check_nothing_is_left()


def test_an_adapter_that_is_unloaded_in_use_answers_to_the_end_and_takes_nothing_new() -> None:
    core, executor = made(max_loras_per_batch=1)
    client = Client(core, executor)
    for name in ("a", "b"):
        core.call("load_lora_adapter", name=name, path="x")
        client.add(name, (1, 2), SamplingParams(max_tokens=5, n=2), adapter=name)
    client.step()
    core.call("unload_lora_adapter", name="a")
    with pytest.raises(BadRequest, match="no adapter 'a' is loaded"):
        core.add(Add(request_id="late", prompt_ids=(1,), params=SamplingParams(), adapter="a"))
    client.run()
    client.check()
    assert executor.holds == {} and core.call("list_lora_adapters") == ["b"]


def test_an_adapter_that_is_pushed_out_is_not_there_any_more() -> None:
    core, executor = made()
    executor.max_adapters = 2
    client = Client(core, executor)
    core.call("load_lora_adapter", name="a", path="x")
    client.add("r", (1, 2), SamplingParams(max_tokens=5), adapter="a")
    for name in ("b", "c"):
        core.call("load_lora_adapter", name=name, path="x")
    assert core.call("list_lora_adapters") == ["a", "c"]  # one of them is in use
    with pytest.raises(BadRequest, match="no adapter 'b' is loaded"):
        client.add("s", (1, 2), SamplingParams(), adapter="b")
    client.run()
    assert client.finish("r") is not None


def test_new_weights_make_running_sequences_start_again() -> None:
    core, executor = made()
    client = Client(core, executor)
    client.add("r", (1, 2, 3, 4, 5, 6), SamplingParams(max_tokens=9, ignore_eos=True))
    for _ in range(4):
        client.step()
    executor.forget()  # a read of what was computed before would fail
    core.call("update_weights", path="x")
    assert core.stats().num_blocks_held == 0
    client.run()
    client.check()


def test_while_the_engine_sleeps_requests_wait() -> None:
    core, executor = made()
    client = Client(core, executor)
    core.call("sleep")
    client.add("r", (1, 2), SamplingParams(max_tokens=2))
    client.run()
    assert core.step() == [] and core.stats().num_waiting == 1
    client.abort("r")
    client.run()
    assert client.finish("r") is FinishReason.ABORT
    client.add("s", (1, 2), SamplingParams(max_tokens=2))
    core.call("wake_up", tags=[])  # the weights did not come back
    client.run()
    assert client.finish("s") is None
    core.call("update_weights_from_disk", path="x")
    client.run()
    client.check()


def test_calls_that_nobody_knows_are_the_executors() -> None:
    core, executor = made()
    assert core.call("anything", x=1) == [{"x": 1}]
    assert executor.calls == [("anything", {"x": 1})]
    assert isinstance(core.call("stats"), Stats)
    client = Client(core, executor)
    client.add("r", (1, 2, 3), SamplingParams(max_tokens=5, ignore_eos=True))
    client.step()
    core.call("get_weights_by_name", name="x")
    assert core.stats().num_blocks_held > 0  # looking makes nobody start again
    core.call("anything")
    assert core.stats().num_blocks_held == 0
    client.run()
    client.check()
    core.close()
    assert executor.is_closed


def test_drafts_by_n_grams_reach_the_executor() -> None:
    core, executor = made(speculative_algorithm="ngram", speculative_num_draft_tokens=3)
    client = Client(core, executor)
    drafts: list[tuple[int, ...]] = []
    executor.on_step = lambda step: drafts.extend(
        each.token_ids[1:] for each in step.plan.slices if each.num_drafts == len(each.token_ids) - 1 > 0
    )
    [truth] = executor.know("r", tuple(range(20)))
    first, second, third = truth.upto(43)[40:]
    prompt = (*range(18), 1, 2, first, second, third, *range(15), 1, 2)  # its end came before, and so did what follows
    truth.tokens, truth.num_prompt = list(prompt), len(prompt)
    client.add("r", prompt, SamplingParams(max_tokens=6, ignore_eos=True))
    client.run()
    client.check()
    assert core.stats().drafts == sum(len(each) for each in drafts) > 0


def test_a_draft_never_costs_a_preemption() -> None:
    core, executor = made(num_blocks=9, block_tokens=4, num_drafts=6)
    client = Client(core, executor)
    client.add("r", (1, 2, 3, 4, 5), SamplingParams(max_tokens=26, ignore_eos=True))
    client.run()
    client.check()
    stats = core.stats()
    assert stats.preemptions == 0 and stats.drafts_accepted > 5
    client.check_nothing_is_left()
