"""What the order of definitions can show: which of them run something, or may be noticed by others, when they are made.

Everything else may stand anywhere in its module or class."""

from __future__ import annotations

import ast
import re

from codemods.source.import_effects import is_inert, is_inert_value
from codemods.source.nodes import walk
from codemods.verify.forms import record_fields
from codemods.verify.frames import Frame
from codemods.verify.level_moments import reads_at_load
from codemods.verify.moments import NEW
from codemods.verify.names import Names
from codemods.verify.scopes import Function

# Decorators that do nothing but make another object of the function: their order can't be noticed.
_QUIET_NAMES = """
    staticmethod classmethod property cached_property functools.cached_property dataclass dataclasses.dataclass
    lru_cache functools.lru_cache cache functools.cache contextmanager contextlib.contextmanager abstractmethod
    abc.abstractmethod overload typing.overload final typing.final override typing.override functools.wraps wraps
    torch.no_grad torch.inference_mode unique enum.unique functools.total_ordering total_ordering
    contextlib.asynccontextmanager asynccontextmanager runtime_checkable
"""
_QUIET = frozenset(_QUIET_NAMES.split())


class Order:
    """Answers for both trees."""

    def __init__(self, names: tuple[Names, Names]) -> None:
        self.names = names

    def stands_for(self, node: Function | ast.ClassDef, frame: Frame) -> ast.stmt | None:
        """What stands for a definition in the order of things; None when nothing can notice when it is made."""
        if record_fields(node) is not None:
            return None
        is_seen = _is_noticed(node) or self._depends(node, frame)
        if is_seen or (isinstance(node, ast.ClassDef) and self._counts(node, frame.path)):
            return _stub(node)
        return None

    def _depends(self, node: Function | ast.ClassDef, frame: Frame) -> bool:
        """Whether making it reads what may be another value later: a name that is bound again, an item of a table."""
        args = [] if isinstance(node, ast.ClassDef) else [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and _is_mark(ast.unparse(call.func)):
                args += [*call.args, *(keyword.value for keyword in call.keywords)]
        parts = [*args, *(getattr(node, "bases", ()))]
        if any(not is_inert_value(each) for each in args):
            return True
        table = self.names[frame.side].table(frame.path)
        for part in parts:
            for each in walk(part):
                if isinstance(each, ast.Name) and len(table.get(each.id, ())) > 1:
                    return True
                if isinstance(each, ast.Subscript) and part in args:
                    return True
        return False

    def is_quiet(self, node: Function | ast.ClassDef, path: str) -> bool:
        """Whether making a definition earlier or later comes to the same."""
        table = self.names[NEW].table(path)
        return is_inert(node) and all(len(table.get(name, ())) < 2 for name in reads_at_load(node, {}, is_lazy=True))

    def may_turn(self, frame: Frame) -> bool:
        """Whether the order of plain definitions can't be noticed: nobody lists what the module or class holds."""
        node = self.names[NEW].definitions(frame.path).get(frame.title) if frame.title else None
        if isinstance(node, ast.ClassDef) and (node.decorator_list or node.keywords or self._counts(node, frame.path)):
            return False
        raw = self.names[NEW].files.read(frame.path)
        return re.search(rb"\b(?:globals|vars|dir|getmembers)\(|\b__dict__\b", raw) is None

    def _counts(self, node: ast.ClassDef, path: str, hops: int = 6) -> bool:
        """Whether making a class may be noticed by one of its bases in the tree."""
        for base in node.bases:
            text = ast.unparse(base)
            ref = self.names[NEW].followed(path, text.split(".")) if text.replace(".", "").isidentifier() else None
            found = self.names[NEW].definitions(ref[1]).get(ref[2]) if ref is not None and ref[0] == "top" else None
            if isinstance(found, ast.ClassDef) and ref is not None:
                hooks = any(getattr(each, "name", "") == "__init_subclass__" for each in found.body)
                if hooks or found.keywords or hops == 0 or self._counts(found, ref[1], hops - 1):
                    return True
        return False


def _is_noticed(node: Function | ast.ClassDef) -> bool:
    """Whether making the definition may be seen by others: a decorator that registers, a base that counts."""
    words = [ast.unparse(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
    quiet = all(word in _QUIET or _is_mark(word) or word.endswith((".setter", ".getter", ".deleter")) for word in words)
    return not quiet or (isinstance(node, ast.ClassDef) and bool(node.keywords))


def _is_mark(word: str) -> bool:
    """Whether a decorator of a test only writes something down on it."""
    return word.startswith("pytest.mark.")


def _stub(node: Function | ast.ClassDef) -> ast.stmt:
    """What stands for a definition in the order of things: its name and its decorators."""
    name = ast.copy_location(ast.Constant(node.name), node)
    value = ast.copy_location(ast.Tuple([name, *node.decorator_list], ast.Load()), node)
    return ast.copy_location(ast.Expr(value), node)
