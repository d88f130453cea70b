"""`unmoved verify`: which operation made each changed line of a commit, and what is left. Reads, never writes, unless
certificates are asked for."""

from __future__ import annotations

import contextlib
import os
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from codemods.cli.options import ConfigOption, Root, ShowConfig
from codemods.cli.session import Session, UsageProblem, run, without_collector

if TYPE_CHECKING:
    # What does the work is loaded when there is work: see session.py.
    from codemods.report.spool import Spool
    from codemods.schema.certificate import Certificate


class ReportFormat(str, Enum):
    """How `verify` and `check` report."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    SARIF = "sarif"
    GITHUB = "github"


ReportFormatOption = Annotated[
    ReportFormat | None,
    typer.Option(
        "--format",
        metavar="text|json|jsonl|markdown|sarif|github",
        case_sensitive=False,
        help="How to report; all but text goes to stdout, what is for people then to stderr. Default: text.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write the report of --format to FILE, and text to stdout."),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 where the check says no; errors still exit 2.")]


class VerifyRequest(NamedTuple):
    """The options of one `verify`."""

    target: str
    other: str | None
    jobs: str | None
    cert: Path | None
    notes: bool
    caches: bool


def verify(
    target: Annotated[str, typer.Argument(metavar="A..B|COMMIT|DIR_A", help="What to check.", show_default=False)],
    other: Annotated[str | None, typer.Argument(metavar="DIR_B", help="With DIR_A: the tree it became.")] = None,
    jobs: Annotated[
        str | None, typer.Option("-j", "--jobs", metavar="N", help="Processes for a range. Default: one for each core.")
    ] = None,
    cert: Annotated[
        Path | None, typer.Option("--cert", metavar="DIR", help="Write a certificate of each commit to DIR/HASH.json.")
    ] = None,
    notes: Annotated[
        bool, typer.Option("--notes", help="Keep the certificates as git notes too, under refs/notes/unmoved.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither use nor keep what is known of the files' words.")
    ] = False,
    exit_zero: ExitZero = False,
    output: OutputOption = None,
    root: Root = None,
    format_: ReportFormatOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Say which operation made each changed line of a commit, and list exactly the rest.

    A commit is `mechanical` when every changed line is certified, `mixed` when some are, `other` when none is. What is
    not certified is the residue: nothing wrong in itself, but all that is left to read or to prove. Beside it stand
    findings: readers that a change left behind, effects that changed, text that is not what it looks like.

    Everything is read from the object store, and nothing is run: no hook, no filter, no script of the commit. --root
    names the repository; the whole commit is checked, whatever the configuration excludes. A merge is checked against
    each of its parents. Of two directories all is read but `.git` and compiled files.

    \b
    Examples:
      unmoved verify HEAD                             the last commit
      unmoved verify main..HEAD                       a branch, commit by commit
      unmoved verify old/ new/                        two plain trees, as one commit
      unmoved verify main.. --format json             for machines; schema in codemods/schema/verify.schema.json
      unmoved verify main.. --format sarif --output unmoved.sarif
      unmoved verify main.. --notes                   keep certificates; `unmoved check` checks them again

    \b
    Exit status: 0 every commit is mechanical and nothing was found, 1 not so, 2 it could not be checked, 130
    interrupted. A range without commits can't be checked.
    """

    def body(session: Session) -> int:
        request = VerifyRequest(target, other, jobs, cert, notes, not no_cache)
        return verify_target(session, request, chosen_format(session, format_), output, exit_zero=exit_zero)

    text = None if format_ is None else "json" if format_ is ReportFormat.JSON else "text"
    raise typer.Exit(run(body, root=root, format_=text, options=config or (), show_config=show_config))


def chosen_format(session: Session, given: ReportFormat | None) -> ReportFormat:
    """The option, or what the configuration says."""
    return given or (ReportFormat.JSON if session.is_json else ReportFormat.TEXT)


def verify_target(
    session: Session, request: VerifyRequest, format_: ReportFormat, output: Path | None, *, exit_zero: bool
) -> int:
    """Check, report, write what was asked for. The exit status."""
    from codemods.cli.verify_output import write_report
    from codemods.report.spool import Spool

    with without_collector(), Spool() as spool:
        if request.other is None:
            _check_commits(session, request, spool, is_live=_is_live(format_, output))
        else:
            _check_directories(session, request, spool, is_live=_is_live(format_, output))
        write_report(session, spool, format_, output, is_live=_is_live(format_, output))
        return 0 if exit_zero or spool.totals.passed == spool.totals.commits else 1


def _is_live(format_: ReportFormat, output: Path | None) -> bool:
    """Whether each commit is printed at once: not where it would run into the moving line of the progress."""
    is_text = format_ is ReportFormat.TEXT or output is not None
    return is_text and not (sys.stdout.isatty() and sys.stderr.isatty())


def _check_commits(session: Session, request: VerifyRequest, spool: Spool, *, is_live: bool) -> None:
    from codemods.repo.ranges import resolve_range
    from codemods.verify.chain import Request, verify_chain

    if Path(request.target).is_dir() and ".." not in request.target.replace("../", ""):
        raise UsageProblem(f"{request.target} is a directory, and one alone has no change", fix="name the other one")
    found = resolve_range(session.root, request.target)
    settings = session.resolved.settings
    asked = Request(git_dir=found.git_dir, commits=found.commits, settings=settings, caches=request.caches)
    writer = None
    if request.notes:
        from codemods.repo.notes import NoteWriter

        writer = NoteWriter(session.root, found.git_dir)
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(session.progress())
        results = stack.enter_context(contextlib.closing(verify_chain(asked, _jobs(request.jobs), progress)))
        for number, certificate in enumerate(results, 1):
            raw = _keep(session, request, certificate)
            if writer is not None and raw is not None:
                writer.write(certificate.commit, raw)
                session.written = f"{number} notes were written to refs/notes/unmoved"
            _add(session, spool, certificate, is_live=is_live)


def _check_directories(session: Session, request: VerifyRequest, spool: Spool, *, is_live: bool) -> None:
    from codemods.repo.plain_tree import PlainTree
    from codemods.verify.certificate import certify_directories
    from codemods.verify.chain import checks

    if request.notes:
        raise UsageProblem("--notes is about commits, and two directories are none", fix="leave --notes out")
    old, new = request.target, request.other or ""
    trees = PlainTree(Path(old)), PlainTree(Path(new))
    with session.progress() as progress:
        progress.step(1, 1, f"{old} and {new}")
        explain, readers = checks(None, None)
        found = certify_directories(f"{old}..{new}", *trees, session.resolved.settings, explain, readers)
    _keep(session, request, found)
    _add(session, spool, found, is_live=is_live)


def _jobs(text: str | None) -> int:
    from codemods.repo.workers import default_jobs

    if text is None:
        return default_jobs()
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= 256:
        raise UsageProblem(f"-j {text} is no number of processes", fix="give one from 1 to 256, or leave -j out")
    return int(text)


def _keep(session: Session, request: VerifyRequest, certificate: Certificate) -> bytes | None:
    """The certificate's bytes, written to --cert when that is given; None when nobody wants them."""
    from codemods.cli.session import encode

    if request.cert is None and not request.notes:
        return None
    raw = encode(certificate) + b"\n"
    if request.cert is not None:
        is_hash = certificate.commit.isalnum()
        place = request.cert / f"{certificate.commit if is_hash else 'directories'}.json"
        try:
            request.cert.mkdir(parents=True, exist_ok=True)
            place.write_bytes(raw)
        except OSError as error:
            raise UsageProblem(
                f"the certificate can't be written: {error.strerror}", fix="name another --cert", path=os.fspath(place)
            ) from error
        session.written = f"certificates were written to {request.cert}"
    return raw


def _add(session: Session, spool: Spool, certificate: Certificate, *, is_live: bool) -> None:
    from codemods.report.verify_model import checked_commit

    row = checked_commit(certificate)
    spool.add(row)
    if is_live:
        from codemods.report.verify_text import commit_lines

        session.console.out(commit_lines(row))
