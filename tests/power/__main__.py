"""`python -m tests.power`: weakens the kernel in every way that the rules know and shows that the tests notice each.

Prints one line for each module and each survivor. Exits 1 when a mutant survives without an accepted reason, or when a
reason is kept for one that is gone or caught; 2 when the unmutated kernel is not what the cases say."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tests.power.mutants import MODULES, Mutant, mutants
from tests.power.records import accepted, keep_killers, killers
from tests.power.subjects import Subject, subjects, traced
from tests.power.trial import Outcome, Trial, tried

_GONE = (Outcome.SURVIVED, Outcome.UNREACHED)


class _Work:
    """What the processes inherit."""

    subjects: Sequence[Subject] = ()
    mutants: Sequence[Mutant] = ()
    known: Mapping[str, str] = MappingProxyType({})


def _trace(number: int) -> frozenset[tuple[str, int]]:
    return traced(_Work.subjects[number])


def _try(number: int) -> Trial:
    mutant = _Work.mutants[number]
    return tried(mutant, _Work.subjects, _Work.known.get(mutant.name, ""))


def main(arguments: list[str] | None = None) -> int:
    """See the module's docstring."""
    options = _parser().parse_args(arguments)
    started = time.monotonic()
    module, _, function = options.only.partition(":")
    chosen = [each for each in mutants((module,) if module else MODULES) if function in each.function]
    _Work.mutants = chosen[: options.limit]
    _Work.known = killers()
    _Work.subjects = subjects()
    context = multiprocessing.get_context("fork")
    with context.Pool(options.jobs) as pool:
        for subject, places in zip(_Work.subjects, pool.imap(_trace, range(len(_Work.subjects)), 8), strict=True):
            subject.places = places
    sys.stderr.write(f"{len(_Work.mutants)} mutants, {len(_Work.subjects)} subjects, {_since(started)}\n")
    trials: list[Trial] = []
    with context.Pool(options.jobs) as pool:
        for number, trial in enumerate(pool.imap(_try, range(len(_Work.mutants)), 4), 1):
            trials.append(trial)
            if sys.stderr.isatty() or number % 200 == 0:
                sys.stderr.write(f"{number} of {len(_Work.mutants)}, {_since(started)}\n")
    found = dict(zip(_Work.mutants, trials, strict=True))
    if options.keep:
        kept = {name: subject for name, subject in _Work.known.items() if options.only or options.limit}
        keep_killers(kept | {mutant.name: trial.subject for mutant, trial in found.items() if trial.subject})
    is_whole = not options.only and options.limit is None
    return _report(found, is_whole=is_whole, started=started)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.power", description=__doc__)
    parser.add_argument("--only", default="", metavar="MODULE[:FUNCTION]", help="mutants of this module and function")
    parser.add_argument("--limit", type=int, default=None, help="so many mutants at most")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--keep", action="store_true", help="write down who caught what, for the next run")
    return parser


def _report(found: dict[Mutant, Trial], *, is_whole: bool, started: float) -> int:
    reasons = accepted()
    write = sys.stdout.write
    for module in dict.fromkeys(mutant.module for mutant in found):
        count = Counter(trial.outcome for mutant, trial in found.items() if mutant.module == module)
        excused = sum(m.name in reasons and t.outcome in _GONE for m, t in found.items() if m.module == module)
        told = ", ".join(f"{each.value} {count[each]}" for each in Outcome if count[each])
        write(f"{module:12} {sum(count.values()):5} mutants: {told}; accepted {excused}\n")
    survivors = [
        (mutant, trial) for mutant, trial in found.items() if trial.outcome in _GONE and mutant.name not in reasons
    ]
    for mutant, trial in survivors:
        write(f"{trial.outcome.value}: {mutant.place}\n    {mutant.text}\n    {mutant.name}\n")
    alive = {mutant.name for mutant, trial in found.items() if trial.outcome in _GONE}
    known = {mutant.name for mutant in found}
    stale = [name for name in reasons if name not in alive and (is_whole or name in known)]
    for name in stale:
        write(f"stale reason: {name} is {'caught now' if name in known else 'no mutant any more'}\n")
    num_told = sum(trial.outcome not in _GONE for trial in found.values())
    write(f"told apart {num_told} of {len(found)}, accepted {len(found) - num_told - len(survivors)}, ")
    write(f"survivors {len(survivors)}, {_since(started)}\n")
    return 1 if survivors or stale else 0


def _since(started: float) -> str:
    return f"{time.monotonic() - started:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
