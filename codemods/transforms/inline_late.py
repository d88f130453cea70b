"""Imports for a call whose function was imported inside a function: they stand where that import stood.

So a lazy import stays lazy, also one that only some paths reach."""

from __future__ import annotations

import ast

from codemods.source.files import FileSet
from codemods.source.import_layout import Line
from codemods.source.imports import imports_of
from codemods.source.parse import Source
from codemods.source.scopes import Scope, ScopeKind, lookup
from codemods.source.splice import Edit
from codemods.transforms.adjust_imports import Importer


def late_import(files: FileSet, source: Source, call: ast.Call, scope: Scope) -> ast.stmt | None:
    """The import inside a function that binds what is called; None when it is bound otherwise."""
    at: ast.expr = call.func
    while isinstance(at, ast.Attribute):
        at = at.value
    home = lookup(scope, at.id) if isinstance(at, ast.Name) else None
    if home is None or home.kind is not ScopeKind.FUNCTION:
        return None
    name = at.id  # type: ignore[attr-defined]
    found = [each.statement for each in imports_of(files, source) if each.scope is home and each.name == name]
    return found[0] if len(found) == 1 == len(home.bound[name]) else None


class LateImports:
    """Lines to add beside function-level imports, for any number of calls in one file."""

    def __init__(self, source: Source, importer: Importer) -> None:
        self.source, self.importer = source, importer
        self._lines: dict[ast.stmt, dict[Line, str]] = {}
        self._given: dict[tuple[ast.stmt, str, str], str] = {}

    def need(self, statement: ast.stmt, module: str, name: str, *, scope: Scope, prefer: str) -> str:
        """How the call may name `module.name` ("" for the module) once a line beside `statement` imports it."""
        key = (statement, module, name)
        if key in self._given:
            return self._given[key]
        leaf = name or module.rpartition(".")[2]
        local = next(each for each in _candidates(prefer or leaf, module) if self._is_free(each, scope))
        alias = "" if local == leaf else local
        package = module.rpartition(".")[0]
        if name:
            line = Line(self.importer.written(module), name, alias)
        else:
            line = Line(self.importer.written(package), leaf, alias) if package else Line(module, "", alias)
        self._lines.setdefault(statement, {})[line] = self._given[key] = local
        return local

    def plain(self, statement: ast.stmt, module: str) -> str:
        """`import a.b` as it stands."""
        self._lines.setdefault(statement, {})[Line(module)] = module.partition(".")[0]
        return module

    def _is_free(self, local: str, scope: Scope) -> bool:
        return lookup(scope, local) is None and not any(
            local == other for lines in self._lines.values() for other in lines.values()
        )

    def edits(self) -> list[Edit]:
        found: list[Edit] = []
        for statement, lines in self._lines.items():
            start = self.source.start(statement)
            line_start = self.source.text.line_start(start)
            indent = self.source.body[line_start:start]
            if indent.strip():  # it shares its line
                text = b"".join(line.text().encode() + b"; " for line in sorted(lines))
                found.append(Edit(start, start, text))
            else:
                newline = self.source.text.newline
                text = b"".join(indent + line.text().encode() + newline for line in sorted(lines))
                found.append(Edit(line_start, line_start, text))
        return found


def _candidates(leaf: str, module: str) -> list[str]:
    return [leaf, f"{module.rpartition('.')[2]}_{leaf}", *(f"{leaf}_{number}" for number in range(2, 100))]
