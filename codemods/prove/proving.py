"""Pairs to results: each proved in a confined worker, what has been proved before taken from the cache."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from codemods.prove.cache import Cache, key_of
from codemods.prove.confine import Refused
from codemods.prove.options import ProveOptions
from codemods.prove.packed import write_pack
from codemods.prove.sandbox import Limits, Outcome, Status, Task, run_tasks
from codemods.prove.task import Asked
from codemods.prove.traced import Answer, Traces
from codemods.schema.prove import Pair, PairResult, inconclusive
from codemods.source.files import FileSet

OnDone = Callable[[PairResult], None]
_FUNCTION = "codemods.prove.task:prove_task"
_GRACE_SECONDS = 30.0
_WHY = {
    Status.TIMEOUT: "it was stopped after {seconds:.0f} s; raise --seconds, or prove smaller pieces",
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
    *,
    identity: str = "",
) -> list[PairResult]:
    """The result of each pair, in the order of the pairs, in which `on_done` is told them as they end.

    identity: of both trees and all that is read of them, where that is known without reading them."""
    cache = Cache(options.cache_dir)
    costs = msgspec.json.encode(_costs(options))
    results: list[PairResult] = []

    def done(result: PairResult) -> None:
        results.append(result)
        if on_done is not None:
            on_done(result)

    traces = Traces(cache, old, new, changed, costs)
    keys = [key_of(identity, msgspec.json.encode(pair), costs) if identity else "" for pair in pairs]
    known = [cache.get(key, PairResult) if key else None for key in keys]
    known = [kept or traces.get(pair) for kept, pair in zip(known, pairs, strict=True)]
    waiting = [number for number, kept in enumerate(known) if kept is None]
    with tempfile.TemporaryDirectory(prefix="unmoved-") as folder:
        pack = Path(folder) / "trees"
        if waiting:
            write_pack(old, new, changed, pack)
        for number, outcome in _run(pairs, waiting, options, pack):
            for kept in known[len(results) : number]:
                assert kept is not None
                done(replace(kept, is_cached=True))
            answer = _answer(pairs[number], outcome)
            if keys[number]:
                cache.put(keys[number], answer.result)
            traces.put(pairs[number], answer)
            done(answer.result)
        for kept in known[len(results) :]:
            assert kept is not None
            done(replace(kept, is_cached=True))
    return results


def _costs(options: ProveOptions) -> ProveOptions:
    """What of the options a verdict depends on."""
    return replace(options, jobs=1, cache_dir=None)


def _run(
    pairs: Sequence[Pair], numbers: Sequence[int], options: ProveOptions, pack: Path
) -> Iterator[tuple[int, Outcome]]:
    most = options.seconds * 2 + _GRACE_SECONDS
    limits = Limits(wall_seconds=most, cpu_seconds=most, readable=(str(pack),))
    asked = (
        Task(
            id=str(number),
            function=_FUNCTION,
            payload=msgspec.msgpack.encode(
                Asked(pair=pairs[number], options=replace(options, cache_dir=None), pack=str(pack))
            ),
        )
        for number in numbers
    )
    for outcome in run_tasks(asked, jobs=max(1, options.jobs), limits=limits):
        yield int(outcome.id), outcome


def _answer(pair: Pair, outcome: Outcome) -> Answer:
    if outcome.status is Status.DONE:
        found = msgspec.msgpack.decode(outcome.payload, type=Answer)
        return replace(found, result=replace(found.result, lacks=outcome.lacks))
    limits = Limits()
    reason = _WHY[outcome.status].format(seconds=outcome.seconds, memory=limits.memory_mb, detail=_last(outcome.detail))
    if outcome.printed:
        reason += f"; it printed {outcome.printed} bytes"
    return Answer(result=replace(inconclusive(pair, reason), lacks=outcome.lacks), old=(), new=())


def _last(detail: str) -> str:
    """What a traceback ends with."""
    return detail.strip().rpartition("\n")[2].removeprefix(f"{Refused.__module__}.{Refused.__name__}: ")[:300]
