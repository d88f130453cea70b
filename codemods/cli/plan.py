"""`unmoved plan`: one step of a plan with what the tool found as comments, or what can leave a class at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codemods.cli.options import ConfigOption, FormatOption, Root, ShowConfig, format_text
from codemods.cli.session import COULD_NOT, Session, UsageProblem, run, without_collector
from codemods.report.lines import Line, Span, Style, line

if TYPE_CHECKING:
    # What does the work is loaded when there is work: see session.py.
    from codemods.schema.plan import Step
    from codemods.schema.result import StepResult

_Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A further key of the step, in TOML: wrapper=true. Repeatable."),
]


def plan(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="package.module:Class.method, package.module:function, or a class.",
            show_default=False,
        ),
    ],
    to: Annotated[str | None, typer.Option(metavar="MODULE", help="Where it goes; for a rename, the new name.")] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="List the methods that can leave the class, cheapest first.")
    ] = False,
    do: Annotated[
        str | None,
        typer.Option(metavar="OPERATION", help="Another operation than extract-method (methods) or move (the rest)."),
    ] = None,
    set_: _Set = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the step to this plan; one that is there gets it as its next step."),
    ] = None,
    root: Root = None,
    format_: FormatOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Write a step of a plan, with parameters, results, call sites and hazards as comments.

    Reads the tree and changes nothing in it. The plan says only what a person decides; the comments say what was found.

    \b
    Examples:
      unmoved plan engine.runner:Runner --suggest
      unmoved plan engine.runner:Runner.bind_threads --to engine.numa
      unmoved plan engine.runner:Runner.bind_threads --to engine.numa --output plan.toml
      unmoved plan engine.runner:Runner._config --do inline-method
      unmoved plan engine.runner:Runner.go --do rename --to start --set 'strings="keep"'

    \b
    Hazards: `stop` refuses until it is settled, `prove` asks for a test, `note` is to be read (`unmoved explain CODE`).
    Exit status: 0 the step can be applied, 2 it is refused (and written all the same) or could not be planned.
    """

    def body(session: Session) -> int:
        if suggest:
            if to is not None or do is not None or set_ or output is not None:
                raise UsageProblem(
                    "--suggest only looks at a class", fix="leave out --to, --do, --set and --output, or --suggest"
                )
            with without_collector():
                return suggest_from(session, target)
        step = _step(target, to, do, set_ or ())
        with without_collector():
            return plan_step(session, step, output)

    raise typer.Exit(run(body, root=root, format_=format_text(format_), options=config or (), show_config=show_config))


def _step(target: str, to: str | None, do: str | None, more: Sequence[str]) -> Step:
    """The step the options ask for."""
    from codemods.plan.load import step_from
    from codemods.schema.refs import DefRef

    chosen = do or ("extract-method" if DefRef.parse(target).owner else "move")
    raw: dict[str, object] = {"do": chosen, "target": target}
    if to is not None:
        raw["to"] = to
    elif do is None:
        raise UsageProblem(
            f"nothing says where {target} goes",
            fix="give --to MODULE; or --suggest, to see what can leave a class; or --do, for another operation",
        )
    for option in more:
        raw.update(_key_and_value(option))
    return step_from(raw, "command line")


def _key_and_value(option: str) -> Mapping[str, object]:
    from codemods.schema.toml_text import BadToml, TomlText

    try:
        return TomlText(option).value
    except BadToml as bad:
        raise UsageProblem(
            f"--set {option!r} is not KEY=VALUE in TOML: {bad.message}", fix="write for example --set 'name=\"f\"'"
        ) from bad


def suggest_from(session: Session, target: str) -> int:
    """The ranked table."""
    from codemods.plan.survey import survey
    from codemods.report.model import SuggestReport
    from codemods.report.text import suggestion_lines
    from codemods.schema.refs import DefRef
    from codemods.source.files import FileSet

    ref = DefRef.parse(target)
    settings = session.resolved.settings
    with session.progress() as progress:
        progress.step(1, 1, f"looking at {target}")
        candidates = survey(FileSet(session.work_tree()), ref, settings)
    leaving = [candidate.method for candidate in candidates if candidate.can_leave]
    next_ = f"unmoved plan {target}.{leaving[0]} --to MODULE" if leaving else ""
    report = SuggestReport(target=target, candidates=list(candidates), next=next_)
    session.report(report, suggestion_lines(report))
    return 0


def plan_step(session: Session, asked: Step, output: Path | None) -> int:
    """The step, with what the tool found."""
    from msgspec.structs import replace

    from codemods.plan.describe import complete, describe
    from codemods.report.model import RunReport, step_row
    from codemods.source.files import FileSet

    settings = session.resolved.settings
    existing = _existing(output, asked)
    with session.progress() as progress:
        progress.step(1, 1, f"{asked.do} {asked.target}")
        tree = session.work_tree()
        files = FileSet(tree)
        completed = complete(files, asked, settings)
        step = completed.step
        result = describe(files, step, settings, completed.findings)
    session.tell_unread(tree)
    text, plan_id = _text(step, result, existing, output)
    session.written = _write(output, text)
    report = RunReport(
        plan=plan_id,
        mode="plan",
        changed=not result.refusals,
        written=output is not None,
        branch=None,
        base=None,
        steps=[step_row(replace(result, number=_number(existing)))],
        diff=None,
        toml=text,
        next=f"unmoved apply {output or 'plan.toml'}" if not result.refusals else "settle what is refused",
    )
    if session.is_json:
        session.report(report, ())
    elif output is None:
        session.console.text(text)
    session.console.err(_aside(result, output))
    return COULD_NOT if result.refusals else 0


def _existing(output: Path | None, asked: Step) -> str:
    """The text of the plan that gets the step; "" when there is none yet."""
    if output is None or not output.exists():
        return ""
    from codemods.plan.load import UnreadablePlan, load_plan, read_toml_file

    for number, step in enumerate(load_plan(output).step, 1):
        if (step.do, step.target) == (asked.do, asked.target):
            raise UsageProblem(
                f"step {number} is already {asked.do} of {asked.target}",
                fix="edit that step, or name another --output",
                path=str(output),
            )
    return read_toml_file(output, UnreadablePlan, "plan")


def _number(existing: str) -> int:
    if not existing:
        return 1
    from codemods.plan.load import parse_plan

    return len(parse_plan(existing, "").step) + 1


def _text(step: Step, result: StepResult, existing: str, output: Path | None) -> tuple[str, str]:
    """The whole plan file and its id."""
    from codemods.plan.dump import dump_step, heading
    from codemods.plan.load import parse_plan

    block = dump_step(step, findings=result.findings, hazards=result.hazards, refusals=result.refusals)
    if existing:
        return f"{existing.rstrip()}\n\n{block}", parse_plan(existing, "").id
    plan_id = _plan_id(step, output)
    return f"{heading(plan_id, comment=_ABOUT_ID)}\n{block}", plan_id


_ABOUT_ID = "goes into the trailers of every commit: say what the whole plan is for"


def _plan_id(step: Step, output: Path | None) -> str:
    """Named after the file, or after what all its steps will be about: the class, or else the module."""
    from codemods.schema.refs import DefRef

    stem = output.stem if output is not None else "plan"
    if stem == "plan":
        owner = DefRef.parse(step.target).owner if ":" in step.target else ""
        stem = owner.rpartition(".")[2] or re.split(r"[./]", step.target.partition(":")[0].removesuffix(".py"))[-1]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+", "-", stem)
    return re.sub("-+", "-", words).strip("-").lower() or "plan"


def _write(output: Path | None, text: str) -> str:
    """What was written, in words."""
    if output is None:
        return ""
    try:
        output.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise UsageProblem(
            f"the plan can't be written: {error.strerror or error}", fix="name another --output", path=str(output)
        ) from error
    return f"the step was written to {output}"


def _aside(result: StepResult, output: Path | None) -> list[Line]:
    """What people should see beside the step."""
    from codemods.report.text import refusal_lines

    lines: list[Line] = []
    if output is not None:
        lines.append(line(f"written to {output}"))
    if result.refusals:
        lines.append(line(Span("refused as it stands", Style.BAD), f": {result.target}"))
        lines += refusal_lines(result.refusals, indent=0)
    return lines
