"""Who passes a parameter by keyword: calls of a function or method in the whole tree, partials, `**` of a dictionary.

Finds the keyword tokens and what stays unsure; the parameter itself is rename_local.py's."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard
from codemods.source.binder import table
from codemods.source.class_names import qualname_of
from codemods.source.classes import ClassKey, declarers, defines, mro, overriders, provider, subclasses
from codemods.source.files import FileSet
from codemods.source.imports import resolve_dotted
from codemods.source.index import has_word, mentioning
from codemods.source.members import decorator_name
from codemods.source.modules import modules_of
from codemods.source.parse import Function, Source, light_tree, load
from codemods.source.receiver_kinds import ClassObject
from codemods.source.receivers import receiver_type, scope_at
from codemods.source.scopes import ScopeKind
from codemods.source.splice import Edit
from codemods.source.string_receivers import holds
from codemods.source.string_text import text_of
from codemods.source.string_use import callee
from codemods.transforms.rename_report import shortened, stop

# Decorators that hand the arguments on as they are, or look at nothing but the function.
_TRANSPARENT = frozenset(
    {"staticmethod", "classmethod", "property", "contextlib.contextmanager", "contextlib.asynccontextmanager"}
    | {"abc.abstractmethod", "typing.overload", "typing.override", "typing.final", "typing_extensions.override"}
    | {"functools.lru_cache", "functools.cache", "functools.wraps", "functools.cached_property", "functools.partial"}
    | {"torch.no_grad", "torch.inference_mode", "torch.compile", "torch.jit.script", "torch.enable_grad"}
)


class KeywordPlaces(Struct, frozen=True, eq=False):
    """`spans`: the keyword's own text, by file."""

    spans: dict[str, list[tuple[int, int]]]
    hazards: tuple[Hazard, ...]

    def edits(self, new: str) -> dict[str, list[Edit]]:
        return {path: [Edit(start, end, new.encode()) for start, end in found] for path, found in self.spans.items()}


def keyword_places(files: FileSet, source: Source, function: Function, name: str) -> KeywordPlaces:
    """Every place that passes the parameter by its name."""
    return _Search(files, source, function, name).found()


class _Search:
    def __init__(self, files: FileSet, source: Source, function: Function, name: str) -> None:
        self.files, self.source, self.function, self.name = files, source, function, name
        self.module = modules_of(files).module_of(source.path)
        outer = table(source).scope_of(function).parent
        assert outer is not None
        self.outer = outer
        self.owner = ClassKey(self.module, qualname_of(outer)) if outer.kind is ScopeKind.CLASS else None
        qualname = f"{qualname_of(outer)}.{function.name}".strip(".")
        self.targets = [(self.module, qualname)]
        self.spans: dict[str, list[tuple[int, int]]] = {}
        self.hazards: list[Hazard] = []

    def found(self) -> KeywordPlaces:
        self.hazards.extend(self.framework())
        if self.is_by_keyword():
            for path in self.candidates():
                source = load(self.files, path)
                for node in ast.walk(source.tree):
                    if isinstance(node, ast.Call):
                        self.judge(source, node)
            if self.spans and self.owner is not None:
                self.hazards.extend(self.overridden(self.owner))
        return KeywordPlaces(self.spans, tuple(shortened(self.hazards)))

    def is_by_keyword(self) -> bool:
        """Whether the parameter can be passed by its name at all."""
        arguments = self.function.args
        named = [*arguments.args, *arguments.kwonlyargs]
        is_bound = self.owner is not None and named[:1] and named[0].arg == self.name and not arguments.posonlyargs
        return any(each.arg == self.name for each in named) and not is_bound

    def candidates(self) -> Iterator[str]:
        """Files with a call that may pass the parameter: by its name, or by `**` to something of the right name."""
        names, paths = {self.function.name}, set(mentioning(self.files, self.function.name))
        if self.function.name in {"__init__", "__new__"} and self.owner is not None:
            heirs = [self.owner, *subclasses(self.files, self.owner)]
            names.update({each.name for each in heirs} | {"cls", "__class__"})
            paths = {path for each in heirs for path in mentioning(self.files, each.name)}
        word = self.name.encode()
        for path in sorted(paths):
            raw = self.files.read(path)
            if not has_word(raw, word) and b"**" not in raw:
                continue
            tree = light_tree(self.files, path)[1]
            if any(self.may_pass(node, names) for node in ast.walk(tree) if isinstance(node, ast.Call)):
                yield path

    def may_pass(self, call: ast.Call, names: set[str]) -> bool:
        given = {each.arg for each in call.keywords}
        if self.name in given or None not in given:
            return self.name in given
        last = callee(call)[-1:]
        return isinstance(call.func, ast.Call) or (bool(last) and last[0] in names | {"partial"})

    # -- one call

    def judge(self, source: Source, call: ast.Call) -> None:
        given = [each for each in call.keywords if each.arg == self.name]
        spread = [each for each in call.keywords if each.arg is None]
        if not given and not spread:
            return
        answer = self.calls(source, call)
        if answer is False:
            return
        text = ast.unparse(call.func)
        if answer is None:
            for each in given:
                message = f"{text}() may be {self.targets[0][1]}, whose parameter {self.name} gets another name"
                settle = "annotate the receiver, or accept U115 when it is something else"
                self.hazards.append(stop("U115", source, source.start(each), message, settle))
            return
        for each in given:
            start = source.start(each)
            self.spans.setdefault(source.path, []).append((start, start + len(self.name.encode())))
        for each in spread:
            if isinstance(each.value, ast.Dict):
                self.displayed(source, each.value)
            if self.may_hold(each.value):
                message = f"{text}(**...) may pass {self.name} by its old name"
                settle = f"accept U121 when the dictionary has no key {self.name!r}"
                self.hazards.append(stop("U121", source, source.start(each.value), message, settle))

    def displayed(self, source: Source, node: ast.Dict) -> None:
        """`f(**{"x": 1})`: the key is a keyword in quotes."""
        for key in node.keys:
            text = text_of(source, key) if key is not None else None
            span = text.span(0, len(text.value)) if text is not None and text.value == self.name else None
            if span is not None:
                self.spans.setdefault(source.path, []).append(span)

    def may_hold(self, node: ast.expr) -> bool:
        """Whether a dictionary may have the parameter's name as a key that can't be seen."""
        if isinstance(node, ast.Dict):
            return not all(isinstance(key, ast.Constant) for key in node.keys)
        if isinstance(node, ast.Call) and callee(node) == ["dict"] and not node.args:
            return any(each.arg in (self.name, None) for each in node.keywords)
        return True

    def calls(self, source: Source, call: ast.Call) -> bool | None:
        """Whether a call runs our function; None when the code does not tell."""
        if callee(call)[-1:] == ["partial"] and call.args:
            return self.means(source, call.args[0])
        return self.means(source, call.func)

    def means(self, source: Source, func: ast.expr) -> bool | None:
        if self.function.name in {"__init__", "__new__"} and self.owner is not None:
            made = self.constructs(source, func, self.owner)
            if made is not None:
                return made
        leaf = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if self.owner is None:
            if self.outer.kind is ScopeKind.FUNCTION:
                return isinstance(func, ast.Name) and leaf == self.function.name and source is self.source
            home = resolve_dotted(self.files, source, func, scope_at(source, func))
            return home is not None and (home.module, home.name) in self.targets
        if leaf != self.function.name:
            return False
        if isinstance(func, ast.Attribute):
            is_super = isinstance(func.value, ast.Call) and callee(func.value) == ["super"]
            return self.after(source, func) if is_super else holds(self.files, source, func.value, leaf, self.targets)
        return False

    def constructs(self, source: Source, func: ast.expr, owner: ClassKey) -> bool | None:
        what = receiver_type(self.files, source, func)
        if isinstance(what, ClassObject):
            return provider(self.files, what.key, self.function.name) == owner
        return None

    def after(self, source: Source, func: ast.Attribute) -> bool:
        """`super().m()`: whether the next class with that method, behind the one it stands in, is ours."""
        around = source.enclosing(func, ast.ClassDef)
        if around is None or self.owner is None:
            return False
        key = ClassKey(modules_of(self.files).module_of(source.path), qualname_of(table(source).scope_of(around)))
        behind = [each for each in mro(self.files, key).classes if each != key]
        return next((each for each in behind if defines(self.files, each, func.attr)), None) == self.owner

    # -- more than calls

    def overridden(self, owner: ClassKey) -> Iterator[Hazard]:
        name = self.function.name
        if name in {"__init__", "__new__"}:
            return
        others = [*overriders(self.files, owner, name), *declarers(self.files, owner, name)]
        if others:
            names = ", ".join(str(each) if isinstance(each, ClassKey) else each.name for each in others)
            message = f"{name} of {names} takes its parameters by the old names, and calls may reach either"
            settle = f"rename the parameter in {names} as well, in a step of its own, or accept U104"
            yield stop("U104", self.source, self.source.start(self.function), message, settle)

    def framework(self) -> Iterator[Hazard]:
        """Frameworks that go by a parameter's name: fixtures, and what a decorator makes of the signature."""
        at = self.source.start(self.function)
        base = posixpath.basename(self.source.path)
        is_test = self.function.name.startswith("test") and (base.startswith("test") or base.endswith("_test.py"))
        if is_test and self.outer.kind in (ScopeKind.MODULE, ScopeKind.CLASS):
            message = f"pytest finds the value of {self.name} by its name"
            yield stop("U119", self.source, at, message, "rename the fixture or the parametrization instead")
        for decorator in self.function.decorator_list:
            name = decorator_name(self.files, self.source, decorator, self.outer)
            if name in _TRANSPARENT or name.rpartition(".")[2] in {"setter", "getter", "deleter"}:
                continue
            message = f"the decorator {name} may go by the names of the parameters"
            yield stop("U112", self.source, self.source.start(decorator), message, "accept U112 when it does not")
