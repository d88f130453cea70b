"""inline-method: forwarders at their calls. Tables of whole trees before and after, and of what is refused."""

from __future__ import annotations

import pytest

from codemods.schema.plan import InlineMethod
from codemods.transforms.inline_function import TRANSFORM
from tests.support.trees import check, codes, tree

APPLIES = {
    "the call keeps its layout and comments": (
        "m:C._make",
        """\
# file: m.py
class C:
    def _make(self, args, path=None, revision=None, draft=False):
        return Config.of(
            args,
            path=path,
            revision=revision,
            draft=draft,
        )

    def go(self, args):
        first = self._make(
            args,
            path=(args.path),  # brackets are the author's
            revision=args.revision,
            draft=True,
        )
        return first, self._make(args, args.path)


class Config:
    @classmethod
    def of(cls, args, **kw):
        return args, kw
""",
        """\
# file: m.py
class C:
    def go(self, args):
        first = Config.of(
            args,
            path=(args.path),  # brackets are the author's
            revision=args.revision,
            draft=True,
        )
        return first, Config.of(args, path=args.path, revision=None, draft=False)


class Config:
    @classmethod
    def of(cls, args, **kw):
        return args, kw
""",
    ),
    "defaults, keywords, order of the body": (
        "m:f",
        """\
# file: m.py
def f(a, b=2, *, c="x"):
    \"\"\"Goes with it.\"\"\"
    return g(a, b, c=c)


def g(*args, **kw):
    return args, kw


OUT = f(1), f(1, 3), f(1, b=4, c="y"), f(c="z", a=1)
""",
        """\
# file: m.py
def g(*args, **kw):
    return args, kw


OUT = g(1, 2, c="x"), g(1, 3, c="x"), g(1, 4, c="y"), g(1, 2, c="z")
""",
    ),
    "brackets only where they are needed": (
        "m:C.m",
        """\
# file: m.py
class C:
    def m(self, x):
        return self.k + x * 2

    def go(self, a, b):
        y = self.m(a)
        y = self.m(a + b) * 3, -self.m(a), f(self.m(b.c)), [self.m(lambda: 1)]
        return self.m((a + b)), not self.m(-1), self.m(f(a))[0]


def f(x):
    return x
""",
        """\
# file: m.py
class C:
    def go(self, a, b):
        y = self.k + a * 2
        y = (self.k + (a + b) * 2) * 3, -(self.k + a * 2), f(self.k + b.c * 2), [self.k + (lambda: 1) * 2]
        return self.k + (a + b) * 2, not (self.k + -1 * 2), (self.k + f(a) * 2)[0]


def f(x):
    return x
""",
    ),
    "a body over several lines goes to the indentation of the call, with its comments": (
        "m:C._make",
        """\
# file: m.py
class C:
    def _make(self, name, size):
        # why
        return build(
            # the name
            name,
            size=size + 1,  # off by one
            text=\"\"\"
        not indented
\"\"\",
        )

    def go(self):
        if True:
            value = self._make("a", 2)
        return value


def build(name, **kw):
    return name, kw
""",
        """\
# file: m.py
class C:
    def go(self):
        if True:
            # why
            value = build(
                # the name
                "a",
                size=2 + 1,  # off by one
                text=\"\"\"
        not indented
\"\"\",
            )
        return value


def build(name, **kw):
    return name, kw
""",
    ),
    "a line that gets too long is laid out anew": (
        "m:C._m",
        """\
# file: m.py
class C:
    def _m(self, alpha, beta):
        return self.some_quite_long_attribute.some_method_name(alpha, beta, flag=True)

    def go(self):
        return self._m("a rather long argument for it", "another rather long argument")
""",
        """\
# file: m.py
class C:
    def go(self):
        return self.some_quite_long_attribute.some_method_name(
            "a rather long argument for it", "another rather long argument", flag=True
        )
""",
    ),
    "calls in arguments of calls": (
        "m:C._w",
        """\
# file: m.py
class C:
    def _w(self, x):
        return wrap(x, 1)

    def go(self):
        return self._w(self._w(self._w(2)) + 1)


def wrap(x, n):
    return x + n
""",
        """\
# file: m.py
class C:
    def go(self):
        return wrap(wrap(wrap(2, 1), 1) + 1, 1)


def wrap(x, n):
    return x + n
""",
    ),
    "stars that are passed on one to one": (
        "m:C.m",
        """\
# file: m.py
class C:
    def m(self, *args, **kwargs):
        return self.inner.run(*args, **kwargs)

    def n(self, xs):
        self.m()
        self.m(1, *xs, k=2)
        return self.m(1, **{"a": 1})
""",
        """\
# file: m.py
class C:
    def n(self, xs):
        self.inner.run()
        self.inner.run(1, *xs, k=2)
        return self.inner.run(1, **{"a": 1})
""",
    ),
    "static and class methods, and the class given by hand": (
        "m:C.make",
        """\
# file: m.py
class C:
    @classmethod
    def make(cls, n):
        return cls(n + 1)

    @classmethod
    def two(cls):
        return cls.make(2)


class D(C):
    pass


OUT = D.make(1), C.make(n=2)
""",
        """\
# file: m.py
class C:
    @classmethod
    def two(cls):
        return cls(2 + 1)


class D(C):
    pass


OUT = D(1 + 1), C(2 + 1)
""",
    ),
    "the receiver as the first argument, and receivers with a known type": (
        "m:C.free",
        """\
# file: m.py
class C:
    def free(self, a):
        return self.pool.take(a)


class Other:
    def free(self, a):
        return a


def go(c: C, cs: "list[C]", other: Other):
    for each in cs:
        each.free(1)
    return C.free(c, 2), c.free(a=3), cs[0].free(4), other.free(5)
""",
        """\
# file: m.py
class C:
    pass


class Other:
    def free(self, a):
        return a


def go(c: C, cs: "list[C]", other: Other):
    for each in cs:
        each.pool.take(1)
    return c.pool.take(2), c.pool.take(3), cs[0].pool.take(4), other.free(5)
""",
    ),
    "a statement where the body is one": (
        "m:C.log",
        """\
# file: m.py
class C:
    def log(self, message):
        self.logger.info("got %s", message)

    def go(self):
        self.log("x")
        if 1: self.log("y"); self.log("z")
""",
        """\
# file: m.py
class C:
    def go(self):
        self.logger.info("got %s", "x")
        if 1: self.logger.info("got %s", "y"); self.logger.info("got %s", "z")
""",
    ),
    "a subclass elsewhere whose module has another object of that name": (
        "m:A.test",
        """\
# file: m.py
def scale(x):
    return x * 2


class A:
    def test(self, x):
        return scale(x)
# file: n.py
from m import A


def scale(x):
    return x * 100


class B(A):
    def go(self):
        return self.test(1)
""",
        """\
# file: m.py
def scale(x):
    return x * 2


class A:
    pass
# file: n.py
import m
from m import A


def scale(x):
    return x * 100


class B(A):
    def go(self):
        return m.scale(1)
""",
    ),
    "imports follow the body, those of the function go": (
        "pkg.m:f",
        """\
# file: pkg/__init__.py
# file: pkg/m.py
import os.path
from pkg.k import load

LIMIT = 3


def f(x):
    return load(os.path.join(x, str(LIMIT)))
# file: pkg/k.py
def load(x):
    return x
# file: pkg/n.py
import sys

from pkg.m import f


def go():
    return f("b"), sys
# file: pkg/o.py
def go():
    from .m import f as g

    return g("d")
""",
        """\
# file: pkg/m.py
LIMIT = 3
# file: pkg/n.py
import os.path
import sys

from pkg.k import load
from pkg.m import LIMIT


def go():
    return load(os.path.join("b", str(LIMIT))), sys
# file: pkg/o.py
def go():
    import os.path
    from pkg.k import load
    from pkg.m import LIMIT

    return load(os.path.join("d", str(LIMIT)))
""",
    ),
    "a name that a test patches is read through its module": (
        "m:f",
        """\
# file: m.py
from k import load


def f(x):
    return load(x)
# file: k.py
def load(x):
    return x
# file: n.py
from m import f


def go():
    return f(1)
# file: tests/test_n.py
from unittest import mock

import n


def test_go():
    with mock.patch("m.load") as load:
        n.go()
    load.assert_called_once()
""",
        """\
# file: m.py
from k import load
# file: n.py
import m


def go():
    return m.load(1)
""",
    ),
    "a lazy import stays where it is, under its condition": (
        "pkg.m:f",
        """\
# file: pkg/__init__.py
# file: pkg/m.py
_STATE = {}


def f():
    return _STATE["args"]


def g():
    return 1
# file: pkg/n.py
def go(flag, _STATE):
    if flag:
        # late, for a reason
        from pkg.m import f, g

        return f().size, g(), _STATE
    return 0
# file: pkg/o.py
def go():
    from pkg import m

    return m.f()
""",
        """\
# file: pkg/m.py
_STATE = {}


def g():
    return 1
# file: pkg/n.py
def go(flag, _STATE):
    if flag:
        # late, for a reason
        from pkg import m
        from pkg.m import g

        return m._STATE["args"].size, g(), _STATE
    return 0
# file: pkg/o.py
def go():
    from pkg import m

    return m._STATE["args"]
""",
    ),
    "a line that gets too long, without a call": (
        "m:is_local",
        """\
# file: m.py
def is_local(architectures):
    return "SomeQuiteLongNameForConditionalGeneration" in architectures


class C:
    def go(self, config):
        self.is_local_attention_model = is_local(config.architectures)
        return is_local(config)
""",
        """\
# file: m.py
class C:
    def go(self, config):
        self.is_local_attention_model = (
            "SomeQuiteLongNameForConditionalGeneration" in config.architectures
        )
        return "SomeQuiteLongNameForConditionalGeneration" in config
""",
    ),
    "brackets by how tightly things hold": (
        "m:f",
        """\
# file: m.py
def f(x):
    return x - 1


def go(a, b):
    y = (
        f(a) if f(b) else f(a)
    )
    z = [f(a) for _ in f(b)], f(a) and f(b), f(a) - f(b), f(a) < f(b)
    return y, z, not f(a), f(a) ** 2, f(a or b), f(a)(b)
""",
        """\
# file: m.py
def go(a, b):
    y = (
        a - 1 if b - 1 else a - 1
    )
    z = [a - 1 for _ in b - 1], a - 1 and b - 1, a - 1 - (b - 1), a - 1 < b - 1
    return y, z, not (a - 1), (a - 1) ** 2, (a or b) - 1, (a - 1)(b)
""",
    ),
    "a body in brackets over several lines": (
        "m:C.is_ready",
        """\
# file: m.py
class C:
    def is_ready(self, batch):
        return (
            self.on
            # not yet
            and batch.size
        )

    def go(self, batch):
        if not self.is_ready(batch) or f(self.is_ready(batch)):
            return self.is_ready(batch)


def f(x):
    return x
""",
        """\
# file: m.py
class C:
    def go(self, batch):
        if not (
            self.on
            # not yet
            and batch.size
        ) or f((
            self.on
            # not yet
            and batch.size
        )):
            return (
                self.on
                # not yet
                and batch.size
            )


def f(x):
    return x
""",
    ),
    "layouts of calls that no longer need their lines, or more": (
        "m:clamp",
        """\
# file: m.py
def clamp(lens, top):
    return lens.clamp(max=top)


def go(self, lens, messages, request):
    short = clamp(
        lens, top=self.dsa_index_topk_of_this_layer
    )
    each = clamp(
        lens,
        top=self.top,
    )
    messages.append(clamp(request.some_quite_long_name_of_an_attribute, request.an_even))
    messages.append(clamp(request.some_quite_long_name_of_an_attribute, request.an_even_longer))
    return short, each
""",
        """\
# file: m.py
def go(self, lens, messages, request):
    short = lens.clamp(max=self.dsa_index_topk_of_this_layer)
    each = lens.clamp(
        max=self.top,
    )
    messages.append(
        request.some_quite_long_name_of_an_attribute.clamp(max=request.an_even)
    )
    messages.append(
        request.some_quite_long_name_of_an_attribute.clamp(max=request.an_even_longer)
    )
    return short, each
""",
    ),
    "a mixin's call": (
        "m:Host.m",
        """\
# file: mixin.py
class Mixin:
    def go(self):
        return self.m(1)
# file: m.py
from mixin import Mixin


class Host(Mixin):
    k = 2

    def m(self, x):
        return self.k + x
""",
        """\
# file: mixin.py
class Mixin:
    def go(self):
        return self.k + 1
# file: m.py
from mixin import Mixin


class Host(Mixin):
    k = 2
""",
    ),
    "printed text stays": (
        "m:f",
        """\
# file: m.py
def f(x):
    return x + 1


def go(n):
    return f"{f(n)} {f(n)=}"
""",
        """\
# file: m.py
def go(n):
    return f"{n + 1} f(n)={n + 1!r}"
""",
    ),
    "re-exports of a function go": (
        "pkg.m:f",
        """\
# file: pkg/__init__.py
from pkg.m import f, g
# file: pkg/m.py
def f(x):
    return g(x)


def g(x):
    return x
# file: n.py
import pkg

OUT = pkg.f(1)
""",
        """\
# file: pkg/__init__.py
from pkg.m import g
# file: pkg/m.py
def g(x):
    return x
# file: n.py
from pkg.m import g

OUT = g(1)
""",
    ),
}


@pytest.mark.parametrize("name", APPLIES)
def test_applies(name: str) -> None:
    method, before, after = APPLIES[name]
    check(TRANSFORM, InlineMethod(method=method), before, after)


@pytest.mark.parametrize(("old", "new"), [("    ", "\t"), ("\n", "\r\n")])
def test_keeps_tabs_and_newlines(old: str, new: str) -> None:
    method, before, after = APPLIES["calls in arguments of calls"]
    if new == "\t":
        check(TRANSFORM, InlineMethod(method=method), before.replace(old, new), after.replace(old, new))
    else:
        check(TRANSFORM, InlineMethod(method=method), before, after, newline=new)


def lines(*texts: str) -> str:
    """A tree of one module, or more where a line names the next file."""
    return "# file: m.py\n" + "".join(f"{text}\n" for text in texts)


REFUSES = {
    "more than an expression": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        y = x",
            "        return y",
        ),
        "not-a-forwarder",
    ),
    "nothing": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        pass",
        ),
        "not-a-forwarder",
    ),
    "a constant": (
        "m:C.k",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return x",
        ),
        "not-a-function",
    ),
    "super": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return super().m(x)",
        ),
        "U105",
    ),
    "a walrus": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return (y := x) + 1",
        ),
        "U107",
    ),
    "locals": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return locals()",
        ),
        "U107",
    ),
    "itself": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return self.m(x - 1) if x else 0",
        ),
        "recursive",
    ),
    "a coroutine": (
        "m:f",
        lines(
            "async def f(x):",
            "    return await g(x)",
        ),
        "U113",
    ),
    "a generator": (
        "m:f",
        lines(
            "def f(x):",
            "    return (yield x)",
        ),
        "U113",
    ),
    "a property": (
        "m:C.p",
        lines(
            "class C:",
            "    @property",
            "    def p(self):",
            "        return 1",
        ),
        "U112",
    ),
    "a decorated function": (
        "m:f",
        lines(
            "import functools",
            "",
            "",
            "@functools.cache",
            "def f(x):",
            "    return g(x)",
        ),
        "U112",
    ),
    "what Python calls": (
        "m:C.__len__",
        lines(
            "class C:",
            "    def __len__(self):",
            "        return n(self)",
        ),
        "U104",
    ),
    "a bound reference": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return x",
            "",
            "    def go(self, xs):",
            "        return list(map(self.m, xs)), self.m(1)",
        ),
        "U118",
    ),
    "a thread's target": (
        "m:C.m",
        lines(
            "from threading import Thread",
            "",
            "",
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return x",
            "",
            "    def go(self):",
            "        return Thread(target=self.m)",
        ),
        "U118",
    ),
    "replaced in a test": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return x",
            "",
            "",
            "def test():",
            "    c = C()",
            "    c.m = lambda x: 0",
            "    c.m(1)",
        ),
        "U111",
    ),
    "None that is used": (
        "m:f",
        lines(
            "def f(x):",
            "    print(x)",
            "",
            "",
            "OUT = f(1)",
        ),
        "U117",
    ),
    "a promised name": (
        "m:f",
        lines(
            '__all__ = ["f"]',
            "",
            "",
            "def f(x):",
            "    return x + 1",
        ),
        "U119",
    ),
    "a call that Python would not take": (
        "m:f",
        lines(
            "def f(x):",
            "    return x",
            "",
            "",
            "def go():",
            "    return f(1, 2)",
        ),
        "U121",
    ),
    "stars that hide the parameters": (
        "m:f",
        lines(
            "def f(x, y):",
            "    return x + y",
            "",
            "",
            "def go(a):",
            "    return f(*a)",
        ),
        "star-arguments",
    ),
    "a default made once": (
        "m:f",
        lines(
            "def f(x, seen=[]):",
            "    return g(x, seen)",
            "",
            "",
            "OUT = f(1)",
        ),
        "U114",
    ),
    "a name shadowed at the call": (
        "m:f",
        lines(
            "def f(x):",
            "    return scale(x)",
            "",
            "",
            "def go(scale):",
            "    return f(scale)",
        ),
        "U107",
    ),
    "a builtin shadowed at the call": (
        "m:f",
        lines(
            "def f(x):",
            "    return len(x)",
            "",
            "",
            "def go(len):",
            "    return f([len])",
        ),
        "U107",
    ),
    "an argument caught by a comprehension": (
        "m:f",
        lines(
            "def f(x):",
            "    return [x + i for i in range(3)]",
            "",
            "",
            "def go(i):",
            "    return f(i)",
        ),
        "U107",
    ),
    "another module's name": (
        "m:f",
        lines(
            "def f(x):",
            "    return __name__ + x",
            "# file: n.py",
            "from m import f",
            "",
            "OUT = f('1')",
        ),
        "U110",
    ),
    "a private name from another class": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return self.__secret(x)",
            "",
            "",
            "class D(C):",
            "    def go(self):",
            "        return self.m(1)",
        ),
        "U105",
    ),
    "quotes in an f-string": (
        "m:f",
        lines(
            "def f(x):",
            '    return f"<{x}>"',
            "",
            "",
            "OUT = f('a')",
        ),
        "f-string",
    ),
    "super() calls it": (
        "m:C.m",
        lines(
            "class C:",
            "    k = 1",
            "",
            "    def m(self, x=1):",
            "        return x",
            "",
            "",
            "class D(C):",
            "    def go(self):",
            "        return super().m(1)",
        ),
        "U104",
    ),
    "a class method on an object": (
        "m:C.make",
        lines(
            "class C:",
            "    @classmethod",
            "    def make(cls, n):",
            "        return cls(n)",
            "",
            "    def go(self):",
            "        return self.make(1)",
        ),
        "U107",
    ),
}


@pytest.mark.parametrize("name", REFUSES)
def test_refuses(name: str) -> None:
    method, before, code = REFUSES[name]
    planned = TRANSFORM.plan(tree(before), InlineMethod(method=method))
    assert planned.files is None
    assert f"refused {code}" in codes(planned)


STOPS = {
    "may override what is not in the tree": (
        "m:E.get",
        lines(
            "import somewhere",
            "",
            "",
            "class E(somewhere.Base):",
            "    def get(self, key):",
            "        return self[key]",
        ),
        ["stop U104"],
    ),
    "a private name over an unknown base": (
        "m:E._get",
        lines(
            "import somewhere",
            "",
            "",
            "class E(somewhere.Base):",
            "    def _get(self, key):",
            "        return self[key]",
        ),
        ["note U104"],
    ),
    "overrides what a library calls": (
        "m:E.run",
        lines(
            "from threading import Thread as T",
            "",
            "",
            "class E(T):",
            "    def run(self):",
            "        return self.go()",
        ),
        ["stop U104"],
    ),
    "overridden": (
        "m:A.m",
        lines(
            "class A:",
            "    def m(self):",
            "        return self.k",
            "# file: n.py",
            "from m import A as Base",
            "",
            "",
            "class B(Base):",
            "    def m(self):",
            "        return 7",
        ),
        ["stop U104"],
    ),
    "overrides": (
        "m:B.m",
        lines(
            "class A:",
            "    def m(self):",
            "        return 7",
            "",
            "",
            "class B(A):",
            "    def m(self):",
            "        return 8",
        ),
        ["stop U104"],
    ),
    "overrides a builtin's": (
        "m:E.get",
        lines(
            "class E(dict):",
            "    def get(self, key):",
            "        return self[key]",
        ),
        ["stop U104"],
    ),
    "lets a mixin's through": (
        "m:A.m",
        lines(
            "class A:",
            "    def m(self):",
            "        return 1",
            "",
            "",
            "class X:",
            "    def m(self):",
            "        return 2",
            "",
            "",
            "class Both(A, X):",
            "    pass",
        ),
        ["stop U104"],
    ),
    "a receiver of unknown type": (
        "m:A.m",
        lines(
            "class A:",
            "    def m(self):",
            "        return 1",
            "",
            "",
            "class B:",
            "    def m(self):",
            "        return 2",
            "",
            "",
            "def go(x):",
            "    return x.m()",
        ),
        ["stop U115"],
    ),
    "looked up by text": (
        "m:A.m",
        lines(
            "class A:",
            "    def m(self):",
            "        return 1",
            "",
            "    def go(self):",
            "        return getattr(self, 'm')()",
        ),
        ["stop U111"],
    ),
    "an argument after what the body does": (
        "m:A.f",
        lines(
            "class A:",
            "    def f(self, x):",
            "        return self.k + x",
            "",
            "",
            "OUT = A().f(g())",
        ),
        ["stop U101"],
    ),
    "arguments in another order": (
        "m:f",
        lines(
            "def f(a, b):",
            "    return sub(b, a)",
            "",
            "",
            "OUT = f(g(), h())",
        ),
        ["stop U101"],
    ),
    "an argument more than once": (
        "m:f",
        lines(
            "def f(a):",
            "    return a + a",
            "",
            "",
            "OUT = f(g())",
        ),
        ["stop U101"],
    ),
    "an argument later": (
        "m:f",
        lines(
            "def f(a):",
            "    return lambda: a",
            "",
            "",
            "def go(x):",
            "    return f(x)",
        ),
        ["stop U101"],
    ),
    "an argument on some paths": (
        "m:f",
        lines(
            "def f(a, b):",
            "    return a or b",
            "",
            "",
            "OUT = f(1, g())",
        ),
        ["stop U102"],
    ),
    "an argument not at all": (
        "m:f",
        lines(
            "def f(a):",
            "    return 1",
            "",
            "",
            "OUT = f(g())",
        ),
        ["stop U102"],
    ),
    "an attribute not read": (
        "m:f",
        lines(
            "def f(a):",
            "    return 1",
            "",
            "",
            "def go(x):",
            "    return f(x.y)",
        ),
        ["prove U102"],
    ),
}


@pytest.mark.parametrize("name", STOPS)
def test_stops(name: str) -> None:
    """What a plan may accept: the hazard is told, and the files are there."""
    method, before, expected = STOPS[name]
    planned = TRANSFORM.plan(tree(before), InlineMethod(method=method))
    assert codes(planned) == expected
    assert planned.files is not None


def test_comments_without_a_place_are_told() -> None:
    before = """\
# file: m.py
# above
def f(x):
    # inside
    return g(x + 1)


def go():
    return f(1), f(
        # on the argument
        2
    )
"""
    after = """\
# file: m.py
def go():
    return g(1 + 1), g(2 + 1)
"""
    planned = check(TRANSFORM, InlineMethod(method="m:f"), before, after)
    told = [each.text for each in planned.findings if each.topic == "comments"]
    assert told == [
        "a comment in this call has no place any more: on the argument",
        "a comment goes with the definition: # above",
        "a comment goes with the definition: # inside",
    ]
