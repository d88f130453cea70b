"""Differences in when code does something: writes, reads and calls in another order. Pages only."""

from __future__ import annotations

from codemods.schema.page import Example, Page, Settling, declare

D2 = Page(
    code="D2",
    title="an attribute is written later, and on a normal path nothing in between could see it",
    severity=None,
    text=(
        "A method that assigned as it went now gives values back, and its caller assigns them at the end. Between the "
        "old place and the new one nothing that gets the object runs, so on a normal path nobody notices. A thread, a "
        "signal handler or a `__setattr__` that watches still can."
    ),
    example=Example(
        before="""\
events = []


class Runner:
    def __setattr__(self, name, value):
        events.append(f"{name} is set")
        super().__setattr__(name, value)

    def start(self):
        self.rank = 3
        events.append("connected")


def run():
    Runner().start()
    return events
""",
        after="""\
events = []


class Runner:
    def __setattr__(self, name, value):
        events.append(f"{name} is set")
        super().__setattr__(name, value)

    def start(self):
        self.rank = start()


def start():
    rank = 3
    events.append("connected")
    return rank


def run():
    Runner().start()
    return events
""",
        was="['rank is set', 'connected']",
        now="['connected', 'rank is set']",
    ),
    settle=(
        Settling(key="", how="assign where the old code did: split the function there"),
        declare("say that no thread, handler or watcher looks at the attribute meanwhile"),
    ),
)

D3 = Page(
    code="D3",
    title="an attribute is written later, and a fault in between shows it",
    severity=None,
    text=(
        "As D2, but here a call between the old place and the new one raises. The old code had assigned by then, the "
        "new one never does, and whoever cleans up or tries again finds the object in another state. This is the "
        "commonest slip of an extraction, and no test of the normal path shows it."
    ),
    example=Example(
        before="""\
class Runner:
    rank = None

    def start(self):
        self.rank = 3
        connect()


def connect():
    raise OSError("refused")


def run():
    runner = Runner()
    try:
        runner.start()
    except OSError:
        return runner.rank
""",
        after="""\
class Runner:
    rank = None

    def start(self):
        self.rank = start()


def start():
    rank = 3
    connect()
    return rank


def connect():
    raise OSError("refused")


def run():
    runner = Runner()
    try:
        runner.start()
    except OSError:
        return runner.rank
""",
        was="3",
        now="None",
    ),
    settle=(
        Settling(key="", how="assign before the call that can fail: split the function there"),
        Settling(key="", how="let the caller assign in `finally`, where the values are known by then"),
        declare("say why nobody uses the object after that fault"),
    ),
)

D4 = Page(
    code="D4",
    title="an attribute is read earlier or on more paths",
    severity=None,
    text=(
        "What a function needs of an object is now passed to it, so it is read before the call, whatever path the call "
        "takes. An attribute that does not exist yet fails there, a property computes for nothing, and a value that "
        "changes during the call is the old one."
    ),
    example=Example(
        before="""\
class Runner:
    def save(self, is_debug):
        return self.path if is_debug else "nothing"


def run():
    return Runner().save(False)
""",
        after="""\
class Runner:
    def save(self, is_debug):
        return save(path=self.path, is_debug=is_debug)


def save(*, path, is_debug):
    return path if is_debug else "nothing"


def run():
    return Runner().save(False)
""",
        was="'nothing'",
        now="AttributeError: 'Runner' object has no attribute 'path'",
    ),
    settle=(
        Settling(key="", how="pass a getter (`lambda: self.path`), or read under the same condition"),
        declare("say that the attribute always exists and that reading it does nothing"),
    ),
)

D7 = Page(
    code="D7",
    title="calls are made in another order",
    severity=None,
    text=(
        "The same calls are made with the same arguments, but one comes before another that it used to follow. Where "
        "calls share anything, a device, a process group, a file, a clock, the order is behaviour. On several "
        "ranks it can be a deadlock."
    ),
    example=Example(
        before="""\
state = {"free": 80}


def load():
    state["free"] -= 30


def measure():
    return state["free"]


def start():
    free = measure()
    load()
    return free


def run():
    return start()
""",
        after="""\
state = {"free": 80}


def load():
    state["free"] -= 30


def measure():
    return state["free"]


def start():
    load()
    return measure()


def run():
    return start()
""",
        was="80",
        now="50",
    ),
    settle=(
        Settling(key="", how="restore the order; an argument that is computed at the call is the usual slip"),
        declare("say what makes the two calls independent of one another"),
    ),
)

PAGES = (D2, D3, D4, D7)
