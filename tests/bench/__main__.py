"""`python -m tests.bench`: one extraction, the three real plans and the peer on the real tree, as a Markdown table.
Before that, what being recorded costs.
With `--history`, `verify` on a real history too; with `--peer`, the verifier of that history beside it. `prove` on the
given pairs, with its peers, and on a method of that history.

Exits 1 when a stated bound is missed, 2 when the tree can't be had."""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import tempfile
from pathlib import Path

from tests.bench import prove, record, verify
from tests.bench.measure import Measured, measure
from tests.support.real_tree import Unreachable, clone, real_tree

HERE = Path(__file__).parent
PLANS = HERE.parent / "real"
ONE = "sglang.srt.model_executor.model_runner:ModelRunner.init_cublas"
MAX_ONE_S, MAX_ONE_MB, MAX_PLANS_S = 1.5, 250.0, 15.0


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. See the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of our own commands; the fastest counts (default 3)")
    parser.add_argument("--no-peer", action="store_true", help="leave out rope, and the peers of prove")
    parser.add_argument("--history", type=Path, metavar="DIR", help="a clone of github.com/modal-projects/sglang")
    parser.add_argument("--peer", type=Path, metavar="DIR", help="the scripts of that history's own verifier")
    parser.add_argument("--range", type=int, default=0, metavar="N", help="also verify a range of N steps (default 0)")
    parser.add_argument("--no-record", action="store_true", help="leave out what being recorded costs (40 s)")
    parser.add_argument("--no-apply", action="store_true", help="only verify and prove")
    parser.add_argument("--no-prove", action="store_true", help="leave out what is proved, and its peers")
    parser.add_argument("--only-prove", action="store_true", help="leave out all else")
    parser.add_argument("--peer-pairs", type=int, default=0, metavar="N", help="pairs for prove's peers (default: all)")
    parser.add_argument("--exit-zero", action="store_true", help="print only; don't fail on a missed bound")
    options = parser.parse_args(arguments)
    has_history = options.history is not None
    status = verify_report(options) if has_history and not options.only_prove else 0
    if not options.no_record and not options.only_prove:
        status = max(status, record.main(["--exit-zero"] if options.exit_zero else []))
    if not options.no_prove:
        status = max(status, prove_report(options))
    if options.no_apply or options.only_prove:
        return status
    try:
        tree = real_tree("before")
    except Unreachable as error:
        sys.stderr.write(f"the real tree can't be had: {error}\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="unmoved-bench-") as folder:
        root = clone(tree, Path(folder) / "tree")
        return max(status, report(root, Path(folder), options))


def verify_report(options: argparse.Namespace) -> int:
    """The table of `verify`, and whether its bounds hold."""
    peer = options.peer.resolve() if options.peer is not None else None
    try:
        found = verify.rows(options.history.resolve(), Path.cwd(), runs=options.runs, length=options.range, peer=peer)
    except verify.Unusable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(table(found, found[0][1]) + "\n")
    missed = verify.bounds(found)
    for problem in missed:
        sys.stderr.write(f"missed: {problem}\n")
    return 1 if missed and not options.exit_zero else 0


def prove_report(options: argparse.Namespace) -> int:
    """The tables of `prove`, and whether its bounds hold."""
    history = options.history.resolve() if options.history is not None else None
    text, missed = prove.report(history, Path.cwd(), with_peers=not options.no_peer, limit=options.peer_pairs)
    sys.stdout.write(text + "\n")
    for problem in missed:
        sys.stderr.write(f"missed: {problem}\n")
    return 1 if missed and not options.exit_zero else 0


def report(root: Path, folder: Path, options: argparse.Namespace) -> int:
    """The table, and whether every bound holds."""
    unmoved = [sys.executable, "-m", "codemods"]
    one_plan = folder / "one.toml"
    one_plan.write_text(
        f'id = "one"\n\n[[step]]\ndo = "extract-method"\nmethod = "{ONE}"\nto = "sglang.srt.utils.common"\n'
    )
    here = Path.cwd()
    rows: list[tuple[str, Measured]] = []
    single = measure([*unmoved, "apply", str(one_plan), "--root", str(root), "--diff"], here, runs=options.runs)
    rows.append(("one extract-method, planned and applied (`--diff`)", single))
    total = 0.0
    for plan in sorted(PLANS.glob("*.toml")):
        command = [*unmoved, "apply", str(plan), "--root", str(root), "--branch", f"bench-{plan.stem}"]
        found = measure(command, here)
        total += found.wall_s
        rows.append((f"plan `{plan.stem}`, all steps, to a branch", found))
    peer = None if options.no_peer or importlib.util.find_spec("rope") is None else rope(root, here)
    if peer is not None:
        rows.append(("rope: move one function (compute only)", peer))
    sys.stdout.write(table(rows, single))
    problems = [f"{name}: exit {found.exit_code}\n{found.output[-800:]}" for name, found in rows if found.exit_code]
    problems += bounds(single, total)
    sys.stdout.write(
        f"\nthe three plans together: {total:.1f} s; {os.cpu_count()} cores, {platform.python_version()}\n"
    )
    for problem in problems:
        sys.stderr.write(f"missed: {problem}\n")
    return 1 if problems and not options.exit_zero else 0


def rope(root: Path, cwd: Path) -> Measured:
    """The peer on the same tree."""
    return measure([sys.executable, str(HERE / "rope_peer.py"), str(root)], cwd)


def table(rows: list[tuple[str, Measured]], unit: Measured) -> str:
    """Markdown; the last columns are ratios to the first row in this run."""
    lines = ["| what | wall s | CPU s | peak MB | time × | memory × |", "|---|---|---|---|---|---|"]
    for name, found in rows:
        ratios = f"{found.wall_s / unit.wall_s:.1f} | {found.peak_mb / unit.peak_mb:.1f}"
        lines.append(f"| {name} | {found.wall_s:.2f} | {found.cpu_s:.2f} | {found.peak_mb:.0f} | {ratios} |")
    return "\n".join(lines) + "\n"


def bounds(single: Measured, plans_s: float) -> list[str]:
    """What was promised and does not hold."""
    found = []
    if single.wall_s > MAX_ONE_S:
        found.append(f"one extract-method takes {single.wall_s:.2f} s (bound {MAX_ONE_S} s)")
    if single.peak_mb > MAX_ONE_MB:
        found.append(f"one extract-method needs {single.peak_mb:.0f} MB (bound {MAX_ONE_MB:.0f} MB)")
    if plans_s > MAX_PLANS_S:
        found.append(f"the three plans take {plans_s:.1f} s (bound {MAX_PLANS_S} s)")
    return found


if __name__ == "__main__":
    sys.exit(main())
