"""Every place in the tree that refers to a method or a module-level name, and how sure that is.

Strings that name it (getattr, patches, entry points) are strings.py's. A place whose receiver is known to be something
else is not listed; one whose receiver stays unknown is POSSIBLE, or SURE when nothing else in the tree has the name."""

from __future__ import annotations

from codemods.schema.refs import DefRef
from codemods.source.files import FileSet
from codemods.source.function_sites import function_sites
from codemods.source.locate import find
from codemods.source.method_sites import method_sites
from codemods.source.sites import CallSite, CallSites, Certainty, SiteKind, node_at

__all__ = ["CallSite", "CallSites", "Certainty", "SiteKind", "call_sites", "node_at"]


def call_sites(files: FileSet, ref: DefRef) -> CallSites:
    """Every place that refers to the definition: a method (static and class methods, properties too), or a function,
    class or constant of a module. Raises what `locate.find` raises, and Unparsable for a file with the name in it."""
    located = find(files, ref)
    return method_sites(files, located) if located.owner is not None else function_sites(files, located)
