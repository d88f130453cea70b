"""The demo: plan and apply three extractions on a small runner, and run the runner's own tests before and after.

Works on a copy in a temporary folder and echoes every command. Exit status 1 as soon as one of them does not end as it
should; what a command should do is said beside it here, never repaired."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

CASE = Path(__file__).resolve().parents[1] / "cases" / "demo"
RUNNER = "minirunner.runner.model_runner:ModelRunner"
BRANCH = "unmoved/demo"
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


class DemoFailed(Exception):
    """A command did not end as it should."""


def environment(home: Path) -> dict[str, str]:
    """The caller's environment without its git and pytest settings, with an identity and dates that never change."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTEST_", "UNMOVED_"))}
    return kept | {
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PAGER": "cat",
        "GIT_AUTHOR_NAME": "Demo",
        "GIT_AUTHOR_EMAIL": "demo@example.invalid",
        "GIT_AUTHOR_DATE": "2026-01-01T00:00:00+00:00",
        "GIT_COMMITTER_NAME": "Demo",
        "GIT_COMMITTER_EMAIL": "demo@example.invalid",
        "GIT_COMMITTER_DATE": "2026-01-01T00:00:00+00:00",
        # The runner's tests need no plugin, and start three times as fast without any.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


class Shell:
    """Runs commands in `work` and its subfolder `tree`."""

    def __init__(self, work: Path) -> None:
        self.work, self.tree = work, work / "tree"
        self.env = environment(work)

    def run(self, *command: str, cwd: Path | None = None) -> None:
        """Raises DemoFailed unless the command exits with 0."""
        self._echo(command, cwd or self.work)
        done = subprocess.run(command, cwd=cwd or self.work, env=self.env, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise DemoFailed(f"exit status {done.returncode}: {shown(command)}")

    def git(self, *args: str) -> None:
        self.run("git", *args, cwd=self.tree)

    def ask_git(self, *args: str) -> str:
        """What git prints, without showing it."""
        command = ("git", *args)
        done = subprocess.run(command, cwd=self.tree, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise DemoFailed(f"exit status {done.returncode}: {shown(command)}: {done.stderr.strip()}")
        return done.stdout

    def unmoved(self, *args: str) -> None:
        self.run(sys.executable, "-m", "codemods", *args)

    def test_tree(self) -> None:
        self.run(sys.executable, *PYTEST, cwd=self.tree)

    def _echo(self, command: Sequence[str], cwd: Path) -> None:
        where = "" if cwd == self.work else f"{cwd.relative_to(self.work)} "
        print(f"\n{where}$ {shown(command)}", flush=True)


def shown(command: Sequence[str]) -> str:
    return " ".join("python" if word == sys.executable else word for word in command)


def heading(text: str) -> None:
    print(f"\n== {text}", flush=True)


def expect(condition: bool, complaint: str) -> None:
    if not condition:
        raise DemoFailed(complaint)


def set_up(shell: Shell) -> None:
    heading("A small runner that does too much, under git, with tests of its own")
    shutil.copytree(CASE / "before", shell.tree, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CASE / "plan.toml", shell.work)
    shell.git("init", "--quiet", "--initial-branch=main")
    shell.git("add", "--all")
    shell.git("commit", "--quiet", "--message", "A runner that does too much")
    shell.test_tree()


def plan(shell: Shell) -> None:
    heading("What would it take to move one method?")
    shell.unmoved("plan", f"{RUNNER}.init_threads_binding", "--to", "minirunner.host.numa", "--root", "tree")
    heading("What else could leave the class, and why can't the rest?")
    shell.unmoved("plan", RUNNER, "--suggest", "--root", "tree")


def apply(shell: Shell) -> None:
    heading("Apply a plan of three extractions, as commits on a branch")
    print((shell.work / "plan.toml").read_text(encoding="utf-8"), flush=True)
    before = shell.ask_git("rev-parse", "HEAD")
    shell.unmoved("apply", "plan.toml", "--root", "tree", "--branch", BRANCH)
    expect(shell.ask_git("rev-parse", "HEAD") == before, "apply --branch moved HEAD")
    expect(shell.ask_git("status", "--porcelain") == "", "apply --branch touched the work tree or the index")


def show(shell: Shell) -> None:
    heading("The commits, and what they come to")
    shell.git("log", "--stat", "--reverse", f"main..{BRANCH}")
    shell.git("diff", "--find-renames", "main", BRANCH)


def prove_commits(shell: Shell) -> None:
    commits = shell.ask_git("rev-list", "--reverse", f"main..{BRANCH}").split()
    expect(len(commits) >= 3, f"three extractions came to {len(commits)} commits")
    heading(f"The runner's own tests after each of the {len(commits)} commits")
    for commit in commits:
        shell.git("checkout", "--quiet", "--detach", commit)
        shell.git("log", "-1", "--format=%h %s")
        shell.test_tree()
    shell.git("checkout", "--quiet", BRANCH)
    heading("Applying the plan again changes nothing")
    shell.unmoved("apply", "plan.toml", "--root", "tree", "--check")
    expect(shell.ask_git("status", "--porcelain") == "", "apply --check touched the work tree or the index")


def demo(work: Path) -> None:
    shell = Shell(work)
    for part in (set_up, plan, apply, show, prove_commits):
        part(shell)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", metavar="DIR", type=Path, help="work in DIR, a new folder, and leave it there")
    keep: Path | None = parser.parse_args().keep
    if importlib.util.find_spec("codemods") is None:
        print("demo: codemods is not installed here; run `tox run -e demo`", file=sys.stderr)
        return 2
    started = time.monotonic()
    try:
        if keep:
            keep.mkdir(parents=True)
            demo(keep.resolve())
        else:
            with tempfile.TemporaryDirectory(prefix="unmoved-demo-") as folder:
                demo(Path(folder).resolve())
    except DemoFailed as failure:
        print(f"\ndemo: failed: {failure}", file=sys.stderr)
        return 1
    print(f"\ndemo: done in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
