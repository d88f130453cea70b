"""A certificate checked again: lines, marks and findings are made anew from the object store, with the kernel and the
certificate's claims in place of the search for explanations, and compared with what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct

from codemods.repo.plain_tree import PlainTree
from codemods.repo.store import ObjectStore
from codemods.schema.certificate import VERSION, Against, Certificate
from codemods.schema.config import Settings
from codemods.schema.errors import ConfigError
from codemods.schema.verdict import Explained
from codemods.verify.certificate import Explain, Readers, certify, certify_directories
from codemods.verify.chain import checks
from codemods.verify.change import TreeChange
from codemods.verify.limits import MAX_CERTIFICATE_BYTES

Recheck = Callable[[TreeChange, Sequence[str]], Explained]


class BadCertificate(ConfigError):
    """The bytes are no certificate that this version can read."""

    code = "bad-certificate"


class Checked(Struct, frozen=True, kw_only=True):
    """found: the certificate as it is made now. differences: in words, () when the given one holds."""

    found: Certificate
    differences: tuple[str, ...]


def read_certificate(raw: bytes, path: str) -> Certificate:
    """Raises BadCertificate."""
    if len(raw) > MAX_CERTIFICATE_BYTES:
        raise BadCertificate(f"has more than {MAX_CERTIFICATE_BYTES:,} bytes", fix="make a new one", path=path)
    try:
        version = msgspec.json.decode(raw, type=_Version).version
        if version != VERSION:
            raise BadCertificate(f"is of version {version}, not {VERSION}", fix="make a new one", path=path)
        found = msgspec.json.decode(raw, type=Certificate)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadCertificate(f"is no certificate: {error}", fix="name a file that --cert wrote", path=path) from error
    if not found.against:
        raise BadCertificate("compares with no parent", fix="make a new one", path=path)
    return found


class _Version(Struct):
    version: int


def check_commit(
    store: ObjectStore, given: Certificate, settings: Settings, *, kernel: Recheck | None = None,
    readers: Readers | None = None,
) -> Checked:  # fmt: skip
    """Of a commit. Raises GitError when the repository does not have it."""
    found = certify(store, given.commit, settings, *_checks(given, kernel, readers))
    return Checked(found=found, differences=tuple(_differences(given, found)))


def check_directories(
    trees: tuple[PlainTree, PlainTree], given: Certificate, settings: Settings, *, kernel: Recheck | None = None,
    readers: Readers | None = None,
) -> Checked:  # fmt: skip
    """Of two directories, wherever they are now."""
    found = certify_directories(given.commit, *trees, settings, *_checks(given, kernel, readers))
    return Checked(found=found, differences=tuple(_differences(given, found)))


def _checks(given: Certificate, kernel: Recheck | None, readers: Readers | None) -> tuple[Explain, Readers]:
    """explain() with the claims of the comparison that is due; comparisons come in the order of the parents."""
    claims = iter([one.claims for one in given.against])
    judge = kernel or recheck

    def explain(change: TreeChange) -> Explained:
        return judge(change, next(claims, []))

    return explain, readers or checks(explain, None)[1]


def recheck(change: TreeChange, claims: Sequence[str]) -> Explained:
    """What the kernel alone makes of the claims."""
    from codemods.verify.kernel_check import recheck as kernel_recheck

    return kernel_recheck(change, claims)


def _differences(given: Certificate, found: Certificate) -> Iterator[str]:
    for name in ("tree", "parents", "subject"):
        if getattr(given, name) != getattr(found, name):
            yield f"{name} is {getattr(found, name)!r}, not {getattr(given, name)!r}"
    if len(given.against) != len(found.against):
        yield f"it compares with {len(given.against)} parents, the commit has {len(found.against)}"
        return
    for one, other in zip(given.against, found.against, strict=True):
        yield from _differences_against(one, other)
    if given.problems != found.problems:
        yield f"{len(found.problems)} findings about the commit itself, not {len(given.problems)}, or others"


def _differences_against(given: Against, found: Against) -> Iterator[str]:
    where = f"against {given.parent[:12] or 'nothing'}: "
    for name in ("parent", "tree", "verdict", "lines", "certified"):
        one, other = getattr(given, name), getattr(found, name)
        if one != other:
            yield f"{where}{name} is {getattr(other, 'value', other)}, not {getattr(one, 'value', one)}"
    before, now = set(given.entries), set(found.entries)
    if len(given.entries) != len(before) or before != now:
        first = min(before ^ now, key=lambda entry: (entry.path, entry.line), default=None)
        place = f", first at {first.path}:{first.line}" if first else ""
        yield f"{where}{len(before ^ now)} entries differ{place}"
    for problem in sorted(set(found.problems) - set(given.problems)):
        yield f"{where}it leaves out {problem.code} {problem.path}:{problem.line}: {problem.message}"
    for problem in sorted(set(given.problems) - set(found.problems)):
        yield f"{where}it has {problem.code} {problem.path}:{problem.line}, which is not found now"
