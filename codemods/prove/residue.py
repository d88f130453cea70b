"""How changed lines that nothing certifies are handed over: lines by path; those of the old side by `old:` and the
path. Under `imports:` and a path: what importing the file does may differ, whatever its lines say."""

from __future__ import annotations

from collections.abc import Collection, Mapping

OLD, IMPORTS = "old:", "imports:"
Residue = Mapping[str, Collection[int]]
