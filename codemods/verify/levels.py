"""Module and class bodies: which definitions are compared with which, what stands between them, and the imports.

Definitions may change places; what runs while a module is loaded may not. A definition is compared when its text
differs, when it moved, or when a name in it means something else now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec.structs import replace

from codemods.schema.verdict import Problem
from codemods.source.index import mentioning
from codemods.source.nodes import first_line, walk
from codemods.verify.change import TreeChange
from codemods.verify.forms import places, record_fields, signature, without_docstring
from codemods.verify.frames import Claims, Frame, Line, level_frame
from codemods.verify.kernel import Kernel
from codemods.verify.level_given import given
from codemods.verify.level_imports import ImportLines
from codemods.verify.level_loading import is_for_types
from codemods.verify.level_moments import has_lazy_annotations
from codemods.verify.level_order import Order
from codemods.verify.level_values import ValueLines, same_apart
from codemods.verify.moments import NEW, OLD
from codemods.verify.names import Definition, Names
from codemods.verify.scopes import Function, own_name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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
        self._order = Order(self.names)
        self.imports = ImportLines(change, claims, self.names, self.kernel)
        self._values = ValueLines(change, claims, self.names, self.kernel)
        self._pattern: tuple[frozenset[str], re.Pattern[bytes]] | None = None
        self._opened = self._changed_callees()

    def run(self) -> None:
        self._values.run()
        for path in sorted(self.claims.changed):
            if path in self.change.new:
                before = self._modules.get(path, path)
                has_old = before in self.change.old and (before == path or before in self.claims.modules)
                self._module(before if has_old else None, path)
        for path in sorted(self.claims.changed):
            if path in self.change.old and path not in self.change.new and path not in self.claims.modules:
                self.imports.gone(path)
        for older, was, after, node in self._later:
            if after not in self.kernel.matched:
                self.kernel.function(older, after, given(self.kernel, self.names, older, after), "move")
            if (self._modules.get(after[0], after[0]), after[1]) == older:
                self._defaults(was, level_frame(OLD, older[0]), node, level_frame(NEW, after[0]))
        self._records()
        self.problems += self.imports.problems

    def _records(self) -> None:
        """The decorators of a record class belong to what was said of the class."""
        known = {
            (line.path, line.first): line.kind for line in self.kernel.lines if line.side == NEW and not line.reason
        }
        for path in sorted(self.claims.changed):
            for node in self.names[NEW].tree(path).body if path in self.change.new else ():
                kind = known.get((path, node.lineno))
                if isinstance(node, ast.ClassDef) and kind and record_fields(node) is not None:
                    for each in node.decorator_list:
                        self.kernel.lines.append(Line(NEW, path, each.lineno, each.end_lineno or each.lineno, kind))

    # ---- a module

    def _module(self, before: str | None, after: str) -> None:
        old = self.names[OLD].tree(before).body if before else []
        new = self.names[NEW].tree(after).body
        self._shifted = self._shifted_names(before, after)
        self.imports.module(before, after)
        fo, fn = level_frame(OLD, before or after), level_frame(NEW, after)
        self._body(old, fo, new, fn)

    def _body(self, old: list[ast.stmt], fo: Frame, new: list[ast.stmt], fn: Frame) -> None:
        """The statements of one level; definitions by name, the rest in order."""
        old, new = self._without_docstring(old, fo), self._without_docstring(new, fn)
        self._in_order(old, fo, new, fn)
        if self._order.may_turn(fn):
            self._turned(old, fo, new, fn)
        for node in new:
            if isinstance(node, _DEFINITIONS):
                self._definition((fn.path, _qualname(fn, node)), node)

    def _without_docstring(self, body: list[ast.stmt], frame: Frame) -> list[ast.stmt]:
        rest = list(without_docstring(body)) if body else []
        if len(rest) < len(body):
            first, last = body[0].lineno, body[0].end_lineno or body[0].lineno
            self.kernel.lines.append(Line(frame.side, frame.path, first, last, "docstring", function=frame.title))
        return rest

    def _turned(self, old: list[ast.stmt], fo: Frame, new: list[ast.stmt], fn: Frame) -> None:
        """Definitions that only changed their order."""
        before = {node.name: node for node in old if isinstance(node, _DEFINITIONS)}
        after = {node.name: node for node in new if isinstance(node, _DEFINITIONS)}
        if [name for name in before if name in after] == [name for name in after if name in before]:
            return
        for name, node in after.items():
            was = before.get(name)
            titles = [_qualname(frame, node) for frame in (fo, fn)]
            known = self.names[OLD].has((fo.path, titles[0])) and self.names[NEW].has((fn.path, titles[1]))
            is_same = was is not None and known and self._is_same(was, fo.path, node, fn.path)
            if is_same and was is not None and self._order.is_quiet(node, fn.path):
                self._lines(was, fo, node, fn, "order")

    def _lines(self, was: ast.stmt, fo: Frame, node: ast.stmt, fn: Frame, kind: str) -> None:
        for each, frame in ((was, fo), (node, fn)):
            first = first_line(each)
            last = each.end_lineno or each.lineno
            self.kernel.lines.append(Line(frame.side, frame.path, first, last, kind, function=frame.title))

    def _definition(self, after: Definition, node: Function | ast.ClassDef) -> None:
        before = self._partner(after)
        if before is None or after in self._done:
            return
        self._done.add(after)
        was = self.names[OLD].definitions(before[0]).get(before[1])
        if isinstance(was, ast.ClassDef) and isinstance(node, ast.ClassDef):
            self._class(before, was, after, node)
        elif isinstance(was, (ast.FunctionDef, ast.AsyncFunctionDef)) and not isinstance(node, ast.ClassDef):
            self._function(before, was, after, node)

    def _partner(self, after: Definition) -> Definition | None:
        before = self._back.get(after, after)
        path = self._modules.get(before[0], before[0])
        for each in (before, (path, before[1])):
            if self.names[OLD].has(each) and self.names[NEW].has(after):
                return each
        return None

    def _class(self, before: Definition, was: ast.ClassDef, after: Definition, node: ast.ClassDef) -> None:
        fo, fn = level_frame(OLD, before[0], before[1]), level_frame(NEW, after[0], after[1])
        kind = "move" if before != after else "format"
        self._head(was, fo, node, fn, kind)
        is_lazier = self._is_lazy(OLD, before[0]) is not self._is_lazy(NEW, after[0]) and _has_fields(node)
        is_same = before == after and self._is_same(was, before[0], node, after[0])
        if is_same and not is_lazier and not self._is_touched(node, after[0]):
            return
        self._values.fields(was, fo, node, fn)
        if is_lazier:
            reason = "its annotations are text on one side, and evaluated on the other"
            self.kernel.lines.append(Line(NEW, after[0], node.lineno, node.lineno, "residue", reason))
        self._values.slots(was, fo, node, fn)
        self._body(was.body, fo, node.body, fn)

    def _is_lazy(self, side: int, path: str) -> bool:
        return has_lazy_annotations(self.names[side].tree(path))

    def _head(self, was: ast.ClassDef, fo: Frame, node: ast.ClassDef, fn: Frame, kind: str) -> None:
        frames = level_frame(OLD, fo.path), level_frame(NEW, fn.path)
        for side, each, frame in ((OLD, was, fo), (NEW, node, fn)):
            first = first_line(each)
            self.kernel.lines.append(Line(side, frame.path, first, max(first, each.body[0].lineno - 1), kind))
        if was.name != node.name and self.claims.pairs.get((fo.path, fo.title)) != (fn.path, fn.title):
            self.kernel.lines.append(Line(NEW, fn.path, node.lineno, node.lineno, "residue", "another name"))
        self.kernel.level((), ())
        for name in ("decorator_list", "bases", "keywords"):
            self.kernel._list(was, getattr(was, name), frames[0], node, getattr(node, name), frames[1])

    def _function(self, before: Definition, was: Function, after: Definition, node: Function) -> None:
        is_same = before == after and self._is_same(was, before[0], node, after[0])
        if is_same and not self._is_touched(node, after[0]):
            return
        if self.kernel.canon[NEW].is_opened(after):
            self._later.append((before, was, after, node))
            return
        self.kernel.function(before, after, {}, "move" if before != after else "format")

    def _defaults(self, was: Function, fo: Frame, node: Function, fn: Frame) -> None:
        """A function that stays where it is keeps the defaults of the parameters it keeps."""
        before, after = _given_defaults(was), _given_defaults(node)
        for name in before.keys() & after.keys():
            x, y = before[name], after[name]
            is_same = same_apart(self.kernel, x, fo, y, fn) if x and y else x is y
            if not is_same:
                line = node.lineno
                self.kernel.lines.append(Line(NEW, fn.path, line, line, "residue", f"`{name}` has another default"))

    # ---- order

    def _in_order(self, old: list[ast.stmt], fo: Frame, new: list[ast.stmt], fn: Frame) -> None:
        """What runs when the level is loaded, apart from definitions that nothing can notice."""
        a, b = list(self._running(old, fo)), list(self._running(new, fn))
        is_here = (fo.path, fo.title) == (fn.path, fn.title)
        is_same = is_here and [ast.dump(node) for node in a] == [ast.dump(node) for node in b]
        if is_same and not any(self._is_touched(node, fn.path) for node in b):
            return
        if not is_here:
            fo, fn = replace(fo, kind="move"), replace(fn, kind="move")
        canon = self.kernel.canon
        self.kernel.level(canon[OLD].items(a, fo), canon[NEW].items(b, fn))

    def _running(self, body: list[ast.stmt], frame: Frame) -> Iterator[ast.stmt]:
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not frame.title:
                continue
            if isinstance(node, _DEFINITIONS):
                stub = self._order.stands_for(node, frame)
                if stub is not None:
                    yield stub
            elif is_for_types(node) or (isinstance(node, (ast.Assign, ast.AnnAssign)) and self._is_value(node, frame)):
                continue
            else:
                yield node

    def _is_value(self, node: ast.Assign | ast.AnnAssign, frame: Frame) -> bool:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        head = f"{frame.title}." if frame.title else ""
        return all(
            isinstance(each, ast.Name) and (frame.side, frame.path, head + each.id) in self._values.apart
            for each in targets
        )

    # ---- names

    def _shifted_names(self, before: str | None, after: str) -> frozenset[str]:
        """Global names of a file that mean something else than before."""
        if before is None:
            return frozenset()
        old, new = self.names[OLD].table(before), self.names[NEW].table(after)
        canon = self.kernel.canon
        fo, fn = level_frame(OLD, before), level_frame(NEW, after)
        return frozenset(
            name for name in {*old, *new} if canon[OLD].reference(name, fo) != canon[NEW].reference(name, fn)
        )

    def _changed_callees(self) -> frozenset[str]:
        """Names of functions that take other parameters now or are gone: calls of them have to be looked at."""
        found = {each[1].rpartition(".")[2] for each in self.claims.unpaired}
        for before, after in self.claims.pairs.items():
            if self.kernel.canon[NEW].is_opened(after):
                found |= {before[1].rpartition(".")[2], after[1].rpartition(".")[2]}
        for side in (OLD, NEW):
            found |= set(self.claims.loose[side])
        for was, now, *nodes in self._kept_functions():
            if signature(nodes[OLD], was) != signature(nodes[NEW], now):
                found.add(now[1].rpartition(".")[2])
                owners = [each[1].rpartition(".")[0] for each in (was, now)]
                stood, stands = places(nodes[OLD], owners[OLD]), places(nodes[NEW], owners[NEW])
                if any(stood[name] != stands[name] for name in stood.keys() & stands.keys()):
                    self._turn(now, nodes[NEW])
        return frozenset(found)

    def _kept_functions(self) -> Iterator[tuple[Definition, Definition, Function, Function]]:
        """Functions that stand where they stood, and do not say what they said."""
        old, new = self.names
        for path in sorted(self.claims.changed):
            before = self._modules.get(path, path)
            if path not in self.change.new or before not in self.change.old:
                continue
            texts = old.digests(before)
            changed = [name for name, text in new.digests(path).items() if texts.get(name, text) != text]
            for name in changed:
                was, node = old.definitions(before)[name], new.definitions(path)[name]
                if isinstance(node, _FUNCTIONS) and isinstance(was, _FUNCTIONS):
                    yield (before, name), (path, name), was, node

    def _turn(self, now: Definition, node: Function) -> None:
        """Parameters changed their places: every call has to be compared, and nothing else may use the function."""
        leaf = now[1].rpartition(".")[2]
        self.kernel.turned.add(leaf)
        word = now[1].rpartition(".")[0].rpartition(".")[2] if leaf == "__init__" else leaf
        left = [each for each in mentioning(self.change.new, word) if each not in self.claims.changed]
        if left:
            reason = f"parameters changed their places, and {left[0]} may call it"
            self.kernel.lines.append(Line(NEW, now[0], node.lineno, node.lineno, "residue", reason, "U121", now[1]))

    def _is_touched(self, node: ast.stmt, path: str) -> bool:
        """Whether a name in it means something else than before, or a call in it has to be looked at."""
        words = self._shifted | self._opened
        if words and (self._pattern is None or self._pattern[0] != words):
            text = b"|".join(re.escape(each.encode()) for each in sorted(words))
            self._pattern = (words, re.compile(rb"(?<!\w)(?:" + text + rb")(?!\w)"))
        if not words or self._pattern is None or not self._pattern[1].search(self.names[NEW].text(path, node)):
            return False
        return any(
            (isinstance(each, ast.Name) and each.id in words)
            or (isinstance(each, ast.Attribute) and each.attr in self._opened)
            for each in walk(node)
        )

    def _is_same(self, was: ast.stmt, before: str, node: ast.stmt, after: str) -> bool:
        """Whether two statements are the same but for layout."""
        if was.col_offset == node.col_offset and self.names[OLD].text(before, was) == self.names[NEW].text(after, node):
            return True
        # A class is compared part by part where its text differs: cheaper than to spell out all of it.
        return not isinstance(node, ast.ClassDef) and ast.dump(was) == ast.dump(node)


def _qualname(frame: Frame, node: Function | ast.ClassDef) -> str:
    return f"{frame.title}.{own_name(node)}" if frame.title else own_name(node)


def _has_fields(node: ast.ClassDef) -> bool:
    """Whether somebody may read the annotations in the body of a class."""
    is_plain = not (node.decorator_list or node.bases or node.keywords)
    return not is_plain and any(isinstance(each, ast.AnnAssign) for each in node.body)


def _given_defaults(node: Function) -> dict[str, ast.expr | None]:
    args = node.args
    plain = [each.arg for each in [*args.posonlyargs, *args.args]]
    found: dict[str, ast.expr | None] = dict.fromkeys(plain)
    found |= dict(zip(reversed(plain), reversed(args.defaults), strict=False))
    return found | {each.arg: value for each, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)}
