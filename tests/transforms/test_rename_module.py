"""rename of modules and packages: files move, imports and strings follow, same-named objects stay."""

from __future__ import annotations

import pytest

from codemods.schema.plan import Rename
from codemods.transforms.rename import TRANSFORM
from tests.support.trees import check, codes, tree

SPIN = """\
# file: spin/__init__.py
from . import core
from .core import spin as s
__all__ = ["core", "s"]
# file: spin/core.py
from spin.util import k
from .util import k as k2
def spin():
    return k
# file: spin/util.py
k = 1
# file: spin/data.txt
spin
"""
WHIRL = """\
# file: spin/__init__.py
(gone)
# file: spin/core.py
(gone)
# file: spin/util.py
(gone)
# file: spin/data.txt
(gone)
# file: whirl/__init__.py
from . import core
from .core import spin as s
__all__ = ["core", "s"]
# file: whirl/core.py
from whirl.util import k
from .util import k as k2
def spin():
    return k
# file: whirl/util.py
k = 1
# file: whirl/data.txt
spin
"""

PACKAGE_USERS = {
    "an object of the same name": (
        "from spin.core import spin\nimport spin as pack\nOUT = spin(), pack.__name__\n",
        "from whirl.core import spin\nimport whirl as pack\nOUT = spin(), pack.__name__\n",
    ),
    "plain imports": (
        "import spin\nimport spin.core\nprint(spin.core.spin, f'{spin.util=}')\ndef f(x: 'spin.core.T'): ...\n",
        "import whirl\nimport whirl.core\nprint(whirl.core.spin, f'spin.util={whirl.util!r}')\ndef f(x: 'whirl.core.T'): ...\n",
    ),
    "in a function": (
        "def f(spin):\n    return spin\ndef g():\n    import spin.core\n    return spin.core\n",
        "def f(spin):\n    return spin\ndef g():\n    import whirl.core\n    return whirl.core\n",
    ),
    "several in one statement": (
        "import os, spin, spin.core as c\nfrom spin import core as d, util\nspin, util\n",
        "import os, whirl, whirl.core as c\nfrom whirl import core as d, util\nwhirl, util\n",
    ),
    "the new name is taken": ("import spin\nwhirl = spin.x\n", "import whirl as spin\nwhirl = spin.x\n"),
    "the name is bound in two ways": (
        "import spin\nfrom spin.core import spin\n",
        "import whirl as spin\nfrom whirl.core import spin\n",
    ),
    "a star": ("from spin.core import *\nspin()\n", "from whirl.core import *\nspin()\n"),
    "other things of that name": ("from pin import spin\nspin.core\nspin = 'spin'\n", "from pin import spin\nspin.core\nspin = 'spin'\n"),
    "strings": (
        "patch('spin.core.x'), import_module('spin'), run(['python', '-m', 'spin.core']), sys.modules['spin.util']\n",
        "patch('whirl.core.x'), import_module('whirl'), run(['python', '-m', 'whirl.core']), sys.modules['whirl.util']\n",
    ),
    "odd spellings": ("from  spin.core  import(spin)\nimport  spin . core as c\n", "from  whirl.core  import(spin)\nimport  whirl.core as c\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", PACKAGE_USERS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_package(name: str, newline: str) -> None:
    before, after = PACKAGE_USERS[name]
    step = Rename(definition="spin", to="whirl")
    check(TRANSFORM, step, f"{SPIN}# file: user.py\n{before}", f"{WHIRL}# file: user.py\n{after}", newline=newline)


CORE = "# file: pkg/__init__.py\n{init}# file: pkg/core.py\nfrom .util import k\nfrom . import util\nx = k\n# file: pkg/util.py\nk = 1\n"
HEART = CORE.replace("# file: pkg/core.py", "# file: pkg/core.py\n(gone)\n# file: pkg/heart.py")

MODULE_USERS = {
    "from its package": ("from pkg import core, util\ncore.x\n", "from pkg import heart, util\nheart.x\n"),
    "with a name that is taken": (
        "from pkg import core\nheart = 1\ncore.x\n",
        "from pkg import heart as core\nheart = 1\ncore.x\n",
    ),
    "by chains": (
        "import pkg\nimport pkg.core as c\nimport pkg.core\npkg.core.x, c.x, pkg.util.core\n",
        "import pkg\nimport pkg.heart as c\nimport pkg.heart\npkg.heart.x, c.x, pkg.util.core\n",
    ),
    "through another module": (
        "from other import core\nimport other\nother.core.x, core.x\n# file: other.py\nfrom pkg import core\n",
        "from other import heart\nimport other\nother.heart.x, heart.x\n# file: other.py\nfrom pkg import heart\n",
    ),
    "through another module that keeps the name": (
        "from other import core\nimport other\nother.core.x, core.x\n# file: other.py\nfrom pkg import core\nheart = 1\n",
        "from other import core\nimport other\nother.core.x, core.x\n# file: other.py\nfrom pkg import heart as core\nheart = 1\n",
    ),
    "strings": (
        "import pkg\npatch('pkg.core.x'), getattr(pkg, 'core'), patch.object(pkg, 'core'), 'core', patch('core.x')\n",
        "import pkg\npatch('pkg.heart.x'), getattr(pkg, 'heart'), patch.object(pkg, 'heart'), 'core', patch('core.x')\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULE_USERS)
def test_a_module(name: str) -> None:
    before, after = MODULE_USERS[name]
    head = CORE.format(init="from .core import x\nfrom . import core\n__all__ = ['core', 'x']\n")
    new_head = HEART.format(init="from .heart import x\nfrom . import heart\n__all__ = ['heart', 'x']\n")
    step = Rename(definition="pkg.core", to="pkg.heart")
    check(TRANSFORM, step, f"{head}# file: user.py\n{before}", f"{new_head}# file: user.py\n{after}")


def test_relative_imports_inside_the_package() -> None:
    before = (
        CORE.format(init="")
        + "# file: pkg/sub/__init__.py\n# file: pkg/sub/m.py\nfrom ..core import x\nfrom .. import core\ncore.x\n"
    )
    after = (
        HEART.format(init="")
        + "# file: pkg/sub/__init__.py\n# file: pkg/sub/m.py\nfrom ..heart import x\nfrom .. import heart\nheart.x\n"
    )
    check(TRANSFORM, Rename(definition="pkg.core", to="pkg.heart"), before, after)


def test_into_another_package() -> None:
    before = CORE.format(init="") + (
        "# file: far/__init__.py\n# file: far/off/__init__.py\n"
        "# file: user.py\nfrom pkg.core import x\nfrom pkg import core\nimport pkg.core\npkg.core.x, pkg.util, core.x\n"
        "# file: pkg/n.py\nfrom .core import x\nfrom . import core as c\n"
    )
    after = (
        "# file: pkg/core.py\n(gone)\n# file: far/off/heart.py\nfrom pkg.util import k\nfrom pkg import util\nx = k\n"
        "# file: user.py\nfrom far.off.heart import x\nfrom far.off import heart as core\n"
        "import pkg, far.off.heart\nfar.off.heart.x, pkg.util, core.x\n"
        "# file: pkg/n.py\nfrom far.off.heart import x\nfrom far.off import heart as c\n"
    )
    check(TRANSFORM, Rename(definition="pkg.core", to="far.off.heart"), before, after)


def test_deeper_in_its_own_package() -> None:
    before = CORE.format(init="") + "# file: pkg/in_/__init__.py\n# file: pkg/n.py\nfrom .core import x\n"
    after = (
        "# file: pkg/core.py\n(gone)\n# file: pkg/in_/heart.py\nfrom ..util import k\nfrom .. import util\nx = k\n"
        "# file: pkg/n.py\nfrom .in_.heart import x\n"
    )
    check(TRANSFORM, Rename(definition="pkg.core", to="pkg.in_.heart"), before, after)


def test_under_a_source_root_and_with_a_stub() -> None:
    before = (
        "# file: pyproject.toml\n[project]\n# file: src/pkg/__init__.py\n# file: src/pkg/core.py\nx = 1\n"
        "# file: src/pkg/core.pyi\nx: int\n# file: tests/test_a.py\nfrom pkg.core import x\n"
    )
    after = (
        "# file: src/pkg/core.py\n(gone)\n# file: src/pkg/core.pyi\n(gone)\n"
        "# file: src/pkg/heart.py\nx = 1\n# file: src/pkg/heart.pyi\nx: int\n# file: tests/test_a.py\nfrom pkg.heart import x\n"
    )
    check(TRANSFORM, Rename(definition="pkg.core", to="pkg.heart"), before, after)


def test_loggers_follow_where_the_module_logs_under_its_name() -> None:
    log = "# file: pkg/__init__.py\n# file: pkg/core.py\nimport logging\nlog = logging.getLogger(__name__)\n# file: t.py\n"
    planned = check(
        TRANSFORM,
        Rename(definition="pkg.core", to="pkg.heart"),
        log + "caplog.at_level(1, logger='pkg.core'), r.name == 'pkg.core'\n",
        log.replace("# file: pkg/core.py", "# file: pkg/core.py\n(gone)\n# file: pkg/heart.py")
        + "caplog.at_level(1, logger='pkg.heart'), r.name == 'pkg.heart'\n",
    )
    assert codes(planned) == ["note U110"]


def test_a_logger_that_is_not_the_module_is_left_and_reported() -> None:
    text = "# file: pkg/__init__.py\n# file: pkg/core.py\nx = 1\n# file: t.py\nlogging.getLogger('pkg.core')\n"
    planned = TRANSFORM.plan(tree(text), Rename(definition="pkg.core", to="pkg.heart"))
    assert codes(planned) == ["stop U110"]


def test_packaging_files_are_listed() -> None:
    text = (
        SPIN
        + "# file: pyproject.toml\n[project]\nname = 'spin'\n[project.scripts]\na = 'spin.core:spin'\n[t]\nf = 'spin/core.py'\n"
    )
    planned = TRANSFORM.plan(tree(text), Rename(definition="spin", to="whirl"))
    assert planned.files is not None
    assert b"a = 'whirl.core:spin'" in planned.files.read("pyproject.toml")
    assert [(each.code, each.line) for each in planned.hazards] == [("U111", 6), ("U111", 2)]


def test_documents() -> None:
    rst = ".. automodule:: spin.core\n\n:mod:`spin`, :func:`spin.core.spin`, spin. spin.Then\n\n    import spin\n    from spin import core\n"
    planned = TRANSFORM.plan(tree(f"{SPIN}# file: d.rst\n{rst}"), Rename(definition="spin", to="whirl"))
    assert planned.files is not None
    expected = (
        rst.replace("spin.core", "whirl.core").replace("`spin`", "`whirl`").replace("import spin", "import whirl")
    )
    assert planned.files.read("d.rst").decode() == expected.replace("from spin", "from whirl")


REFUSALS = [
    ("spin", "spin.inner", "bad-name"),
    ("spin.core", "spin.util", "module-exists"),
    ("spin.core", "nowhere.core", "unknown-package"),
    ("spin", "json", "U107"),
    ("spin", "far", "U107"),
    ("spin.core", "spin.s", "U107"),
    ("spin", "class", "bad-name"),
]


@pytest.mark.parametrize(("old", "new", "code"), REFUSALS)
def test_refusals(old: str, new: str, code: str) -> None:
    text = SPIN.replace("core import spin as s", "core import spin\ns = 1") + "# file: user.py\nimport far.away\n"
    planned = TRANSFORM.plan(tree(text), Rename(definition=old, to=new))
    assert {each.code for each in planned.refusals} == {code}


def test_a_file_that_binds_the_package_in_a_way_that_can_not_follow() -> None:
    text = SPIN + "# file: user.py\nimport spin.core\nwhirl = spin.core\n"
    planned = TRANSFORM.plan(tree(text), Rename(definition="spin", to="whirl"))
    assert [(each.code, each.path, each.line) for each in planned.refusals] == [("U107", "user.py", 1)]


def test_an_import_in_a_class_body_is_an_attribute() -> None:
    text = SPIN + "# file: user.py\nclass K:\n    import spin\n    def m(self): return self.spin\n"
    planned = TRANSFORM.plan(tree(text), Rename(definition="spin", to="whirl"))
    assert planned.files is not None
    assert b"    import whirl as spin\n" in planned.files.read("user.py")


def test_a_module_with_two_names() -> None:
    text = "# file: lib/spin.py\nv = 1\n# file: user.py\nfrom lib.spin import v\n"
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="lib.spin", to="lib.whirl"))) == ["refused two-names"]
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="spin", to="whirl"))) == ["refused U107"]


COMPUTED = {
    "a name after the package": ('import_module("pkg." + n)', ["stop U111"]),
    "a field after the package": ('__import__(f"pkg.{n}")', ["stop U111"]),
    "the package in front": ('import_module("%s.core" % p)', ["stop U111"]),
    "another package": ('import_module("other." + n)', []),
    "another module of the package": ('import_module(f"pkg.util_{n}")', []),
    "only once known": ('PACKAGE = "pkg"\nimport_module(f"{PACKAGE}.{n}")', ["stop U111"]),
    "a name that is passed on": ('name = f"pkg.{n}"\nimport_module(name)', ["stop U111"]),
    "relative": ('import_module("." + n, "pkg")', ["stop U111"]),
    "relative and whole": ('import_module(".core", package="pkg")', ["stop U111"]),
    "relative elsewhere": ('import_module(".core", "other")', []),
    "not known at all": ("import_module(n), import_module(k)", ["note U111"]),
    "modules": ('sys.modules["pkg." + n]', ["stop U111"]),
    "a patch": ('patch(f"pkg.{n}.x")', ["stop U111"]),
    "a literal": ('import_module("pkg.util")', []),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_names_that_are_put_together(name: str) -> None:
    code, expected = COMPUTED[name]
    files = tree(CORE.format(init="") + f"# file: user.py\nfrom importlib import import_module\n{code}\n")
    planned = TRANSFORM.plan(files, Rename(definition="pkg.core", to="pkg.heart"))
    assert codes(planned) == expected


OWN = {
    "a package that loads what is in it": ("pkg", 'import_module(f"{__name__}.{n}")', []),
    "a package that loads the module": ("pkg.core", 'import_module(f"{__name__}.{n}")', ["stop U111"]),
    "a package that loads relatively": ("pkg", "import_module('.' + n, __package__)", []),
    "a package that loads the module relatively": ("pkg.core", "import_module('.' + n, __package__)", ["stop U111"]),
    "a package that names itself": ("pkg", 'import_module("pkg." + n)', ["stop U111"]),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_names_that_start_from_the_own_one(name: str) -> None:
    definition, code, expected = OWN[name]
    files = tree(CORE.format(init=f"from importlib import import_module\n{code}\n"))
    planned = TRANSFORM.plan(files, Rename(definition=definition, to=f"{definition}s"))
    assert [each for each in codes(planned) if each != "note U110"] == expected
