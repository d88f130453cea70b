"""How a moved definition is named in annotations whose imports are for type checkers only: there the new one is too."""

from __future__ import annotations

from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import Line
from codemods.source.imports import Import, imports_of
from codemods.transforms.adjust_imports import Importer


def new_line(importer: Importer, module: str, name: str, style: str) -> Line:
    """The import of the new home as a file spells it. style: "module" or "name"."""
    if style == "name":
        return Line(importer.written(module), name)
    package, _, leaf = module.rpartition(".")
    return Line(importer.written(package), leaf) if package else Line(module)


class ForTypes:
    """Collects the imports that are wanted under `if TYPE_CHECKING:`, by path."""

    def __init__(self, files: FileSet, module: str, name: str, style: str) -> None:
        self.files, self.module, self.name, self.style = files, module, name, style
        self.lines: dict[str, set[Line]] = {}

    def spell(self, importer: Importer, head: str) -> str:
        """How an annotation names it whose import of `head` is for types only; "" when that import is a real one."""
        source = importer.source
        imports = [each for each in imports_of(self.files, source) if each.name == head]
        if not imports or not all(each.type_checking_only for each in imports):
            return ""
        line = new_line(importer, self.module, self.name, self.style)
        local = line.name or line.module
        known = [each for each in imports_of(self.files, source) if each.name == local]
        is_same = bool(known) and all(self._brings(each, line) for each in known)
        if local in table(source).module.bound and not is_same:
            line = Line(line.module, line.name, f"{self.module.rpartition('.')[2]}_{local}")
        if not is_same:
            self.lines.setdefault(source.path, set()).add(line)
        shown = line.alias or local
        return shown if self.style == "name" else f"{shown}.{self.name}"

    def _brings(self, found: Import, line: Line) -> bool:
        return found.attribute == line.name and found.module in (self.module, self.module.rpartition(".")[0])
