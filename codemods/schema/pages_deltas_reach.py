"""Differences in what is reached: what an import does, and overrides that are passed by. Pages only."""

from __future__ import annotations

from codemods.schema.page import Example, Page, Settling, declare

D10 = Page(
    code="D10",
    title="importing the module does something else",
    severity=None,
    text=(
        "Imports run code: they register, patch, set variables and start things. An import that is dropped, added, "
        "moved into a function or reordered changes which of this has happened by the time others look. A new import "
        "can also close a cycle, which then fails or sees half a module."
    ),
    example=Example(
        before="""\
# file: registry.py
names = []
# file: plugin.py
import registry

registry.names.append("fast")
# file: main.py
import plugin
import registry


def run():
    return registry.names
""",
        after="""\
# file: registry.py
names = []
# file: plugin.py
import registry

registry.names.append("fast")
# file: main.py
import registry


def load():
    import plugin


def run():
    return registry.names
""",
        was="['fast']",
        now="[]",
    ),
    settle=(
        Settling(key="", how="keep the import where it was, with a comment that says what it is for"),
        declare("say who does now what the import did"),
    ),
)

D11 = Page(
    code="D11",
    title="an override or a patch is no longer reached",
    severity=None,
    text=(
        "The old code looked a name up on `self` or in its module, so a subclass or a test could put something else "
        "there. The new code calls the function itself, or looks the name up elsewhere, and passes the replacement by. "
        "Nothing fails: the replacement simply does not run."
    ),
    example=Example(
        before="""\
class Runner:
    def device(self):
        return "cuda"

    def load(self):
        return self.device()


class CpuRunner(Runner):
    def device(self):
        return "cpu"


def run():
    return CpuRunner().load()
""",
        after="""\
def device():
    return "cuda"


class Runner:
    def load(self):
        return device()


class CpuRunner(Runner):
    def device(self):
        return "cpu"


def run():
    return CpuRunner().load()
""",
        was="'cpu'",
        now="'cuda'",
    ),
    settle=(
        Settling(key="", how="keep a method of the old name that calls the function, and call that one"),
        Settling(key="", how="point the patch, or the override, at the new place"),
        declare("say why nothing replaces it any more"),
    ),
)

PAGES = (D10, D11)
