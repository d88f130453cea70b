"""Differences in what code does: logs, texts, results, calls, exceptions. Pages only."""

from __future__ import annotations

from codemods.schema.page import Example, Page, Settling, declare

D1 = Page(
    code="D1",
    title="a log record comes from another logger",
    severity=None,
    text=(
        "A function that moves to another module logs through the logger it finds there. Level and text are the same, "
        "but the name is not, and levels, handlers and filters are configured by name. A record may be dropped, or "
        "written twice."
    ),
    example=Example(
        before="""\
import logging

logger = logging.getLogger("app.runner")


def pick(rank):
    logger.warning("picked %d", rank)


def run():
    seen = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(record.name)
    logging.getLogger("app").addHandler(handler)
    pick(3)
    return seen
""",
        after="""\
import logging

logger = logging.getLogger("app.numa")


def pick(rank):
    logger.warning("picked %d", rank)


def run():
    seen = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(record.name)
    logging.getLogger("app").addHandler(handler)
    pick(3)
    return seen
""",
        was="['app.runner']",
        now="['app.numa']",
    ),
    settle=(
        Settling(key="", how="name the logger explicitly in the new module, as the old one is named"),
        declare("say that nobody configures the old name, or where the new one is configured"),
    ),
)

D5 = Page(
    code="D5",
    title="the text of a message differs",
    severity=None,
    text=(
        "A log record, an exception or printed text says something else. People rarely mind; alerts, dashboards, "
        "parsers of logs and tests that match a text do. Values in a text count too: another rank or another unit is "
        "this difference."
    ),
    example=Example(
        before="""\
def check(free):
    if free < 4:
        raise MemoryError(f"{free} GB free, 4 needed")


def run():
    try:
        check(1)
    except MemoryError as error:
        return str(error)
""",
        after="""\
def check(*, free_gb):
    if free_gb < 4:
        raise MemoryError(f"{free_gb=}, 4 needed")


def run():
    try:
        check(free_gb=1)
    except MemoryError as error:
        return str(error)
""",
        was="'1 GB free, 4 needed'",
        now="'free_gb=1, 4 needed'",
    ),
    settle=(
        Settling(key="", how="write the old text; a formatted value is the usual slip"),
        declare("say that nothing matches the old text"),
    ),
)

D6 = Page(
    code="D6",
    title="the result differs, is dropped or is new",
    severity=None,
    text=(
        "Given the same inputs and the same answers from its collaborators, the new code returns something else. An "
        "extraction often loses the `return` of the line that called the old body, and then returns None. A generator "
        "that yields something else, or a property, counts in the same way."
    ),
    example=Example(
        before="""\
class Runner:
    def load(self):
        return self.start() or "ready"

    def start(self):
        return None


def run():
    return Runner().load()
""",
        after="""\
class Runner:
    def load(self):
        load(start=self.start)

    def start(self):
        return None


def load(*, start):
    return start() or "ready"


def run():
    return Runner().load()
""",
        was="'ready'",
        now="None",
    ),
    settle=(
        Settling(key="", how="return what the old code returned, on every path"),
        declare("say why no caller looks at the result"),
    ),
)

D8 = Page(
    code="D8",
    title="a call has other arguments, is missing or is new",
    severity=None,
    text=(
        "A collaborator is called with something else, is not called any more, or is called once more. Arguments that "
        "change places, a default that is now written out as something else, and a branch that lost a line all show up "
        "here. What the collaborator would do with it is not known, so every such change counts."
    ),
    example=Example(
        before="""\
def bind(node, rank, log):
    log.append((node, rank))


def start(log):
    bind(0, 3, log)


def run():
    log = []
    start(log)
    return log
""",
        after="""\
def bind(node, rank, log):
    log.append((node, rank))


def start(log):
    rank, node = 3, 0
    bind(rank, node, log)


def run():
    log = []
    start(log)
    return log
""",
        was="[(0, 3)]",
        now="[(3, 0)]",
    ),
    settle=(
        Settling(key="", how="pass arguments by keyword, and make the same calls on the same paths"),
        declare("say what the call now does, and who wanted that"),
    ),
)

D9 = Page(
    code="D9",
    title="the exception differs",
    severity=None,
    text=(
        "Where the old code raised, the new one raises another class, another cause or nothing, or it raises where the "
        "old one did not. An `except` around a caller then catches what it did not, or misses what it did. The text of "
        "an exception of the same class is D5."
    ),
    example=Example(
        before="""\
def port(table):
    return table["port"]


def run():
    try:
        return port({})
    except KeyError:
        return "default"
""",
        after="""\
def port(table):
    found = table.get("port")
    if found is None:
        raise ValueError("no port")
    return found


def run():
    try:
        return port({})
    except KeyError:
        return "default"
""",
        was="'default'",
        now="ValueError: no port",
    ),
    settle=(
        Settling(key="", how="raise the old class from the old place"),
        declare("say who catches the new exception"),
    ),
)

PAGES = (D1, D5, D6, D8, D9)
