"""A replay runs the program's own code: what reaches out is refused and reported, and leaves nothing behind."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from codemods.prove.golden import GoldenFile
from codemods.prove.replay import ReplayRequest, replay
from codemods.schema.recording import Recording, Replayed

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's own rules are Linux's")
WAYS = {
    "remove": "os.remove(PLACE)",
    "write": "open(PLACE, 'w')",
    "write through a link": "os.symlink(PLACE, os.environ['HOME'] + '/way'); open(os.environ['HOME'] + '/way', 'a')",
    "write to its own tree": "open(__file__, 'a')",
    "read": "open(PLACE).read()",
    "read a secret": "open(os.path.dirname(__file__) + '/.ssh/key').read()",
    "read the parent's environment": "open(f'/proc/{os.getppid()}/environ').read()",
    "socket": "socket.create_connection(('127.0.0.1', 9))",
    "socket of a file": "socket.socketpair()[0].connect(PLACE)",
    "look up": "socket.getaddrinfo('localhost', 1)",
    "program": "subprocess.run(['true'])",
    "fork": "os.fork() or os._exit(0)",
    "kill its parent": "os.kill(os.getppid(), 9)",
    "limits": "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "session": "os.setsid()",
}
TEXT = """
import ctypes, gc, os, resource, signal, socket, subprocess, sys, threading, time
PLACE = {place!r}
def f():
{body}
    return 1
"""


def replayed(tmp_path: Path, body: str, **asked: object) -> Replayed:
    """A call of a function that was recorded to return 1."""
    root = tmp_path / "root"
    (root / ".ssh").mkdir(parents=True, exist_ok=True)
    (root / ".ssh/key").write_text("secret")
    place = tmp_path / "outside"
    if not place.exists():
        place.write_text("secret")
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (root / "program.py").write_text(TEXT.format(place=str(place), body=lines))
    file = GoldenFile(tmp_path / "0.json", Recording(schema=1, target="program:f", arguments={}, returned=1))
    given = {"timeout_s": 10.0, **asked}
    ((ran,), _) = replay([file], ReplayRequest(root=root, **given), {**os.environ, "API_TOKEN": "hunter2"})  # type: ignore[arg-type]
    assert sorted(os.listdir(tmp_path)) == ["outside", "root"]
    return ran.replayed


@pytest.mark.parametrize("way", WAYS)
def test_what_reaches_out_is_refused_though_the_code_swallows_it(way: str, tmp_path: Path) -> None:
    body = f"try: {WAYS[way]}\nexcept BaseException: pass"
    found = replayed(tmp_path, body)
    assert (found.verdict.value, (tmp_path / "outside").read_text()) == ("inconclusive", "secret")
    assert found.reason.startswith("it reached out, which is refused here: "), found.reason


def test_as_it_is_loaded_too(tmp_path: Path) -> None:
    found = replayed(tmp_path, "pass\nos.remove(PLACE)".replace("\n", "\n\n", 1))
    assert found.verdict.value == "inconclusive"
    root = tmp_path / "root"
    (root / "program.py").write_text("import subprocess\nsubprocess.run(['true'])\ndef f(): return 1\n")
    file = GoldenFile(tmp_path / "0.json", Recording(schema=1, target="program:f", arguments={}, returned=1))
    ((ran,), _) = replay([file], ReplayRequest(root=root), dict(os.environ))
    assert "subprocess.Popen(" in ran.replayed.reason


def test_what_programs_may(tmp_path: Path) -> None:
    body = """
seen = []
worker = threading.Thread(target=seen.append, args=[1]); worker.start(); worker.join()
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
path = os.path.join(os.environ['HOME'], 'kept')
open(path, 'w').write('x'); os.replace(path, path + '2'); os.mkdir(path)
import concurrent.futures, asyncio
async def one(): return 1
with concurrent.futures.ThreadPoolExecutor(2) as pool: seen += pool.map(abs, [-1, 1])
seen.append(asyncio.run(one()))
assert seen == [1] * 4, seen
assert gc.get_objects()
""".strip()
    found = replayed(tmp_path, body)
    assert (found.verdict.value, found.reason, found.differences) == ("agrees", "", [])


def test_of_the_environment_what_is_asked_for(tmp_path: Path) -> None:
    body = "assert 'API_TOKEN' not in os.environ and b'hunter2' not in open('/proc/self/environ', 'rb').read()"
    plain = "return 1 if os.environ.get('API_TOKEN') is None else 2"
    assert replayed(tmp_path, plain).verdict.value == "agrees"
    assert replayed(tmp_path, plain, environment=("API_TOKEN",)).verdict.value == "differs"
    assert replayed(tmp_path, plain, is_confined=False).verdict.value == "differs"
    assert replayed(tmp_path, body).verdict.value in ("agrees", "inconclusive")


def test_unconfined_it_may_all_of_that(tmp_path: Path) -> None:
    body = "assert subprocess.run([sys.executable, '-c', ''], check=True).returncode == 0"
    assert replayed(tmp_path, body, is_confined=False).verdict.value == "agrees"
    assert replayed(tmp_path, body).verdict.value == "inconclusive"


@LINUX
def test_past_the_rules_of_python(tmp_path: Path) -> None:
    """By a library, which Python does not see; where the kernel can't hold it, there are no libraries."""
    libc = "libc = ctypes.CDLL(None)\n"
    for body in (
        libc + "libc.fork()",
        libc + "libc.kill(os.getppid(), 9)",
        libc + "libc.unlink(PLACE.encode())",
        libc + "libc.open(PLACE.encode(), 513, 0o600)",
        libc + "libc.execl(b'/bin/touch', b'touch', PLACE.encode() + b'2', None)",
        libc + "libc.ptrace(16, os.getppid(), 0, 0)",
        libc + "libc.syscall(425, 8, None)",
        libc + "libc.shmget(0, 4096, 0o1600)",
        libc + "libc.prlimit(os.getppid(), 7, ctypes.create_string_buffer(16), None)",
        libc + "libc.fcntl(0, 8, os.getppid())",
        libc + "s = libc.socket(1, 1, 0)\nassert s == -1",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        + libc
        + "address = b'\\1\\0' + PLACE.encode() + bytes(1)\n"
        + "assert libc.sendto(a.fileno(), b'x', 1, 0, address, len(address)) == -1\n"
        + "assert libc.connect(a.fileno(), address, len(address)) == -1",
    ):
        found = replayed(tmp_path, body)
        assert found.verdict.value in ("inconclusive", "agrees"), (body, found)
        assert (tmp_path / "outside").read_text() == "secret"
        if any(each in body for each in ("fork", "kill", "execl", "ptrace", "425", "shmget")):
            assert found.verdict.value == "inconclusive", body


def test_what_never_ends_or_never_stops_printing(tmp_path: Path) -> None:
    began = time.monotonic()
    for body in ("sum(range(10**15))", "import re; re.match('(a+)+$', 'a' * 60 + 'b')", "while True: pass"):
        found = replayed(tmp_path, body, timeout_s=0.5)
        assert (found.verdict.value, found.reason) == ("inconclusive", "it took more than 0.5 s")
    assert time.monotonic() - began < 60
    loud = "for _ in range(200): os.write(2, b'x' * 1_000_000)"
    assert replayed(tmp_path, loud).verdict.value == "agrees"


def test_what_is_without_bound(tmp_path: Path) -> None:
    assert replayed(tmp_path, "bytearray(1 << 36)").differences[0].place == "exception"
    found = replayed(tmp_path, "open(os.environ['HOME'] + '/big', 'wb').write(bytes(100 << 20))")
    assert found.verdict.value in ("differs", "inconclusive")


def test_a_hostile_tree_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "root/.tmp"
    scratch.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    body = """
os.chdir(os.environ['HOME'])
for _ in range(18):
    os.mkdir('d' * 200); os.chdir('d' * 200)
open('last', 'w').close(); os.chmod('.', 0)
"""
    assert replayed(tmp_path, body.strip()).verdict.value == "agrees"
    assert os.listdir(scratch) == []


def test_a_program_may_look_at_its_own_maps_as_it_is_loaded(tmp_path: Path) -> None:
    """Libraries of tensors do; it tells them nothing but where they lie themselves."""
    pytest.importorskip("resource")
    if not Path("/proc/self/maps").exists():
        pytest.skip("this system has no such file")
    text = "with open('/proc/self/maps') as file:\n    SIZE = len(file.read())\n\ndef f(): return SIZE > 0\n"
    (tmp_path / "srv.py").write_text(text, encoding="utf-8")
    recording = Recording(schema=1, target="srv:f", arguments={}, returned=True)
    [ran], _ = replay(
        [GoldenFile(tmp_path / "f.json", recording)], ReplayRequest(root=tmp_path, timeout_s=60.0), dict(os.environ)
    )
    assert (ran.replayed.verdict.value, ran.replayed.reason) == ("agrees", "")
