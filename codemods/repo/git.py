"""How git is run: by argument list, in a fixed environment, with failures as errors that carry argv, code and stderr.

Two environments. The fixed one knows no user: what git says about objects and refs depends on the repository alone.
`as_user` keeps the user's own configuration, for the questions whose answer is theirs: who they are, what they ignore,
and what counts as a change where line endings or large files are filtered. In both, hooks, pagers, replace refs,
optional locks and prompts are off, and GIT_DIR and its like, which a calling hook may have set, are not heard: the
directory decides.

What to ask git is decided by the other modules of this package."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from codemods.repo.scratch import scratch_file
from codemods.schema.errors import GitError

# Variables that change where git looks for its own program or for a repository, but not which one this directory is in.
_KEPT = frozenset({"GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"})
# Who the user is may stand in the environment instead of in a file.
_KEPT_AS_USER = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "gc.auto=0",
    "i18n.commitEncoding=UTF-8",
)


class GitFailed(GitError):
    """git ran and refused."""

    def __init__(self, argv: Sequence[str], returncode: int, stderr: bytes, *, fix: str = "") -> None:
        said = stderr.decode("utf-8", "backslashreplace").strip() or "nothing"
        super().__init__(
            f"`{' '.join(argv)}` failed with exit code {returncode} and said: {said}",
            fix=fix or "run that command by hand to see what is wrong with the repository",
        )
        self.argv, self.returncode, self.stderr = tuple(argv), returncode, said


class GitMissing(GitError):
    """There is no git program."""

    code = "git-missing"

    def __init__(self) -> None:
        super().__init__("git was not found on PATH", fix="install git 2.31 or newer")


class DubiousOwnership(GitFailed):
    """git refuses to work in a repository that belongs to somebody else."""

    code = "git-dubious-ownership"


def environment(*, as_user: bool = False, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of one git process; see the head of this file."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT or (as_user and name.startswith(_KEPT_AS_USER))
    }
    kept.update(
        LC_ALL="C",
        GIT_PAGER="cat",
        GIT_TERMINAL_PROMPT="0",
        GIT_OPTIONAL_LOCKS="0",
        GIT_NO_REPLACE_OBJECTS="1",
    )
    if not as_user:
        kept.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull)
    kept.update(extra or {})
    return kept


def command(args: Sequence[str], *, as_user: bool = False) -> list[str]:
    """The argument list of one git process, with the settings that hold for all of them."""
    settings = [*_SETTINGS]
    if not as_user:
        # The fixed environment does not read the user's files, but a directory they called safe stays safe.
        settings += [f"safe.directory={directory}" for directory in _safe_directories()]
    return ["git", "--no-pager", *(part for setting in settings for part in ("-c", setting)), *args]


@functools.cache
def _safe_directories() -> tuple[str, ...]:
    argv = ["git", "config", "--show-scope", "-z", "--get-all", "safe.directory"]
    asked = _run(argv, Path(os.sep), b"", environment(as_user=True))
    if asked.returncode != 0:
        return ()
    words = os.fsdecode(asked.stdout).split("\0")[:-1]
    # A repository can't vouch for itself: what its own file says is not heard.
    return tuple(value for scope, value in zip(words[::2], words[1::2], strict=True) if scope in ("system", "global"))


def git(
    *args: str, cwd: Path, stdin: bytes = b"", as_user: bool = False, extra: Mapping[str, str] | None = None
) -> bytes:
    """stdout of one git process. Raises GitFailed for any exit code but 0, GitMissing without git."""
    done = _run(command(args, as_user=as_user), cwd, stdin, environment(as_user=as_user, extra=extra))
    if done.returncode != 0:
        raise failure(args, done.returncode, done.stderr)
    return done.stdout


def git_or_none(*args: str, cwd: Path, stdin: bytes = b"", as_user: bool = False) -> bytes | None:
    """As `git`, for the questions that git answers "no" to with exit code 1: None then."""
    try:
        return git(*args, cwd=cwd, stdin=stdin, as_user=as_user)
    except GitFailed as error:
        if error.returncode == 1:
            return None
        raise


def failure(args: Sequence[str], returncode: int, stderr: bytes) -> GitFailed:
    """The error for a git process that ended with `returncode`."""
    argv = ["git", *args]
    if b"dubious ownership" in stderr or b"unsafe repository" in stderr:
        return DubiousOwnership(
            argv,
            returncode,
            stderr,
            fix="if you trust it, run `git config --global --add safe.directory DIR` with the directory named above",
        )
    return GitFailed(argv, returncode, stderr)


def _run(argv: Sequence[str], cwd: Path, stdin: bytes, env: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(argv, cwd=cwd, input=stdin, env=env, capture_output=True, check=False)
    except OSError as error:
        raise _not_started(cwd, error) from error


def _not_started(cwd: Path, error: OSError) -> GitError:
    """subprocess says "no such file" both for a missing program and for a missing directory."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        return GitError(f"git can't be started in {cwd}: {error.strerror}", fix="mend that, then run again")
    if cwd.is_dir():
        return GitMissing()
    return GitError(f"{cwd} is not a directory", fix="name a directory that exists")


class Conversation:
    """A git process that is asked more than once (`--batch`). Close it, or use it as a context manager."""

    def __init__(self, *args: str, cwd: Path, extra: Mapping[str, str] | None = None) -> None:
        self._args = args
        argv, env = command(args), environment(extra=extra)
        # A file and not a pipe: nobody reads stderr while the process runs, and a full pipe would stop it.
        self._stderr = scratch_file()
        try:
            self._process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
            )
        except OSError as error:
            self._stderr.close()
            raise _not_started(cwd, error) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def ask(self, text: bytes) -> None:
        """Sends `text`. Answers must be read before more than a pipe holds (64 KiB) has been asked."""
        try:
            self._stdin.write(text)
            self._stdin.flush()
        except OSError as error:
            raise self._failed() from error

    def line(self) -> bytes:
        """The next line of the answer, without its end. Raises GitFailed when the process is gone."""
        text = self._stdout.readline()
        if not text.endswith(b"\n"):
            raise self._failed()
        return text[:-1]

    def exactly(self, num_bytes: int) -> bytes:
        """The next `num_bytes` of the answer. Raises GitFailed when the process is gone."""
        raw = self._stdout.read(num_bytes)
        if len(raw) != num_bytes:
            raise self._failed()
        return raw

    def skip(self, num_bytes: int) -> None:
        """Reads on without keeping anything."""
        while num_bytes:
            part = self._stdout.read(min(num_bytes, 1 << 20))
            if not part:
                raise self._failed()
            num_bytes -= len(part)

    def _failed(self) -> GitFailed:
        self.close()
        return failure(self._args, self._process.returncode, self._said)

    def close(self) -> None:
        if self._stderr.closed:
            return
        with contextlib.suppress(OSError):  # the other side may be gone already; that is what closing is for
            self._stdin.close()
        self._stdout.close()
        self._process.wait()
        self._stderr.seek(0)
        self._said = self._stderr.read()
        self._stderr.close()

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Background:
    """One git process that works while its caller does; its output waits in a file. Close it if the result is not
    wanted any more."""

    def __init__(self, *args: str, cwd: Path, stdin: bytes = b"", extra: Mapping[str, str] | None = None) -> None:
        self._args = args
        self._files = [scratch_file() for _ in range(3)]
        given, said, complaints = self._files
        given.write(stdin)
        given.seek(0)
        try:
            self._process = subprocess.Popen(
                command(args), cwd=cwd, env=environment(extra=extra), stdin=given, stdout=said, stderr=complaints
            )
        except OSError as error:
            self._close_files()
            raise _not_started(cwd, error) from error

    def result(self, max_bytes: int) -> bytes | None:
        """stdout; None when it is longer. Raises GitFailed for any exit code but 0."""
        code = self._process.wait()
        _, said, complaints = self._files
        said.seek(0, os.SEEK_END)
        num_bytes = said.tell()
        said.seek(0)
        complaints.seek(0)
        try:
            if code != 0:
                raise failure(self._args, code, complaints.read())
            return said.read() if num_bytes <= max_bytes else None
        finally:
            self._close_files()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._close_files()

    def _close_files(self) -> None:
        for file in self._files:
            file.close()
