"""What every test starts from: an environment without the caller's git, colours and `unmoved` settings.

Hypothesis draws the same examples every time in CI and fresh ones elsewhere; HYPOTHESIS_PROFILE overrides that."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

_IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.invalid",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.invalid",
}
_COLOURS = ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "COLUMNS")


def pytest_configure() -> None:
    # Before collection, because typer decides about colours when it is imported. A GIT_DIR left by a git hook that runs
    # the tests would send every test's git to this repository.
    for name in list(os.environ):
        if name.startswith(("GIT_", "UNMOVED_")) and not name.startswith(("GIT_SSL_", "UNMOVED_TEST_")):
            del os.environ[name]
    for name in _COLOURS:
        os.environ.pop(name, None)
    os.environ.update(_IDENTITY)
    # What a shell starts in the background ignores Ctrl-C, and so would every process that a test means to interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    # No deadline: two workers on two shared cores make single examples slow for reasons of their own.
    settings.register_profile("ci", derandomize=True, deadline=None)
    settings.register_profile("dev", deadline=None)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))
