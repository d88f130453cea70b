"""What the drafts of a plan come to, file by file, and that they follow on from one another. Touches no tree."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.schema.errors import InternalError
from codemods.schema.result import CommitDraft, FileChange, PlanResult


def drafts(result: PlanResult) -> Iterator[tuple[int, CommitDraft]]:
    """(step number, draft) in the order the commits have. Raises InternalError when the result must not be written."""
    if result.refusals:
        raise InternalError("a plan with refusals was about to be written", fix=_REPORT)
    for step in result.steps:
        for draft in step.commits:
            if not draft.changes:
                raise InternalError(
                    f"the {draft.phase.value} commit of step {step.number} changes nothing", fix=_REPORT
                )
            yield step.number, draft


def net_changes(result: PlanResult) -> tuple[FileChange, ...]:
    """The files that differ between the start and the end of the plan, sorted by path."""
    first: dict[str, bytes | None] = {}
    last: dict[str, bytes | None] = {}
    for number, draft in drafts(result):
        for change in draft.changes:
            _check_path(change.path)
            if last.get(change.path, change.before) != change.before:
                raise InternalError(
                    f"step {number} does not start where the steps before it left {change.path}", fix=_REPORT
                )
            first.setdefault(change.path, change.before)
            last[change.path] = change.after
    return tuple(
        FileChange(path=path, before=first[path], after=last[path])
        for path in sorted(last)
        if first[path] != last[path]
    )


def renamed_from(result: PlanResult) -> dict[str, str]:
    """New path -> the path its bytes had before, for files a draft removes in one place and adds unchanged in another.

    A renamed script stays executable because of this."""
    found: dict[str, str] = {}
    for _, draft in drafts(result):
        removed = {change.before: change.path for change in draft.changes if change.after is None}
        for change in draft.changes:
            if change.before is None and change.after in removed:
                old = removed[change.after]
                found[change.path] = found.get(old, old)
    return found


def _check_path(path: str) -> None:
    parts = path.split("/")
    if any(part in ("", ".", "..", ".git") for part in parts) or "\0" in path:
        raise InternalError(f"a change names the path {path!r}", fix=_REPORT)


_REPORT = "nothing was written; please report this with the plan"
