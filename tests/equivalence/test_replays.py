"""The recordings of the runner before its split, replayed on what it has become: on the function that took a method's
place, and on the method that stayed behind.

All agree but those that can't be run here, each of which is counted below with the reason that replay gives: what they
need is no part of a recording (what `lscpu` said, the other ranks, a model's tensors). None of them may differ."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import os
from collections import Counter
from pathlib import Path

from codemods.prove.golden import GoldenFile, golden_files, read_recording
from codemods.prove.replay import ReplayRequest, replay
from codemods.schema.recording import Replayed
from tests.equivalence.rerecord import HIDDEN, METHODS, RECORDINGS, folder_of
from tests.support.house import ROOT

STAYED = ("init_cublas", "init_torch_distributed")  # of the others none can be run: once is enough to say so
WAYS = [*METHODS.items(), *((method, "") for method in STAYED)]
# folder -> what replay says of some of them -> how many (-1: as the machine is), and why.
UNKNOWN: dict[str, dict[str, tuple[int, str]]] = {
    "init_threads_binding": {
        "subprocess.Popen('lscpu'": (15, "which CPUs there are is asked of a program: the recording has no answer")
    },
    "init_torch_distributed": {
        "open('/sys/fs/cgroup/memory.max'": (6, "real runs ask the machine what memory is free, and meet other ranks"),
        "env LOCAL_SIZE differs": (-1, "set where the processor has matrix tiles: the recorded one, or the one here"),
    },
    "apply_torch_tp": {"__repr__ of self.model": (1, "tensors and process groups are not kept")},
    "resolve_language_model": {
        "needs attribute language_model of model": (1, "what a module's __getattr__ would say is not kept")
    },
}


def replayed(files: list[GoldenFile], against: str, root: Path = ROOT) -> list[Replayed]:
    """Real runs have what a machine's memory decides hidden, and so has their replay."""
    found = []
    for kind, redact in (("real", HIDDEN), ("simulated", ())):
        chosen = [each for each in files if each.path.parent.name == kind]
        if chosen:
            request = ReplayRequest(root=root, against=against, redact=redact, timeout_s=120.0)
            found += [each.replayed for each in replay(chosen, request, dict(os.environ))[0]]
    return found


@pytest.mark.parametrize(
    ("method", "against"), WAYS, ids=[f"{method}-{against or 'stayed'}" for method, against in WAYS]
)
def test_recordings_agree(method: str, against: str) -> None:
    files = golden_files([RECORDINGS / folder_of(method)])
    found = replayed(files, against)
    assert len(found) == len(files)
    wrong = [(each.file, each.verdict.value, each.reason) for each in found if each.verdict.value == "differs"]
    assert not wrong
    known = UNKNOWN.get(folder_of(method), {})
    seen: Counter[str] = Counter()
    for each in found:
        if each.verdict.value != "agrees":
            seen[next((text for text in known if text in each.reason), each.reason)] += 1
    assert seen.keys() <= known.keys()
    assert {text: seen[text] for text, (number, _) in known.items() if number >= 0} == {
        text: number for text, (number, _) in known.items() if number >= 0
    }


def test_every_method_has_recordings() -> None:
    assert {each.name for each in RECORDINGS.iterdir()} == {folder_of(method) for method in METHODS}
    assert all(read_recording(path).target.rpartition(".")[2] in METHODS for path in RECORDINGS.rglob("*.json"))


def test_no_recording_is_large() -> None:
    sizes = {path.name: path.stat().st_size for path in RECORDINGS.rglob("*.json")}
    assert max(sizes.values()) < 128 << 10, max(sizes, key=lambda name: sizes[name])


def test_a_recording_of_something_else_differs(tmp_path: Path) -> None:
    """The replay can fail: an outcome that was not recorded is one."""
    folder = tmp_path / "simulated"
    folder.mkdir()
    first = min((RECORDINGS / "build_step_span_name/simulated").glob("*.json"))
    text = first.read_text(encoding="utf-8")
    (folder / first.name).write_text(text.replace("step[", "stop["), encoding="utf-8")
    found = replayed(golden_files([folder]), METHODS["_build_step_span_name"])
    assert {each.verdict.value for each in found} == {"differs"}
