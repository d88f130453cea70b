"""Hazards about values: when they are read and when they are written. Pages only."""

from __future__ import annotations

from codemods.schema.hazards import Severity
from codemods.schema.page import Example, Page, Settling, accept

U101 = Page(
    code="U101",
    title="a value read once at the call was read again in the body",
    severity=Severity.PROVE,
    text=(
        "The method reads an attribute when it gets there, and each time anew. As a parameter the value is read once, "
        "before the call. If something in between assigns the attribute (a call into the object, a callback, another "
        "thread), the body now works with the old value. Attributes that are assigned only in __init__ are safe, and "
        "so is a body that calls nothing between the start and the last read."
    ),
    example=Example(
        before="""\
class Runner:
    def __init__(self):
        self.batch = 4

    def halve(self):
        self.batch //= 2

    def shrink(self):
        first = self.batch
        self.halve()
        return first, self.batch


def run():
    return Runner().shrink()
""",
        after="""\
class Runner:
    def __init__(self):
        self.batch = 4

    def halve(self):
        self.batch //= 2

    @staticmethod
    def shrink(*, batch, halve):
        first = batch
        halve()
        return first, batch


def run():
    runner = Runner()
    return Runner.shrink(batch=runner.batch, halve=runner.halve)
""",
        was="(4, 2)",
        now="(4, 4)",
    ),
    settle=(
        Settling(key="lazy", how="name the attribute: it is passed as a getter and read where the body reads it"),
        Settling(key="owner", how="pass the whole object under a parameter name, so that each read stays a read"),
        accept("say why nothing between the call and the read assigns it"),
        Settling(key="", how="a twin run that reaches the place"),
    ),
)

U102 = Page(
    code="U102",
    title="a value read only on some paths is now read on all of them",
    severity=Severity.PROVE,
    text=(
        "An argument is evaluated before the call, whichever branch the body then takes. If the attribute is set only "
        "in some configurations, the call raises AttributeError where the method never looked. A property runs its "
        "code, and a chain through None fails, for callers that did not need the value."
    ),
    example=Example(
        before="""\
class Runner:
    def __init__(self, draft):
        self.draft = draft

    def depth(self, speculative):
        return self.draft.depth if speculative else 1


def run():
    return Runner(draft=None).depth(speculative=False)
""",
        after="""\
class Runner:
    def __init__(self, draft):
        self.draft = draft

    @staticmethod
    def depth(speculative, *, depth):
        return depth if speculative else 1


def run():
    runner = Runner(draft=None)
    return Runner.depth(speculative=False, depth=runner.draft.depth)
""",
        was="1",
        now="AttributeError: 'NoneType' object has no attribute 'depth'",
    ),
    settle=(
        Settling(key="lazy", how="pass a getter, so that only the path that needs the value reads it"),
        Settling(key="optional", how='pass `getattr(self, "name", None)`, for an attribute that may be missing'),
        Settling(key="leaves", how="leave the chain out: pass its head and let the body walk the rest"),
        accept("say why the attribute is always there and reading it does nothing else"),
    ),
)

U103 = Page(
    code="U103",
    title="an attribute is assigned after the call returns, not where it was",
    severity=Severity.PROVE,
    text=(
        "What the method wrote to self is now returned, and the caller assigns it. Until then the object holds the "
        "old value: whoever reads it during the body sees that. If the body raises half way, the writes before the "
        "error are lost, and a later attempt or a clean-up finds another state."
    ),
    example=Example(
        before="""\
class Pool:
    def __init__(self):
        self.handle = None

    def open(self):
        self.handle = "h1"
        raise OSError("disk full")


def run():
    pool = Pool()
    try:
        pool.open()
    except OSError:
        return f"closing {pool.handle}"
""",
        after="""\
class Pool:
    def __init__(self):
        self.handle = None

    @staticmethod
    def open():
        handle = "h1"
        raise OSError("disk full")
        return handle


def run():
    pool = Pool()
    try:
        pool.handle = Pool.open()
    except OSError:
        return f"closing {pool.handle}"
""",
        was="'closing h1'",
        now="'closing None'",
    ),
    settle=(
        Settling(key="owner", how="pass the whole object, so that the body goes on writing to it"),
        accept("say why nobody reads the attribute before the call returns, also when the body raises"),
        Settling(key="", how="a twin run that makes the calls in the body raise"),
    ),
)

U113 = Page(
    code="U113",
    title="when the body of a generator or coroutine runs changes",
    severity=Severity.PROVE,
    text=(
        "Calling a generator function or an `async def` runs nothing yet: the body starts with the first `next` or "
        "`await`. Arguments, however, are evaluated at the call. An attribute that becomes a parameter is therefore "
        "read earlier than before, perhaps long before, and a body that is put inline or behind a plain function "
        "runs at once."
    ),
    example=Example(
        before="""\
class Feed:
    limit = 1

    def items(self):
        for number in range(self.limit):
            yield number


def run():
    feed = Feed()
    items = feed.items()
    feed.limit = 3
    return list(items)
""",
        after="""\
class Feed:
    limit = 1

    @staticmethod
    def items(*, limit):
        for number in range(limit):
            yield number


def run():
    feed = Feed()
    items = Feed.items(limit=feed.limit)
    feed.limit = 3
    return list(items)
""",
        was="[0, 1, 2]",
        now="[0]",
    ),
    settle=(
        Settling(key="lazy", how="pass a getter: the body reads the attribute when it runs"),
        Settling(key="owner", how="pass the whole object under a parameter name"),
        accept("say why the attribute does not change between the call and the first step"),
    ),
)

U114 = Page(
    code="U114",
    title="a default or an annotation would be evaluated at another time",
    severity=Severity.PROVE,
    text=(
        "Default values, annotations and decorator arguments run once, when the `def` runs. In another module that is "
        "another moment: a flag may have another value then, a counter has advanced, a name does not exist yet. A "
        "mutable default also stays one object, so who shares it must not change."
    ),
    example=Example(
        before="""\
timeout = 10
timeout = 30


def wait(seconds=timeout):
    return seconds


def run():
    return wait()
""",
        after="""\
timeout = 10


def wait(seconds=timeout):
    return seconds


timeout = 30


def run():
    return wait()
""",
        was="30",
        now="10",
    ),
    settle=(
        Settling(key="carry", how="let the name that the default reads move along, with all that assigns it"),
        Settling(key="annotate", how="false leaves copied annotations off the new parameters"),
        accept("say why the value is the same at both moments"),
    ),
)

PAGES = (U101, U102, U103, U113, U114)
