"""The bound on work counts what the processor did: a machine that is busy with something else changes no verdict."""

from __future__ import annotations

import signal
import time

import pytest

from codemods.verify import time_limit as module
from codemods.verify.time_limit import TookTooLong, time_limit

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="nothing can interrupt work here")


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_work_that_takes_too_long_ends() -> None:
    with pytest.raises(TookTooLong), time_limit(0.05):
        spin(20)


def test_time_that_others_had_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAIT", 10_000)
    with time_limit(0.2):
        time.sleep(0.5)


def test_what_only_waits_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAIT", 2)
    with pytest.raises(TookTooLong), time_limit(0.05):
        time.sleep(30)


def test_afterwards_nothing_is_left_behind() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGALRM, signal.SIGPROF)]
    with time_limit(30):
        assert signal.getitimer(signal.ITIMER_PROF) > (0.0, 0.0)
    assert [signal.getsignal(each) for each in (signal.SIGALRM, signal.SIGPROF)] == before
    assert signal.getitimer(signal.ITIMER_PROF) == signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_timer_of_somebody_else_is_left_alone() -> None:
    signal.setitimer(signal.ITIMER_PROF, 1000)
    try:
        with time_limit(0.01):
            spin(0.05)
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
