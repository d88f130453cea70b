"""move into a package's `__init__`, whose own modules it has by name only once they are imported; bodies on one line."""

from __future__ import annotations

import pytest

from codemods.schema.plan import Move
from tests.support.steps import check_step

TREE = """\
# file: pkg/__init__.py
{init}# file: pkg/config.py
{config}BASE = 1
# file: pkg/m.py
{imports}


def f():
    return {text}
# file: user.py
from pkg.m import f
f()
"""
AFTER = """\
# file: pkg/__init__.py
{init}
# file: pkg/m.py
# file: user.py
from pkg import f
f()
"""
TOP = "{line}\n\n\ndef f():\n    return {text}"
INSIDE = "def f():\n    {line}\n\n    return {text}"
FORMS = [
    ("from pkg import config", "config.BASE", "", "", TOP.format(line="from pkg import config", text="config.BASE")),
    ("from . import config", "config.BASE", "", "", TOP.format(line="from . import config", text="config.BASE")),
    ("from pkg import config as c", "c.BASE", "", "", TOP.format(line="from pkg import config as c", text="c.BASE")),
    ("import pkg.config", "pkg.config.BASE", "", "", TOP.format(line="import pkg.config", text="pkg.config.BASE")),
    (
        "from pkg import config",
        "config.BASE",
        "from pkg import config\n",
        "",
        TOP.format(line="from pkg import config", text="config.BASE"),
    ),
    (
        "from pkg import config",
        "config.BASE",
        "",
        "import pkg\n",
        INSIDE.format(line="from pkg import config", text="config.BASE"),
    ),
]


@pytest.mark.parametrize(("imports", "text", "init", "config", "after"), FORMS)
def test_a_module_of_the_package(imports: str, text: str, init: str, config: str, after: str) -> None:
    before = TREE.format(init=init, config=config, imports=imports, text=text)
    check_step(before, AFTER.format(init=after), Move(definition="pkg.m:f", to="pkg"))


def test_a_body_on_the_header_line_that_needs_an_import() -> None:
    before = (
        "# file: a.py\nfrom b import K\n\n\ndef f(): return K\n# file: b.py\nimport c\nK = 1\n# file: c.py\n'''C.'''\n"
    )
    after = "# file: a.py\n# file: c.py\n'''C.'''\n\n\ndef f():\n    from b import K\n\n    return K\n"
    check_step(before, after, Move(definition="a:f", to="c"))


def test_an_import_of_the_destination_in_the_body_stays() -> None:
    """It gives the very module that the code stands in, when it runs: nothing would be gained by writing `g`."""
    before = "# file: dst.py\ndef g(): return 2\n# file: m.py\ndef f():\n    import dst\n    return dst.g()\n"
    after = "# file: dst.py\ndef g(): return 2\n\n\ndef f():\n    import dst\n    return dst.g()\n# file: m.py\n"
    check_step(before, after, Move(definition="m:f", to="dst"))
