"""Policy x verdicts: what is asked of a commit, and whether what `verify` and `prove` found of it is enough. Decides by
what the code does; the message decides only how much is demanded, and only where the policy says so. Looks at nothing
by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from codemods.report.gate_model import GatedCommit, Obligation, Status, digest_of, verdict_of
from codemods.report.gate_pairs import MORE_TIME, OUT_OF_TIME, pair_obligations
from codemods.report.prove_model import PairRow, Unproved
from codemods.report.verify_model import CheckedCommit, FindingRow, counted
from codemods.schema.certificate import CertifiedLines
from codemods.schema.gate import GatePolicy
from codemods.schema.prove import PairKind, ProofVerdict
from codemods.verify.message_claims import CLAIMS

_TRAILER = re.compile(r"^Unmoved-Recordings: *(\S+) +(\S.*)$", re.MULTILINE)
# Words of a message that say that nothing changes which can be seen; those that the ledger can refute are verify's.
_CLAIMS = (
    *CLAIMS,
    *(
        re.compile(text, re.MULTILINE | re.IGNORECASE)
        for text in (
            r"\A\s*refactor(?:ing)?(?:\([^)\n]*\))?:.*$",
            r"\bno (?:functional|behaviou?ral?|behaviou?r) changes?\b",
            r"^\[?NFC\b.*$",
        )
    ),
)


class Noted(Struct, frozen=True, kw_only=True):
    """A finding of `verify`. is_reader: it names what is gone. is_covered: a pair runs its line."""

    finding: FindingRow
    is_reader: bool
    is_covered: bool


class ReadCommit(Struct, frozen=True, kw_only=True):
    """What reading a commit gave. altered: paths that were there before and differ, or are gone. digests: of the text
    of each of `unproved`. entries: the ledger, against the first parent."""

    checked: CheckedCommit
    message: str
    noted: tuple[Noted, ...]
    altered: tuple[str, ...]
    changed: tuple[str, ...]
    unproved: tuple[Unproved, ...]
    digests: tuple[str, ...]
    entries: tuple[CertifiedLines, ...] = ()


class Scope(Struct, frozen=True):
    """The policy, and its patterns as questions about a path. accept: hazards that the configuration accepts anywhere,
    with the reason."""

    policy: GatePolicy
    is_out: Callable[[str], bool] = lambda _: False
    is_always: Callable[[str], bool] = lambda _: False
    is_recording: Callable[[str], bool] = lambda _: False
    accept: Mapping[str, str] = {}


def claim_in(message: str, policy: GatePolicy) -> str:
    """The words by which a message says that nothing changes but the text; "" where it does not."""
    patterns = (*(re.compile(text, re.MULTILINE) for text in policy.claims), *_CLAIMS)
    return next((found.group().strip() for each in patterns if (found := each.search(message))), "")


def may_be_held(message: str, policy: GatePolicy) -> bool:
    """What is known of that before anybody has seen what the commit changes."""
    return policy.demand == "all" or bool(policy.always) or bool(claim_in(message, policy))


def is_held(commit: ReadCommit, scope: Scope) -> bool:
    """Whether each line of the commit has to be certified or proved."""
    if scope.policy.demand == "all" or claim_in(commit.message, scope.policy):
        return True
    return any(scope.is_always(path) for path in commit.changed)


def judged(commit: ReadCommit, rows: Sequence[PairRow], scope: Scope, *, proves: bool = True) -> GatedCommit:
    """rows: of the commit's pairs, where they were asked for. proves: whether anything was run at all."""
    held = proves and is_held(commit, scope)
    found = list(_findings(commit, rows, scope, held=held))
    found += _recordings(commit, scope)
    if held:
        pairs = list(pair_obligations(rows, scope.policy))
        found = [*_ledger(commit, pairs, scope), *pairs, *found]
    else:
        found = [_not_demanded(commit.checked, proves=proves), *found]
    found = [exempted(each, scope.policy) for each in found]
    return GatedCommit(
        commit=commit.checked.commit,
        subject=commit.checked.subject,
        claim=claim_in(commit.message, scope.policy),
        is_held=held,
        verdict=verdict_of(found),
        checked=commit.checked,
        pairs=list(rows),
        unproved=[each for each in commit.unproved if held],
        obligations=found,
    )


def exempted(each: Obligation, policy: GatePolicy) -> Obligation:
    """What the policy says of the rule, with its reason."""
    if each.status not in (Status.FAIL, Status.WARN) or each.why:
        return each
    if each.rule in policy.ignore:
        return replace(each, status=Status.EXEMPT, why=policy.ignore[each.rule])
    if each.rule in policy.warn:
        return replace(each, status=Status.WARN, why=policy.warn[each.rule])
    return each


def frozen(name: str, rows: Sequence[PairRow], scope: Scope) -> GatedCommit:
    """A file of specs whose pairs were proved by themselves."""
    pairs = list(pair_obligations(rows, scope.policy))
    found = [*pairs, *(_unproved_pair(each, scope) for each in pairs if each.status is Status.INCONCLUSIVE)]
    return whole_run(name, found, scope, rows)


def unread(name: str, scope: Scope) -> GatedCommit:
    """A commit that the time did not reach."""
    late = Obligation(
        kind="ledger", rule="out-of-time", status=Status.ERROR, symbol="", message=OUT_OF_TIME, next=MORE_TIME
    )
    return whole_run(name, [late], scope)


def whole_run(name: str, obligations: Sequence[Obligation], scope: Scope, rows: Sequence[PairRow] = ()) -> GatedCommit:
    """What is asked of the run and of no commit."""
    found = [exempted(each, scope.policy) for each in obligations]
    return GatedCommit(commit=name, verdict=verdict_of(found), pairs=list(rows), obligations=found)


def _not_demanded(checked: CheckedCommit, *, proves: bool) -> Obligation:
    left = checked.lines - checked.certified
    message = f"{counted(checked.lines, 'line')}, {left:,} of them not certified: "
    message += "nobody says that it is a refactoring" if proves else "nothing was run"
    return Obligation(kind="ledger", rule="", status=Status.EXEMPT, symbol="", message=message)


def _ledger(commit: ReadCommit, pairs: Sequence[Obligation], scope: Scope) -> Iterator[Obligation]:
    """Whether every changed line is certified or proved."""
    checked = commit.checked
    residue = checked.lines - checked.certified
    unproved = [
        (each, digest)
        for each, digest in zip(commit.unproved, commit.digests, strict=True)
        if not scope.is_out(each.path)
    ]
    for each, digest in unproved:
        yield _residue(each, digest)
    open_ = [each for each in pairs if each.status is Status.INCONCLUSIVE]
    yield from (_unproved_pair(each, scope) for each in open_)
    if not unproved and not open_:
        left_out = sum(each.lines for each in commit.unproved)
        words = f"{counted(checked.lines, 'line')}: {checked.certified:,} certified"
        words += f", {residue - left_out:,} run by pairs" if residue - left_out else ""
        words += f", {left_out:,} out of scope" if left_out else ""
        yield Obligation(kind="ledger", rule="", status=Status.PASS, symbol="", message=words)


def _unproved_pair(each: Obligation, scope: Scope) -> Obligation:
    fails = scope.policy.inconclusive == "fail"
    return Obligation(
        kind="ledger", rule="inconclusive", status=Status.FAIL if fails else Status.WARN, symbol=each.symbol,
        message=f"{each.symbol} is unproved: {each.message}", path=each.path, line=each.line, next=each.next,
        digest=digest_of("inconclusive", each.symbol),
    )  # fmt: skip


def _residue(each: Unproved, digest: str) -> Obligation:
    fix = "read it; a file that no run can show belongs under `out-of-scope` of [tool.unmoved.gate]"
    if each.path.endswith(".py"):
        fix = "name a pair that runs it in a spec, or put it into a commit that does not claim to change nothing"
    return Obligation(
        kind="ledger", rule="residue", status=Status.FAIL, symbol=each.path, path=each.path, line=_first_line(each.at),
        message=f"{counted(each.lines, 'changed line')} that nothing certifies and no pair runs: {each.place}",
        next=fix, digest=digest_of("residue", each.path, digest),
    )  # fmt: skip


def _first_line(at: str) -> int:
    """Of the new side; 0 where all of it is gone."""
    found = re.match(r"\d+", at)
    return int(found.group()) if found else 0


def _findings(commit: ReadCommit, rows: Sequence[PairRow], scope: Scope, *, held: bool) -> Iterator[Obligation]:
    proofs = [row for row in rows if row.kind is not PairKind.READER]
    is_proved = bool(proofs) and all(row.verdict is ProofVerdict.AGREES for row in proofs)
    for each in commit.noted:
        finding = each.finding
        made = Obligation(
            kind="finding", rule=finding.code, status=Status.WARN, symbol=finding.path, message=finding.message,
            path=finding.path, line=finding.line, digest=digest_of(finding.code, finding.path, finding.message),
            next=_next_of_finding(finding, is_reader=each.is_reader),
        )  # fmt: skip
        if finding.path and scope.is_out(finding.path):
            yield replace(made, status=Status.EXEMPT, why="out of scope")
        elif finding.code in scope.accept:
            yield replace(made, status=Status.EXEMPT, why=scope.accept[finding.code])
        elif each.is_reader:
            yield replace(made, status=Status.FAIL)
        elif finding.code == "claim-refuted" or not held:
            yield made  # whether what is left was proved, the other obligations say
        elif finding.code == "gave-up":
            yield replace(made, status=Status.ERROR)
        elif not each.is_covered:
            yield replace(made, status=Status.FAIL)
        elif is_proved:
            yield replace(made, status=Status.PASS, why="the pairs that run it agree")
        else:
            yield replace(made, why="the pairs that run it decide")


def _next_of_finding(finding: FindingRow, *, is_reader: bool) -> str:
    if is_reader:
        return f"mend the reader; `unmoved explain {finding.code}` says more"
    if finding.code[:1] == "U":
        return f"`unmoved explain {finding.code}` says what settles it"
    return "look at it; what is meant goes under `warn` of [tool.unmoved.gate] with the reason"


def _recordings(commit: ReadCommit, scope: Scope) -> Iterator[Obligation]:
    """Recordings are what later code is held to: one that changes has to be owned to in the message."""
    declared = _TRAILER.findall(commit.message)
    for path in commit.altered:
        if not scope.is_recording(path):
            continue
        why = next((why for pattern, why in declared if _names(pattern, path)), "")
        message = f"the recording {path} was changed or removed"
        message += "" if why else ", and no trailer says so"
        yield Obligation(
            kind="recording", rule="recording-changed", status=Status.PASS if why else Status.FAIL, symbol=path,
            message=message, path=path, why=why, digest=digest_of("recording-changed", path),
            next="" if why else f"put it back, or add the trailer `Unmoved-Recordings: {path} REASON` to the message",
        )  # fmt: skip


def _names(pattern: str, path: str) -> bool:
    """A path, a directory, or a pattern of a shell."""
    from fnmatch import fnmatchcase

    return path == pattern or path.startswith(f"{pattern.rstrip('/')}/") or fnmatchcase(path, pattern)


__all__ = ["OUT_OF_TIME", "Noted", "ReadCommit", "Scope", "claim_in", "is_held", "judged"]
