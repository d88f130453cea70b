"""Tasks that run code which is not ours, each outcome an answer: what it gave, or in which way it did not. A task that
hangs, crashes or reaches out costs its own outcome and nothing else.

Who may do what is decided in worker.py and confine.py; here it is decided who works at what, when somebody has had too
long, and which worker is not asked again. A worker is asked again only after `done` and `error`."""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator

import msgspec
from msgspec import Struct

from codemods.prove.worker import Job, Limits, Ready, Said, Status, Tried
from codemods.repo.worker_pool import Event, Worker, WorkerPool

__all__ = ["Limits", "Outcome", "Status", "Task", "run_tasks"]

_SERVICE = "codemods.prove.worker"
_AHEAD = 64  # outcomes a worker may be ahead of the reader
_START_SECONDS = 60.0
_GRACE_SECONDS = 0.5  # the worker's own clock comes first: it knows where the subject was
_MOST_TRIED = 20


class Task(Struct, frozen=True):
    """function: `package.module:name`, of bytes to bytes; what it raises is an outcome. id: any, for the reader."""

    id: str
    function: str
    payload: bytes = b""


class Outcome(Struct, frozen=True, kw_only=True):
    """payload: what the function returned; b"" unless it did. detail: a traceback, how the process ended, or what was
    tried. printed: bytes written to stdout and stderr past the function; output: the last of them. lacks: protections
    that this system does not have, which is no outcome of the task's."""

    id: str
    status: Status
    payload: bytes = b""
    detail: str = ""
    printed: int = 0
    output: str = ""
    seconds: float = 0.0
    lacks: tuple[str, ...] = ()


def run_tasks(
    tasks: Iterable[Task], *, jobs: int, limits: Limits, on_done: Callable[[Outcome], None] | None = None
) -> Generator[Outcome, None, None]:
    """The outcomes in the order of the tasks; on_done is called in the order in which they end. Tasks are taken a few
    ahead. Closing the generator, or leaving it by an exception, ends all processes and removes their folders."""
    assert jobs >= 1
    crew = _Crew(jobs, limits)
    waiting = enumerate(tasks)
    finished: dict[int, Outcome] = {}
    following = 0
    is_more = True
    try:
        while True:
            while is_more and crew.has_room and crew.started - following < jobs * _AHEAD:
                numbered = next(waiting, None)
                if numbered is None:
                    is_more = False
                else:
                    crew.begin(*numbered)
            if not crew.is_busy and not is_more:
                return
            for number, outcome in crew.wait():
                finished[number] = outcome
                if on_done is not None:
                    on_done(outcome)
            while following in finished:
                yield finished.pop(following)
                following += 1
    finally:
        crew.close()


class _Seat:
    """A worker and what it is at."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.is_ready = False
        self.lacks: tuple[str, ...] = ()
        self.number, self.task, self.nonce = 0, Task("", ""), b""
        self.tried: list[str] = []
        self.began = self.due = 0.0

    def outcome(self, status: Status, detail: str, payload: bytes = b"") -> tuple[int, Outcome]:
        if self.tried:
            status, detail = Status.ESCAPED, f"refused: {'; '.join(self.tried)}" + (f"\n{detail}" if detail else "")
        printed, output = self.worker.take_printed()
        return self.number, Outcome(
            id=self.task.id,
            status=status,
            payload=payload,
            detail=detail,
            printed=printed,
            output=output,
            seconds=time.monotonic() - self.began,
            lacks=self.lacks,
        )


class _Crew:
    def __init__(self, jobs: int, limits: Limits) -> None:
        self._jobs, self._limits = jobs, limits
        self._pool: WorkerPool | None = None
        self._idle: list[_Seat] = []
        self._busy: dict[int, _Seat] = {}
        self._decoder = msgspec.msgpack.Decoder(Said)
        self.started = 0

    @property
    def is_busy(self) -> bool:
        return bool(self._busy)

    @property
    def has_room(self) -> bool:
        return len(self._busy) < self._jobs

    def begin(self, number: int, task: Task) -> None:
        seat = self._idle.pop() if self._idle else self._new_seat(task)
        seat.number, seat.task, seat.nonce, seat.tried = number, task, secrets.token_bytes(16), []
        self.started += 1
        self._busy[seat.worker.number] = seat
        self._time(seat, self._limits.wall_seconds + _GRACE_SECONDS if seat.is_ready else _START_SECONDS)
        self._send(seat, Job(seat.nonce, task.function, task.payload))

    def _new_seat(self, task: Task) -> _Seat:
        if self._pool is None:
            self._pool = WorkerPool(_SERVICE, max_message_bytes=(self._limits.result_mb << 20) + 65536)
        seat = _Seat(self._pool.start(task.function.partition(":")[0]))
        self._send(seat, self._limits)
        return seat

    def _send(self, seat: _Seat, message: Struct) -> None:
        assert self._pool is not None
        self._pool.send(seat.worker, msgspec.msgpack.encode(message))

    def _time(self, seat: _Seat, seconds: float) -> None:
        seat.began = time.monotonic()
        seat.due = seat.began + seconds

    def wait(self) -> Iterator[tuple[int, Outcome]]:
        """Until something has happened to a task, or might have."""
        assert self._pool is not None
        next_due = min((seat.due for seat in self._busy.values()), default=time.monotonic())
        for event in self._pool.wait(max(0.0, next_due - time.monotonic())):
            seat = self._busy.get(event.worker.number)
            if seat is None:
                self._idle = [idle for idle in self._idle if idle.worker is not event.worker or event.message]
            elif event.message is None:
                yield self._leave(seat, *_how_it_ended(event))
            else:
                yield from self._heard(seat, event.message)
        now = time.monotonic()
        for seat in [seat for seat in self._busy.values() if seat.due <= now]:
            yield self._overdue(seat)

    def _heard(self, seat: _Seat, message: bytes) -> Iterator[tuple[int, Outcome]]:
        try:
            said = self._decoder.decode(message)
        except msgspec.DecodeError:
            said = Tried(b"", "")
        if isinstance(said, Ready) and not seat.is_ready:
            seat.is_ready, seat.lacks = True, said.lacks
            self._time(seat, self._limits.wall_seconds + _GRACE_SECONDS)
        elif isinstance(said, Ready) or said.nonce != seat.nonce:
            seat.tried.append("a write to the pipe between the worker and its parent")
            yield self._leave(seat, Status.ESCAPED, "")
        elif isinstance(said, Tried):
            if len(seat.tried) < _MOST_TRIED:
                seat.tried.append(said.what)
        elif said.status in (Status.DONE, Status.ERROR) and not seat.tried:
            del self._busy[seat.worker.number]
            self._idle.append(seat)
            yield seat.outcome(said.status, said.detail, said.payload)
        else:
            yield self._leave(seat, said.status, said.detail, said.payload)

    def _overdue(self, seat: _Seat) -> tuple[int, Outcome]:
        if seat.is_ready:
            return self._leave(seat, Status.TIMEOUT, f"more than {self._limits.wall_seconds:g} s; it had to be killed")
        return self._leave(seat, Status.CRASH, f"the worker did not start in {_START_SECONDS:g} s")

    def _leave(self, seat: _Seat, status: Status, detail: str, payload: bytes = b"") -> tuple[int, Outcome]:
        """Its worker is not asked again."""
        assert self._pool is not None
        del self._busy[seat.worker.number]
        answer = seat.outcome(status, detail, payload)
        self._pool.kill(seat.worker)
        return answer

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()


def _how_it_ended(event: Event) -> tuple[Status, str]:
    number = event.status & 0x7F
    if not number:
        return Status.CRASH, f"the process ended with exit code {event.status >> 8}"
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if number == signal.SIGXCPU:
        return Status.TIMEOUT, "more time of the processor than allowed; the system ended it"
    if number == getattr(signal, "SIGSYS", 0):
        return (
            Status.ESCAPED,
            "refused: a system call that no worker needs, past the rules of Python; the kernel ended it",
        )
    if number == signal.SIGKILL:
        return Status.CRASH, "the process was killed (SIGKILL), perhaps because the system ran out of memory"
    return Status.CRASH, f"the process was killed by {name}"
