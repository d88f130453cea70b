"""What a callable gave back, followed to its end: generators are stepped, coroutines driven, context managers entered
and left, functions that were handed out called once."""

from __future__ import annotations

import inspect
import types
from typing import Any

from codemods.prove.errors import Fault, Stopped, Unsupported
from codemods.prove.following import Place
from codemods.prove.opaque import OP, ROOT, Opaque, term
from codemods.prove.run import Run

_STEPS = 4
_WAYS = ("next", "close", "throw", "send")


def frozen_error(run: Run, error: BaseException) -> Any:
    """An exception that left: class, text, and what it was raised from."""
    frozen = run.freezer.freeze(error)
    if isinstance(error, TypeError | AttributeError) and "Opaque" in str(error):
        raise Unsupported(str(error))
    if isinstance(error, NameError | AssertionError) and _is_ours(error):
        raise Unsupported(f"a fault of the prover itself: {type(error).__name__}: {error}")
    if error.__cause__ is not None or (error.__suppress_context__ and error.__context__ is not None):
        return ("from", frozen, run.freezer.freeze(error.__cause__))
    return frozen


def driven(run: Run, value: Any) -> Any:
    """The result, after generators have yielded, coroutines have run and context managers have been entered and
    left."""
    if value is None or type(value) is Opaque:
        return value
    if inspect.iscoroutine(value):
        return driven(run, _awaited(run, value))
    if inspect.isgenerator(value):
        return _stepped(run, value)
    if inspect.isasyncgen(value):
        return _async_stepped(run, value)
    if type(value).__name__ in ("_GeneratorContextManager", "_AsyncGeneratorContextManager"):
        return _entered(run, value)
    return value


def _awaited(run: Run, coroutine: Any) -> Any:
    steps = 0
    try:
        while steps < 64:
            run.record("suspended", run.freezer.freeze(coroutine.send(None)))
            steps += 1
    except StopIteration as done:
        return done.value
    raise Stopped("a coroutine that goes on")


def _stepped(run: Run, generator: Any) -> Any:
    """Take from a generator; after each value the world goes on, closes it, or throws into it."""
    run.record("generator")
    taken: list[tuple[Any, Any, tuple[Place, ...]]] = []
    try:
        return _steps(run, generator, taken)
    finally:
        for index, (value, frozen, stack) in enumerate(taken):
            now = run.freezer.freeze(value)
            if term(OP, "is", now) is not term(OP, "is", frozen):
                run.record("yielded", index, now)
                run.put_at(stack)


def _steps(run: Run, generator: Any, taken: list[tuple[Any, Any, tuple[Place, ...]]]) -> Any:
    sent: Any = None
    for index in range(_STEPS):
        try:
            value = generator.send(sent)
        except StopIteration as done:
            return done.value
        frozen = run.freezer.freeze(value)
        run.record("yield", frozen)
        if isinstance(value, list | dict | set):
            taken.append((value, frozen, tuple(run.left)))
        how = run.world.ask(("consume", index), _WAYS if run.takes_sent else _WAYS[:3])
        sent = term(ROOT, f"sent {index + 1}") if how == "send" else None
        if how == "close":
            generator.close()
            return None
        if how == "throw":
            generator.throw(Fault(term(OP, "thrown", index)))
            return None
    generator.close()
    return None


def _async_stepped(run: Run, generator: Any) -> Any:
    run.record("generator")
    for index in range(_STEPS):
        try:
            value = _awaited(run, generator.__anext__())
        except StopAsyncIteration:
            return None
        run.record("yield", run.freezer.freeze(value))
        if run.world.ask(("consume", index), ("next", "close")) == "close":
            break
    _awaited(run, generator.aclose())
    return None


def _entered(run: Run, manager: Any) -> Any:
    is_async = hasattr(manager, "__aenter__") and not hasattr(manager, "__enter__")
    value = _awaited(run, manager.__aenter__()) if is_async else manager.__enter__()
    run.record("entered", run.freezer.freeze(value))
    error: Any = None
    if run.world.ask(("body",), ("ok", "error")) == "error":
        error = Fault(term(OP, "body"))
    given = (None, None, None) if error is None else (type(error), error, None)
    swallowed = _awaited(run, manager.__aexit__(*given)) if is_async else manager.__exit__(*given)
    run.record("left", bool(swallowed))
    return None


def call_back(run: Run, callbacks: list[Any]) -> None:
    """Functions that were handed out are called once, as a collaborator would."""
    done = 0
    while callbacks and done < 8:
        function = callbacks.pop(0)
        done += 1
        run.record("callback", done)
        code = function.__code__
        count = code.co_argcount - isinstance(function, types.MethodType)
        args = [term(ROOT, f"callback {done}, argument {index}") for index in range(count)]
        names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        kwargs = {name: term(ROOT, f"callback {done}, {name}") for name in names}
        try:
            value = driven(run, function(*args, **kwargs))
        except (Stopped, Unsupported, RecursionError):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the subject raises is its outcome
            run.record("callback raises", frozen_error(run, error))
            continue
        run.record("callback returns", run.freezer.freeze(value))


def _is_ours(error: BaseException) -> bool:
    """Whether it was raised in the code of the prover, not in the subject's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and not trace.tb_frame.f_code.co_filename.startswith(("<old>", "<new>"))
