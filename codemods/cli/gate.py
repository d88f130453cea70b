"""`unmoved gate`: verify each commit of a range, prove the rest, and say by the configured policy whether it may pass.
Reads, and writes nothing but its cache and what is asked for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from codemods.cli.gate_options import (
    FORMATS,
    BaselineOption,
    FormatsOption,
    FrozenOption,
    NoProveOption,
    OutputsOption,
    PushedOption,
    StagedOption,
    TargetsArgument,
    WriteBaselineOption,
)
from codemods.cli.options import ConfigOption, Root, ShowConfig
from codemods.cli.prove_options import JobsOption, MutantsOption, NoCacheOption, SeedOption, SpecOption, whole_number
from codemods.cli.session import Session, UsageProblem, run
from codemods.cli.verify import ExitZero

if TYPE_CHECKING:
    # What does the work is loaded when there is work: see session.py.
    from codemods.cli.gate_run import Asked


class Costs(NamedTuple):
    """The options that limit a run, as texts; None where not given."""

    jobs: str | None
    mutants: str | None
    seed: str | None
    has_cache: bool


class Wanted(NamedTuple):
    """What is looked at, and what is written besides the report."""

    targets: tuple[str, ...]
    is_staged: bool
    is_frozen: bool
    proves: bool
    specs: tuple[Path, ...]
    baseline: Path | None
    writes_baseline: bool


def gate(
    targets: TargetsArgument = None,
    staged: StagedOption = False,
    pushed: PushedOption = False,
    frozen: FrozenOption = False,
    no_prove: NoProveOption = False,
    spec: SpecOption = None,
    baseline: BaselineOption = None,
    write_baseline: WriteBaselineOption = False,
    jobs: JobsOption = None,
    mutants: MutantsOption = None,
    seed: SeedOption = None,
    no_cache: NoCacheOption = False,
    exit_zero: ExitZero = False,
    output: OutputsOption = None,
    root: Root = None,
    format_: FormatsOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Verify each commit, prove what is left, and say whether it may pass.

    What is demanded is in [tool.unmoved.gate] of pyproject.toml, or [gate] of unmoved.toml: which commits must be
    certified or proved (`demand`), what is out of scope, which findings and differences are reported only, with the
    reason, how many slips must be told apart, how long it may take. `--config 'gate.demand = "claims"'` sets one key.

    Of the code nothing is imported; what has to be run, runs confined. Specs (`*.toml` below `specs`) are taken from
    --root and applied to the pairs that they name. An answer that was found before comes from the cache.

    \b
    Examples:
      unmoved gate main..HEAD                       a branch, commit by commit
      unmoved gate main..HEAD --frozen              and the pairs whose old side is kept below golden/
      unmoved gate old/ new/                        two plain trees, as one commit
      unmoved gate main.. --format github           annotations; all of it goes to the step summary
      unmoved gate main.. --format sarif --output gate.sarif --format junit --output gate.xml
      unmoved gate --staged --no-prove              in a pre-commit hook

    \b
    Exit status: 0 it passes, 1 it does not (a difference, lines without proof, a reader left behind, a slip that nobody
    would notice, a declaration or an entry of the baseline out of date, a recording that changed), 2 it could not be
    checked, 130 interrupted. A range without commits can't be checked.
    """
    costs = Costs(jobs, mutants, seed, not no_cache)
    wanted = Wanted(
        tuple(targets or ()), staged, frozen, not no_prove, tuple(map(Path, spec or ())), baseline, write_baseline
    )

    def body(session: Session) -> int:
        formats = _formats(session, format_ or (), output or ())
        found = _pushed(wanted) if pushed else wanted
        return 0 if found is None else gate_target(session, found, costs, formats, exit_zero=exit_zero)

    text = None if not format_ else "json" if "json" in format_ and not output else "text"
    raise typer.Exit(run(body, root=root, format_=text, options=config or (), show_config=show_config))


def gate_target(
    session: Session, wanted: Wanted, costs: Costs, formats: list[tuple[str, Path | None]], *, exit_zero: bool
) -> int:
    """Judge, report, write what was asked for. The exit status."""
    from codemods.cli.gate_baseline import Baseline
    from codemods.cli.gate_output import GateReporter
    from codemods.cli.gate_run import GateRun
    from codemods.cli.gate_specs import load_specs
    from codemods.cli.prove_trees import Trees
    from codemods.report.gate_model import GateVerdict, report_of

    began = time.monotonic()
    asked = _asked(session, wanted, costs)._replace(keeps_ledgers=any(name == "html" for name, _ in formats))
    baseline = Baseline(session, wanted.baseline, writes=wanted.writes_baseline, is_frozen=not wanted.targets)
    specs = load_specs(session, wanted.specs) if wanted.proves else []
    policy = session.resolved.config.gate
    with Trees(session.root, session.resolved.settings, session.work_tree) as trees:
        reporter = GateReporter(session, trees, formats)
        commits = []
        gate_run = GateRun(session, asked, trees, specs)
        for each in gate_run.commits():
            known = baseline.applied(each)
            commits.append(known)
            reporter.add(known)
        commits += [reporter.added(each) for each in baseline.finish()]
        report = report_of(_named(wanted), policy, commits, time.monotonic() - began)
        reporter.finish(report, gate_run.entries)
    status = {GateVerdict.PASS: 0, GateVerdict.FAIL: 1, GateVerdict.UNCHECKED: 2}[report.verdict]
    return 0 if exit_zero and status == 1 else status


def _asked(session: Session, wanted: Wanted, costs: Costs) -> Asked:
    from codemods.cli.gate_run import Asked
    from codemods.prove.options import ProveOptions
    from codemods.repo.workers import default_jobs

    kinds = [bool(wanted.targets), wanted.is_staged]
    if sum(kinds) > 1:
        raise UsageProblem("--staged and a target exclude one another", fix="keep one of them")
    if not any(kinds) and not wanted.is_frozen:
        raise UsageProblem(
            "nothing to look at is named", fix="name a range A..B, a commit, two directories, or --frozen"
        )
    if len(wanted.targets) > 2:
        raise UsageProblem(f"{len(wanted.targets)} targets are too many", fix="name one range, or two directories")
    if wanted.is_frozen and not wanted.proves:
        raise UsageProblem("--frozen and --no-prove exclude one another", fix="keep one of them")
    if wanted.writes_baseline and wanted.baseline is None:
        raise UsageProblem("--write-baseline needs a file", fix="name it with --baseline FILE")
    usual = ProveOptions()
    jobs = whole_number(costs.jobs, default_jobs(), "-j", least=1, most=256)
    options = ProveOptions(
        jobs=jobs,
        seconds=float(session.resolved.config.gate.pair_seconds),
        mutants=whole_number(costs.mutants, usual.mutants, "--mutants", most=10_000),
        seed=whole_number(costs.seed, usual.seed, "--seed"),
        cache_dir=session.root if costs.has_cache else None,
        real=session.resolved.config.real,
    )
    return Asked(wanted.targets, wanted.is_staged, wanted.is_frozen, wanted.proves, jobs, options)


def _named(wanted: Wanted) -> str:
    """What the report calls it."""
    words = [" ".join(wanted.targets)] if wanted.targets else ["staged"] if wanted.is_staged else []
    return " and ".join([*words, *(["frozen pairs"] if wanted.is_frozen else [])])


def _pushed(wanted: Wanted) -> Wanted | None:
    """With the range that pre-commit says is pushed; None where all of it is there already."""
    import os

    old, new = (os.environ.get(f"PRE_COMMIT_{name}_REF", "") for name in ("FROM", "TO"))
    if not old or not new:
        raise UsageProblem(
            "nobody says what is pushed", fix="--pushed is for pre-commit at the stage pre-push; else name a range A..B"
        )
    return None if old == new else wanted._replace(targets=(f"{old}..{new}",))


def _formats(session: Session, formats: Sequence[str], outputs: Sequence[str]) -> list[tuple[str, Path | None]]:
    """Each format with the file that it goes to; None for stdout."""
    chosen = [each.lower() for each in formats] or ["json" if session.is_json else "text"]
    for each in chosen:
        if each not in FORMATS:
            raise UsageProblem(f"--format {each} is not known", fix=f"write one of: {', '.join(FORMATS)}")
    if len(outputs) > len(chosen):
        raise UsageProblem("there are more --output than --format", fix="give each file its format")
    files = [Path(each) for each in outputs]
    found = [(each, files[at] if at < len(files) else None) for at, each in enumerate(chosen)]
    if sum(place is None for _, place in found) > 1:
        raise UsageProblem("two formats go to stdout", fix="give each but one an --output FILE")
    return found
