"""The run in which definitions are executed before any pair runs: it has no effects to compare, and what it calls is
the same value on both sides, however often and in whatever order it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codemods.prove.freeze import Freezer
from codemods.prove.opaque import CALL, Opaque, term
from codemods.prove.run import Run
from codemods.prove.world import World


class LoadRun(Run):
    """A run without memory."""

    def __init__(self, name_of: Callable[[Any], str | None]) -> None:
        super().__init__(World({}), Freezer(name_of))

    def record(self, kind: str, *payload: Any) -> None:
        """Nothing is compared."""

    def call(self, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_quiet: bool = False) -> Any:  # noqa: ARG002
        freeze = self.freezer.freeze
        named = frozenset((name, freeze(value)) for name, value in kwargs.items()) or None
        if len(args) == 1 and not kwargs and callable(args[0]) and type(args[0]) is not Opaque:
            return decorated(callee, args[0])
        return term(CALL, callee, tuple(freeze(each) for each in args), named, -1)


def decorated(decorator: Any, function: Any) -> Any:
    """A function under a decorator that is not in the trees: it runs, and that it is decorated is an effect of a
    call."""
    import functools

    from codemods.prove.opaque import current

    if isinstance(function, type):
        function._u_decorators = (*getattr(function, "_u_decorators", ()), decorator)  # type: ignore[attr-defined]
        return function

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        current.run.record("decorated", decorator)
        return function(*args, **kwargs)

    return wrapped
