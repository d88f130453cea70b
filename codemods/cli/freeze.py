"""`unmoved freeze`: keeps what a plan is about to change, and lists what is kept. Whole or not at all."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codemods.cli.options import ConfigOption, FormatOption, Root, ShowConfig, format_text
from codemods.cli.session import Session, UsageProblem, run, without_collector
from codemods.report.lines import Line, Span, Style, line

if TYPE_CHECKING:
    from codemods.commit.freeze import Frozen


def freeze(
    plan: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PLAN]", help="The plan that will be applied; none: list what is new.", show_default=False
        ),
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="REV", help="The commit that originals are taken from. Default: HEAD.")
    ] = None,
    golden: Annotated[str, typer.Option(metavar="DIR", help="The folder, below the root. Default: golden.")] = "golden",
    update: Annotated[
        bool,
        typer.Option("--update", help="List specs and recordings as they are now, also those that changed. Not in CI."),
    ] = False,
    root: Root = None,
    format_: FormatOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Keep the files that a plan takes definitions out of, byte for byte, so that they can be held against what the
    code becomes for as long as it lives.

    The plan has to apply to the commit as it stands. Then golden/originals/PLAN-ID/ gets each file that holds what the
    plan moves, and each that receives it and is there before; golden/plans/PLAN-ID.toml gets the plan; and
    golden/MANIFEST.toml gets the hash, the commit and the day of every file below golden/. Specs that say
    old-tree = "../originals/PLAN-ID" are frozen pairs: `unmoved gate --frozen` proves them.

    Without PLAN, files that are new below golden/ (specs, recordings) are listed, nothing else.

    \b
    Examples:
      unmoved freeze split.toml                 before `unmoved apply split.toml --branch split`
      unmoved record srv:Runner.pick --to golden/recordings/pick -- python -m srv && unmoved freeze
      unmoved freeze --update                   after a recording changed that was meant to

    \b
    Exit status: 0 kept, or nothing is new; 2 refused (what is listed has changed, the plan does not apply), and nothing
    is written.
    """

    def body(session: Session) -> int:
        with without_collector():
            return _freeze(session, plan, base, golden.strip("/"), updates=update)

    raise typer.Exit(run(body, root=root, format_=format_text(format_), options=config or (), show_config=show_config))


def _freeze(session: Session, plan: Path | None, base: str | None, golden: str, *, updates: bool) -> int:
    from msgspec import structs

    from codemods.commit.freeze import freeze as keep
    from codemods.commit.in_place import recover
    from codemods.report.model import FreezeReport

    if not golden or golden.startswith("..") or Path(golden).is_absolute():
        raise UsageProblem(f"--golden {golden!r} is no folder below the root", fix="give a relative path")
    if base is not None and plan is None:
        raise UsageProblem("--base says where originals are taken from", fix="give PLAN too, or leave --base out")
    recover(session.root)
    commit = _commit(session, base or "HEAD")
    more = _originals(session, plan, commit) if plan is not None else {}
    day = dt.datetime.now(tz=dt.timezone.utc).date().isoformat()
    found = keep(session.root, golden, more, commit=commit, date=day, updates=updates)
    report = FreezeReport(golden=golden, commit=commit, **structs.asdict(found))
    summary = _summary(found, golden)
    session.report(report, [*_lines(found), summary], [summary])
    return 0


def _commit(session: Session, rev: str) -> str:
    from codemods.repo.state import find_repository, resolve_commit

    repository = find_repository(session.root)
    commit = None if repository is None else resolve_commit(repository, rev)
    if commit is None:
        raise UsageProblem(f"there is no commit {rev} here", fix="run it in a git repository, and name a commit of it")
    return commit


def _originals(session: Session, plan_path: Path, commit: str) -> dict[str, bytes]:
    """What is kept for a plan. Raises UsageProblem where it does not apply."""
    from codemods.commit.freeze import originals
    from codemods.plan.check import run_plan
    from codemods.plan.load import load_plan
    from codemods.repo.history import History
    from codemods.repo.object_tree import CommitTree
    from codemods.source.files import FileSet

    plan = load_plan(plan_path)
    settings = session.resolved.settings
    files = FileSet(CommitTree(session.root, commit, settings.exclude))
    with session.progress() as progress:
        result = run_plan(files, plan, settings, progress, History(session.root, commit))
    if result.refusals:
        first = result.refusals[0]
        raise UsageProblem(
            f"{plan_path} does not apply to {commit[:12]}: {first.message}",
            fix=f"see all of it: unmoved apply {plan_path} --branch NAME --base {commit[:12]}",
        )
    return {f"plans/{plan.id}.toml": plan_path.read_bytes(), **originals(plan, files)}


def _lines(found: Frozen) -> list[Line]:
    rows = [(path, "kept", Style.GOOD) for path in found.added]
    rows += [(path, "changed", Style.WARN) for path in found.updated]
    rows += [(path, "gone", Style.WARN) for path in found.gone]
    return [line(Span(word.ljust(9), style), Span(path, Style.PLACE)) for path, word, style in rows]


def _summary(found: Frozen, golden: str) -> Line:
    new = len(found.added) + len(found.updated) + len(found.gone)
    return line(f"{golden}/MANIFEST.toml lists {found.kept} files" + (f", {new} anew" if new else ": nothing is new"))
