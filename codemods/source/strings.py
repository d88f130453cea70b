"""Every place in a tree where a string or a document names a definition, an attribute or a module.

A mention is sure when the text can mean nothing else, possible when it may be data or the receiver is not known. Text
is only read here; what to write instead is transforms/repath_strings.py's and rename's."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from codemods.schema.errors import SourceError
from codemods.source import nodes
from codemods.source.class_names import qualname_of
from codemods.source.docs import CONFIG_SUFFIXES, is_history, written_in
from codemods.source.dotted import PARTS, PATH, Named, walk
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.imports import origin
from codemods.source.index import DOCUMENT_SUFFIXES, mentioning
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, Source, load
from codemods.source.receivers import scope_at
from codemods.source.scopes import ScopeKind, chain
from codemods.source.string_files import naming, passing, reaching, spelling
from codemods.source.string_flow import literals_behind
from codemods.source.string_receivers import Target, holds, is_module
from codemods.source.string_text import Chunk, StringText, fold, text_of
from codemods.source.string_use import Kind, Reads, Use, callee, looked_up, use_of
from codemods.source.text import Text

Certainty = Literal["sure", "possible"]
_NAMES = (Reads.MEMBER, Reads.OWN, Reads.SLOT)


class StringMention(Struct, frozen=True, order=True):
    """One place. start:end are offsets in the body of the file (of the raw bytes for a document).

    text: what stands there, up to and with the name looked for ("pkg.mod.Class" of "pkg.mod.Class.m"). For a text that
    is put together it is the whole expression, and `is_verbatim` is False. holder: the module through which a dotted
    path reaches the thing; "" when the text is a bare name. name_span: where the last part of the text, the name
    itself, stands; None when it is put together. is_prose: it stands in a longer text. rest: what follows in the same
    path (".m" of "pkg.mod.Class.m"). target: which of the things looked for."""

    path: str
    line: int
    start: int
    end: int
    text: str
    kind: Kind
    certainty: Certainty
    target: Target
    is_verbatim: bool = True
    holder: str = ""
    name_span: tuple[int, int] | None = None
    is_prose: bool = False
    rest: str = ""

    @property
    def is_sure(self) -> bool:
        return self.certainty == "sure"

    @property
    def name(self) -> str:
        """The last part of the text: the name itself."""
        return str(PARTS.findall(self.text)[-1])


def mentions(files: FileSet, module: str, qualname: str, *, tree: FileSet | None = None) -> tuple[StringMention, ...]:
    """Every mention of one thing ("" as qualname: of the module), by file and place. tree: the files that tell what a
    path names, when they are not the files that are searched (a definition has moved meanwhile)."""
    return mentions_of(files, [(module, qualname)], tree=tree)


def mentions_of(files: FileSet, targets: Sequence[Target], *, tree: FileSet | None = None) -> tuple[StringMention, ...]:
    """As `mentions`, for several things that share their last name (a method and its overrides)."""
    return _search(_Finder(files, tree or files, targets))


def mentions_through(
    files: FileSet, module: str, name: str, *, tree: FileSet | None = None
) -> tuple[StringMention, ...]:
    """Mentions of what `module` binds as `name`, wherever it comes from: "src.time" names the `time` that src imports.
    Python only."""
    finder = _Finder(files, tree or files, [(module, name)], through=module)
    found = [each for path in reaching(files, module, name) for each in finder.in_python(path, is_whole=False)]
    return tuple(sorted({(each.path, each.start): each for each in found}.values()))


def _search(finder: _Finder) -> tuple[StringMention, ...]:
    files = finder.files
    found: dict[tuple[str, int], StringMention] = {}
    spelt = [] if finder.is_module else [*spelling(files, finder.leaf), *passing(files, finder.leaf)]
    for path in dict.fromkeys([*naming(files, finder.leaf, finder.owners, is_module=finder.is_module), *spelt]):
        for each in finder.in_python(path, is_whole=path in spelt):
            found.setdefault((path, each.start), each)
    for path in mentioning(files, finder.leaf, suffixes=DOCUMENT_SUFFIXES):
        for each in finder.in_document(path):
            found.setdefault((path, each.start), each)
    return tuple(sorted(found.values()))


class _Finder:
    def __init__(self, files: FileSet, tree: FileSet, targets: Sequence[Target], *, through: str = "") -> None:
        self.files, self.tree, self.targets = files, tree, tuple(targets)
        self.through = through  # the module by which the name must be reached, whatever the name stands for
        module, qualname = targets[0]
        self.leaf = (qualname or module).rpartition(".")[2]
        self.is_module = not qualname
        paths = [f"{module}.{qualname}".strip(".").split(".") for module, qualname in targets]
        self.owners = frozenset(names[-2] for names in paths if len(names) > 1)
        self.single = self.is_module and "." not in module
        self.full = {f"{module}.{qualname}".rstrip("."): (module, qualname) for module, qualname in targets}

    # -- documents

    def in_document(self, path: str) -> Iterator[StringMention]:
        raw = self.files.read(path)
        text = raw.decode("utf-8", "surrogateescape")
        is_config = path.endswith(CONFIG_SUFFIXES)
        for each in written_in(text, self.leaf, lambda words: self.end_of(words, ""), single=self.single):
            start = len(text[: each.start].encode("utf-8", "surrogateescape"))
            written = text[each.start : each.end]
            end = start + len(written.encode())
            line = raw.count(b"\n", 0, start) + 1
            sure: Certainty = "sure" if each.is_sure and not is_history(path) else "possible"
            kind: Kind = "entry-point" if is_config else "document"
            target, holder = self.meant(written, "")
            name_span = (end - len(PARTS.findall(written)[-1].encode()), end)
            yield StringMention(path, line, start, end, written, kind, sure, target, True, holder, name_span)

    def end_of(self, words: str, near: str) -> int | None:
        """The end of the part of a dotted text that names a target. Of a module only when what follows is in it: prose
        may put a full stop after a word."""
        found = self.hit(words, near)
        if found is None or not self.is_module or found[0] == len(words) or self.through:
            return found[0] if found is not None else None
        after = walk(self.tree, words, near=near)[len(PARTS.findall(words[: found[0]]))]
        return found[0] if not after.qualname or self.is_bound(after) else None

    def is_bound(self, named: Named) -> bool:
        path = modules_of(self.tree).path_of(named.module)
        return path is None or named.qualname.partition(".")[0] in module_facts(self.tree, path).bound

    def hit(self, words: str, near: str) -> tuple[int, Named] | None:
        for named, match in zip(walk(self.tree, words, near=near), PARTS.finditer(words), strict=False):
            is_ours = named.key in self.targets
            if self.through:
                is_ours = named.holder == self.through and match.group() == self.leaf
            if is_ours:
                return match.end(), named
        return None

    def meant(self, words: str, near: str) -> tuple[Target, str]:
        found = self.hit(words, near)
        return (found[1].key, found[1].holder) if found is not None else (self.targets[0], "")

    # -- Python

    def in_python(self, path: str, *, is_whole: bool) -> Iterator[StringMention]:
        """is_whole: look into functions as well that do not have the name in their text."""
        try:
            source = load(self.files, path) if is_whole else glimpse(self.files, path, self.leaf)
        except SourceError:
            return
        seen: set[ast.AST] = set()
        for node in nodes.walk(source.tree):
            if isinstance(node, ast.Call):
                if callee(node)[-1:] == ["multiple"]:
                    yield from self.multiple(source, node)
                found = looked_up(node)
                if found is not None and is_whole:
                    yield from self.passed_on(source, found)
                whole = found if not isinstance(found, ast.Constant) else None
            elif isinstance(node, ast.Constant) and isinstance(node.value, bytes):
                yield from self.pickled(source, node)
                continue
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and self.leaf in node.value:
                whole = fold(source, node)
            else:
                continue
            if whole is not None and whole not in seen:
                seen.add(whole)
                text = text_of(source, whole, scope_at(source, whole), module=self.module_of(source))
                if text is not None:
                    yield from self.classified(source, whole, text)

    def classified(self, source: Source, node: ast.expr, text: StringText) -> Iterator[StringMention]:
        use = use_of(source, node)
        if use.reads is Reads.PATH:
            yield from self.as_path(source, node, text, use)
        elif use.reads in _NAMES:
            yield from self.as_name(source, node, text, use)
        elif text.is_known:
            yield from self.as_prose(source, node, text, is_docstring=use.kind == "document")

    def passed_on(self, source: Source, asked: ast.expr) -> Iterator[StringMention]:
        """Literals somewhere else in the file that may be the text by which an attribute is looked up."""
        for node in literals_behind(source, asked):
            if node is asked or node.value != self.leaf or use_of(source, node).reads in _NAMES:
                continue
            use = use_of(source, asked)
            text = text_of(source, node)
            if text is not None and use.reads in _NAMES and self.owned(source, asked, use) is not False:
                part = (0, len(self.leaf))
                yield self.made(source, node, text, part, use.kind, "possible", self.targets[0])

    def as_path(self, source: Source, node: ast.expr, text: StringText, use: Use) -> Iterator[StringMention]:
        if not text.is_known:
            if any(text.could_be(full) for full in self.full):
                yield self.made(source, node, text, None, use.kind, "possible", self.targets[0])
            return
        found = self.hit(text.value, source.path) if PATH.fullmatch(text.value) else None
        if found is not None:
            yield self.made(source, node, text, (0, found[0]), use.kind, "sure", found[1].key, found[1].holder)

    def as_name(self, source: Source, node: ast.expr, text: StringText, use: Use) -> Iterator[StringMention]:
        words = list(PARTS.finditer(text.value)) if text.is_known else []
        matches = [match for match in words if match.group() == self.leaf]
        if not matches and not (not text.is_known and text.could_be(self.leaf)):
            return
        answer = self.owned(source, node, use)
        if answer is False or (answer is None and self.is_module):
            return
        part = matches[0].span() if matches else None
        certainty: Certainty = "sure" if answer and matches and not use.is_data else "possible"
        yield self.made(source, node, text, part, use.kind, certainty, self.targets[0])

    def owned(self, source: Source, node: ast.expr, use: Use) -> bool | None:
        """Whether the attribute that a text names is one of the targets."""
        module = self.module_of(source)
        if self.through:
            if use.reads is Reads.OWN:
                return module == self.through
            return use.receiver is not None and is_module(self.files, source, use.receiver, self.through)
        if use.reads is Reads.OWN:
            home = origin(self.tree, module, self.leaf)
            return (home.module, home.name) in self.targets
        if use.reads is Reads.SLOT:
            around = next((at for at in chain(scope_at(source, node)) if at.kind is ScopeKind.CLASS), None)
            return around is not None and (module, f"{qualname_of(around)}.{self.leaf}") in self.targets
        receivers = [use.receiver, *use.others] if use.receiver is not None else []
        answers = {holds(self.files, source, each, self.leaf, self.targets) for each in receivers}
        return answers.pop() if len(answers) == 1 else None

    def as_prose(
        self, source: Source, node: ast.expr, text: StringText, *, is_docstring: bool
    ) -> Iterator[StringMention]:
        scopes = self.around(source, node) if is_docstring else ()

        def meaning(words: str) -> int | None:
            return self.end_of(words, source.path)

        single = self.single and is_docstring
        for each in written_in(text.value, self.leaf, meaning, scopes=scopes, single=single):
            written = text.value[each.start : each.end]
            # An entry point is `module:object`; other text in code may be data that only looks like a path.
            is_entry = ":" in written or posixpath.basename(source.path) == "setup.py"
            kind: Kind = "document" if is_docstring else "entry-point" if is_entry else "other"
            certainty: Certainty = "sure" if each.is_sure and kind != "other" else "possible"
            target, holder = self.meant(written, source.path)
            yield self.made(source, node, text, (each.start, each.end), kind, certainty, target, holder)

    def module_of(self, source: Source) -> str:
        return modules_of(self.files).module_of(source.path)

    def around(self, source: Source, node: ast.expr) -> tuple[str, ...]:
        module = self.module_of(source)
        names = [each.name for each in source.ancestors(node) if isinstance(each, DEFINITIONS)][::-1]
        scopes = [".".join([module, *names[:count]]) for count in range(len(names), -1, -1)]
        return tuple(scope for scope in scopes if scope)

    def multiple(self, source: Source, node: ast.Call) -> Iterator[StringMention]:
        """`patch.multiple("pkg.mod", name=...)` names attributes by keyword."""
        given = next((each for each in node.keywords if each.arg == self.leaf), None)
        if given is None or not node.args:
            return
        text = text_of(source, node.args[0], scope_at(source, node), module=self.module_of(source))
        if text is not None:
            found = self.hit(f"{text.value}.{self.leaf}", source.path) if text.is_known else None
            answer = None if not text.is_known else found is not None
        elif self.through:
            answer = is_module(self.files, source, node.args[0], self.through)
        else:
            answer = holds(self.files, source, node.args[0], self.leaf, self.targets)
        if answer is not False:
            certainty: Certainty = "sure" if answer else "possible"
            keyword = StringText(self.leaf, (Chunk(0, len(self.leaf), source.start(given)),))
            part = (0, len(self.leaf))
            yield self.made(source, node, keyword, part, "patch-target", certainty, self.targets[0])

    def pickled(self, source: Source, node: ast.Constant) -> Iterator[StringMention]:
        """`c<module>\\n<name>\\n` of old pickles and the counted names of new ones; changing a length breaks them."""
        data = bytes(node.value)  # type: ignore[arg-type]
        for module, qualname in self.targets:
            old = f"c{module}\n{qualname}".encode() if qualname else f"c{module}\n".encode()
            counted = all(
                bytes([len(part)]) + part.encode() in data for part in (module, qualname) if 0 < len(part) < 256
            )
            if old in data or (counted and b"\x93" in data):
                text = StringText(f"{module}.{qualname}".rstrip("."))
                yield self.made(source, node, text, None, "pickle", "possible", (module, qualname))

    def made(
        self,
        source: Source,
        node: ast.expr,
        text: StringText,
        part: tuple[int, int] | None,
        kind: Kind,
        certainty: Certainty,
        target: Target,
        holder: str = "",
    ) -> StringMention:
        """part: the part of the text that is the mention; None when no part of it is there to see."""
        span = text.span(*part) if part is not None else None
        start, end = span or (source.start(node), source.end(node))
        written = text.value[slice(*part)] if part is not None else source.body[start:end].decode()
        name_span = None
        if part is not None:
            name = PARTS.findall(written)[-1]
            name_span = text.span(part[1] - len(name), part[1])
        line = source.text.line_of(start)
        is_prose = part is not None and PATH.fullmatch(text.value) is None
        rest = text.value[part[1] :] if part is not None and not is_prose else ""
        is_there = span is not None
        return StringMention(
            source.path, line, start, end, written, kind, certainty, target, is_there, holder, name_span, is_prose, rest
        )


def body_of(files: FileSet, path: str) -> bytes:
    """What the offsets of a mention count: the body of Python text, the raw bytes of a document."""
    raw = files.read(path)
    return Text(path, raw).body if path.endswith((".py", ".pyi")) else raw
