"""How calls are noticed before Python 3.12: each target is wrapped as it is made.

A module with targets is compiled here, with one more decorator on each of them, nearest to the function, so that every
other decorator, alias and registry gets the wrapped one. A program's own file (`python x.py`) is not imported: there
the name is replaced as soon as it is bound. Asynchronous generators are left alone. Standard library alone."""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import inspect
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from .record_calls import Recorder  # noqa: TID252 -- see record_values.py
from .record_entries import Target  # noqa: TID252
from .record_names import PROGRAM_NAMES, Wanted, is_file_of  # noqa: TID252

_current: list[Wrapper] = []


class Wrapper:
    """Finds the targets' modules before anybody else does, and wraps what is wanted in them."""

    def __init__(self, recorder: Recorder, wanted: Wanted) -> None:
        self.recorder, self.wanted = recorder, wanted

    def start(self) -> bool:
        _current[:] = [self]
        sys.meta_path.insert(0, self)
        for module, names in self.wanted.modules.items():
            if module in sys.modules:  # the recorder needed it first
                for name in sorted(names):
                    self.replace(sys.modules[module], name.split("."))
        argv = getattr(sys, "argv", None) or [""]
        modules = [module for module in self.wanted.modules if is_file_of(argv[0], module)]
        if modules:
            sys.settrace(_Program(self).trace)
        if any("multiprocessing" in argument for argument in sys.orig_argv):
            self._watch_runpy()
        return True

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """The spec that the other finders have, with a loader that wraps."""
        if name not in self.wanted.modules and name.removesuffix(".__main__") not in self.wanted.modules:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is None:
                continue
            if type(spec.loader) is importlib.machinery.SourceFileLoader:
                spec.loader = _Loader(spec.loader.name, spec.loader.path)
                _Loader.wanted = self.wanted
            return spec  # type: ignore[no-any-return]
        return None

    def _watch_runpy(self) -> None:
        """A process of multiprocessing runs the program's file once more, and not by an import."""
        import runpy

        read = vars(runpy)["_get_code_from_file"]

        def read_wrapped(*args: Any) -> Any:
            found = read(*args)
            names = {
                name
                for module, names in self.wanted.modules.items()
                if is_file_of(os.fsdecode(args[-1]), module)
                for name in names
            }
            if not names:
                return found
            with open(args[-1], "rb") as file:
                code = _compiled(file.read(), os.fsdecode(args[-1]), names)
            return (code, *found[1:]) if isinstance(found, tuple) else code

        vars(runpy)["_get_code_from_file"] = read_wrapped

    def wrapped(self, function: Any) -> Any:
        """The function with a recorder around it; itself when it is not wanted, or is wrapped already."""
        if not isinstance(function, types.FunctionType) or hasattr(function, "__unmoved_target__"):
            return function
        code = function.__code__
        name = self.wanted.name_of(function.__qualname__, function.__globals__, code.co_filename)
        if not name or code.co_flags & inspect.CO_ASYNC_GENERATOR:
            return function
        target = self.recorder.add(name, code, function.__globals__)
        made = _around(self.recorder, target, function)
        functools.update_wrapper(made, function)
        made.__unmoved_target__ = name
        return made

    def replace(self, owner: Any, path: Sequence[str]) -> None:
        """Wrap what `owner` has under a dotted name, when it is bound there: a function, or all those of a class."""
        names, name = vars(owner), path[0]
        if isinstance(owner, type) and name.startswith("__") and name not in names:
            name = f"_{owner.__name__.lstrip('_')}{name}"
        found = names.get(name)
        if len(path) > 1 and isinstance(found, type):
            self.replace(found, path[1:])
        elif isinstance(found, type):
            for name in list(vars(found)):
                self._replace_one(found, name, vars(found)[name])
        elif found is not None:
            self._replace_one(owner, name, found)

    def _replace_one(self, owner: Any, name: str, found: Any) -> None:
        if isinstance(found, (staticmethod, classmethod)):
            made: Any = type(found)(self.wrapped(found.__func__))
        elif isinstance(found, property):
            made = property(self.wrapped(found.fget), self.wrapped(found.fset), self.wrapped(found.fdel), found.__doc__)
        else:
            made = self.wrapped(found)
        if made is not found:
            setattr(owner, name, made)


def wrap(function: Any) -> Any:
    """The decorator that compiled targets get."""
    return _current[0].wrapped(function) if _current else function


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles anew, without the cache, as what is in the cache is not wrapped."""

    wanted: Wanted

    def get_code(self, fullname: str) -> types.CodeType | None:
        raw = self.get_data(self.path)
        try:
            names: set[str] = set()
            for module in (fullname, fullname.removesuffix(".__main__")):
                names |= self.wanted.modules.get(module, set())
            return _compiled(raw, self.path, names)
        except (SyntaxError, ValueError, RecursionError):
            return super().get_code(fullname)


def _compiled(raw: bytes, path: str, names: set[str]) -> types.CodeType:
    """The code of a file with one more decorator on what is wanted. Raises as compile() does."""
    tree = ast.parse(raw, path)
    _Decorate(names).visit(tree)
    code: types.CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


class _Decorate(ast.NodeTransformer):
    """One more decorator on each function that is wanted. Lines stay what they were."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.owners: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.owners.append(node.name)
        self.generic_visit(node)
        self.owners.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if ".".join([*self.owners, node.name]) in self.names or (self.owners and ".".join(self.owners) in self.names):
            made = ast.parse(f"__import__({__name__!r}, fromlist=['wrap']).wrap", mode="eval").body
            for each in ast.walk(made):
                ast.copy_location(each, node)
            node.decorator_list.append(made)
        return node  # functions inside of functions have no name to ask for them by

    visit_AsyncFunctionDef = visit_FunctionDef


class _Globals:
    """Globals as attributes."""


class _Program:
    """Watches the lines of the program's own module until all that is wanted is bound."""

    def __init__(self, wrapper: Wrapper) -> None:
        self.wrapper = wrapper
        self.waiting: list[list[str]] = []

    def trace(self, frame: types.FrameType, event: str, arg: object) -> Any:
        del event, arg
        code = frame.f_code
        if code.co_name != "<module>" or frame.f_globals.get("__name__") not in PROGRAM_NAMES:
            return None
        wanted = self.wrapper.wanted.modules
        modules = [module for module in wanted if is_file_of(code.co_filename, module)]
        if not modules:
            return None  # what a library executes in the program's names, as dataclasses do
        self.waiting = [name.split(".") for module in modules for name in wanted[module]]
        return self._line

    def _line(self, frame: types.FrameType, event: str, arg: object) -> Any:
        del arg
        names = frame.f_globals
        bound = [path for path in self.waiting if path[0] in names]
        if bound:
            owner = _Globals()
            owner.__dict__ = names  # its attributes are the program's globals
            for path in bound:
                self.waiting.remove(path)
                self.wrapper.replace(owner, path)
        if event == "return" or not self.waiting:
            sys.settrace(None)
            return None
        return self._line


def _around(recorder: Recorder, target: Target, function: types.FunctionType) -> Any:
    bind = _binder(function)

    if target.later == "coroutine":

        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            _made(recorder, target, bind, args, kwargs)
            return await function(*args, **kwargs)

        return coroutine

    if target.later:

        def generator(*args: Any, **kwargs: Any) -> Any:
            _made(recorder, target, bind, args, kwargs)
            return (yield from function(*args, **kwargs))

        return generator

    def call(*args: Any, **kwargs: Any) -> Any:
        # A call that does not fit is not one: it never gets to the function.
        is_due = target.is_due()
        values = bind(args, kwargs) if is_due else None
        entry = recorder.enter(target, values) if values is not None else None
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            if entry is not None:
                recorder.fail(entry, error)
            elif not is_due:
                recorder.surprise(target)
            raise
        if entry is not None:
            recorder.leave(entry, result)
        return result

    return call


def _made(recorder: Recorder, target: Target, bind: _Bind, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    values = bind(args, kwargs) if target.is_due() else None
    entry = recorder.enter(target, values) if values is not None else None
    if entry is not None:
        recorder.made(entry)


_Bind = Callable[[tuple[Any, ...], dict[str, Any]], "dict[str, Any] | None"]


def _binder(function: types.FunctionType) -> _Bind:
    """Arguments as the function will see them; None for a call that does not fit. Faster than inspect's."""
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    plain = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    only_positional = frozenset(positional[: code.co_posonlyargcount])
    has_rest, has_more = bool(code.co_flags & inspect.CO_VARARGS), bool(code.co_flags & inspect.CO_VARKEYWORDS)
    rest = code.co_varnames[len(plain)] if has_rest else ""
    more = code.co_varnames[len(plain) + has_rest] if has_more else ""

    def bind(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        values = dict(zip(positional, args))  # noqa: B905 -- what is over is looked at next
        if has_rest:
            values[rest] = args[len(positional) :]
        elif len(args) > len(positional):
            return None
        over = {}
        for name, value in kwargs.items():
            if name in plain and name not in only_positional:
                if name in values:
                    return None
                values[name] = value
            else:
                over[name] = value
        if has_more:
            values[more] = over
        elif over:
            return None
        if len(values) - has_rest - has_more < len(plain):
            defaults, only = function.__defaults__ or (), function.__kwdefaults__ or {}
            usual = {**dict(zip(positional[len(positional) - len(defaults) :], defaults)), **only}  # noqa: B905
            for name in plain:
                if name not in values:
                    if name not in usual:
                        return None
                    values[name] = usual[name]
        return values

    return bind


def is_here() -> bool:
    """Whether this Python needs it. A variable says so for tests of newer ones."""
    return sys.version_info < (3, 12) or os.environ.get("UNMOVED_RECORD_BY") == "wrapping"
