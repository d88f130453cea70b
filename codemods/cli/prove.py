"""`unmoved prove`: run the old and the new code as twins in one controlled world, and compare every effect. Reads both
trees, writes nothing but its cache and what is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from codemods.cli.options import ConfigOption, Root, ShowConfig
from codemods.cli.prove_options import (
    AllOption,
    FaultsOption,
    JobsOption,
    MutantsOption,
    NoCacheOption,
    PairOption,
    PathsOption,
    PowerOption,
    ProveFormat,
    ProveFormatOption,
    SecondsOption,
    SeedOption,
    SpecOption,
    TargetsArgument,
    TestsOption,
    WholeOption,
    pairs_given,
    seconds_of,
    whole_number,
)
from codemods.cli.session import Session, UsageProblem, run
from codemods.cli.verify import ExitZero, OutputOption

if TYPE_CHECKING:
    # What does the work is loaded when there is work: see session.py.
    from codemods.cli.prove_changes import Asked
    from codemods.cli.prove_derived import Change
    from codemods.cli.prove_output import Reporter
    from codemods.cli.prove_tests import ReproducingTests
    from codemods.prove.options import ProveOptions
    from codemods.schema.prove import Pair, PairResult


class Costs(NamedTuple):
    """The options that limit a run, as texts; None where not given."""

    jobs: str | None
    paths: str | None
    faults: str | None
    seconds: str | None
    mutants: str | None
    seed: str | None
    has_power: bool
    has_cache: bool


def prove(
    context: typer.Context,
    targets: TargetsArgument = None,
    pair: PairOption = None,
    spec: SpecOption = None,
    all_: AllOption = False,
    squash: WholeOption = False,
    jobs: JobsOption = None,
    paths: PathsOption = None,
    faults: FaultsOption = None,
    seconds: SecondsOption = None,
    power: PowerOption = True,
    mutants: MutantsOption = None,
    seed: SeedOption = None,
    no_cache: NoCacheOption = False,
    tests: TestsOption = None,
    exit_zero: ExitZero = False,
    output: OutputOption = None,
    root: Root = None,
    format_: ProveFormatOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Run old and new code as twins in one controlled world, on every path, and compare every effect.

    TARGET is a range or a commit (its ledger's residue is proved, commit by commit), two directories, a plan (what it
    makes of --root, step by step) or specs. With --pair, only what is named: at both ends of TARGET, or within --root.

    Nothing of the subject needs to be installed: what is not in the two trees is opaque, and the world decides what it
    does. Code runs confined: no network, no files, no secrets. `agrees` is exhaustive, or sampled with numbers;
    `differs` comes with a smallest world; whatever could not be compared is `inconclusive`, and has not passed.

    \b
    Examples:
      unmoved prove main..HEAD                          what `unmoved verify` left, commit by commit
      unmoved prove old/ new/ --all                     every changed callable of two plain trees
      unmoved prove plan.toml                           what a plan makes of the tree you are in
      unmoved prove main..HEAD --pair srv.runner:Runner.bind srv.numa:bind
      unmoved prove specs/numa.toml --tests failing/    a spec; what differs becomes pytest files
      unmoved prove main.. --format sarif --output unmoved.sarif

    \b
    Exit status: 0 all agree, 1 some differ, 2 some are inconclusive and none differs, or nothing could be proved, 130
    interrupted.
    """
    del pair  # taken by ProveCommand
    by_hand = pairs_given(context)
    costs = Costs(jobs, paths, faults, seconds, mutants, seed, power, not no_cache)

    def body(session: Session) -> int:
        from codemods.cli.prove_changes import Asked

        cache_dir = session.root if costs.has_cache else None
        asked = Asked(tuple(targets or ()), by_hand, tuple(map(Path, spec or ())), all_, squash, cache_dir)
        return prove_targets(session, asked, costs, tests, format_, output, exit_zero=exit_zero)

    text = None if format_ is None else "json" if format_ is ProveFormat.JSON else "text"
    raise typer.Exit(run(body, root=root, format_=text, options=config or (), show_config=show_config))


def prove_targets(
    session: Session, asked: Asked, costs: Costs, tests: Path | None, format_: ProveFormat | None,
    output: Path | None, *, exit_zero: bool,
) -> int:  # fmt: skip
    """Prove, report, write what was asked for. The exit status."""
    from codemods.cli.prove_changes import changes_of
    from codemods.cli.prove_output import Reporter
    from codemods.cli.prove_tests import ReproducingTests
    from codemods.cli.prove_trees import Trees

    options = _options(session, costs)
    chosen = format_ or (ProveFormat.JSON if session.is_json else ProveFormat.TEXT)
    with Trees(session.root, session.resolved.settings, session.work_tree) as trees:
        reporter = Reporter(session, chosen, output, _names(asked))
        made = ReproducingTests(session, trees, tests, options)
        for change in changes_of(session, asked, trees):
            _prove_change(session, change, options, reporter, made)
        status = reporter.finish()
    return 0 if exit_zero else status


def _options(session: Session, costs: Costs) -> ProveOptions:
    from codemods.prove.options import ProveOptions

    usual = ProveOptions()
    mutants = whole_number(costs.mutants, usual.mutants, "--mutants", most=10_000)
    if not costs.has_power and costs.mutants is not None:
        raise UsageProblem("--no-power and --mutants exclude one another", fix="keep one of them")
    return ProveOptions(
        jobs=whole_number(costs.jobs, usual.jobs, "-j", least=1, most=256),
        paths=whole_number(costs.paths, usual.paths, "--paths", least=1),
        faults=whole_number(costs.faults, usual.faults, "--faults"),
        seconds=seconds_of(costs.seconds, usual.seconds, "--seconds"),
        mutants=mutants if costs.has_power else 0,
        seed=whole_number(costs.seed, usual.seed, "--seed"),
        cache_dir=session.root if costs.has_cache else None,
        real=session.resolved.config.real,
    )


def _names(asked: Asked) -> tuple[str, str]:
    """What the report calls the two trees."""
    targets = asked.targets
    if len(targets) == 2:
        return targets[0], targets[1]
    if not targets:
        return "", ""
    old, dots, new = targets[0].partition("..")
    if dots and not targets[0].endswith(".toml"):
        return old or "HEAD", new or "HEAD"
    return "", targets[0]


def _prove_change(
    session: Session, change: Change, options: ProveOptions, reporter: Reporter, made: ReproducingTests
) -> None:
    """What reading alone gave, then the pairs in their order, each reported as it ends."""
    from codemods.cli.prove_trees import SourceLines
    from codemods.report.prove_model import pair_row
    from codemods.schema.prove import Pair

    source = SourceLines(change.old, change.new)

    def report(pair: Pair, result: PairResult) -> None:
        reporter.add(made.added(pair_row(result, source, change=change.label), pair, change))

    for each in change.found:
        report(Pair(old=each.old, new=each.new, kind=each.kind, origin=each.origin), each)
    if change.pairs:
        _prove_pairs(session, change, options, report)
    reporter.unproved += change.unproved


def _prove_pairs(
    session: Session, change: Change, options: ProveOptions, report: Callable[[Pair, PairResult], None]
) -> None:
    from codemods.prove.proving import prove_pairs

    total, waiting = len(change.pairs), enumerate(change.pairs, 1)
    with session.progress() as progress:
        progress.step(1, total, change.label[:40] or change.pairs[0].new)

        def done(result: PairResult) -> None:
            number, pair = next(waiting)
            with progress.aside():
                report(pair, result)
            progress.step(min(number + 1, total), total, f"after {result.new}: {result.verdict.value}")

        prove_pairs(change.old, change.new, change.changed, change.pairs, options, done, identity=change.identity)
