"""`unmoved check`: does a certificate hold? Makes it anew with the kernel alone and compares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codemods.cli.options import ConfigOption, Root, ShowConfig
from codemods.cli.session import Session, UsageProblem, run
from codemods.cli.verify import ExitZero, OutputOption, ReportFormat, ReportFormatOption, chosen_format
from codemods.report.lines import Span, Style, line

if TYPE_CHECKING:
    from codemods.verify.check_certificate import Checked


def check(
    cert: Annotated[
        str,
        typer.Argument(
            metavar="CERT", help="A file that --cert wrote; or a commit that has a note.", show_default=False
        ),
    ],
    old: Annotated[str | None, typer.Argument(metavar="DIR_A", help="For two directories: the old one.")] = None,
    new: Annotated[str | None, typer.Argument(metavar="DIR_B", help="For two directories: the new one.")] = None,
    exit_zero: ExitZero = False,
    output: OutputOption = None,
    root: Root = None,
    format_: ReportFormatOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Check a certificate again: the same trees, the same lines, and the kernel says the same of each.

    Nothing that the certificate says is believed: lines, sums, marks and findings are made anew from the object store,
    only the operations it claims are taken from it, and the kernel decides whether they explain anything.

    \b
    Examples:
      unmoved check certs/3f2a….json            a file
      unmoved check HEAD                        the note of a commit, from refs/notes/unmoved
      unmoved check certs/directories.json old/ new/

    \b
    Exit status: 0 it holds, and says mechanical without findings; 1 not so; 2 it could not be checked.
    """

    def body(session: Session) -> int:
        chosen = chosen_format(session, format_)
        checked = _checked(session, cert, old, new)
        return _report(session, checked, chosen, output, exit_zero=exit_zero)

    text = None if format_ is None else "json" if format_ is ReportFormat.JSON else "text"
    raise typer.Exit(run(body, root=root, format_=text, options=config or (), show_config=show_config))


def _checked(session: Session, cert: str, old: str | None, new: str | None) -> Checked:
    from codemods.repo.plain_tree import PlainTree
    from codemods.repo.ranges import resolve_range
    from codemods.repo.store import ObjectStore
    from codemods.verify.check_certificate import check_commit, check_directories, read_certificate

    given = read_certificate(_bytes(session, cert), cert)
    settings = session.resolved.settings
    if old is not None or new is not None:
        if old is None or new is None:
            raise UsageProblem("one directory alone has no change", fix="name both, as for `verify`")
        return check_directories((PlainTree(Path(old)), PlainTree(Path(new))), given, settings)
    if not given.commit.isalnum():
        raise UsageProblem(
            f"the certificate is about {given.commit}, which is no commit", fix="name both directories after it"
        )
    found = resolve_range(session.root, given.commit)
    if found.commits != (given.commit,):
        raise UsageProblem(f"{given.commit} is no full commit hash", fix="make a new certificate")
    with ObjectStore(found.git_dir) as store:
        return check_commit(store, given, settings)


def _bytes(session: Session, cert: str) -> bytes:
    from codemods.repo.notes import read_note
    from codemods.repo.ranges import resolve_range
    from codemods.verify.limits import MAX_CERTIFICATE_BYTES

    place = Path(cert)
    if place.is_file():
        try:
            with place.open("rb") as file:
                return file.read(MAX_CERTIFICATE_BYTES + 1)
        except OSError as error:
            raise UsageProblem(f"can't be read: {error.strerror}", fix="make it readable", path=cert) from error
    if cert.endswith(".json"):
        raise UsageProblem("there is no such file", fix="name a file that `unmoved verify --cert` wrote", path=cert)
    found = resolve_range(session.root, cert)
    raw = read_note(found.git_dir, found.commits[0]) if len(found.commits) == 1 else None
    if raw is None:
        raise UsageProblem(f"{cert} has no note", fix=f"run `unmoved verify {cert} --notes` first")
    return raw


def _report(session: Session, checked: Checked, format_: ReportFormat, output: Path | None, *, exit_zero: bool) -> int:
    from codemods.cli.verify_output import write_report
    from codemods.report.spool import Spool
    from codemods.report.verify_model import checked_commit, with_differences

    holds = not checked.differences
    row = with_differences(checked_commit(checked.found), checked.differences)
    with Spool() as spool:
        spool.add(row)
        word = Span("the certificate holds", Style.GOOD) if holds else Span("the certificate does not hold", Style.BAD)
        write_report(session, spool, format_, output, is_live=False, aside=[line(word)])
    return 0 if exit_zero or (holds and row.passes) else 1
