"""A verdict counts again where everything that it was read from is the same, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codemods.prove.cache import Cache
from codemods.prove.options import ProveOptions
from codemods.prove.proving import prove_pairs
from codemods.prove.traced import Answer, Traces
from codemods.schema.prove import Level, Pair, PairKind, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

OLD = {
    "a.py": b"from b import twice\n\n\ndef f(x):\n    return twice(x)\n",
    "b.py": b"def twice(x):\n    return x + x\n",
    "far.py": b"y = 1\n",
}
NEW = {**OLD, "a.py": b"from b import twice\n\n\ndef f(x):\n    made = twice(x)\n    return made\n"}
PAIR = Pair(old="a:f", new="a:f")
ANSWER = Answer(
    result=PairResult(old="a:f", new="a:f", kind=PairKind.CALLABLE, verdict=ProofVerdict.AGREES, level=Level.SAMPLED),
    old=("a.py",),
    new=("a.py", "b.py"),
)


def sides(**edits: bytes) -> tuple[FileSet, FileSet]:
    more = {f"{name}.py": raw for name, raw in edits.items()}
    return FileSet(MemoryTree({**OLD, **more})), FileSet(MemoryTree({**NEW, **more}))


def traces(
    root: Path, edits: Mapping[str, bytes] | None = None, *, changed: tuple[str, ...] = ("a.py",), costs: bytes = b""
) -> Traces:
    return Traces(Cache(root), *sides(**(edits or {})), changed, costs)


@pytest.mark.parametrize(
    ("edits", "is_known"),
    [({}, True), ({"far": b"y = 2\n"}, True), ({"b": b"def twice(x):\n    return 2 * x\n"}, False),
     ({"fresh": b""}, False)],
    ids=["nothing", "a file that was not read", "a file that was read", "a name that was not there"],
)  # fmt: skip
def test_what_a_verdict_was_read_from(tmp_path: Path, edits: dict[str, bytes], is_known: bool) -> None:
    traces(tmp_path).put(PAIR, ANSWER)
    assert (traces(tmp_path, edits).get(PAIR) == ANSWER.result) is is_known


def test_what_a_verdict_was_asked_with(tmp_path: Path) -> None:
    traces(tmp_path).put(PAIR, ANSWER)
    assert traces(tmp_path, costs=b"other").get(PAIR) is None
    assert traces(tmp_path, changed=("a.py", "b.py")).get(PAIR) is None
    assert traces(tmp_path).get(Pair(old="a:f", new="a:f", real=("b",))) is None


def test_only_what_agrees_is_kept(tmp_path: Path) -> None:
    differs = PairResult(old="a:f", new="a:f", kind=PairKind.CALLABLE, verdict=ProofVerdict.DIFFERS)
    traces(tmp_path).put(PAIR, Answer(result=differs, old=(), new=()))
    assert traces(tmp_path).get(PAIR) is None


def test_a_proof_behind_another_edit_is_answered_from_the_cache(tmp_path: Path) -> None:
    options = ProveOptions(jobs=1, mutants=0, cache_dir=tmp_path)

    def cached(**edits: bytes) -> tuple[str, bool]:
        [found] = prove_pairs(*sides(**edits), ["a.py"], [PAIR], options)
        return found.verdict.value, found.is_cached

    assert cached() == ("agrees", False)
    assert cached(far=b"y = 2\n") == ("agrees", True)
    assert cached(a=b"def f(x):\n    return x\n") == ("agrees", False)
