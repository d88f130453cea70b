"""Module and class bodies: which definitions are compared with which, what stands between them, and the imports.

Definitions may change places; what runs while a module is loaded may not. A definition is compared when its text
differs, when it moved, or when a name in it means something else now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.schema.verdict import Problem
from codemods.verify.canon import record_fields
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims, Frame, Line
from codemods.verify.kernel import Kernel
from codemods.verify.names import Definition, Function, Names
from codemods.verify.values import NEW, OLD

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Decorators that do nothing but make another object of the function: their order can't be noticed.
_QUIET = frozenset(
    [
        "staticmethod",
        "classmethod",
        "property",
        "cached_property",
        "functools.cached_property",
        "dataclass",
        "dataclasses.dataclass",
        "lru_cache",
        "functools.lru_cache",
        "cache",
        "functools.cache",
        "contextmanager",
        "contextlib.contextmanager",
        "abstractmethod",
        "abc.abstractmethod",
        "overload",
        "typing.overload",
        "final",
        "typing.final",
        "override",
        "typing.override",
        "functools.wraps",
        "wraps",
        "torch.no_grad",
        "torch.inference_mode",
        "unique",
        "enum.unique",
        "functools.total_ordering",
        "total_ordering",
        "contextlib.asynccontextmanager",
        "asynccontextmanager",
        "runtime_checkable",
    ]
)


class Levels:
    """Compares what changed, file by file."""

    def __init__(self, change: TreeChange, claims: Claims, old: Names, new: Names) -> None:
        self.change, self.claims, self.names = change, claims, (old, new)
        self.kernel = Kernel(old, new, claims)
        self.problems: list[Problem] = []
        self._back = {after: before for before, after in claims.pairs.items()}
        self._modules = {after: before for before, after in claims.modules.items()}
        self._done: set[Definition] = set()
        self._later: list[tuple[Definition, Function, Definition, Function]] = []
        self._repeated: set[tuple[int, str, str]] = set()
        self._known: set[tuple[str, ...]] | None = None
        self._opened = self._changed_callees()

    def run(self) -> None:
        for path in sorted(self.claims.changed):
            if path in self.change.new:
                self._values(path)
                before = self._modules.get(path, path)
                has_old = before in self.change.old and (before == path or before in self.claims.modules)
                self._module(before if has_old else None, path)
        for path in sorted(self.claims.changed):
            if path in self.change.old and path not in self.change.new and path not in self.claims.modules:
                self._gone(path)
        for before, _was, after, _node in self._later:
            if not self.kernel.canon[NEW].is_reached(after):
                self.kernel.function(before, after, self._given(before, after), "move")

    # ---- a module

    def _module(self, before: str | None, after: str) -> None:
        old = self.names[OLD].tree(before).body if before else []
        new = self.names[NEW].tree(after).body
        self._shifted = self._shifted_names(before, after)
        self._imports(before, after)
        fo, fn = _level_frame(OLD, before or after), _level_frame(NEW, after)
        self._body(old, fo, new, fn)

    def _body(self, old: list[ast.stmt], fo: Frame, new: list[ast.stmt], fn: Frame) -> None:
        """The statements of one level; definitions by name, the rest in order."""
        self._in_order(old, fo, new, fn)
        for node in new:
            if isinstance(node, _DEFINITIONS):
                self._definition((fn.path, _qualname(fn, node)), node)

    def _definition(self, after: Definition, node: Function | ast.ClassDef) -> None:
        before = self._partner(after)
        if before is None or after in self._done:
            return
        self._done.add(after)
        was = self.names[OLD].definitions(before[0]).get(before[1])
        if isinstance(was, ast.ClassDef) and isinstance(node, ast.ClassDef):
            self._class(before, was, after, node)
        elif not isinstance(was, ast.ClassDef) and not isinstance(node, ast.ClassDef) and was is not None:
            self._function(before, was, after, node)  # type: ignore[arg-type]

    def _partner(self, after: Definition) -> Definition | None:
        before = self._back.get(after, after)
        path = self._modules.get(before[0], before[0])
        for each in (before, (path, before[1])):
            if self.names[OLD].has(each) and self.names[NEW].has(after):
                return each
        return None

    def _class(self, before: Definition, was: ast.ClassDef, after: Definition, node: ast.ClassDef) -> None:
        fo, fn = _level_frame(OLD, before[0], before[1]), _level_frame(NEW, after[0], after[1])
        kind = "move" if before != after else "format"
        self._head(was, fo, node, fn, kind)
        if before == after and ast.dump(was) == ast.dump(node) and not self._is_touched(node, after[0]):
            return
        self._body(was.body, fo, node.body, fn)

    def _head(self, was: ast.ClassDef, fo: Frame, node: ast.ClassDef, fn: Frame, kind: str) -> None:
        mark = len(self.kernel.lines)
        frames = _level_frame(OLD, fo.path), _level_frame(NEW, fn.path)
        for side, each, frame in ((OLD, was, fo), (NEW, node, fn)):
            first = min([each.lineno, *(part.lineno for part in each.decorator_list)])
            self.kernel.lines.append(Line(side, frame.path, first, max(first, each.body[0].lineno - 1), kind))
        if was.name != node.name and self.claims.pairs.get((fo.path, fo.title)) != (fn.path, fn.title):
            self.kernel.lines.append(Line(NEW, fn.path, node.lineno, node.lineno, "residue", "another name"))
        for name in ("decorator_list", "bases", "keywords"):
            self.kernel._list(was, getattr(was, name), frames[0], node, getattr(node, name), frames[1])
        self._blame(mark, fn.path, node.lineno)

    def _function(self, before: Definition, was: Function, after: Definition, node: Function) -> None:
        is_same = before == after and ast.dump(was) == ast.dump(node)
        if is_same and not self._is_touched(node, after[0]):
            return
        if self.kernel.canon[NEW].is_opened(after):
            self._later.append((before, was, after, node))
            return
        mark = len(self.kernel.lines)
        kind = "move" if before != after else "format"
        self.kernel.function(before, after, {}, kind)
        if is_same:
            self._blame(mark, after[0], node.lineno)

    def _blame(self, mark: int, path: str, line: int) -> None:
        """Where the text is the same and the meaning is not, there is no changed line to take the blame."""
        del path, line
        for each in self.kernel.lines[mark:]:
            if each.reason and each.side == NEW:
                self.problems.append(
                    Problem(each.path, each.first, each.code or "U107", "a name on this line means something else now")
                )
                break

    # ---- order

    def _in_order(self, old: list[ast.stmt], fo: Frame, new: list[ast.stmt], fn: Frame) -> None:
        """What runs when the level is loaded, apart from definitions that nothing can notice."""
        a, b = list(self._running(old, fo)), list(self._running(new, fn))
        if [ast.dump(node) for node in a] == [ast.dump(node) for node in b] and not any(
            self._is_touched(node, fn.path) for node in b
        ):
            return
        canon = self.kernel.canon
        self.kernel.level(canon[OLD].items(a, fo), canon[NEW].items(b, fn))

    def _running(self, body: list[ast.stmt], frame: Frame) -> Iterator[ast.stmt]:
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not frame.title:
                continue
            if isinstance(node, _DEFINITIONS):
                if _is_noticed(node) and record_fields(node) is None:
                    yield _stub(node)
            elif _is_for_types(node) or (isinstance(node, (ast.Assign, ast.AnnAssign)) and self._is_value(node, frame)):
                continue
            else:
                yield node

    def _is_value(self, node: ast.Assign | ast.AnnAssign, frame: Frame) -> bool:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(
            isinstance(each, ast.Name) and (frame.side, frame.path, each.id) in self._repeated for each in targets
        )

    # ---- names

    def _shifted_names(self, before: str | None, after: str) -> frozenset[str]:
        """Global names of a file that mean something else than before."""
        if before is None:
            return frozenset()
        old, new = self.names[OLD].table(before), self.names[NEW].table(after)
        canon = self.kernel.canon
        fo, fn = _level_frame(OLD, before), _level_frame(NEW, after)
        return frozenset(
            name for name in {*old, *new} if canon[OLD].reference(name, fo) != canon[NEW].reference(name, fn)
        )

    def _changed_callees(self) -> frozenset[str]:
        """Names of functions that take other parameters now or are gone: calls of them have to be looked at."""
        found = set()
        for before, after in self.claims.pairs.items():
            if self.kernel.canon[NEW].is_opened(after):
                found |= {before[1].rpartition(".")[2], after[1].rpartition(".")[2]}
        for side in (OLD, NEW):
            found |= set(self.claims.loose[side])
        return frozenset(found)

    def _is_touched(self, node: ast.AST, path: str) -> bool:
        del path
        words = self._shifted | self._opened
        if not words:
            return False
        return any(
            (isinstance(each, ast.Name) and each.id in words)
            or (isinstance(each, ast.Attribute) and each.attr in self._opened)
            for each in ast.walk(node)
        )

    def _given(self, before: Definition, after: Definition) -> dict[str, ast.expr]:
        """For a function nobody was seen to call: its new parameters stand for attributes of the same name."""
        was, node = (
            names.definitions(each[0])[each[1]] for names, each in zip(self.names, (before, after), strict=True)
        )
        assert isinstance(was, (ast.FunctionDef, ast.AsyncFunctionDef))
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        known = {arg.arg for arg in [*was.args.args, *was.args.kwonlyargs]}
        names = [arg.arg for arg in [*node.args.args, *node.args.kwonlyargs] if arg.arg not in known]
        first = was.args.args[0].arg if was.args.args else "self"
        return {name: ast.Attribute(ast.Name(first, ast.Load()), name, ast.Load()) for name in names}

    # ---- imports

    def _imports(self, before: str | None, after: str) -> None:
        """Import lines are explained by what they bind: is it used, and does it mean the same?"""
        old = self.names[OLD].tree(before) if before else ast.Module([], [])
        new = self.names[NEW].tree(after)
        was, now = _loaded(old), _loaded(new)
        self._import_lines(OLD, before or after, old, lambda name: name in was and name not in now, self._names(new))
        self._import_lines(NEW, after, new, lambda name: name in now, self._names(old))

    def _names(self, tree: ast.Module) -> set[tuple[str, str]]:
        return {(_module_of(node), ast.dump(alias)) for node in _imports(tree) for alias in node.names}

    def _import_lines(
        self, side: int, path: str, tree: ast.Module, is_fine: object, other: set[tuple[str, str]]
    ) -> None:
        for node in tree.body:
            if _is_for_types(node):
                self.kernel.lines.append(Line(side, path, node.lineno, node.lineno, "import"))
        for node in _imports(tree):
            kept = [alias for alias in node.names if (_module_of(node), ast.dump(alias)) in other]
            moved = [alias for alias in node.names if alias not in kept]
            self.kernel.lines.append(Line(side, path, node.lineno, node.end_lineno or node.lineno, "import"))
            for alias in moved:
                name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                is_special = isinstance(node, ast.ImportFrom) and (node.module == "__future__" or name == "*")
                if is_special and node.module == "__future__" and alias.name == "annotations":  # type: ignore[union-attr]
                    continue
                if is_special or not is_fine(name):  # type: ignore[operator]
                    reason = "nothing uses this import" if side == NEW else "an import that only loads a module is gone"
                    if side == OLD and self._is_rebound(name, path):
                        continue
                    self.kernel.lines.append(Line(side, path, alias.lineno, alias.lineno, "residue", reason, "U109"))

    def _is_rebound(self, name: str, path: str) -> bool:
        """Whether the new file has the name from elsewhere: that it means the same is seen where it is used."""
        after = self.claims.modules.get(path, path)
        return after in self.names[NEW].files and name in self.names[NEW].table(after)

    def _values(self, path: str) -> None:
        """Module-level values: those that every module may make for itself, and those that moved."""
        canon = self.kernel.canon
        for name, node in self.names[NEW].definitions(path).items():
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or "." in name:
                continue
            same = canon[NEW].repeatable(("top", path, name))
            was = self._back.get((path, name))
            is_new = not self.names[OLD].has((self._modules.get(path, path), name))
            if same is not None and is_new and same in self._repeatable():
                self._repeated.add((NEW, path, name))
                self.kernel.lines.append(Line(NEW, path, node.lineno, node.end_lineno or node.lineno, "support"))
            elif was is not None and was[0] != path:
                self._moved_value(was, (path, name), node)

    def _moved_value(self, was: Definition, now: Definition, node: ast.Assign | ast.AnnAssign) -> None:
        before = self.names[OLD].definitions(was[0])[was[1]]
        assert isinstance(before, (ast.Assign, ast.AnnAssign))
        self._repeated |= {(OLD, *was), (NEW, *now)}
        fo, fn = _level_frame(OLD, was[0]), _level_frame(NEW, now[0])
        for side, each, frame in ((OLD, before, fo), (NEW, node, fn)):
            self.kernel.lines.append(Line(side, frame.path, each.lineno, each.end_lineno or each.lineno, "move"))
        if before.value is not None and node.value is not None:
            self.kernel.same(before.value, fo, node.value, fn)

    def _repeatable(self) -> set[tuple[str, ...]]:
        """What the old files had of these values."""
        if self._known is None:
            canon = self.kernel.canon[OLD]
            self._known = {
                same
                for path in self.claims.changed
                if path in self.change.old
                for name in self.names[OLD].definitions(path)
                if (same := canon.repeatable(("top", path, name))) is not None
            }
        return self._known

    def _gone(self, path: str) -> None:
        for node in _imports(self.names[OLD].tree(path)):
            self.kernel.lines.append(Line(OLD, path, node.lineno, node.end_lineno or node.lineno, "import"))


def _level_frame(side: int, path: str, title: str = "") -> Frame:
    return Frame(side=side, path=path, names=frozenset(), number=0, title=title, scope=title, kind="format")


def _qualname(frame: Frame, node: Function | ast.ClassDef) -> str:
    return f"{frame.title}.{node.name}" if frame.title else node.name


def _is_noticed(node: Function | ast.ClassDef) -> bool:
    """Whether making the definition may be seen by others: a decorator that registers, a base that counts."""
    words = [ast.unparse(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
    quiet = all(word in _QUIET or word.endswith((".setter", ".getter", ".deleter")) for word in words)
    return not quiet or (isinstance(node, ast.ClassDef) and bool(node.keywords))


def _stub(node: Function | ast.ClassDef) -> ast.stmt:
    """What stands for a definition in the order of things: its name and its decorators."""
    name = ast.copy_location(ast.Constant(node.name), node)
    value = ast.copy_location(ast.Tuple([name, *node.decorator_list], ast.Load()), node)
    return ast.copy_location(ast.Expr(value), node)


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    todo: list[ast.stmt] = list(tree.body)
    for node in todo:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif _is_for_types(node):
            todo += node.body  # type: ignore[attr-defined]


def _is_for_types(node: ast.stmt) -> bool:
    """`if TYPE_CHECKING:` with nothing but imports in it."""
    return (
        isinstance(node, ast.If)
        and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        and all(isinstance(each, (ast.Import, ast.ImportFrom)) for each in node.body)
        and not node.orelse
    )


def _module_of(node: ast.Import | ast.ImportFrom) -> str:
    return "" if isinstance(node, ast.Import) else "." * node.level + (node.module or "")


def _loaded(tree: ast.Module) -> set[str]:
    """Names a file reads, also in annotations that are text and in `__all__`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            found.update(re.findall(r"[^\W\d]\w*", node.value))
    return found
