"""Recordings as files: names, bytes, what a new run means for them, and what they may look like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.prove.golden import (
    BadRecording,
    NoRecordings,
    dump,
    file_name,
    golden_files,
    load_recordings,
    plan_files,
    read_recording,
    replace_file,
    write_planned,
)
from codemods.prove.golden_values import concrete_values
from codemods.schema.recording import Change, LogLine, Raised, Recording


def made(**fields: Any) -> Recording:
    usual: dict[str, Any] = {"schema": 1, "target": "m:f", "arguments": {"x": 1}}
    if "raised" not in fields:
        usual["returned"] = 2
    return Recording(**{**usual, **fields})


def changes(directory: Path, *examples: Recording, targets: tuple[str, ...] = ("m:f",)) -> list[str]:
    """What the examples mean for the directory; new ones are written."""
    planned, _ = plan_files(directory, examples, targets)
    write_planned(planned, [Change.NEW])
    return [each.change.value for each in planned]


def test_the_same_run_changes_nothing(tmp_path: Path) -> None:
    examples = [made(), made(arguments={"x": "word"}), made(raised=Raised(type="builtins:KeyError", text="'a'"))]
    assert changes(tmp_path, *examples[:2]) == ["new", "new"]
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert changes(tmp_path, *examples[:2]) == ["same", "same"]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        ({"arguments": {"x": 500}, "returned": 501}, "kept"),
        ({"arguments": {"x": 100}, "returned": 201}, "changed"),
        ({"arguments": {"x": 100}, "returned": None}, "changed"),
        ({"arguments": {"x": 100}, "returned": 101.0}, "changed"),
        ({"arguments": {"x": 100}, "returned": 101, "writes": {"x.y": 1}}, "changed"),
        ({"arguments": {"x": 100}, "returned": 101, "logs": (LogLine(level="INFO", logger="m", text="t"),)}, "changed"),
        ({"arguments": {"x": 100}, "raised": Raised(type="builtins:ValueError", text="no")}, "changed"),
        ({"arguments": {"x": "word"}, "returned": 101}, "unseen"),
    ],
)
def test_a_file_changes_only_where_the_same_inputs_come_to_something_else(
    tmp_path: Path, again: dict[str, Any], expected: str
) -> None:
    assert changes(tmp_path, made(arguments={"x": 100}, returned=101)) == ["new"]
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    found = changes(tmp_path, made(**again))
    assert found.count(expected) == 1
    assert set(found) - {expected} <= {"new"}
    assert path.read_bytes() == before


def test_a_change_is_written_when_asked_for_and_the_name_follows_the_behaviour(tmp_path: Path) -> None:
    changes(tmp_path, made(returned=5))
    planned, _ = plan_files(tmp_path, [made(returned="five")])
    assert write_planned(planned, [Change.CHANGED]) == 1
    (path,) = tmp_path.iterdir()
    assert (path.name, read_recording(path)) == (file_name(made(returned="five")), made(returned="five"))


def test_inputs_that_come_to_different_things_are_left_out_and_named(tmp_path: Path) -> None:
    planned, notes = plan_files(tmp_path, [made(returned=1), made(returned=2), made(arguments={"x": "w"})])
    assert [each.recording.arguments for each in planned] == [{"x": "w"}]
    assert notes == ["m:f: 1 left out: the same inputs came to different outcomes, so something else decides"]


def test_recordings_of_other_targets_are_left_alone(tmp_path: Path) -> None:
    changes(tmp_path, made(target="m:g"), targets=("m:g",))
    assert changes(tmp_path, made()) == ["new"]
    assert len(load_recordings(tmp_path)) == 2


def test_recordings_are_loaded_in_order_from_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    paths = [replace_file(tmp_path / folder / "x", made(target=f"m:{name}")) for folder, name in
             (("", "a"), ("", "b"), ("deep", "c"))]  # fmt: skip
    assert [each.target for each in load_recordings(tmp_path)] == ["m:a", "m:b", "m:c"]
    assert [each.path for each in golden_files([paths[2], tmp_path])] == [paths[2], *paths[:2]]


def test_a_place_without_recordings_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoRecordings, match="holds no recording"):
        golden_files([tmp_path])
    with pytest.raises(BadRecording, match="can't be read"):
        golden_files([tmp_path / "absent.json"])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema": 2}, "it has schema 2, this version reads 1"),
        ({"returned": None, "raised": {"type": "a:B", "text": ""}}, "exactly one"),
        ({"target": "no-colon"}, "MODULE:QUALNAME"),
        ({"reutrned": 1}, "unknown field"),
        ({"arguments": [1]}, "object"),
    ],
)
def test_what_is_no_recording_is_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**json.loads(dump(made())), **change}))
    with pytest.raises(BadRecording, match=told):
        read_recording(path)
    path.write_bytes(b"{")
    with pytest.raises(BadRecording, match="no recording"):
        read_recording(path)


_plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**52), 2**52)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(_plain, _plain)
def test_what_is_written_is_what_is_read(argument: Any, result: Any) -> None:
    recording = made(arguments={"x": argument}, returned=result)
    assert msgspec.convert(json.loads(dump(recording)), Recording) == recording
    assert file_name(recording) == file_name(msgspec.convert(json.loads(dump(recording)), Recording))


def test_plain_values_by_place() -> None:
    receiver = {
        "$object": "m:A",
        "label": "self",
        "attributes": {
            "rank": 1,
            "config": {"$object": "m:C", "label": "self.config", "attributes": {"backend": "nccl"}},
            "engine": {"$opaque": "m:Engine", "label": "self.engine"},
            "token": "<redacted:token>",
            "pair": {"$tuple": [1, {"$float": "inf"}]},
            "mixed": [1, {"$type": "m:C"}],
        },
    }
    recordings = [
        made(receiver="self", arguments={"self": receiver, "x": x, "*rest": {"$tuple": []}}, environment={"MODE": x})
        for x in ("a", "b", "a")
    ]
    assert concrete_values(recordings) == {
        "self.rank": [1],
        "self.config.backend": ["nccl"],
        "self.pair": [(1, float("inf"))],
        "x": ["a", "b"],
        "rest": [()],
        "$MODE": ["a", "b"],
    }
    assert concrete_values([made(arguments={"x": value}) for value in (1, True, 1.0)]) == {"x": [1, True, 1.0]}
