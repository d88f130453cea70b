"""Members of the classes of one tree: where a class is, what it derives from, what its body and __init__ give it.

By text, class by class, following imports by name; a base from outside the tree defines nothing of ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.source.line_matches import line_matches
from codemods.source.nodes import walk
from codemods.verify.class_text import ClassText
from codemods.verify.names import Names
from codemods.verify.readers_family import is_test_path
from codemods.verify.scopes import parameters
from codemods.verify.tree_lines import TreeLines

Owner = tuple[str, str]  # path, qualname of a class
_MAX_HOPS = 6
_DEFINED = rb"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+"
_DEFINED_NAME = re.compile(rb"%b(\w+)" % _DEFINED, re.MULTILINE)
_FROM = re.compile(rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_STAR = re.compile(rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+\*", re.MULTILINE)
_IMPORT = re.compile(rb"^[ \t]*import[ \t]+([\w.]+)[ \t]+as[ \t]+(\w+)", re.MULTILINE)


class Members:
    """Facts about the classes of one side, found when they are asked for and kept."""

    def __init__(self, side: int, names: Names, lines: TreeLines) -> None:
        self.side, self.names, self.lines = side, names, lines
        self._classes: dict[Owner, ClassText | None] = {}
        self._found: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._heirs: dict[Owner, list[ClassText]] = {}
        self._lines: dict[Owner, list[ClassText]] = {}
        self._defined: dict[str, frozenset[bytes]] = {}
        self._definers: dict[str, list[Owner]] = {}
        self._imported: dict[str, dict[str, list[tuple[str, str]]]] = {}

    # ---- where classes and functions are

    def klass(self, owner: Owner) -> ClassText | None:
        """The class of this place."""
        path, name = owner[0], owner[1].rpartition(".")[2]
        if (path, name) not in self._classes:
            self._classes[path, name] = self.lines.klass(self.side, path, name)
        return self._classes[path, name]

    def found(self, path: str, dotted: str, hops: int = _MAX_HOPS) -> tuple[str, str] | None:
        """Path and simple name of what a dotted name of a file means, when the tree defines it."""
        key = (path, dotted)
        if key not in self._found:
            self._found[key] = None  # a circle of imports finds nothing
            self._found[key] = self._find(path, dotted, hops)
        return self._found[key]

    def _find(self, path: str, dotted: str, hops: int) -> tuple[str, str] | None:
        raw = self.lines.raw(self.side, path)
        head, _, rest = dotted.partition(".")
        if not rest and self._is_defined(path, raw, head):
            return (path, head)
        if hops <= 0:
            return None
        for module, name in self._imports(path, raw, head):
            inner = self.names.modules.path_of(f"{module}.{name}" if name else module, near=path)
            if rest and inner is not None:
                return self.found(inner, rest, hops - 1)
            outer = self.names.modules.path_of(module, near=path)
            if not rest and outer is not None and outer.endswith(".py"):
                return self.found(outer, name, hops - 1)
        if rest or head.startswith("_"):
            return None
        for star in line_matches(_STAR, raw, (b"from",)):
            outer = self.names.modules.path_of(self._absolute(path, star[1]), near=path)
            place = self.found(outer, head, hops - 1) if outer is not None and outer.endswith(".py") else None
            if place is not None:
                return place
        return None

    def _is_defined(self, path: str, raw: bytes, name: str) -> bool:
        """Whether a file has a class or a function of this name, wherever in it."""
        if not name.isascii():
            return re.search(rb"%b%b\b" % (_DEFINED, name.encode()), raw, re.MULTILINE) is not None
        if path not in self._defined:
            self._defined[path] = frozenset(match[1] for match in line_matches(_DEFINED_NAME, raw, (b"def", b"class")))
        return name.encode() in self._defined[path]

    def _absolute(self, path: str, dotted: bytes) -> str:
        bare = dotted.lstrip(b".")
        return self.names.modules.absolute(path, len(dotted) - len(bare), bare.decode("utf-8", "replace") or None)

    def _imports(self, path: str, raw: bytes, name: str) -> list[tuple[str, str]]:
        """The modules, and the names in them, that imports of a file bind to a name."""
        if path not in self._imported:
            self._imported[path] = {}
            for bound, module, member in self._all_imports(path, raw):
                self._imported[path].setdefault(bound, []).append((module, member))
        return self._imported[path].get(name, [])

    def _all_imports(self, path: str, raw: bytes) -> Iterator[tuple[str, str, str]]:
        for match in line_matches(_FROM, raw, (b"from",)):
            module = self._absolute(path, match[1])
            for part in re.sub(rb"#[^\n]*", b"", match[2]).strip(b"() \t\r\n").split(b","):
                words = part.decode("utf-8", "replace").split()
                if words:
                    yield words[-1], module, words[0]
        for match in line_matches(_IMPORT, raw, (b"import",)):
            yield match[2].decode("utf-8", "replace"), match[1].decode("utf-8", "replace"), ""

    def class_of(self, path: str, dotted: str) -> ClassText | None:
        """The class a dotted name means in a file."""
        found = self.found(path, dotted) if re.fullmatch(r"[\w.]+", dotted) else None
        return self.klass(found) if found is not None else None

    # ---- families

    def bases(self, klass: ClassText) -> list[ClassText]:
        """The bases that are classes of the tree."""
        found = [self.class_of(klass.path, base) for base in klass.bases]
        return [each for each in found if each is not None and each is not klass]

    def line(self, klass: ClassText) -> list[ClassText]:
        """The class and everything it inherits from."""
        if (klass.path, klass.name) not in self._lines:
            found, todo = [], [klass]
            while todo:
                at = todo.pop(0)
                if at not in found:
                    found.append(at)
                    todo += self.bases(at)
            self._lines[klass.path, klass.name] = found
        return self._lines[klass.path, klass.name]

    def heirs(self, klass: ClassText, *, with_tests: bool = False) -> list[ClassText]:
        """The classes below, by the names in class headers; those of tests left out unless they are asked for."""
        found = self._all_heirs(klass)
        return found if with_tests else [each for each in found if not is_test_path(each.path)]

    def _all_heirs(self, klass: ClassText) -> list[ClassText]:
        if (klass.path, klass.name) not in self._heirs:
            found: dict[Owner, ClassText] = {}
            level = {klass.name}
            while level:
                below: set[str] = set()
                for hit, name in self.lines.heirs(level):
                    if hit.side != self._side_of(hit.path) or name == klass.name:
                        continue
                    each = self.klass((hit.path, name)) if (hit.path, name) not in found else None
                    if each is not None and self._derives(each, level, {*found, (klass.path, klass.name)}):
                        found[hit.path, name] = each
                        below.add(name)
                level = below
            self._heirs[klass.path, klass.name] = list(found.values())
        return self._heirs[klass.path, klass.name]

    def _derives(self, klass: ClassText, names: set[str], owners: set[Owner]) -> bool:
        """Whether a class has one of these as a base: by name, unless the name leads elsewhere."""
        for base in klass.bases:
            if base.rpartition(".")[2] in names:
                place = self.found(klass.path, base)
                if place is None or place in owners:
                    return True
        return False

    def _side_of(self, path: str) -> int:
        return self.side if path in self.lines.changed else 1

    def owners(self, klass: ClassText) -> frozenset[Owner]:
        """Where every class is whose `self` may be an instance of the class."""
        return frozenset((each.path, each.name) for each in [*self.line(klass), *self.heirs(klass)])

    def relatives(self, klass: ClassText) -> frozenset[str]:
        """The simple names of every class whose `self` may be an instance of the class."""
        return frozenset(each.name for each in [*self.line(klass), *self.heirs(klass)])

    # ---- what a class has

    def rival(self, klass: ClassText, name: str) -> str:
        """Who else of the family of a class defines or sets `name`; "" when nobody does."""
        for each in [*self.line(klass), *self.heirs(klass)]:
            if each is not klass and each.kinds(name):
                return f"{each.name} in {each.path} defines it"
            if re.search(rb"\bself\.%b[ \t]*(?::[^=\n]+)?=(?!=)" % re.escape(name.encode()), each.block):
                return f"{each.name} sets an attribute of that name"
        return ""

    def definers(self, name: str) -> list[Owner]:
        """The classes, those of tests left out, whose body defines a name."""
        if name not in self._definers:
            self._definers[name] = self._all_definers(name)
        return self._definers[name]

    def _all_definers(self, name: str) -> list[Owner]:
        found = []
        for hit in self.lines.defines(name):
            if hit.side == self._side_of(hit.path) and not is_test_path(hit.path):
                around = self.lines.class_around(hit)
                klass = self.klass((hit.path, around)) if around else None
                if klass is not None and klass.kinds(name):
                    found.append((hit.path, around))
        return list(dict.fromkeys(found))

    def is_computed(self, klass: ClassText, name: str) -> bool:
        """Whether reading the attribute runs code: a property, or __getattr__ and the like."""
        line = self.line(klass)
        if any(each.is_asking or "computed" in each.kinds(name) for each in line):
            return True
        return any("value" in each.kinds(name) and self._is_descriptor(each, name) for each in line)

    def _is_descriptor(self, klass: ClassText, name: str) -> bool:
        """Whether the class body binds a name to an object that answers in its place."""
        pattern = rb"^%b%b[ \t]*(?::[^=\n]*)?=[ \t]*([\w.]+)\(" % (klass.indent, re.escape(name.encode()))
        made = re.search(pattern, klass.block, re.MULTILINE)
        maker = self.class_of(klass.path, made[1].decode("utf-8", "replace")) if made is not None else None
        blocks = [each.block for each in self.line(maker)] if maker is not None else []
        return any(b"__get__" in block or b"__set__" in block for block in blocks)

    # ---- what things are

    def type_of(self, path: str, function: str, owner: str, dotted: str) -> ClassText | None:
        """The class of what a dotted name holds in a function, when annotations or the only assignment say so."""
        first, *rest = dotted.split(".")
        if owner and first in ("self", "cls"):
            klass = self.klass((path, owner))
        else:
            klass = self._type_of_name(path, function, first)
        for part in rest:
            klass = self.type_of_attribute(klass, part) if klass is not None else None
        return klass

    def _type_of_name(self, path: str, function: str, name: str) -> ClassText | None:
        node = self.names.definitions(path).get(function) if path in self.names.files else None
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        for each in parameters(node):
            if each.arg == name:
                return self._type(path, ast.unparse(each.annotation)) if each.annotation is not None else None
        values = []
        for inner in walk(node):
            if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name) and inner.target.id == name:
                return self._type(path, ast.unparse(inner.annotation))
            if isinstance(inner, ast.Assign):
                values += [
                    inner.value for target in inner.targets if isinstance(target, ast.Name) and target.id == name
                ]
        if len(values) != 1:
            return None
        return self._type_of_value(path, ast.unparse(values[0]))

    def type_of_attribute(self, klass: ClassText, name: str) -> ClassText | None:
        """The class of an attribute of an instance."""
        found: dict[Owner, ClassText] = {}
        pattern = re.compile(rb"\bself\.%b[ \t]*(?::[ \t]*([^=\n]+))?=(?!=)[ \t]*([^\n]*)" % re.escape(name.encode()))
        for each in self.line(klass):
            if each.annotation(name):
                return self._type(each.path, each.annotation(name))
            for match in pattern.finditer(each.block):
                if match[1]:
                    return self._type(each.path, match[1].decode("utf-8", "replace").strip())
                value = match[2].decode("utf-8", "replace").strip()
                if value == "None":
                    continue
                method = each.method_at(each.line + each.block.count(b"\n", 0, match.start()))
                one = self._type_of_value(each.path, value) or self._type_of_parameter(each, method, value)
                if one is None:
                    return None
                found[one.path, one.name] = one
        return next(iter(found.values())) if len(found) == 1 else None

    def _type_of_parameter(self, klass: ClassText, method: str, name: str) -> ClassText | None:
        node = klass.method(method) if re.fullmatch(r"\w+", name) else None
        for each in parameters(node) if node is not None else ():
            if each.arg == name and each.annotation is not None:
                return self._type(klass.path, ast.unparse(each.annotation))
        return None

    def _type_of_value(self, path: str, text: str) -> ClassText | None:
        """The class of the value of an expression: of a constructor call, or of a call whose result is annotated."""
        called = re.match(r"([\w.]+)\(", text)
        if called is None:
            return None
        for name, is_method in ((called[1], False), (called[1].rpartition(".")[0], True)):
            klass = self.class_of(path, name) if name else None
            if klass is not None and not is_method:
                return klass
            if klass is not None:
                node = klass.method(called[1].rpartition(".")[2])
                return self._type(klass.path, ast.unparse(node.returns)) if node is not None and node.returns else None
        place = self.found(path, called[1])
        if place is None:
            return None
        raw = self.lines.raw(self.side, place[0])
        header = re.search(
            rb"^def[ \t]+%b\((?:[^()]|\([^()]*\))*\)[ \t]*->[ \t]*([^:\n]+):" % place[1].encode(), raw, re.MULTILINE
        )
        return self._type(place[0], header[1].decode("utf-8", "replace")) if header is not None else None

    def _type(self, path: str, text: str) -> ClassText | None:
        return self.class_of(path, bare_type(text))


def bare_type(text: str) -> str:
    """The one class in an annotation: quotes, Optional and `| None` taken off."""
    text = text.strip().strip("\"'").strip()
    optional = re.fullmatch(r"(?:typing\.)?Optional\[(.*)\]", text)
    if optional is not None:
        text = optional[1].strip().strip("\"'")
    parts = [part.strip() for part in text.split("|")]
    kept = [part for part in parts if part != "None"]
    return kept[0] if len(kept) == 1 else text
