"""What `unmoved gate` demands: the keys of `[tool.unmoved.gate]`. How verdicts are held against them is for
report/gate.py to say, where the values come from for cli/config.py."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

# Rules of the gate itself, beside the codes of hazards (U101), of differences (D1) and of findings.
RULES = {
    "residue": "changed lines are neither certified nor proved",
    "inconclusive": "a pair could not be compared, so it has not passed",
    "survivor": "a slip that was put into the new side was not told apart, and nobody said why that is right",
    "power": "too few of the slips that were put into the new side were told apart",
    "stale-declaration": "a declaration of a spec is of nothing that occurs",
    "stale-baseline": "an entry of the baseline is of nothing that occurs",
    "recording-changed": "a recording was changed or removed, and no trailer of the commit says so",
    "claim-refuted": "the message says what the ledger refutes",
    "differs": "lines that did not change do something else now",
    "gave-up": "code that could not be got through",
    "mode-change": "the mode of a file changed",
    "empty-file": "an empty module came or went",
    "out-of-time": "the time of the gate was over before this was looked at",
}


class GatePolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The keys of `[tool.unmoved.gate]`.

    demand: which commits must be certified or proved: `all`, or those that say they are refactorings (`claims`); the
    others are held to leave no reader behind.
    claims: regular expressions; a message that one of them matches claims to be a refactoring, besides the usual ones.
    always: patterns of paths, as in a .gitignore; a commit that changes one is held to proof, whatever it says.
    out_of_scope: patterns of paths that nobody has to prove, such as documents and lock files.
    warn: codes and rules that are reported and do not fail, each with the reason. ignore: those that do not count.
    inconclusive: what a pair that could not be compared comes to. survivors: a slip that was not told apart.
    power: how many of a hundred slips must be told apart at least.
    seconds: for the whole run, 0 for no limit. pair_seconds: for one pair.
    specs: directories or files, relative to the root, with the specs that are applied to the pairs they name.
    recordings: directories of recordings; what changes in them has to be declared in a trailer."""

    demand: Literal["all", "claims"] = "all"
    claims: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    warn: dict[str, str] = {}
    ignore: dict[str, str] = {}
    inconclusive: Literal["fail", "warn"] = "fail"
    survivors: Literal["fail", "warn"] = "fail"
    power: Annotated[int, Meta(ge=0, le=100)] = 0
    seconds: Annotated[int, Meta(ge=0, le=86_400)] = 0
    pair_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 60
    specs: tuple[str, ...] = ("golden/specs",)
    recordings: tuple[str, ...] = ("golden/recordings",)
