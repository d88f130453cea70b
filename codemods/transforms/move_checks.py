"""What speaks against a move: definitions that are conditional, share their line, stand half in a formatter's region or
are bound again elsewhere; new modules that would hide something; what runs at import; pickles.

Free names and callers are checked where they are handled."""

from __future__ import annotations

import ast
import re
import sys

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.binder import table
from codemods.source.classes import ClassKey, class_at, mro, provider
from codemods.source.files import FileSet
from codemods.source.import_effects import defines_names_only, is_abstract
from codemods.source.import_layout import has_postponed_annotations
from codemods.source.imports import imports_of
from codemods.source.index import mentioning
from codemods.source.locate import Located, shares_line
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Source, load
from codemods.source.scopes import Occurrence, Role
from codemods.transforms.move_block import Piece

_REGIONS = (
    (re.compile(rb"#\s*fmt: *off"), re.compile(rb"#\s*fmt: *on")),
    (re.compile(rb"#\s*yapf: *disable"), re.compile(rb"#\s*yapf: *enable")),
    (re.compile(rb"#\s*isort: *off"), re.compile(rb"#\s*isort: *on")),
)
_TYPE_COMMENT = re.compile(rb"#\s*type:\s*(?!ignore)([^\r\n#]*)")
_BINDS = (Role.STORE, Role.DELETE, Role.DECLARE)


def shape_refusals(source: Source, piece: Piece, pieces: list[Piece]) -> list[Refusal]:
    """Why the text of a piece can't be taken out as it stands."""
    found = [*_where_it_stands(source, piece), *_regions(source, piece)]
    node = piece.node
    if isinstance(node, ast.Assign):
        targets = [each for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        if len(targets) > 1:
            message = f"the statement binds {', '.join(each.id for each in targets)} together"
            found.append(_refusal(source, node, "several-names", message, "split it into one statement a name first"))
    elif isinstance(node, ast.AnnAssign) and node.value is None:
        message = f"{piece.name} is only declared here; its value comes from elsewhere"
        found.append(_refusal(source, node, "no-value", message, "give it a value first"))
    return found + _bound_again(source, piece, pieces)


def _refusal(source: Source, node: ast.stmt, code: str, message: str, settle: str) -> Refusal:
    return Refusal(code=code, path=source.path, line=node.lineno, message=message, settle=settle)


def _where_it_stands(source: Source, piece: Piece) -> list[Refusal]:
    node = piece.node
    parent = source.parents[node]
    if not isinstance(parent, (ast.Module, ast.ClassDef)):
        message = f"{piece.name} is defined inside {type(parent).__name__.lower()}, so not always"
        settle = "move the whole choice by hand, or define it unconditionally first"
        return [_refusal(source, node, "conditional-definition", message, settle)]
    if isinstance(parent, ast.ClassDef) and not _is_static(node):
        message = f"{piece.name} belongs to class {parent.name}: it is no static method"
        return [_refusal(source, node, "not-static", message, 'take a method out with do = "extract-method"')]
    if shares_line(source, node):
        message = f"another statement stands on a line of {piece.name}"
        return [_refusal(source, node, "shared-line", message, "give each statement lines of its own first")]
    return []


def _is_static(node: ast.stmt) -> bool:
    if isinstance(node, ast.ClassDef):
        return True
    decorators = node.decorator_list if isinstance(node, FUNCTIONS) else []
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in decorators)


def _regions(source: Source, piece: Piece) -> list[Refusal]:
    """A region that begins outside and ends inside, or the other way round, would be torn."""
    block = source.body[piece.start : piece.end]
    for opening, closing in _REGIONS:
        depth = 0
        for line in block.splitlines():
            depth += bool(opening.search(line)) - bool(closing.search(line))
            if depth < 0:
                break
        if depth:
            message = f"a region that {opening.pattern.decode()} opens is cut in two by moving {piece.name}"
            settle = "open and close it around the definition, or inside it, first"
            return [
                _refusal(source, piece.node, "split-region", message.replace("\\s*", " ").replace(" *", " "), settle)
            ]
    return []


def _bound_again(source: Source, piece: Piece, pieces: list[Piece]) -> list[Refusal]:
    """Code that gives the name another value: it would change a name of the old module only."""
    if isinstance(source.parents[piece.node], ast.ClassDef):
        return []
    scopes = table(source)

    def moves(each: Occurrence) -> bool:
        return any(other.start <= each.start < other.end for other in pieces)

    own = [each for each in scopes.named(piece.name) if scopes.resolve(each) is scopes.module]
    writes = [each for each in own if each.role in _BINDS and not piece.start <= each.start < piece.end]
    stays = [each for each in writes if not moves(each)]
    settle = f'move what changes it along: carry = ["{piece.name}", …], or make it an attribute of an object first'
    if stays:
        line = source.text.line_of(stays[0].start)
        message = f"{piece.name} is bound again at line {line}, which would change only the old module's name"
        return [_refusal(source, piece.node, "rebound", message, settle)]
    readers = [each for each in own if each.role is Role.LOAD and not moves(each) and not each.deferred]
    if writes and readers:
        line = source.text.line_of(readers[0].start)
        message = f"{piece.name} is rebound by code that moves along, and line {line} would keep the value it imported"
        return [_refusal(source, piece.node, "rebound", message, settle)]
    return []


# -- a module that is new


def new_module_hazards(files: FileSet, path: str, before: FileSet) -> list[Hazard]:
    """A new file hides what had its name: a module of the standard library, or a name of its package."""
    module = modules_of(files).module_of(path)
    package, _, leaf = module.rpartition(".")
    message = ""
    if not package and leaf in sys.stdlib_module_names:
        message = f"a top-level module {leaf} would hide the standard library's"
    home = modules_of(before).path_of(package) if package else None
    if home is not None and leaf in module_facts(before, home).bound:
        message = f"{package} binds {leaf} itself, and a module of that name would take its place"
    if not message:
        return []
    settle = "choose another name for the module"
    return [Hazard(code="U107", severity=Severity.STOP, path=path, line=0, message=message, settle=settle)]


# -- what else changes


def after_hazards(before: FileSet, after: FileSet, located: Located, pieces: list[Piece], target: str) -> list[Hazard]:
    """What the new tree no longer does when it is imported or unpickled."""
    modules = modules_of(after)
    source = located.source
    plain = [each for each in imports_of(after, load(after, source.path)) if each.is_plain]
    loaded = {modules.path_of(name) for each in plain for name in (each.module, f"{each.module}.{each.attribute}")}
    found = (
        []
        if target in loaded
        else [hazard for piece in pieces for hazard in import_time_hazards(before, source, piece)]
    )
    is_kept = located.ref.qualname in module_facts(after, source.path).bound
    if target in before:
        there = load(before, target)
        found += [hazard for piece in pieces for hazard in annotation_hazards(source, there, piece)]
    return found + pickle_hazards(before, located, modules.module_of(target), is_kept=is_kept)


def annotation_hazards(source: Source, target: Source, piece: Piece) -> list[Hazard]:
    """Annotations of a class that were text and are evaluated now, or the other way round: dataclasses and their kind
    read them. Those of functions hardly anybody reads."""
    was_text, is_text = has_postponed_annotations(source), has_postponed_annotations(target)
    is_annotated = any(isinstance(each, ast.AnnAssign) for each in ast.walk(piece.node))
    if was_text == is_text or not is_annotated or not isinstance(piece.node, ast.ClassDef):
        return []
    change = "text and are evaluated" if was_text else "evaluated and are text"
    message = f"annotations of {piece.name} were {change} in {target.path}: what reads them sees another value"
    settle = "give both modules the same `from __future__ import annotations`, or accept U114"
    line = piece.node.lineno
    return [Hazard(code="U114", severity=Severity.PROVE, path=source.path, line=line, message=message, settle=settle)]


def import_time_hazards(files: FileSet, source: Source, piece: Piece) -> list[Hazard]:
    """A definition that does something when it is made (registers, subclasses, calls) where nobody may make it now."""
    node = piece.node
    if isinstance(source.parents[node], ast.ClassDef):
        return []
    key = ClassKey(modules_of(files).module_of(source.path), piece.name)
    is_noticed = isinstance(node, ast.ClassDef) and _notices_subclasses(files, key)
    if defines_names_only(node) and not is_noticed:
        return []
    what = "is decorated or derived by" if isinstance(piece.node, DEFINITIONS) else "calls"
    message = f"{piece.name} {what} something that may act when it is made; importing {source.path} won't make it now"
    settle = "keep it importable from the old module: reexport = true"
    line = piece.node.lineno
    severity = Severity.PROVE if piece.is_constant else Severity.STOP
    return [Hazard(code="U109", severity=severity, path=source.path, line=line, message=message, settle=settle)]


def _notices_subclasses(files: FileSet, key: ClassKey) -> bool:
    """Whether a base, or a metaclass, does something for every class that is made."""
    if provider(files, key, "__init_subclass__") is not None:
        return True
    for base in mro(files, key).classes:
        found = class_at(files, base)
        if found is not None and any(
            keyword.arg == "metaclass" and not is_abstract(keyword) for keyword in found[1].keywords
        ):
            return True
    return False


def pickle_hazards(files: FileSet, located: Located, module: str, *, is_kept: bool) -> list[Hazard]:
    """The path under which pickles, checkpoints and worker processes find a class or a function."""
    node = located.node
    if not isinstance(node, DEFINITIONS):
        return []
    is_class = isinstance(node, ast.ClassDef)
    is_pickled = _is_pickled_somewhere(files, located.ref.name, is_class=is_class)
    if not is_class and (located.owner is not None or not is_pickled):
        return []
    old = f"{modules_of(files).module_of(located.path)}.{located.ref.qualname}"
    stays = "still finds it" if is_kept else "finds nothing any more"
    message = f"__module__ and __qualname__ say {module}.{located.ref.name} now; what was pickled as {old} {stays}"
    severity = Severity.NOTE if is_kept or not is_pickled else Severity.PROVE
    settle = "accept U110" if is_kept else "keep the old path importable: reexport = true"
    line = node.lineno
    return [Hazard(code="U110", severity=severity, path=located.path, line=line, message=message, settle=settle)]


def _is_pickled_somewhere(files: FileSet, name: str, *, is_class: bool) -> bool:
    """Whether a file that names it also pickles or hands things to other processes; of a function: and passes it on
    uncalled, because a call never pickles the function itself."""
    words = ("pickle", "multiprocessing", "ProcessPoolExecutor", "shelve", "joblib", "dill", "cloudpickle")
    found = {path for word in (*words, "torch") for path in mentioning(files, name, word)}
    if is_class:
        return bool(found)
    passed = re.compile(rb"[(,=]\s*(?:\w+\.)*" + re.escape(name.encode()) + rb"\s*[,)]")
    called = {path for word in words for path in mentioning(files, name, word)}
    return any(passed.search(files.read(path)) for path in called)


def type_comment_hazards(source: Source, target: Source, piece: Piece) -> list[Hazard]:
    """Type comments name things that no import brings along."""
    known = table(target).module.bound
    found = []
    for match in _TYPE_COMMENT.finditer(source.body, piece.start, piece.end):
        words = re.findall(r"[^\W\d]\w*", match[1].decode("utf-8", "replace"))
        missing = [word for word in words if word in table(source).module.bound and word not in known]
        if missing:
            message = f"the type comment names {missing[0]}, which {target.path} does not import for it"
            line = source.text.line_of(match.start())
            settle = "turn the comment into an annotation first, or import the name there"
            found.append(
                Hazard(code="U114", severity=Severity.NOTE, path=source.path, line=line, message=message, settle=settle)
            )
    return found
