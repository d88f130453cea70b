"""The places that refer to a method: every `.name` of the tree, by what its receiver is.

Files that do not have `.name` in their text are never parsed; files in which only `self.name` of unrelated classes
stands are parsed once and dropped."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cached_property

from codemods.source import foreign
from codemods.source.binder import table
from codemods.source.classes import (
    ClassKey,
    class_at,
    definers,
    defines,
    dynamic_lookup,
    is_in_family,
    is_subclass,
    mro,
    overriders,
    provider,
    resolve_class,
    subclasses,
)
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.index import mentioning
from codemods.source.locate import Located
from codemods.source.members import MemberKind, has_unknown_bases, instance_attributes, members, self_name
from codemods.source.mentions import Mention, attributes, num_definitions, sets_attribute
from codemods.source.modules import modules_of
from codemods.source.parse import Source, light_tree
from codemods.source.receiver_kinds import ClassObject, Known, Unknown
from codemods.source.receivers import receiver_type, scope_at
from codemods.source.scopes import Role
from codemods.source.sites import CallSite, CallSites, Certainty, SiteKind, site_of

_Judgement = tuple[Certainty, str]  # how sure, and why


def method_sites(files: FileSet, located: Located) -> CallSites:
    """All places of a method. Raises Unparsable for a file that has `.name` and does not parse."""
    key = ClassKey(modules_of(files).module_of(located.path), located.ref.owner)
    search = _Search(files, key, located.ref.name)
    found = search.in_own_class(located)
    for path in mentioning(files, located.ref.name):
        found.extend(search.in_file(path))
    found.sort(key=lambda site: (site.path, site.start))
    return CallSites(ref=located.ref, sites=tuple(found), is_unique=search.is_unique)


class _Search:
    def __init__(self, files: FileSet, key: ClassKey, name: str) -> None:
        self.files, self.key, self.name = files, key, name
        self.dotted = re.compile(rb"\.[\s\\]*" + re.escape(name.encode()) + rb"\b")
        self.judged: dict[tuple[ClassKey, bool], _Judgement | None] = {}

    # -- files

    def in_own_class(self, located: Located) -> list[CallSite]:
        """Uses of the bare name in the class body: `run = start`, `@size.setter`."""
        assert located.owner is not None
        source = located.source
        scope = table(source).scope_of(located.owner)
        return [
            site_of(source, each.node, SiteKind.CLASS_CALL, enclosing_class=self.key, reason="in the class body")
            for each in scope.occurrences
            if each.name == self.name and each.role is Role.LOAD and isinstance(each.node, ast.Name)
        ]

    def in_file(self, path: str) -> list[CallSite]:
        raw = self.files.read(path)
        if not self.dotted.search(raw):
            return []
        module = modules_of(self.files).module_of(path)
        if all(self.is_elsewhere(module, each) for each in attributes(*light_tree(self.files, path), self.name)):
            return []
        source = glimpse(self.files, path, self.name)
        found = []
        for mention in attributes(source.text, source.tree, self.name):
            if not self.is_elsewhere(module, mention):
                site = self.judge(source, module, mention)
                if site is not None:
                    found.append(site)
        return found

    def is_elsewhere(self, module: str, mention: Mention) -> bool:
        """Whether a `self.name` or `super().name` is settled by its class alone: an unrelated one that has the name."""
        if not mention.classes or mention.method is None:
            return False
        key = ClassKey(module, mention.classes)
        if self.is_related(key):
            return False
        receiver = mention.node.value
        if isinstance(receiver, ast.Call):
            return getattr(receiver.func, "id", "") == "super"
        arguments = [*mention.method.args.posonlyargs, *mention.method.args.args]
        is_self = isinstance(receiver, ast.Name) and receiver.id == self_name(mention.method)
        return is_self and arguments[0].annotation is None and self.has_own(key)

    # -- one place

    def judge(self, source: Source, module: str, mention: Mention) -> CallSite | None:
        node = mention.node
        enclosing = ClassKey(module, mention.classes) if mention.classes else None
        receiver = node.value
        via_subclass = False
        if isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super":
            kind, judgement = SiteKind.SUPER_CALL, self.through_super(source, receiver, enclosing)
        else:
            what = receiver_type(self.files, source, receiver)
            kind = SiteKind.INSTANCE_CALL
            if isinstance(what, ClassObject):
                kind = SiteKind.CLASS_CALL if what.is_exact else SiteKind.CLS_CALL
                judgement = self.of_class(what.key, is_exact=what.is_exact)
                via_subclass = self.derives(what.key)
            elif isinstance(what, Known):
                if mention.method is not None and getattr(receiver, "id", "") == self_name(mention.method):
                    kind = SiteKind.SELF_CALL
                judgement = self.of_any(what)
                via_subclass = all(self.derives(key) for key in what.keys)
            elif isinstance(what, Unknown):
                judgement = self.of_unknown(what.why, is_double=what.is_double)
            else:
                return None
        if judgement is None:
            return None
        if self.is_accessor and kind is not SiteKind.SUPER_CALL:
            kind = SiteKind.ACCESS
        certainty, reason = judgement
        return site_of(
            source,
            node,
            kind,
            certainty=certainty,
            enclosing_class=enclosing,
            via_subclass=via_subclass,
            reason=reason,
        )

    def derives(self, key: ClassKey) -> bool:
        return key != self.key and is_subclass(self.files, key, self.key)

    def of_any(self, what: Known) -> _Judgement | None:
        """Every class the receiver may have must lead to the method for it to be sure."""
        each = [self.of_class(key, is_exact=what.is_exact) for key in what.keys]
        found = [judgement for judgement in each if judgement is not None]
        if not found or len(each) == 1:
            return found[0] if found else None
        if len(found) < len(each) or any(certainty is Certainty.POSSIBLE for certainty, _ in found):
            return Certainty.POSSIBLE, "the receiver may be of another class"
        return found[0]

    def of_class(self, key: ClassKey, *, is_exact: bool) -> _Judgement | None:
        """Whether `x.name` on an instance of the class means our method; None when it means another."""
        if (key, is_exact) not in self.judged:
            self.judged[key, is_exact] = self._of_class(key, is_exact=is_exact)
        return self.judged[key, is_exact]

    def _of_class(self, key: ClassKey, *, is_exact: bool) -> _Judgement | None:
        if not self.is_related(key):
            if self.has_own(key) or self.name in instance_attributes(self.files, key):
                return None
            return self.of_unknown(f"{key.name} itself has no {self.name}")
        own = provider(self.files, key, self.name)
        if own == self.key:
            return Certainty.SURE, f"the receiver is a {key.name}"
        heirs = () if is_exact else subclasses(self.files, key)
        reached = {provider(self.files, heir, self.name) for heir in heirs} - {None}
        if self.key not in reached:
            return None
        others = reached - {self.key, *overriders(self.files, self.key, self.name)}
        if own is None and not others:
            return Certainty.SURE, f"{key.name} is a base of {self.key.name} and of nothing else that has {self.name}"
        return Certainty.POSSIBLE, f"a {key.name} is a {self.key.name} only sometimes"

    def through_super(self, source: Source, call: ast.Call, enclosing: ClassKey | None) -> _Judgement | None:
        """`super().name` looks behind the class it stands in, in the order of whatever class the instance has."""
        if call.args and isinstance(call.args[0], (ast.Name, ast.Attribute)):
            named = resolve_class(self.files, source, call.args[0], scope_at(source, call))
            enclosing = next((base for base in named if isinstance(base, ClassKey)), enclosing)
        if enclosing is None or not self.is_related(enclosing):
            return None
        if self.behind(enclosing, enclosing) == self.key:
            return Certainty.SURE, f"the next {self.name} after {enclosing.name} is this one"
        heirs = subclasses(self.files, enclosing)
        if any(self.behind(enclosing, heir) == self.key for heir in heirs):
            return Certainty.POSSIBLE, f"the next {self.name} after {enclosing.name} depends on the subclass"
        return None

    def behind(self, key: ClassKey, heir: ClassKey) -> ClassKey | None:
        order = mro(self.files, heir).classes
        after = order[order.index(key) + 1 :] if key in order else ()
        return next((each for each in after if defines(self.files, each, self.name)), None)

    def of_unknown(self, why: str, *, is_double: bool = False) -> _Judgement:
        if is_double:
            return Certainty.POSSIBLE, "the receiver is a test double"
        if self.is_unique:
            return Certainty.SURE, f"nothing else in the tree has a {self.name}"
        return Certainty.POSSIBLE, why

    # -- facts

    def has_own(self, key: ClassKey) -> bool:
        """Whether the class, or a base that we can't see, accounts for the name."""
        is_found = provider(self.files, key, self.name) is not None
        return is_found or has_unknown_bases(self.files, key) or bool(dynamic_lookup(self.files, key))

    @cached_property
    def is_accessor(self) -> bool:
        located = class_at(self.files, self.key)
        member = members(self.files, *located).get(self.name) if located is not None else None
        return member is not None and member.kind is MemberKind.ACCESSOR

    @cached_property
    def is_unique(self) -> bool:
        """Whether only this class and its family define the name, and no everyday object has it."""
        if self.name in foreign.common_members():
            return False
        word = self.name.encode()
        num_defined: Counter[str] = Counter()
        for path in mentioning(self.files, self.name):
            raw = self.files.read(path)
            if sets_attribute(raw, word):
                return False
            num_defined[modules_of(self.files).module_of(path)] = num_definitions(raw, word)
        for each in definers(self.files, self.name):
            if not self.is_related(each):
                return False
            num_defined[each.module] -= 1
        return all(number <= 0 for number in num_defined.values())

    def is_related(self, key: ClassKey) -> bool:
        """Whether `self` in that class may be an instance of ours."""
        return is_in_family(self.files, self.key, key)
