"""Pairs to results: each proved in a confined worker, what has been proved before taken from the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from codemods.prove.cache import Cache, key_of
from codemods.prove.options import ProveOptions
from codemods.prove.packed import Packer
from codemods.prove.prover import inconclusive
from codemods.prove.sandbox import Limits, Outcome, Status, Task, run_tasks
from codemods.prove.task import Answered, Asked
from codemods.schema.prove import Pair, PairResult
from codemods.source.files import FileSet

OnDone = Callable[[PairResult], None]
_FUNCTION = "codemods.prove.task:prove_task"
_ROUNDS = 60  # of asking again with a file that was missing
_GRACE_SECONDS = 30.0
_WHY = {
    Status.TIMEOUT: "it took longer than {seconds:.0f} s and was stopped; raise --seconds, or prove smaller pieces",
    Status.MEMORY: "it took more than {memory} MB and was stopped; prove smaller pieces",
    Status.CRASH: "the process that ran it ended: {detail}",
    Status.ESCAPED: "the code reached out of its confinement, which was refused: {detail}",
    Status.ERROR: "the prover failed on it: {detail}; this is a bug of unmoved, please report it",
}


def prove_pairs(
    old: FileSet,
    new: FileSet,
    changed: Collection[str],
    pairs: Sequence[Pair],
    options: ProveOptions,
    on_done: OnDone | None = None,
) -> list[PairResult]:
    """The result of each pair, in the order of the pairs. `on_done` is called as they end."""
    cache = Cache(options.cache_dir)
    packer = Packer(old, new, changed)
    results: dict[int, PairResult] = {}
    keys: dict[int, str] = {}
    waiting: list[int] = []
    trees, digest = _packed(packer)
    for number, pair in enumerate(pairs):
        keys[number] = key_of(digest, msgspec.json.encode(pair), msgspec.json.encode(_costs(options)))
        kept = cache.get(keys[number], PairResult)
        if kept is None:
            waiting.append(number)
        else:
            results[number] = replace(kept, is_cached=True)
            _tell(on_done, results[number])
    for _ in range(_ROUNDS):
        if not waiting:
            break
        needs: set[str] = set()
        again: list[int] = []
        for number, outcome in _run(pairs, waiting, options, trees, digest):
            answered = _answered(outcome)
            if answered is not None and answered.result is None:
                needs.update(answered.needs)
                again.append(number)
                continue
            result = _result(pairs[number], options, outcome, answered)
            results[number] = result
            cache.put(keys[number], result)
            _tell(on_done, result)
        waiting = again
        if waiting and not packer.add(needs):
            break
        trees, digest = _packed(packer)
    for number in waiting:
        results[number] = inconclusive(pairs[number], "files of the tree could not be read")
        _tell(on_done, results[number])
    return [results[number] for number in range(len(pairs))]


def _costs(options: ProveOptions) -> ProveOptions:
    """What of the options a verdict depends on."""
    return replace(options, jobs=1, cache_dir=None)


def _packed(packer: Packer) -> tuple[bytes, str]:
    trees = msgspec.msgpack.encode(packer.packed())
    return trees, hashlib.blake2b(trees, digest_size=16).hexdigest()


def _run(
    pairs: Sequence[Pair], numbers: Sequence[int], options: ProveOptions, trees: bytes, digest: str
) -> Iterator[tuple[int, Outcome]]:
    limits = Limits(wall_seconds=options.seconds * 2 + _GRACE_SECONDS, cpu_seconds=options.seconds * 2 + _GRACE_SECONDS)
    asked = (
        Task(
            id=str(number),
            function=_FUNCTION,
            payload=msgspec.msgpack.encode(
                Asked(pair=pairs[number], options=replace(options, cache_dir=None), trees=trees, digest=digest)
            ),
        )
        for number in numbers
    )
    for outcome in run_tasks(asked, jobs=max(1, options.jobs), limits=limits):
        yield int(outcome.id), outcome


def _answered(outcome: Outcome) -> Answered | None:
    if outcome.status is not Status.DONE:
        return None
    return msgspec.msgpack.decode(outcome.payload, type=Answered)


def _result(pair: Pair, options: ProveOptions, outcome: Outcome, answered: Answered | None) -> PairResult:
    if answered is not None and answered.result is not None:
        return answered.result
    limits = Limits()
    reason = _WHY[outcome.status].format(
        seconds=options.seconds, memory=limits.memory_mb, detail=outcome.detail.strip().rpartition("\n")[2][:300]
    )
    if outcome.printed:
        reason += f"; it printed {outcome.printed} bytes"
    return inconclusive(pair, reason)


def _tell(on_done: OnDone | None, result: PairResult) -> None:
    if on_done is not None:
        on_done(result)
