"""One place that refers to a method or function, as data: where, how, and how sure. Finding them is callsites.py's."""

from __future__ import annotations

import ast
from enum import Enum

from msgspec import Struct

from codemods.schema.refs import DefRef
from codemods.source.classes import ClassKey
from codemods.source.nodes import walk
from codemods.source.parse import Source


class SiteKind(Enum):
    SELF_CALL = "self-call"  # self.m() in a method of the class, a subclass or a mixin of it
    INSTANCE_CALL = "instance-call"  # obj.m()
    CLASS_CALL = "class-call"  # Class.m(...)
    CLS_CALL = "cls-call"  # cls.m(...) in a class method
    SUPER_CALL = "super-call"  # super().m()
    FUNCTION_CALL = "function-call"  # f(), mod.f()
    REFERENCE = "reference"  # not called here: f = self.m, map(self.m, xs), Thread(target=self.m)
    ACCESS = "access"  # obj.p of a property
    ASSIGNMENT = "assignment"  # obj.m = something
    DELETION = "deletion"
    DECORATOR = "decorator"
    IMPORT = "import"  # from mod import f


class Certainty(Enum):
    SURE = "sure"
    POSSIBLE = "possible"


class CallSite(Struct, frozen=True, kw_only=True, eq=False):
    """One place. `node` is the ast.Call, or the reference itself (Attribute, Name, alias) where it is not called.

    start, end: the node's span in the file's body. receiver: what stands before `.m`; None for a bare name.
    enclosing_class: the class whose method has the place. via_subclass: the receiver's class derives from the method's
    class. reason: why it is sure or only possible."""

    path: str
    node: ast.AST
    line: int
    start: int
    end: int
    kind: SiteKind
    certainty: Certainty
    receiver: ast.expr | None
    enclosing_class: ClassKey | None
    via_subclass: bool
    reason: str

    @property
    def is_sure(self) -> bool:
        return self.certainty is Certainty.SURE

    @property
    def is_call(self) -> bool:
        return isinstance(self.node, ast.Call)


class CallSites(Struct, frozen=True, kw_only=True, eq=False):
    """All places, by path and offset. is_unique: no other class or function of the tree has the name."""

    ref: DefRef
    sites: tuple[CallSite, ...]
    is_unique: bool

    @property
    def sure(self) -> tuple[CallSite, ...]:
        return tuple(site for site in self.sites if site.is_sure)

    @property
    def possible(self) -> tuple[CallSite, ...]:
        return tuple(site for site in self.sites if not site.is_sure)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(site.path for site in self.sites))


def site_of(
    source: Source,
    node: ast.AST,
    kind: SiteKind,
    *,
    certainty: Certainty = Certainty.SURE,
    enclosing_class: ClassKey | None = None,
    via_subclass: bool = False,
    reason: str = "",
    span: tuple[int, int] | None = None,
) -> CallSite:
    """The site of a reference: its call where it is called, and the kind that its surroundings make of it.

    `kind` is what a call of it is; anything else than a call overrides it. span: of a name in a quoted annotation."""
    above = source.parents.get(node)
    whole: ast.AST = node
    context = getattr(node, "ctx", None)
    if isinstance(above, ast.Call) and above.func is node:
        whole = above
    elif isinstance(context, ast.Store):
        kind = SiteKind.ASSIGNMENT
    elif isinstance(context, ast.Del):
        kind = SiteKind.DELETION
    elif kind not in (SiteKind.ACCESS, SiteKind.IMPORT):
        kind = SiteKind.REFERENCE
    if any(whole in getattr(each, "decorator_list", ()) for each in source.ancestors(whole)):
        kind = SiteKind.DECORATOR
    start, end = span if span is not None and whole is node else (source.start(whole), source.end(whole))
    return CallSite(
        path=source.path,
        node=whole,
        line=source.line(node),
        start=start,
        end=end,
        kind=kind,
        certainty=certainty,
        receiver=node.value if isinstance(node, ast.Attribute) else None,
        enclosing_class=enclosing_class,
        via_subclass=via_subclass,
        reason=reason,
    )


def node_at(source: Source, site: CallSite) -> ast.AST:
    """The site's node in a freshly parsed tree of the same content."""
    for node in walk(source.tree):
        is_candidate = type(node) is type(site.node) and hasattr(node, "lineno")
        if is_candidate and (source.start(node), source.end(node)) == (site.start, site.end):
            return node
    raise LookupError(f"{site.path}:{site.line} has changed since its call sites were looked up")
