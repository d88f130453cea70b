"""What a small change leaves behind: a tree as one text, edits of it, and the findings as short lines."""

from __future__ import annotations

from codemods.schema.verdict import Problem
from codemods.verify.change import between
from codemods.verify.readers import left_behind
from tests.support.trees import files_in, tree

Edit = tuple[str, str, str]  # path, text before, text after; an empty path after the edit removes the file


def problems(text: str, *edits: Edit) -> list[Problem]:
    """The findings of the change that the edits make. Every text to replace must be there."""
    before = files_in(text)
    after = dict(before)
    for path, old, new in edits:
        if old == new == "":
            del after[path]
            continue
        held = after.get(path, b"").decode()
        assert old in held, f"{path} has no {old!r}"
        after[path] = held.replace(old, new).encode() if old else (new + held).encode()
    return left_behind(between(tree(before), tree(after)))


def places(text: str, *edits: Edit) -> list[str]:
    """The findings as `U119 path:line`, each once."""
    return list(dict.fromkeys(f"{each.code} {each.path}:{each.line}" for each in problems(text, *edits)))
