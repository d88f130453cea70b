"""Code that ends, hangs, recurses, allocates, prints or litters costs its own outcome and nothing else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codemods.prove import sandbox
from codemods.prove.sandbox import Limits, Outcome, Status, Task, run_tasks
from codemods.repo.worker_pool import Worker, WorkerPool

HOSTILE = "tests.support.hostile"
LIMITS = Limits(wall_seconds=0.4, memory_mb=400, file_mb=1, result_mb=1)


def task(name: str, payload: bytes = b"") -> Task:
    return Task(name, f"{HOSTILE}:{name}", payload)


def run(*tasks: Task, limits: Limits = LIMITS, jobs: int = 1) -> list[Outcome]:
    return list(run_tasks(tasks, jobs=jobs, limits=limits))


def outcome_of(name: str, payload: bytes = b"", limits: Limits = LIMITS) -> Outcome:
    """Its outcome; a task before it and one behind it are as they would be alone."""
    before, outcome, behind = run(task("echo", b"1"), task(name, payload), task("echo", b"2"), limits=limits)
    assert (before.status, before.payload) == (Status.DONE, b"1")
    assert (behind.status, behind.payload) == (Status.DONE, b"2")
    return outcome


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The workers that were started."""
    seen: list[str] = []
    start = WorkerPool.start

    def counted(pool: WorkerPool, module: str) -> Worker:
        seen.append(module)
        return start(pool, module)

    monkeypatch.setattr(WorkerPool, "start", counted)
    return seen


def test_outcomes_come_in_the_order_of_the_tasks_and_are_told_as_they_end() -> None:
    told: list[str] = []
    tasks = [Task(name, f"{HOSTILE}:slowly", name.encode()) for name in ("0.3", "0.01", "0.02", "0.03")]
    limits = Limits(wall_seconds=5)
    found = list(run_tasks(tasks, jobs=2, limits=limits, on_done=lambda outcome: told.append(outcome.id)))
    assert [(outcome.id, outcome.payload) for outcome in found] == [(t.id, t.payload) for t in tasks]
    assert told == ["0.01", "0.02", "0.03", "0.3"]
    assert found[0].seconds > 0.2 > found[1].seconds


def test_no_more_workers_than_there_is_work(starts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(task("echo", b"x"), jobs=4)[0].payload == b"x"
    assert starts == [HOSTILE]
    assert len({outcome.payload for outcome in run(*[task("process")] * 5)}) == 1
    assert starts == [HOSTILE] * 2
    monkeypatch.setattr(sandbox, "WorkerPool", None)  # nothing to do: nothing is started
    assert run(jobs=4) == []


def test_tasks_are_taken_a_few_ahead() -> None:
    taken = 0

    def tasks() -> Iterator[Task]:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield task("echo")

    found = run_tasks(tasks(), jobs=1, limits=LIMITS)
    next(found)
    assert taken <= 70
    found.close()


def test_what_a_function_raises_or_gives_wrongly() -> None:
    wrong, not_bytes, unshowable, missing, no_module = run(
        task("wrong"), task("not_bytes"), task("raise_unshowable"), task("nothing"), Task("x", "no.such.module:f")
    )
    statuses = {outcome.status for outcome in (wrong, not_bytes, unshowable, missing, no_module)}
    assert statuses == {Status.ERROR}
    assert "hostile.py" in wrong.detail and wrong.detail.endswith("ValueError: not like this\n")
    assert "returned a int, not bytes" in not_bytes.detail
    assert "Unshowable" in unshowable.detail
    assert "nothing" in missing.detail
    assert "No module named 'no'" in no_module.detail


def test_an_answer_without_bound() -> None:
    assert outcome_of("much", b"1000000").payload == bytes(1000000)
    outcome = outcome_of("much", b"3000000")
    assert (outcome.status, outcome.payload) == (Status.CRASH, b"")


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("os._exit", "exit code 3"),
        ("sys.exit", "SystemExit(4)"),
        ("exit", "SystemExit(5)"),
        ("SIGSEGV", "SIGSEGV"),
        ("SIGABRT", "SIGABRT"),
        ("close", "process"),
    ],
)
def test_a_subject_that_ends_the_process(way: str, said: str) -> None:
    outcome = outcome_of("end", way.encode())
    assert outcome.status is Status.CRASH
    assert said in outcome.detail


@pytest.mark.parametrize(("kind", "said"), [("plain", "hostile.py"), ("deaf", "killed"), ("in C", "killed")])
def test_a_subject_that_never_ends(kind: str, said: str) -> None:
    began = time.monotonic()
    outcome = outcome_of("loop", kind.encode(), Limits(wall_seconds=0.2))
    assert outcome.status is Status.TIMEOUT
    assert "more than 0.2 s" in outcome.detail
    assert said in outcome.detail
    assert time.monotonic() - began < 5


def test_time_of_the_processor_is_bounded_on_its_own() -> None:
    outcome = outcome_of("loop", b"plain", Limits(wall_seconds=20, cpu_seconds=0.1))
    assert outcome.status is Status.TIMEOUT
    assert "more than 0.1 s of the processor" in outcome.detail
    assert outcome_of("slowly", b"0.2", Limits(wall_seconds=20, cpu_seconds=0.1)).status is Status.DONE


def test_a_subject_that_recurses() -> None:
    outcome = outcome_of("recurse")
    assert outcome.status is Status.ERROR
    assert "RecursionError" in outcome.detail and len(outcome.detail) < 10_000
    unbounded = outcome_of("recurse", b"more", Limits(wall_seconds=5, memory_mb=120))
    assert unbounded.status in (Status.MEMORY, Status.CRASH, Status.ERROR)


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS keeps no limit of memory")
def test_a_subject_that_allocates() -> None:
    limits = Limits(wall_seconds=5, memory_mb=200)
    assert outcome_of("allocate", str(20 << 20).encode(), limits).status is Status.DONE
    assert outcome_of("allocate", str(300 << 20).encode(), limits).status is Status.MEMORY
    assert outcome_of("allocate", b"", limits).status is Status.MEMORY


def test_a_subject_that_prints_without_end() -> None:
    limits = Limits(wall_seconds=20)
    outcome = outcome_of("say", b"2000", limits)
    assert (outcome.status, outcome.printed) == (Status.DONE, 40_000_000)
    assert outcome.output == "b" * 4095 + "\n"
    quiet = run(task("say", b"2"), task("echo"), limits=limits)[1]
    assert (quiet.printed, quiet.output) == (0, "")


def test_a_subject_that_fills_the_disk() -> None:
    outcome = outcome_of("fill")
    assert outcome.status is Status.ERROR
    assert "File too large" in outcome.detail


def test_each_worker_has_a_folder_which_is_empty_again_for_the_next_task() -> None:
    found = run(task("folder"), task("litter", b"15"), task("folder"))
    assert [outcome.status for outcome in found] == [Status.DONE] * 3
    assert found[0].payload == found[2].payload == found[1].payload
    assert not Path(found[0].payload.decode()).parent.exists()


def test_a_folder_with_a_hostile_tree_is_removed() -> None:
    deep = run(task("litter", b"18"), task("end", b"os._exit"), limits=Limits())
    assert not Path(deep[0].payload.decode()).parent.exists()


def test_tasks_and_starts_cost_little() -> None:
    def seconds(count: int) -> float:
        """Of the processor, in the other processes: a busy machine must not fail this."""
        before = os.times()
        assert len(run(*[task("echo")] * count)) == count
        after = os.times()
        return (after.children_user + after.children_system) - (before.children_user + before.children_system)

    start = min(seconds(1) for _ in range(3))
    each = (seconds(1000) - start) / 1000
    assert start < 0.15  # 0.08 s
    assert each < 0.001  # 0.0001 s
