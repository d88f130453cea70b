"""The base of every error a user, a plan or a file can cause. Says nothing about exit codes beyond the
one it carries."""

from __future__ import annotations


class UnmovedError(Exception):
    """An error with parts: `code` (stable, kebab-case), `message` (thing, found, needed) and `fix` (the next move)."""

    code = "error"
    exit_code = 2

    def __init__(self, message: str, *, fix: str, path: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.message, self.fix, self.path, self.line = message, fix, path, line

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        return f"{self.code}: {place}{self.message}; {self.fix}"


class PlanError(UnmovedError):
    """The plan itself can't be read or asks for something that does not exist."""

    code = "plan-error"


class SourceError(UnmovedError):
    """A source file can't be read as Python text."""

    code = "source-error"


class GitError(UnmovedError):
    """git, or the state of the repository, is in the way."""

    code = "git-error"


class ConfigError(UnmovedError):
    """`[tool.unmoved]`, an option or the environment asks for something that does not exist."""

    code = "config-error"


class InternalError(UnmovedError):
    """The tool's own check of its own output failed; nothing was written."""

    code = "internal-error"
