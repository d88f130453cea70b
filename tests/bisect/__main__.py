"""`python -m tests.bisect BASE..TIP [--first] [-- ARGUMENTS]`: does every commit of a range pass by itself? Each is
checked out into a work tree of its own and pytest runs there; the repository and its work tree stay as they are.

Says which commits fail. What fails in a commit, pytest says."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn

# What a commit that takes a runner apart can break.
CONCERNED = ("tests/engine/runner/test_binding.py", "tests/engine/runner/test_kinds.py", "tests/architecture")
PACKAGES = ("codemods", "engine")
_NO_TESTS = 5  # pytest's word for a run that collected none


class Unable(Exception):
    """The range can't be walked."""


class Commit(NamedTuple):
    """One of a range."""

    hash: str
    subject: str

    def __str__(self) -> str:
        return f"{self.hash[:12]} {self.subject}"


def git(repository: Path, *arguments: str) -> str:
    found = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=False)
    if found.returncode:
        raise Unable(f"git {' '.join(arguments)}: {found.stderr.strip()}")
    return found.stdout


def commits(repository: Path, range_: str) -> list[Commit]:
    """Oldest first. Raises Unable for a range that is none, or is empty: nothing checked is not a pass."""
    if ".." not in range_ or range_.startswith("-"):
        raise Unable(f"{range_!r} is no range: write BASE..TIP")
    rows = git(repository, "log", "--topo-order", "--reverse", "--format=%H%x09%s", range_, "--").splitlines()
    if not rows:
        raise Unable(f"{range_} holds no commit")
    return [Commit(*row.split("\t", 1)) for row in rows]


@contextmanager
def work_tree(repository: Path, commit: str) -> Iterator[Path]:
    """The commit's files in a folder that is gone afterwards, and that git knows nothing of afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="unmoved-bisect-"))
    try:
        git(repository, "worktree", "add", "--detach", "--quiet", str(folder / "tree"), commit)
        yield folder / "tree"
    finally:
        gone = ["git", "-C", str(repository), "worktree", "remove", "--force", str(folder / "tree")]
        subprocess.run(gone, capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def wanted(tree: Path, arguments: Sequence[str]) -> list[str]:
    """What pytest gets: the arguments as they are, else those of CONCERNED that the commit has."""
    if arguments:
        return list(arguments)
    return [each for each in CONCERNED if (tree / each).exists()]


def run_tests(tree: Path, arguments: Sequence[str]) -> str:
    """What is wrong with the commit, "" for nothing. Its own packages are tested, not what is installed."""
    given = wanted(tree, arguments)
    if not given:
        return "it has none of the tests"
    environ = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    own = [name for name in PACKAGES if (tree / name).is_dir()]
    where = f"import {', '.join(own)}; print(*({', '.join(f'{name}.__file__' for name in own)},), sep='\\n')"
    if own:
        seen = subprocess.run(
            [sys.executable, "-c", where], cwd=tree, env=environ, capture_output=True, text=True, check=False
        )
        strange = [each for each in seen.stdout.split() if not Path(each).resolve().is_relative_to(tree.resolve())]
        if seen.returncode or strange:
            return f"its packages can't be imported from it: {seen.stderr.strip()[-300:] or strange}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *given]
    found = subprocess.run(command, cwd=tree, env=environ, check=False)
    if found.returncode == _NO_TESTS:
        return "no test was found"
    return f"pytest ended with {found.returncode}" if found.returncode else ""


def walk(repository: Path, range_: str, arguments: Sequence[str], *, is_first: bool) -> dict[Commit, str]:
    """Commit -> what is wrong with it. is_first: stop at the first that fails."""
    failed: dict[Commit, str] = {}
    listed = commits(repository, range_)
    for at, commit in enumerate(listed, 1):
        say(f"[{at}/{len(listed)}] {commit}")
        with work_tree(repository, commit.hash) as tree:
            reason = run_tests(tree, arguments)
        if reason:
            say(f"[{at}/{len(listed)}] fails: {reason}")
            failed[commit] = reason
            if is_first:
                say(f"stopped: {len(listed) - at} commits were not looked at")
                break
    else:
        say(f"{len(listed) - len(failed)} of {len(listed)} commits pass")
    return failed


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _ended(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)  # so that the work tree goes too


def main(arguments: Sequence[str]) -> int:
    """0: every commit passes; 1: some fail; 2: the range could not be walked."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bisect", description="Test each commit of a range by itself."
    )
    parser.add_argument("range", metavar="BASE..TIP")
    parser.add_argument("--first", action="store_true", help="stop at the first commit that fails")
    parser.add_argument("--repository", type=Path, default=Path.cwd(), help="default: where you are")
    at = arguments.index("--") if "--" in arguments else len(arguments)
    given, rest = parser.parse_args(arguments[:at]), arguments[at + 1 :]
    signal.signal(signal.SIGTERM, _ended)
    try:
        failed = walk(given.repository, given.range, rest, is_first=given.first)
    except Unable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for commit, reason in failed.items():
        say(f"failed: {commit}: {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
