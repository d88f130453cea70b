"""Trees of files as one text, and what a transform makes of them: tables of before and after are written with these.

`# file: NAME` starts a file. Checked with every case: the result parses, files that are not expected to change are the
same bytes, and planning the same step again on the result is refused or changes nothing."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping
from typing import Any

from codemods.schema.errors import UnmovedError
from codemods.source.files import FileSet, MemoryTree
from codemods.transforms.transform import Planned, Transform

_HEAD = re.compile(r"^# file: (\S+)\n", re.MULTILINE)


def files_in(text: str, newline: str = "\n") -> dict[str, bytes]:
    """The files of a text, by name. newline: how their lines end."""
    parts = _HEAD.split(text)
    assert not parts[0].strip(), parts[0]
    names, bodies = parts[1::2], parts[2::2]
    return {name: body.replace("\n", newline).encode() for name, body in zip(names, bodies, strict=True)}


def tree(text: str | Mapping[str, bytes], newline: str = "\n") -> FileSet:
    return FileSet(MemoryTree(files_in(text, newline) if isinstance(text, str) else text))


def text_of(files: FileSet) -> str:
    """The inverse of `tree`."""
    return "".join(f"# file: {path}\n{files.read(path).decode()}" for path in files.paths())


def check(transform: Transform, step: Any, before: str, after: str, *, newline: str = "\n") -> Planned:
    """Plan the step and compare the whole tree, byte for byte; then what every plan must keep to."""
    base = tree(before, newline)
    planned = transform.plan(base, step)
    assert planned.refusals == (), "\n".join(map(str, planned.refusals))
    assert planned.files is not None
    expected = {**{path: base.read(path) for path in base.paths()}, **files_in(after, newline)}
    gone = [path for path, raw in expected.items() if raw == b"(gone)" + newline.encode()]
    for path in gone:
        del expected[path]
    got, want = text_of(planned.files), text_of(tree(expected))
    assert got == want, "\n" + "\n".join(difflib.unified_diff(want.split("\n"), got.split("\n"), "wanted", "got", n=1))
    for path in planned.files.paths():
        if path.endswith(".py"):
            ast.parse(planned.files.read(path))
    second = again(transform, step, planned.files)
    assert second == {}, f"a second run changes {second}"
    return planned


def again(transform: Transform, step: Any, files: FileSet) -> dict[str, object]:
    """What a second run of a step would change; {} when it is refused or changes nothing."""
    try:
        planned = transform.plan(files, step)
    except UnmovedError:
        return {}
    if planned.files is None:
        return {}
    return {change.path: change.after for change in planned.files.changes_since(files)}


def codes(planned: Planned) -> list[str]:
    """Refusals and hazards, as codes with severities."""
    found = [f"refused {each.code}" for each in planned.refusals]
    return found + [f"{each.severity.value} {each.code}" for each in planned.hazards]
