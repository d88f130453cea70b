"""A range of commits, one after the other: certificates in order, made by several processes, a few ahead of the reader.

What is held at a time does not grow with the range. Each process has its own git. A commit that can't be checked ends
the range with an error; what a check says is not looked at here."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from msgspec import Struct

from codemods.repo.commit_files import cover, use_index
from codemods.repo.store import ObjectStore
from codemods.repo.word_cache import keep_index, load_index
from codemods.repo.word_index import WordIndex
from codemods.repo.workers import in_order
from codemods.schema.certificate import Certificate
from codemods.schema.config import Settings
from codemods.schema.errors import InternalError, UnmovedError
from codemods.schema.progress import Progress
from codemods.source.parse import forget_all
from codemods.verify.certificate import Explain, Readers, certify

# Objects that may pile up before the cyclic collector goes through them: about 40 MB of syntax trees.
_PILE = 250_000
# Commits for which an index of the words is worth making anew: it takes as long as three searches.
_INDEX_FROM = 4

Work = Callable[[ObjectStore, str, Settings], object]


class Failed(Struct, frozen=True, kw_only=True):
    """An error of another process, as data: exceptions with arguments of their own don't travel."""

    code: str
    message: str
    fix: str
    path: str
    line: int
    is_internal: bool = False


class Uncheckable(UnmovedError):
    """A commit of the range could not be checked; `code` is that of what went wrong."""

    def __init__(self, commit: str, failed: Failed) -> None:
        super().__init__(f"commit {commit[:12]}: {failed.message}", fix=failed.fix, path=failed.path, line=failed.line)
        self.code = failed.code


class Request(Struct, frozen=True, kw_only=True):
    """What to check. explain, readers: importable functions, so that other processes find them; None for the real ones.
    They get the change between two trees. caches: what words stand where is kept for the next run. work: an importable
    function, what to find of a commit; None for its certificate."""

    git_dir: Path
    commits: tuple[str, ...]
    settings: Settings
    caches: bool = False
    explain: Explain | None = None
    readers: Readers | None = None
    work: Work | None = None


def verify_chain(request: Request, jobs: int, progress: Progress) -> Generator[Certificate, None, None]:
    """One certificate for each commit, in their order. Raises Uncheckable at the first that can't be checked."""
    with contextlib.closing(each_of_chain(request, jobs, progress)) as results:
        for found in results:
            assert isinstance(found, Certificate)
            yield found


def each_of_chain(request: Request, jobs: int, progress: Progress) -> Generator[object, None, None]:
    """What `work` finds of each commit, in their order. Raises Uncheckable at the first that can't be checked."""
    total = len(request.commits)
    jobs = min(jobs, total)
    results: Generator[object, None, None] = _alone(request) if jobs <= 1 else _together(request, jobs)
    with contextlib.closing(results):  # which ends the processes, also when the reader has had enough
        for number, commit in enumerate(request.commits, 1):
            progress.step(number, total, commit[:12])
            result = next(results)
            if isinstance(result, Failed):
                raise _error(commit, result)
            yield result


def _error(commit: str, failed: Failed) -> UnmovedError:
    return InternalError(failed.message, fix=failed.fix) if failed.is_internal else Uncheckable(commit, failed)


def _alone(request: Request) -> Generator[object, None, None]:
    with ObjectStore(request.git_dir) as store:
        index = _indexed(store, request, len(request.commits))
        try:
            for commit in request.commits:
                yield _found(store, commit, request)
                _tidy()
        finally:
            if index is not None and request.caches:
                keep_index(request.git_dir, index)


def _indexed(store: ObjectStore, request: Request, num_commits: int) -> WordIndex | None:
    """The index that the trees of a store are searched by from now on; None where making one takes longer than it
    saves."""
    if not request.caches and num_commits < _INDEX_FROM:
        return None
    index = load_index(request.git_dir) if request.caches else WordIndex()
    use_index(store, index)
    return index


def _keep_index_of(request: Request, commit: str) -> None:
    """Finds the words of one tree, so that the processes need not, each for itself."""
    with contextlib.suppress(UnmovedError), ObjectStore(request.git_dir) as store:  # whoever checks the commit says it
        index = _indexed(store, request, 1)
        if index is not None:
            cover(store, store.commit(commit).tree)
            keep_index(request.git_dir, index)


def _together(request: Request, jobs: int) -> Generator[object, None, None]:
    _keep_index_of(request, request.commits[-1])
    return in_order(_work, request.commits, jobs=jobs, start=_start, given=_without_commits(request))


def _without_commits(request: Request) -> Request:
    return Request(
        git_dir=request.git_dir,
        commits=(),
        settings=request.settings,
        caches=request.caches,
        explain=request.explain,
        readers=request.readers,
        work=request.work,
    )


class _Worker:
    """What a process keeps from one commit to the next."""

    store: ObjectStore
    request: Request


def _start(request: Request) -> None:
    _Worker.request = request
    _Worker.store = ObjectStore(request.git_dir)
    _indexed(_Worker.store, request, _INDEX_FROM)
    gc.disable()  # it would go through millions of nodes of syntax trees again and again


def _work(commit: str) -> object:
    _tidy()
    return _found(_Worker.store, commit, _Worker.request)


def _found(store: ObjectStore, commit: str, request: Request) -> object:
    """What the work comes to, or Failed."""
    explain, readers = checks(request.explain, request.readers)
    try:
        if request.work is not None:
            return request.work(store, commit, request.settings)
        return certify(store, commit, request.settings, explain, readers)
    except UnmovedError as error:
        return Failed(code=error.code, message=error.message, fix=error.fix, path=error.path, line=error.line)
    except Exception as error:  # noqa: BLE001 -- it has to travel to the process that reports it
        return _crashed(commit, error)


def _tidy() -> None:
    """Where the cyclic collector does not run by itself: what has piled up is collected, once it is worth it."""
    if not gc.isenabled() and gc.get_count()[0] > _PILE:
        forget_all()
        gc.collect()


def _crashed(commit: str, error: Exception) -> Failed:
    import traceback

    if os.environ.get("UNMOVED_DEBUG", "0") not in ("", "0"):
        traceback.print_exception(error)
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return Failed(
        code=InternalError.code,
        message=f"internal error at commit {commit[:12]}: {type(error).__name__}{where}: {str(error)[:200]}",
        fix="this is a bug of unmoved: run again with -j 1 and UNMOVED_DEBUG=1 and report the traceback",
        path="",
        line=0,
        is_internal=True,
    )


def checks(explain: Explain | None, readers: Readers | None) -> tuple[Explain, Readers]:
    """The functions given, or the real ones."""
    if explain is None:
        from codemods.verify.explain import explain as real_explain

        explain = real_explain
    if readers is None:
        from codemods.verify.readers import left_behind

        readers = left_behind
    return explain, readers
