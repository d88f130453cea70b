"""Strings and documents that name code: what is found, what kind it is, and how sure."""

from __future__ import annotations

import pytest

from codemods.source.files import FileSet, MemoryTree
from codemods.source.strings import StringMention, body_of, mentions, mentions_of

SRC = """\
import time

LIMIT = 3


def helper():
    return time.time()


class A:
    def run(self):
        return helper()


class B(A):
    pass
"""


def tree(**texts: str) -> FileSet:
    """Files by name, `__` for a slash and a last `_` for the dot: `docs__api_rst` is docs/api.rst."""
    named = {".".join(name.replace("__", "/").rsplit("_", 1)): text for name, text in texts.items()}
    return FileSet(MemoryTree({path: text.encode() for path, text in {"src.py": SRC, **named}.items()}))


def shown(found: tuple[StringMention, ...]) -> list[str]:
    return [f"{each.kind} {each.certainty} {each.text}" for each in found]


PATCHES = [
    ('mock.patch("src.helper")', "helper", ["patch-target sure src.helper"]),
    ('patch("src.A.run", autospec=True)', "A.run", ["patch-target sure src.A.run"]),
    ('patch("src.A.run")', "A", ["patch-target sure src.A"]),
    ('patch(target="src.helper")', "helper", ["patch-target sure src.helper"]),
    ('patch("other.helper")', "helper", []),
    ('patch("src.helper_two")', "helper", []),
    ('patch("src." "helper")', "helper", ["patch-target sure src.helper"]),
    ('patch.object(src, "helper")', "helper", ["patch-target sure helper"]),
    ('patch.object(src.A, "run")', "A.run", ["patch-target sure run"]),
    ('patch.object(A, "run")', "A.run", ["patch-target sure run"]),
    ('patch.object(B, "run")', "A.run", ["patch-target sure run"]),
    ('patch.object(unknown(), "run")', "A.run", ["patch-target possible run"]),
    ('patch.object(time, "run")', "A.run", []),
    ('patch.multiple("src", helper=None)', "helper", ["patch-target sure helper"]),
    ('patch.multiple("time", helper=None)', "helper", []),
    ('monkeypatch.setattr("src.helper", None)', "helper", ["setattr-name sure src.helper"]),
    ('monkeypatch.setattr(src, "helper", None)', "helper", ["setattr-name sure helper"]),
    ('monkeypatch.setattr("src.LIMIT", "helper")', "helper", []),
    ('setattr(A(), "run", None)', "A.run", ["setattr-name sure run"]),
    ('object.__setattr__(A(), "run", None)', "A.run", ["setattr-name sure run"]),
    ('getattr(A(), "run")', "A.run", ["getattr sure run"]),
    ('getattr(x, "run", None)', "A.run", ["getattr possible run"]),
    ('hasattr(time, "run")', "A.run", []),
    ('operator.methodcaller("run")', "A.run", ["getattr possible run"]),
    ('src.__dict__["helper"]', "helper", ["getattr sure helper"]),
    ('vars(src)["helper"]', "helper", ["getattr sure helper"]),
    ('patch("src.time.time")', "time.time", ["patch-target sure src.time.time"]),
    ('importlib.import_module("src")', "", ["import sure src"]),
    ('sys.modules["src"]', "", ["import sure src"]),
    ('logging.getLogger("src")', "", ["logger sure src"]),
    ('caplog.at_level(10, logger="src")', "", ["logger sure src"]),
    ('record.name == "src"', "", ["logger sure src"]),
    ('subprocess.run(["python", "-m", "src"])', "", ["import sure src"]),
    ('words = ["src", "helper"]', "", []),
    ('print("see src.helper for more")', "helper", ["other possible src.helper"]),
    ('TABLE = {"f": "src.helper"}', "helper", ["other possible src.helper"]),
    ('run("src:helper")', "helper", ["entry-point sure src:helper"]),
    (r'loads(b"\x80\x02csrc\nA\n)\x81.")', "A", [r'pickle possible b"\x80\x02csrc\nA\n)\x81."']),
]


@pytest.mark.parametrize(("line", "qualname", "expected"), PATCHES, ids=[line for line, _, _ in PATCHES])
def test_calls(line: str, qualname: str, expected: list[str]) -> None:
    files = tree(user_py=f"import src, time\nfrom src import A, B\nx = f()\n{line}\n")
    module, name = ("time", "time") if qualname == "time.time" else ("src", qualname)
    assert shown(tuple(each for each in mentions(files, module, name) if each.path == "user.py")) == expected


PUT_TOGETHER = [
    ('getattr(obj, f"do_{x}")', True),
    ('getattr(obj, "do_" + x)', True),
    ('getattr(obj, "do_%s" % x)', True),
    ('getattr(obj, "do_{}".format(x))', True),
    ('getattr(obj, x + "_ping")', True),
    ('name = f"do_{x}"\ngetattr(obj, name)', True),
    ('getattr(obj, f"on_{x}")', False),
    ("getattr(obj, x)", False),
    ('getattr(time, f"do_{x}")', False),
    ('for x in ("do_ping", "b"):\n    getattr(obj, x)', True),
    ('[getattr(obj, x) for x in ["do_ping"]]', True),
    ('print(f"do_{x}")', False),
]


@pytest.mark.parametrize(("lines", "is_found"), PUT_TOGETHER, ids=[lines for lines, _ in PUT_TOGETHER])
def test_names_that_are_put_together(lines: str, is_found: bool) -> None:
    files = tree(src_py="class A:\n    def do_ping(self): ...\n", user_py=f"import time\nobj = x = f()\n{lines}\n")
    assert bool(mentions(files, "src", "A.do_ping")) is is_found


def test_a_path_is_followed_through_imports() -> None:
    files = tree(
        user_py="import src\nfrom src import helper, helper as h\n",
        test_py='patch("user.helper")\npatch("user.src.helper")\npatch("user.h")\npatch("user.src.time")\n',
    )
    found = mentions(files, "src", "helper")
    assert [(each.text, each.holder) for each in found] == [
        ("user.helper", "user"),
        ("user.src.helper", "src"),
    ]


def test_a_path_may_start_with_a_constant() -> None:
    files = tree(
        test_py='MODULE = "src"\npatch(f"{MODULE}.helper")\npatch(MODULE + ".helper")\npatch("%s.helper" % MODULE)\n'
    )
    body = files.read("test.py")
    spans = [each.name_span for each in mentions(files, "src", "helper")]
    assert [body[span[0] : span[1]] for span in spans if span] == [b"helper"] * 3


def test_the_own_module_by_name() -> None:
    files = tree(src_py='def helper(): ...\npatch(f"{__name__}.helper")\nglobals()["helper"]()\n')
    assert shown(mentions(files, "src", "helper")) == [
        "patch-target sure src.helper",
        "getattr sure helper",
    ]


EXPORTS = [
    '__all__ = ["A", "helper"]',
    '__all__: list[str] = ["helper"]',
    '__all__ = []\n__all__ += ["helper"]',
    '__all__ = []\n__all__ += ("helper",)',
    '__all__ = []\n__all__.extend(["helper"])',
    '__all__ = []\n__all__.append("helper")',
    '__all__ = ["A"] + ["helper"]',
    '__all__ = [*base.__all__, "helper"]',
]


@pytest.mark.parametrize("lines", EXPORTS)
@pytest.mark.parametrize("path", ["src_py", "user_py"])
def test_exports(lines: str, path: str) -> None:
    head = SRC if path == "src_py" else "from src import helper\n"
    found = mentions(tree(**{path: f"{head}\n{lines}\n"}), "src", "helper")
    assert shown(found) == ["dunder-all sure helper"]


def test_an_export_of_another_thing_of_that_name() -> None:
    files = tree(user_py='def helper(): ...\n__all__ = ["helper"]\n')
    assert mentions(files, "src", "helper") == ()


def test_slots_and_lazy_attributes() -> None:
    files = tree(
        src_py="""\
class A:
    __slots__ = ("size",)
    def __getattr__(self, name):
        if name == "size":
            return 1
class Other:
    __slots__ = ("size",)
""",
    )
    assert shown(mentions(files, "src", "A.size")) == ["slots sure size", "getattr sure size"]


def test_docstrings() -> None:
    files = tree(
        src_py='''\
"""See :func:`helper`, :meth:`A.run` and ``src.helper``."""
def helper(): ...
class A:
    """Uses :meth:`run` and :func:`~src.helper`."""
    def run(self):
        """Calls src.helper."""
''',
    )
    assert shown(mentions(files, "src", "helper")) == [
        "document sure helper",
        "document sure src.helper",
        "document sure src.helper",
        "document sure src.helper",
    ]
    assert shown(mentions(files, "src", "A.run")) == ["document sure A.run", "document sure run"]


DOCUMENTS = [
    (
        "docs_rst",
        ".. autofunction:: src.A.run\n\nSee :meth:`src.A.run` and ``src.A.run``.\n",
        ["document sure src.A.run"] * 3,
    ),
    ("docs_rst", ".. currentmodule:: src\n\n.. automethod:: A.run\n", ["document sure A.run"]),
    ("docs_rst", ".. automodule:: src\n   :members:\n", []),
    ("readme_md", "`src.A.run()` or [it](api.html#src.A.run)\n", ["document sure src.A.run"] * 2),
    ("readme_md", "https://x.org/src.A.run\n", []),
    ("readme_md", "mysrc.A.run src.A.runner\n", []),
    ("CHANGELOG_md", "Added src.A.run\n", ["document possible src.A.run"]),
    ("pyproject_toml", '[project.scripts]\ngo = "src:A.run"\n', ["entry-point sure src:A.run"]),
    ("setup_cfg", "[options.entry_points]\nconsole_scripts =\n    go = src:A.run\n", ["entry-point sure src:A.run"]),
    ("ci_yml", "- run: uvicorn src:A.run\n", ["entry-point sure src:A.run"]),
]


@pytest.mark.parametrize(("name", "text", "expected"), DOCUMENTS)
def test_documents(name: str, text: str, expected: list[str]) -> None:
    assert shown(mentions(tree(**{name: text}), "src", "A.run")) == expected


def test_documents_on_a_module() -> None:
    text = (
        "from src import helper\n\nimport src\n\n.. automodule:: src\n\n"
        ":mod:`src`, src.helper, src/helper.py, python -m src\n"
    )
    files = tree(docs_rst=text)
    assert [each.line for each in mentions(files, "src", "")] == [1, 3, 5, 7, 7, 7]
    assert [each.line for each in mentions(files, "src", "helper")] == [1, 7]


def test_offsets_are_true() -> None:
    files = tree(
        docs_rst="é src.helper\n",
        test_py='"""é\r\nsrc.helper\r\n\\x41 src.helper"""\r\npatch("src.helper")\r\n',
    )
    found = mentions(files, "src", "helper")
    assert [body_of(files, each.path)[each.start : each.end] for each in found] == [b"src.helper"] * 4
    assert [each.line for each in found] == [1, 2, 3, 4]


def test_a_moved_definition_is_found_by_the_tree_before() -> None:
    before = tree(test_py='patch("src.helper")\n')
    after = before.write("src.py", b"from dst import helper\n").write("dst.py", b"def helper(): ...\n")
    assert mentions(after, "src", "helper") == ()
    assert shown(mentions(after, "src", "helper", tree=before)) == ["patch-target sure src.helper"]


def test_several_things_of_one_name() -> None:
    files = tree(test_py='from src import A, B\npatch("src.A.run")\npatch.object(B, "run")\npatch("src.B.run")\n')
    found = mentions_of(files, [("src", "A.run"), ("src", "B.run")])
    assert [each.line for each in found] == [2, 3, 4]


def test_a_file_that_does_not_parse_has_no_mentions() -> None:
    assert mentions(tree(broken_py='def f(:\n    patch("src.helper")\n'), "src", "helper") == ()
