"""`unmoved apply`: a plan to a branch, to the files, to a diff, or only to a summary. Whole or not at all."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from codemods.cli.options import ConfigOption, FormatOption, Root, ShowConfig, format_text
from codemods.cli.session import COULD_NOT, Session, UsageProblem, run, without_collector
from codemods.report.lines import Span, Style, line

if TYPE_CHECKING:
    # What does the work is loaded when there is work: see session.py.
    from codemods.report.model import RunReport
    from codemods.schema.plan import Plan
    from codemods.schema.result import PlanResult


class Mode(Enum):
    """What is done with the result."""

    DRY_RUN = "dry-run"
    DIFF = "diff"
    CHECK = "check"
    IN_PLACE = "in-place"
    BRANCH = "branch"


class Request(NamedTuple):
    """The options of one `apply`, known to go together."""

    plan_path: Path
    mode: Mode
    branch: str
    base: str | None
    allow_dirty: bool


def apply(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.", show_default=False)],
    branch: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Write one commit a phase to this new branch; the files stay as they are."),
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print the whole change; write nothing.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 if anything would change; write nothing.")] = False,
    in_place: Annotated[bool, typer.Option("--in-place", help="Edit the files, all of them or none.")] = False,
    base: Annotated[
        str | None,
        typer.Option(metavar="REV", help="With --branch: the commit to read and to start from. Default: HEAD."),
    ] = None,
    allow_dirty: Annotated[
        bool,
        typer.Option("--allow-dirty", help="With --in-place: also edit files that have uncommitted changes."),
    ] = False,
    root: Root = None,
    format_: FormatOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Apply a plan. Without a mode: say what it would do.

    All steps are checked first. A refusal anywhere writes nothing, and every refusal of every step is listed.

    \b
    Hazards are places where behaviour could change. Their severity says what becomes of the step:
      stop    refuses, until the plan settles it: a key of the step, or accept = { U104 = "why it does not matter" }
      prove   lets it through, and asks you for a test or a run of old against new before you merge
      note    lets it through; something for you to read
    `unmoved explain U104` prints a page on each.

    \b
    Examples:
      unmoved apply plan.toml                       what would it do?
      unmoved apply plan.toml --diff                the whole change, for `git apply` too
      unmoved apply plan.toml --branch split/numa   prep, move and post commits on a new branch
      unmoved apply plan.toml --in-place            edit the files
      unmoved apply plan.toml --check               exit 1 while there is something left to do
      unmoved apply plan.toml --format json         for machines; schema in codemods/schema/apply.schema.json

    \b
    Exit status: 0 done, 1 --check says no, 2 refused or impossible, 130 interrupted. Only 0 has written anything.
    """

    def body(session: Session) -> int:
        mode = _mode(branch, diff=diff, check=check, in_place=in_place)
        if base is not None and mode is not Mode.BRANCH:
            raise UsageProblem("--base says where a branch starts", fix="give --branch NAME too, or leave --base out")
        if allow_dirty and mode is not Mode.IN_PLACE:
            raise UsageProblem("--allow-dirty is about editing files", fix="give --in-place too, or leave it out")
        request = Request(plan_path=plan, mode=mode, branch=branch or "", base=base, allow_dirty=allow_dirty)
        with without_collector():
            return apply_plan(session, request)

    raise typer.Exit(run(body, root=root, format_=format_text(format_), options=config or (), show_config=show_config))


def _mode(branch: str | None, *, diff: bool, check: bool, in_place: bool) -> Mode:
    asked = {Mode.BRANCH: branch is not None, Mode.DIFF: diff, Mode.CHECK: check, Mode.IN_PLACE: in_place}
    chosen = [mode for mode, is_asked in asked.items() if is_asked]
    if len(chosen) > 1:
        names = " and ".join(f"--{mode.value}" for mode in chosen)
        raise UsageProblem(f"{names} exclude one another", fix="keep one of them")
    return chosen[0] if chosen else Mode.DRY_RUN


def apply_plan(session: Session, request: Request) -> int:
    """Load, check, write, report. The exit status."""
    from codemods.commit.in_place import recover
    from codemods.plan.load import load_plan

    plan = load_plan(request.plan_path)
    if recover(session.root):
        session.console.err([line(Span("note: ", Style.WARN), "took back what an interrupted run had left half done")])
    base = _start_of_branch(session.root, request) if request.mode is Mode.BRANCH else None
    result = _checked(session, plan, base, request.plan_path)
    if result.refusals:
        return _refused(session, request, result)
    return _finish(session, request, result, base)


def _start_of_branch(root: Path, request: Request) -> str:
    """The commit to read and to start from. Raises a GitError before any work is done in vain."""
    from codemods.commit.preflight import check_repository
    from codemods.repo.objects import check_branch_name

    repository, commit = check_repository(root, request.base)
    check_branch_name(repository.root, request.branch)
    return commit


def _checked(session: Session, plan: Plan, base: str | None, plan_path: Path) -> PlanResult:
    """What the plan comes to on the files, or on the commit `base`."""
    from codemods.plan.check import run_plan
    from codemods.repo.history import History
    from codemods.repo.object_tree import CommitTree
    from codemods.source.files import FileSet, Tree, Without

    settings = session.resolved.settings
    work_tree = session.work_tree() if base is None else None
    tree: Tree = work_tree or CommitTree(session.root, base or "", settings.exclude)
    where, root = plan_path.resolve(), session.root.resolve()
    if where.is_relative_to(root):
        tree = Without(tree, where.relative_to(root).as_posix())
    with session.progress() as progress:
        result = run_plan(FileSet(tree), plan, settings, progress, History(session.root, base))
    if work_tree is not None:
        session.tell_unread(work_tree)
    return result


def _refused(session: Session, request: Request, result: PlanResult) -> int:
    from codemods.report.text import run_lines, summary_lines

    report = _report(request, result, next_="settle each of them in the plan, then run again")
    session.report(report, run_lines(report), summary_lines(report))
    return COULD_NOT


def _finish(session: Session, request: Request, result: PlanResult, base: str | None) -> int:
    """Write as asked, and report."""
    from codemods.commit.net import net_changes
    from codemods.report.text import run_lines, summary_lines

    changes = net_changes(result)
    written: list[tuple[int, str]] = []
    diff: str | None = None
    if request.mode is Mode.BRANCH:
        written = _write_branch(session, request, result, base)
    elif request.mode is Mode.IN_PLACE:
        _write_files(session, request, result)
    elif request.mode is Mode.DIFF:
        from codemods.commit.diff import unified

        diff = unified(changes)
    report = _report(
        request,
        result,
        changed=bool(changes),
        written=written,
        was_written=bool(session.written),
        base=base,
        diff=diff,
        next_=_next(request, is_changing=bool(changes)),
    )
    if diff is not None and not session.is_json:
        session.console.text(diff)
        session.console.err(summary_lines(report))
    else:
        session.report(report, run_lines(report), summary_lines(report))
    return 1 if request.mode is Mode.CHECK and changes else 0


def _write_branch(session: Session, request: Request, result: PlanResult, base: str | None) -> list[tuple[int, str]]:
    """(step, hash) of each commit. Interrupted or not, `session.written` says afterwards what there is."""
    from codemods.commit.branch import has_branch, write_branch

    words = f"the branch {request.branch} was written"
    try:
        commits = write_branch(session.root, result, request.branch, base)
    except KeyboardInterrupt:  # which may come after the last word was written, and before anybody was told
        session.written = words if has_branch(session.root, request.branch) else ""
        raise
    session.written = words if commits else ""
    return [(commit.step, commit.commit) for commit in commits]


def _write_files(session: Session, request: Request, result: PlanResult) -> None:
    """As _write_branch."""
    from codemods.commit.in_place import is_written, write_in_place
    from codemods.commit.net import net_changes

    words = f"{len(net_changes(result))} files were written"
    try:
        paths = write_in_place(session.root, result, request.allow_dirty)
    except KeyboardInterrupt:
        session.written = words if is_written(session.root, result) else ""
        raise
    session.written = words if paths else ""


def _report(
    request: Request,
    result: PlanResult,
    *,
    changed: bool = False,
    written: list[tuple[int, str]] | None = None,
    was_written: bool = False,
    base: str | None = None,
    diff: str | None = None,
    next_: str,
) -> RunReport:
    from codemods.report.model import RunReport, step_rows

    return RunReport(
        plan=result.plan_id,
        mode=request.mode.value,
        changed=changed,
        written=was_written,
        branch=request.branch if was_written and request.mode is Mode.BRANCH else None,
        base=base,
        steps=step_rows(result, written or ()),
        # JSON is UTF-8: a byte of a file that is not becomes a replacement character there, and only there.
        diff=None if diff is None else diff.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        toml=None,
        next=next_,
    )


def _next(request: Request, *, is_changing: bool) -> str:
    if not is_changing:
        return ""
    plan = request.plan_path
    return {
        Mode.BRANCH: f"read the commits: git log --patch --reverse {request.branch} --not HEAD",
        Mode.IN_PLACE: "read the change: git diff",
    }.get(request.mode, f"write it: unmoved apply {plan} --branch NAME, or --in-place")
