"""The command in processes of its own, for tests of what a process says, how it ends and what it leaves behind.

`Forked` is quick: one process loads the command once, and each run is a fork of it with its own directory and streams.
`python_m` is the real thing, slower, with code that runs before anything else in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]

_SERVER = """
import gc, json, os, sys
import codemods.commit.branch, codemods.commit.diff, codemods.commit.in_place, codemods.report.text
import codemods.plan.check, codemods.plan.describe, codemods.plan.survey, codemods.repo.object_tree
from codemods.cli.app import main

answers = os.fdopen(os.dup(1), "w")
main(["apply", "no such plan"])  # what is loaded at the first use
gc.freeze()  # what is collected is written to, and what is written to is copied
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(asked["cwd"])
        for stream, name in enumerate((os.devnull, asked["out"], asked["err"])):
            opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(opened, stream)
            os.close(opened)
        os.setsid()
        exec(asked["first"])
        status = main(asked["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # tidying up all that was loaded takes longer than most runs
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)
"""


class Ended(NamedTuple):
    """How a process ended: negative status for a signal."""

    status: int
    out: str
    err: str


class Forked:
    """Use it as a context manager. `folder` is for what the runs print."""

    def __init__(self, folder: Path) -> None:
        self._out, self._err, self._complaints = folder / "out", folder / "err", folder / "server"
        with self._complaints.open("w") as complaints:
            self._server = subprocess.Popen(
                [sys.executable, "-c", _SERVER],
                cwd=REPOSITORY,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
            )

    def __call__(self, *arguments: str, cwd: Path, first: str = "", out: str = "", err: str = "") -> Ended:
        """first: Python code that runs before the command. out, err: files to print to, which are not read."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        streams = {"out": out or str(self._out), "err": err or str(self._err)}
        asked = {"arguments": arguments, "cwd": str(cwd), "first": first, **streams}
        try:
            self._server.stdin.write(json.dumps(asked) + "\n")
            self._server.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; why is said below
        answer = self._server.stdout.readline()
        assert answer, self._complaints.read_text()
        return Ended(int(answer), "" if out else _text(self._out), "" if err else _text(self._err))

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.communicate()


def _text(place: Path) -> str:
    return place.read_bytes().decode("utf-8", "replace")


def python_m(
    *arguments: str,
    cwd: Path,
    first: str = "",
    out: int | IO[str] = subprocess.PIPE,
    err: int | IO[str] = subprocess.PIPE,
    **environ: str,
) -> Ended:
    """`python -m codemods ARGUMENTS`, in a process group of its own as a shell starts it. first: Python code to run
    before the command is loaded, from a `sitecustomize` beside which `cwd` keeps its files."""
    path = str(REPOSITORY)
    if first:
        hooks = cwd / "hooks"
        hooks.mkdir(exist_ok=True)
        (hooks / "sitecustomize.py").write_text(first, encoding="utf-8")
        path = f"{hooks}{os.pathsep}{path}"
    done = subprocess.run(
        [sys.executable, "-m", "codemods", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, **environ},
        stdout=out,
        stderr=err,
        stdin=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout or "", done.stderr or "")


def signal_at(event: str, word: str, number: int, name: str) -> str:
    """Code for `first`: the signal comes right before the number-th audit event of this kind whose arguments show
    `word`. SIGINT goes to the whole group, git included, as a terminal sends it."""
    return f"""
import os, signal, sys

left = {number}

def hook(event, args):
    global left
    if left and event == {event!r} and {word!r} in repr(args[1] if event == "subprocess.Popen" else args):
        left -= 1
        if not left:
            number = signal.{name}
            os.killpg(0, number) if number == signal.SIGINT else os.kill(os.getpid(), number)

sys.addaudithook(hook)
"""
