"""Compares a function of ours with the one people made by hand: the same but for layout, or which lines differ."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path


def function_text(tree: Path, path: str, qualname: str) -> str:
    """The normalised source of a function or method: layout, comments and quotes are the parser's. "" when missing."""
    file = tree / path
    if not file.exists():
        return ""
    scope: list[ast.stmt] = ast.parse(file.read_bytes()).body
    node: ast.stmt | None = None
    for part in qualname.split("."):
        named = [each for each in scope if getattr(each, "name", None) == part]
        if not named:
            return ""
        node = named[0]
        scope = getattr(node, "body", [])
    return ast.unparse(node) if node is not None else ""


def difference(ours: str, theirs: str) -> list[str]:
    """Lines that differ, `-` for theirs and `+` for ours; empty when the two are the same."""
    lines = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "by hand", "ours", lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]
