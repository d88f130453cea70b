"""`unmoved prove`: paths a second and seconds on a large real method, the given regression pairs and mutants, start-up;
on the pairs also the peers, where they can take the job.

Detection is counted on the pairs with their slip, false alarms on the same pairs corrected."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.bench import prove_peers
from tests.bench.measure import Measured, measure

MIN_PATHS_S, MAX_WALK_S, MAX_CASES_S, MAX_START_S, CORES = 2000.0, 10.0, 60.0, 0.4, 2
_PEERS: dict[str, tuple[str, prove_peers.Peer]] = {
    "CrossHair `diffbehavior`": ("crosshair", prove_peers.crosshair),
    "hypothesis ghostwriter `equivalent`": ("hypothesis", prove_peers.ghostwriter),
}


class Row(Struct, frozen=True):
    """One line of the table of speed. ratio: to the bound; over 1 it is missed."""

    what: str
    value: str
    bound: str
    ratio: float


class Found(Struct, frozen=True):
    """One line of the table of detection."""

    tool: str
    taken: int
    found: int
    alarms: int
    seconds: float


def report(history: Path | None, here: Path, *, with_peers: bool, limit: int) -> tuple[str, list[str]]:
    """Both tables as Markdown, and what was promised and does not hold."""
    rows, found, missed = _cases(here)
    if history is not None:
        rows = [*_walked(history, here), *rows]
    missed += [f"{each.what}: {each.value} (bound {each.bound})" for each in rows if each.ratio > 1]
    if with_peers:
        found += _peers(limit)
    return _table(rows, found, limit), missed


def _walked(history: Path, here: Path) -> list[Row]:
    run = measure([sys.executable, "-m", "tests.bench.prove_walk", str(history)], here, timeout_s=3600)
    if run.exit_code:
        raise RuntimeError(run.output[-2000:])
    said = json.loads(run.output)
    paths, whole = said["paths"], said["faults"]
    speed = paths["paths"] / paths["cpu_s"]
    seconds = whole["load_s"] + whole["cpu_s"]
    counts = f"{whole['paths']:,} paths, {whole['faults']:,} faults"
    return [
        Row("`init_torch_distributed`: paths per CPU second, one core", f"{speed:,.0f}", f"{MIN_PATHS_S:,.0f}",
            MIN_PATHS_S / speed),
        Row(f"the same with single faults ({counts}), CPU seconds, one core", f"{seconds:.1f}", f"{MAX_WALK_S:.0f}",
            seconds / MAX_WALK_S),
    ]  # fmt: skip


def _cases(here: Path) -> tuple[list[Row], list[Found], list[str]]:
    """All given cases, in the way of the command; seconds are CPU seconds over the cores that work."""
    runs = {what: _run_cases(what, here) for what in ("slips", "corrected", "mutants")}
    slips, corrected, mutants = (lines for _, lines in runs.values())
    seconds = {what: run.cpu_s / CORES for what, (run, _) in runs.items()}
    start = measure([sys.executable, "-m", "codemods", "prove", "--help"], here, runs=5)
    rows = [
        Row(f"the {len(slips)} given regression pairs, seconds on {CORES} cores", f"{seconds['slips']:.1f}",
            f"{MAX_CASES_S:.0f}", seconds["slips"] / MAX_CASES_S),
        Row(f"the {len(mutants)} given mutants, seconds on {CORES} cores", f"{seconds['mutants']:.1f}",
            f"{MAX_CASES_S:.0f}", seconds["mutants"] / MAX_CASES_S),
        Row("start-up of `unmoved prove`, CPU seconds", f"{start.cpu_s:.2f}", f"{MAX_START_S}",
            start.cpu_s / MAX_START_S),
    ]  # fmt: skip
    alarms = sum(line["differs"] for line in corrected)
    ours = Found("unmoved prove", len(slips), sum(line["is_named"] for line in slips), alarms,
                 seconds["slips"] + seconds["corrected"])  # fmt: skip
    wrong = [line["name"] for line in mutants if line["differs"] != line["name"].startswith("differs")]
    missed = [f"{line['name']}: its slip is not found" for line in slips if not line["is_named"]]
    missed += [f"{line['name']}: corrected, and said to differ" for line in corrected if line["differs"]]
    return rows, [ours], missed + [f"mutant {name}: the wrong verdict" for name in wrong]


def _run_cases(what: str, here: Path) -> tuple[Measured, list[dict[str, Any]]]:
    run = measure([sys.executable, "-m", "tests.bench.prove_cases", what, "-j", str(CORES)], here, timeout_s=3600)
    if run.exit_code:
        raise RuntimeError(run.output[-2000:])
    return run, [json.loads(line) for line in run.output.splitlines()]


def _peers(limit: int) -> list[Found]:
    found = []
    for name, (package, peer) in _PEERS.items():
        if importlib.util.find_spec(package) is None:
            continue
        with tempfile.TemporaryDirectory(prefix="unmoved-peers-") as folder:
            made = prove_peers.tally(peer, Path(folder), limit)
        found.append(Found(name, made.taken, made.found, made.alarms, made.seconds))
    return found


def _table(rows: list[Row], found: list[Found], limit: int) -> str:
    lines = ["| prove | measured | bound | measured / bound |", "|---|---|---|---|"]
    for row in rows:
        ratio = 1 / row.ratio if "per CPU second" in row.what else row.ratio
        lines.append(f"| {row.what} | {row.value} | {row.bound} | {ratio:.2f} |")
    asked = prove_peers.importable(limit)
    lines += [
        "",
        f"Peers were asked about {asked} pairs with functions that can be imported, {prove_peers.MAX_S:.0f} s each.",
        "",
        "| tool | pairs taken | slips found | of those taken | false alarms, corrected | seconds | time × |",
        "|---|---|---|---|---|---|---|",
    ]
    ours = found[0].seconds / max(found[0].taken, 1)
    for each in found:
        share = f"{each.found / each.taken:.0%}" if each.taken else "-"
        times = f"{each.seconds / each.taken / ours:.1f}" if each.taken else "-"
        lines.append(
            f"| {each.tool} | {each.taken} | {each.found} | {share} | {each.alarms} | {each.seconds:.1f} | {times} |"
        )
    return "\n".join(lines) + "\n"
