"""What is kept of a checked commit: enough to check it again, and to report it. Version 1; keys are only ever added."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from codemods.schema.verdict import Problem, Verdict

VERSION = 1


class CertifiedLines(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run of changed lines of one side. `reason` is empty where they are certified, as a `kind` of operation."""

    path: str
    side: Literal["old", "new"]
    line: int
    lines: int
    kind: str = ""
    reason: str = ""
    code: str = ""
    function: str = ""


class Against(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The commit against one of its parents. parent: "" for a commit without parents, which is compared with nothing.

    claims: the operations that were assumed, as the kernel takes them."""

    parent: str
    tree: str
    verdict: Verdict
    lines: int
    certified: int
    claims: list[str]
    entries: list[CertifiedLines]
    problems: list[Problem]


class Certificate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One commit against each of its parents. commit: the full hash; of two directories, `DIR_A..DIR_B`.

    tree, parents, Against.tree: full hashes, of directories "sha256:" and a digest of their files.
    problems: what is wrong with the commit itself, not with one comparison."""

    version: int = VERSION
    tool: str
    python: str
    commit: str
    subject: str
    tree: str
    parents: list[str]
    against: list[Against]
    problems: list[Problem] = []

    @property
    def verdict(self) -> Verdict:
        """The worst of the comparisons."""
        found = {one.verdict for one in self.against}
        return next(verdict for verdict in (Verdict.OTHER, Verdict.MIXED, Verdict.MECHANICAL) if verdict in found)

    @property
    def findings(self) -> list[Problem]:
        return sorted({*self.problems, *(problem for one in self.against for problem in one.problems)})

    @property
    def passes(self) -> bool:
        """Mechanical, and nothing found."""
        return bool(self.against) and self.verdict is Verdict.MECHANICAL and not self.findings
