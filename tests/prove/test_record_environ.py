"""The environment as an input of what is recorded: variables whose names no text holds, and those that are gone through
as a whole. Results of a method beside what it wrote; numbers that the configuration names."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from codemods.prove.golden import GoldenFile
from codemods.prove.record import record
from codemods.prove.replay import ReplayRequest, replay
from codemods.schema.recording import Replayed

PROGRAM = """
import os

PREFIX = 'SRV_'

class Bad(Exception): pass

def read(environ):
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in ('SRV_MODE', 'SRV_SIZE'):
            raise Bad(name)
    return {name: environ.get(PREFIX + name.upper()) for name in ('mode', 'size')}

class Groups:
    def __init__(self, tp, pp, free): self.tp, self.pp, self.free = tp, pp, free

class Runner:
    def mode(self):
        return read(os.environ)['mode']

    def plain(self):
        return os.environ.get(PREFIX + 'MODE', 'none')

    def where(self):
        for name in ('PATH', PREFIX + 'SIZE'): os.environ.get(name)

    def every(self):
        return len(dict(os.environ)) > 0

    def meet(self):
        self.tp, self.pp = 'a', 'b'
        return 4096

def met():
    return Groups('a', 'b', 4096)

def swapped():
    return Groups('b', 'a', 4096)

def less():
    return Groups('a', 'b', 4095)

def main():
    runner = Runner()
    for name in ('mode', 'plain', 'where', 'every', 'meet'):
        try: getattr(runner, name)()
        except Bad: pass

if __name__ == '__main__': main()
"""


def recorded(root: Path, target: str, redact: tuple[str, ...] = (), **environ: str) -> GoldenFile:
    (root / "srv.py").write_text(PROGRAM, encoding="utf-8")
    given = {"PATH": os.environ["PATH"], **environ}
    [found] = record([f"srv:Runner.{target}"], [sys.executable, "srv.py"], given, redact).examples
    return GoldenFile(root / f"{target}.json", found)


def replayed(root: Path, file: GoldenFile, text: str = "", **asked: Any) -> Replayed:
    (root / "srv.py").write_text(text or PROGRAM, encoding="utf-8")
    [ran], _ = replay([file], ReplayRequest(root=root, timeout_s=60.0, **asked), dict(os.environ))
    return ran.replayed


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("target", ["mode", "plain"])
def test_a_variable_whose_name_is_put_together_is_kept(tmp_path: Path, target: str) -> None:
    file = recorded(tmp_path, target, SRV_MODE="fast")
    assert file.recording.environment["SRV_MODE"] == "fast"
    assert not file.recording.environment.keys() & {"PATH", "HOME"}
    assert replayed(tmp_path, file).verdict.value == "agrees"
    assert recorded(tmp_path, target).recording.environment["SRV_MODE"] is None
    slip = PROGRAM.replace("PREFIX + 'MODE', 'none')", "PREFIX + 'MODE') and 'none'")
    assert replayed(tmp_path, file, slip).verdict.value == ("differs" if target == "plain" else "agrees")


def test_what_goes_through_all_variables_never_differs_for_want_of_one(tmp_path: Path) -> None:
    file = recorded(tmp_path, "mode", SRV_NONSENSE="1")
    assert file.recording.raised is not None
    found = replayed(tmp_path, file)
    assert found.verdict.value == "inconclusive"
    assert "goes through all environment variables" in found.reason


def test_where_things_lie_on_a_machine_is_not_kept(tmp_path: Path) -> None:
    assert recorded(tmp_path, "where", SRV_SIZE="3").recording.environment == {"SRV_SIZE": "3"}


def test_a_copy_of_the_environment_keeps_none_of_it(tmp_path: Path) -> None:
    file = recorded(tmp_path, "every", SRV_MODE="fast")
    assert file.recording.environment == {}
    assert any("goes through all environment variables" in note for note in file.recording.notes)


@pytest.mark.parametrize(
    ("function", "verdict", "place"),
    [("met", "agrees", ""), ("swapped", "differs", "result.pp"), ("less", "differs", "result.free")],
)
def test_an_object_that_holds_what_was_written_and_what_was_returned(
    tmp_path: Path, function: str, verdict: str, place: str
) -> None:
    found = replayed(tmp_path, recorded(tmp_path, "meet"), against=f"srv:{function}")
    assert found.verdict.value == verdict
    assert any("its free with the result" in note for note in found.notes)
    assert not place or place in {each.place for each in found.differences}


def test_a_number_that_the_configuration_names_is_hidden(tmp_path: Path) -> None:
    file = recorded(tmp_path, "meet", redact=("result",))
    assert file.recording.returned == {"$opaque": "builtins:int", "label": "redacted:result"}
    slip = PROGRAM.replace("return 4096", "return 8192")
    assert replayed(tmp_path, file, slip, redact=("result",)).verdict.value == "agrees"
    assert (
        replayed(tmp_path, file, slip.replace("'a', 'b'\n", "'a', 'c'\n"), redact=("result",)).verdict.value
        == "differs"
    )


HANDED = """
import os

class Group:
    def __init__(self, size): self.size, self.rank = size, 0
    def least(self): return self.size

class Runner:
    def __init__(self, device): self.device = device
    def stream(self): return 's' if self.device == 'cuda' else 'none'
    def fill(self):
        found = self.stream()
        return found + '!'
    def meet(self):
        self.group = Group(3)
        self.kept = self.group.least()

def fill(*, stream):
    found = stream()
    return found + '!'

def main():
    runner = Runner('cuda')
    runner.fill()
    runner.meet()

if __name__ == '__main__': main()
"""


def test_a_method_of_the_receiver_that_is_handed_over_now(tmp_path: Path) -> None:
    (tmp_path / "srv.py").write_text(HANDED, encoding="utf-8")
    [found] = record(["srv:Runner.fill"], [sys.executable, "srv.py"], dict(os.environ), ()).examples
    file = GoldenFile(tmp_path / "fill.json", found)
    assert replayed(tmp_path, file, HANDED, against="srv:fill").verdict.value == "agrees"
    slip = HANDED.replace("    found = stream()\n    return", "    found = stream() * 2\n    return")
    assert replayed(tmp_path, file, slip, against="srv:fill").verdict.value == "differs"


def test_what_is_written_is_kept_whole_however_little_of_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "srv.py").write_text(HANDED, encoding="utf-8")
    [found] = record(["srv:Runner.meet"], [sys.executable, "srv.py"], dict(os.environ), ()).examples
    assert found.writes["self.group"]["attributes"] == {"rank": 0, "size": 3}
    file = GoldenFile(tmp_path / "meet.json", found)
    assert replayed(tmp_path, file, HANDED).verdict.value == "agrees"
    slip = HANDED.replace("self.size, self.rank = size, 0", "self.size, self.rank = size, 1")
    assert replayed(tmp_path, file, slip).verdict.value == "differs"
