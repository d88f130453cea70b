"""Between paths and dotted module names, for flat, `src/`, `python/` and namespace layouts. Reads file names only."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from functools import cached_property

from codemods.source.files import FileSet

_CUSTOMARY_ROOTS = ("src", "python", "lib")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


class Modules:
    """The module names of one set of paths. Import roots: the tree's root, `src`, `python`, `lib` without __init__.py,
    every project directory (with a pyproject.toml, setup.py or setup.cfg) and its customary roots, and the configured
    ones."""

    def __init__(self, paths: Iterable[str], source_roots: Iterable[str] = ()) -> None:
        self._found: dict[tuple[str, str], str | None] = {}
        self._paths = {path for path in paths if path.endswith((".py", ".pyi"))}
        self._directories = _directories(self._paths)
        self.roots = self._find_roots(paths, tuple(root.strip("/") for root in source_roots))

    def _find_roots(self, paths: Iterable[str], configured: tuple[str, ...]) -> tuple[str, ...]:
        found_projects = (path for path in paths if path.endswith(_PROJECT_FILES))
        projects = {posixpath.dirname(path) for path in found_projects if posixpath.basename(path) in _PROJECT_FILES}
        found = {""}
        for project in projects | {""}:
            candidates = [project, *(posixpath.join(project, name) for name in _CUSTOMARY_ROOTS)]
            found.update(root for root in candidates if root == "" or self._is_plain_directory(root))
        found.update(configured)
        packages = [path for path in self._paths if path.endswith("__init__.py")]
        tops = {self._package_top(path) for path in packages if posixpath.basename(path) == "__init__.py"}
        found.update(posixpath.dirname(top) for top in tops)
        return tuple(sorted(found, key=lambda root: (-len(root), root)))

    def _is_plain_directory(self, directory: str) -> bool:
        return directory in self._directories and f"{directory}/__init__.py" not in self._paths

    def _package_top(self, path: str) -> str:
        """The outermost directory with an __init__.py around a file (namespace directories between are passed over)."""
        packages = [parent for parent in _parents(path) if f"{parent}/__init__.py" in self._paths]
        return min(packages, key=len)

    def module_of(self, path: str) -> str:
        """The dotted name under the longest import root; "" for a root's own __init__.py."""
        root = next(root for root in self.roots if root == "" or path.startswith(root + "/"))
        inner = path[len(root) + 1 :] if root else path
        stem = inner.rpartition(".")[0]
        if posixpath.basename(stem) == "__init__":
            stem = posixpath.dirname(stem)
        return stem.replace("/", ".")

    def path_of(self, module: str, *, near: str = "") -> str | None:
        """The file of a dotted name (or the path itself). near: the importing file, whose directory is searched first
        when it is a script's (no __init__.py beside it)."""
        if module.endswith(".py"):
            return module if module in self._paths else None
        directory = near.rpartition("/")[0]
        is_script = bool(near) and (f"{directory}/__init__.py" if directory else "__init__.py") not in self._paths
        key = (module, directory if is_script else "")
        if key not in self._found:
            self._found[key] = self._search(module, (directory, *self.roots) if is_script else self.roots)
        return self._found[key]

    def _search(self, module: str, roots: tuple[str, ...]) -> str | None:
        inner = module.replace(".", "/")
        for root in roots:
            path = self._stems.get(f"{root}/{inner}" if root else inner)
            if path is not None:
                return path
        return None

    @cached_property
    def _stems(self) -> dict[str, str]:
        """What an import of a path without suffix finds: a package before a module, a source before a stub."""
        found: dict[str, str] = {}
        for suffix in (".pyi", "/__init__.pyi", ".py", "/__init__.py"):
            end = -len(suffix)
            found.update([(path[:end], path) for path in self._paths if path.endswith(suffix)])
        return found

    def is_package_directory(self, module: str) -> bool:
        """True when the name is a directory under some import root, with or without __init__.py."""
        inner = module.replace(".", "/")
        return any(posixpath.join(root, inner) in self._directories for root in self.roots)

    def new_path_of(self, module: str) -> str | None:
        """Where a module that does not exist yet would go; None when its package does not exist."""
        if module.endswith(".py"):
            directory = posixpath.dirname(module)
            return module if directory in self._directories or directory == "" else None
        package, _, name = module.rpartition(".")
        if not package:
            roots = [root for root in self.roots if any(posixpath.dirname(path) == root for path in self._paths)]
            return posixpath.join(roots[0], f"{name}.py") if roots else f"{name}.py"
        home = self.path_of(package)
        if home is not None and posixpath.basename(home).startswith("__init__"):
            return posixpath.join(posixpath.dirname(home), f"{name}.py")
        if home is not None:
            return None  # a module, not a package
        inner = package.replace(".", "/")
        for root in self.roots:
            if posixpath.join(root, inner) in self._directories:
                return posixpath.join(root, inner, f"{name}.py")
        return None

    def package_of(self, path: str) -> str:
        """The package that relative imports of a file start from."""
        module = self.module_of(path)
        return module if posixpath.basename(path).startswith("__init__.") else module.rpartition(".")[0]

    def absolute(self, path: str, level: int, module: str | None) -> str:
        """The dotted name that `from ..module import x` in `path` means."""
        if level == 0:
            return module or ""
        parts = self.package_of(path).split(".") if self.package_of(path) else []
        kept = parts[: len(parts) - (level - 1)] if level > 1 else parts
        return ".".join([*kept, *([module] if module else [])])


def _directories(paths: Iterable[str]) -> set[str]:
    """Every directory that has one of the files, however deep."""
    found: set[str] = set()
    for path in paths:
        at = path.rpartition("/")[0]
        while at and at not in found:
            found.add(at)
            at = at.rpartition("/")[0]
    return found


def _parents(path: str) -> Iterable[str]:
    at = path.rpartition("/")[0]
    while at:
        yield at
        at = at.rpartition("/")[0]


def modules_of(files: FileSet, source_roots: tuple[str, ...] = ()) -> Modules:
    """The module names of a file set, kept with it, and for the next one: most commits add and remove no file."""
    kept = files.notes.get("modules")
    if not isinstance(kept, Modules):
        key = (tuple(files.paths()), source_roots or files.source_roots)
        kept = _last.get(key)
        if kept is None:
            _last.clear()
            kept = _last[key] = Modules(*key)
        files.notes["modules"] = kept
    return kept


_last: dict[tuple[tuple[str, ...], tuple[str, ...]], Modules] = {}
