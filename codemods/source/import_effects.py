"""Whether importing a module of the tree does anything but define names.

Reads statements at module level only, over the modules it imports in turn; says yes where it does not know."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.modules import Modules, modules_of
from codemods.source.parse import DEFINITIONS, FUNCTIONS, parse_tree
from codemods.source.text import Text

_MOST = 25  # files read for one answer; beyond that the answer is yes

# Decorators and calls that only make an object. Written with or without their module.
_MAKERS = """
    staticmethod classmethod property cached_property setter getter deleter lru_cache cache wraps singledispatch partial
    total_ordering contextmanager asynccontextmanager dataclass field abstractmethod overload final override unique
    runtime_checkable getLogger init_logger TypeVar ParamSpec TypeVarTuple NewType NamedTuple namedtuple TypedDict Enum
    auto compile frozenset tuple set dict list range object str int float bool bytes len min max sorted sum defaultdict
    OrderedDict deque Counter ContextVar Lock RLock Event local Path PurePath getenv get join dirname abspath Decimal
    Fraction timedelta itemgetter attrgetter isinstance hasattr getattr
"""
_INERT = frozenset(_MAKERS.split())


def has_effects(files: FileSet, path: str) -> bool:
    """Whether importing the file at `path` may do more than bind names (it registers, patches, prints, opens, ...)."""
    kept = files.notes.setdefault("import effects", {})
    assert isinstance(kept, dict)
    if path not in kept:
        kept[path] = _any_effect(files, path)
    found: bool = kept[path]
    return found


def _any_effect(files: FileSet, path: str) -> bool:
    modules = modules_of(files)
    seen: list[str] = [path]
    for each in seen:  # grows
        try:
            text = Text(each, files.read(each))
            tree = parse_tree(each, text.body)
        except SourceError:
            return True
        if not all(is_inert(statement) for statement in tree.body):
            return True
        for other in _imported(modules, each, tree.body):
            if other not in seen:
                seen.append(other)
        if len(seen) > _MOST:
            return True
    return False


def _imported(modules: Modules, path: str, body: list[ast.stmt]) -> Iterable[str]:
    """Files of the tree that the module-level imports run, packages around them included."""
    for statement in body:
        names: list[str] = []
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            module = modules.absolute(path, statement.level, statement.module)
            names = [module, *(f"{module}.{alias.name}" for alias in statement.names)]
        elif isinstance(statement, ast.Try):
            yield from _imported(modules, path, [*statement.body, *statement.orelse, *statement.finalbody])
        for name in names:
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                found = modules.path_of(".".join(parts[:length]), near=path)
                if found is not None and not modules.module_of(path).startswith(".".join(parts[:length]) + "."):
                    yield found


def is_inert(node: ast.stmt) -> bool:
    """Whether a statement at module or class level only binds names."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    if isinstance(node, FUNCTIONS):
        if node.name in ("__init_subclass__", "__set_name__"):
            return False  # it runs when a class is defined
        return all(is_inert_call(each) for each in node.decorator_list) and all(map(is_inert_value, _defaults(node)))
    if isinstance(node, ast.ClassDef):
        is_plain = all(is_abstract(each) for each in node.keywords) and all(
            is_inert_call(each) for each in node.decorator_list
        )
        return is_plain and all(is_inert_value(each) for each in node.bases) and all(map(is_inert, node.body))
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        is_own = all(isinstance(each, (ast.Name, ast.Tuple)) for each in targets)
        return is_own and (node.value is None or is_inert_value(node.value))
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return is_inert_value(node.test) and all(map(is_inert, [*node.body, *node.orelse]))
    if isinstance(node, ast.Try):
        handlers = [each for handler in node.handlers for each in handler.body]
        return all(map(is_inert, [*node.body, *handlers, *node.orelse, *node.finalbody]))
    return False


def is_abstract(keyword: ast.keyword) -> bool:
    """Whether it is the metaclass that does nothing for a class but check it."""
    return keyword.arg == "metaclass" and ast.unparse(keyword.value) in ("ABCMeta", "abc.ABCMeta")


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    return [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]


def is_inert_value(node: ast.expr) -> bool:
    """Whether evaluating the expression only makes an object."""
    if isinstance(node, ast.Lambda):
        return True
    if isinstance(node, ast.Call) and not is_inert_call(node):
        return False
    if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
        return False
    return all(is_inert_value(each) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))


def is_inert_call(node: ast.expr) -> bool:
    """Whether a decorator, or the callee of a call, is known to do nothing but make an object."""
    named = node.func if isinstance(node, ast.Call) else node
    leaf = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
    return leaf in _INERT


def defines_names_only(node: ast.stmt) -> bool:
    """As `has_effects`, for one definition or constant that is about to run in another module."""
    return is_inert(node) if isinstance(node, (*DEFINITIONS, ast.Assign, ast.AnnAssign)) else False
