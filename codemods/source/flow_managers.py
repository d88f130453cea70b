"""Which context managers may end an exception, so that control goes on behind the `with`. Judged by name alone; who has
types at hand passes another judge to `flow_of`."""

from __future__ import annotations

import ast
from collections.abc import Callable

Swallows = Callable[[ast.withitem], bool]

# Managers that let exceptions through, by the last word of what is called or named.
_TRANSPARENT = frozenset(
    {"open", "closing", "nullcontext", "redirect_stdout", "redirect_stderr", "catch_warnings", "localcontext"}
    | {"scandir"}
    | {"TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile", "ThreadPoolExecutor", "ProcessPoolExecutor"}
    | {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Pool", "Popen", "socket", "ZipFile", "timeout"}
    | {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast", "profile", "record_function"}
)
_LOCK_WORDS = ("lock", "mutex", "semaphore")


def may_swallow(item: ast.withitem) -> bool:
    """Whether the manager may end an exception. Known ones don't; something called a lock is taken for one."""
    at = item.context_expr
    while isinstance(at, (ast.Call, ast.Await)):
        at = at.func if isinstance(at, ast.Call) else at.value
    word = at.attr if isinstance(at, ast.Attribute) else getattr(at, "id", "")
    return word not in _TRANSPARENT and not word.lower().endswith(_LOCK_WORDS)
