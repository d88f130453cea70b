"""`python -m tests.bench.verify_split DIR COMMIT...`: verifies commits that are no range in one run, on all cores, as a
range is. Prints nothing; exits 1 when a commit got no certificate."""

from __future__ import annotations

import sys
from pathlib import Path

from codemods.repo.ranges import resolve_range
from codemods.repo.workers import default_jobs
from codemods.schema.config import Settings
from codemods.schema.progress import Silent
from codemods.verify.chain import Request, verify_chain


def main(history: str, *names: str) -> int:
    """One certificate for each."""
    found = [resolve_range(Path(history), name) for name in names]
    commits = tuple(commit for each in found for commit in each.commits)
    request = Request(git_dir=found[0].git_dir, commits=commits, settings=Settings(), caches=True)
    return int(sum(1 for _ in verify_chain(request, default_jobs(), Silent())) != len(names))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
