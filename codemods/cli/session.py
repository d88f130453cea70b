"""What every command has around it: configuration, format, streams, and what each kind of ending looks like.

Exit status: 0 pass, 1 the check says no, 2 it could not be done, 130 interrupted. A crash never looks like a result."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.cli.console import Console, OutputFailed
from codemods.report.lines import Line, Span, Style, line
from codemods.schema.errors import ConfigError, InternalError, UnmovedError

if TYPE_CHECKING:
    # Only names: `unmoved --help` and every completion of a shell load this file, and should load little else.
    from msgspec import Struct

    from codemods.cli.config import Resolved
    from codemods.cli.progress import StderrProgress
    from codemods.repo.worktree import WorkTree

INTERRUPTED = 130
COULD_NOT = 2
_SHOWN = 3  # names in one note


class UsageProblem(ConfigError):
    """Options that don't go together, or that lack one another."""

    code = "usage-error"


class HalfWritten(UnmovedError):
    """The tree is in the middle of an edit."""

    code = "half-written"


class Session:
    """One run of one command."""

    def __init__(self, console: Console, resolved: Resolved, config_options: Sequence[str] = ()) -> None:
        """config_options: what --config was given."""
        self.console, self.resolved, self.config_options = console, resolved, tuple(config_options)
        self.is_json = resolved.config.format == "json"
        # What has been written so far, in words; an interruption has to say.
        self.written = ""

    @property
    def root(self) -> Path:
        return self.resolved.root

    def work_tree(self) -> WorkTree:
        """The files at the root, as they are. Raises HalfWritten when they are neither old nor new."""
        from codemods.commit.journal import has_journal
        from codemods.repo.worktree import WorkTree

        if has_journal(self.root):
            raise HalfWritten(
                f"an `unmoved apply --in-place` in {self.root} was cut short, or is under way",
                fix="wait for it to end; if it was cut short, any `unmoved apply PLAN --check` takes back what it left",
            )
        return WorkTree(self.root, self.resolved.settings.exclude)

    def tell_unread(self, tree: WorkTree) -> None:
        """On stderr: directories that belong to the tree for Python, and that nobody has looked into."""
        links = tree.unread()
        if links:
            more = f" and {len(links) - _SHOWN} more" if len(links) > _SHOWN else ""
            named = ", ".join(links[:_SHOWN])
            told = f"{named}{more} leads out of the root and was not read; what is in there may use what changes"
            self.console.err([line(Span("note: ", Style.WARN), told)])

    def progress(self) -> StderrProgress:
        from codemods.cli.progress import StderrProgress

        return StderrProgress(sys.stderr, os.environ)

    def report(self, model: Struct, lines: Iterable[Line], aside: Iterable[Line] = ()) -> None:
        """The model as JSON with `aside` on stderr, or the lines."""
        if self.is_json:
            self.console.json(encode(model))
            self.console.err(aside)
        else:
            self.console.out(lines)


def encode(model: Struct) -> bytes:
    """JSON, indented for whoever looks at it."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(model))


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """The cyclic collector would go through millions of nodes of syntax trees again and again, a quarter of
    the time, to find next to nothing. What does pile up is collected where it is made (source/parse.py)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def run(
    body: Callable[[Session], int],
    *,
    root: Path | None = None,
    format_: str | None = None,
    options: Sequence[str] = (),
    show_config: bool = False,
) -> int:
    """The exit status of `body`, whatever happens in it."""
    environ: Mapping[str, str] = os.environ
    console = Console(environ)
    is_json = (format_ or environ.get("UNMOVED_FORMAT")) == "json"
    session: Session | None = None
    try:
        from codemods.cli.config import load_config

        resolved = load_config(root, environ, {} if format_ is None else {"format": format_}, options)
        session = Session(console, resolved, options)
        is_json = session.is_json
        return _show_config(session) if show_config else body(session)
    except OutputFailed as error:
        error.message += f"; {_done(session)}"
        return show_error(console, error, is_json=is_json)
    except UnmovedError as error:
        return show_error(console, error, is_json=is_json)
    except KeyboardInterrupt:
        console.err([line(Span("interrupted: ", Style.BAD), _done(session))])
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 -- the last place before Python's own traceback
        return show_error(console, internal(error, _done(session)), is_json=is_json)


def _done(session: Session | None) -> str:
    """What the run has changed so far, in words."""
    return (session.written if session else "") or "nothing was changed"


def _show_config(session: Session) -> int:
    from codemods.report.model import ConfigReport
    from codemods.report.text import config_lines

    settings = session.resolved.shown()
    session.report(ConfigReport(settings=settings), config_lines(settings))
    return 0


def show_error(console: Console, error: UnmovedError, *, is_json: bool) -> int:
    """One block on stderr, and the JSON on stdout where that is wanted. Its exit status."""
    from codemods.report.model import error_report
    from codemods.report.text import error_lines

    report = error_report(error)
    if is_json:
        with contextlib.suppress(OutputFailed):  # one error at a time, and stderr is left
            console.json(encode(report))
    console.err(error_lines(report.error))
    return error.exit_code


def internal(error: Exception, done: str) -> InternalError:
    """A crash as an error; the traceback is shown to who asked for it. done: what the run has changed, in words."""
    import platform
    import traceback

    if os.environ.get("UNMOVED_DEBUG", "0") not in ("", "0"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    told = str(error)[:200]
    return InternalError(
        f"internal error: {type(error).__name__}{where}: {told}; {done}",
        fix="this is a bug of unmoved: run again with UNMOVED_DEBUG=1 and report the traceback with the plan, "
        f"`unmoved --version` and Python {platform.python_version()}",
    )
