"""Hazards about the object a method belongs to: how it is found, bound, decorated and kept. Pages only."""

from __future__ import annotations

from codemods.schema.hazards import Severity
from codemods.schema.page import Example, Page, Settling, accept

U104 = Page(
    code="U104",
    title="the method is overridden, overrides, or is looked up dynamically",
    severity=Severity.STOP,
    text=(
        "A call through an instance picks the method of the instance's own class. A call that names the class, or a "
        "function, always runs the same code: a subclass that redefines the method is passed over in silence. The "
        "same holds when a base class declares the method as its interface, or when its name reaches `getattr`."
    ),
    example=Example(
        before="""\
class Runner:
    def device(self):
        return "cuda"

    def start(self):
        return self.device()


class CpuRunner(Runner):
    def device(self):
        return "cpu"


def run():
    return CpuRunner().start()
""",
        after="""\
class Runner:
    @staticmethod
    def device():
        return "cuda"

    def start(self):
        return Runner.device()


class CpuRunner(Runner):
    def device(self):
        return "cpu"


def run():
    return CpuRunner().start()
""",
        was="'cpu'",
        now="'cuda'",
    ),
    settle=(
        Settling(key="wrapper", how="true keeps the method: calls go through it and stay dynamic"),
        accept("say why no instance of the other classes gets here"),
    ),
)

U105 = Page(
    code="U105",
    title="`super()`, `__class__` or a mangled name",
    severity=Severity.STOP,
    text=(
        "`super()` without arguments and `__class__` read a cell that only a function inside a class body has. A name "
        "that starts with two underscores is spelt `_Class__name` inside a class and plainly outside. Text that leaves "
        "the class therefore means something else, though every token is the same."
    ),
    example=Example(
        before="""\
class Runner:
    def __init__(self):
        self.__rank = 3

    def rank(self):
        return self.__rank


def run():
    return Runner().rank()
""",
        after="""\
class Runner:
    def __init__(self):
        self.__rank = 3


def rank(runner):
    return runner.__rank


def run():
    return rank(Runner())
""",
        was="3",
        now="AttributeError: 'Runner' object has no attribute '__rank'",
    ),
    settle=(
        Settling(key="parameters", how="name a parameter for the mangled attribute: the class reads it and passes it"),
        Settling(key="", how="first rename the attribute to one underscore, or extract what does not use `super()`"),
    ),
)

U106 = Page(
    code="U106",
    title="`self` escapes: passed on, returned, stored or captured",
    severity=Severity.STOP,
    text=(
        "Where the body hands the whole object to someone, parameters for single attributes are not enough: who "
        "receives it may read or change anything. A closure that outlives the call reads attributes later, and must "
        "see what they are then."
    ),
    example=Example(
        before="""\
class Server:
    port = 80

    def announcer(self):
        return lambda: f"port {self.port}"


def run():
    server = Server()
    announce = server.announcer()
    server.port = 8080
    return announce()
""",
        after="""\
class Server:
    port = 80


def announcer(*, port):
    return lambda: f"port {port}"


def run():
    server = Server()
    announce = announcer(port=server.port)
    server.port = 8080
    return announce()
""",
        was="'port 8080'",
        now="'port 80'",
    ),
    settle=(
        Settling(key="owner", how="pass the whole object under this parameter name"),
        Settling(key="lazy", how="pass a getter where a closure reads one attribute later"),
    ),
)

U112 = Page(
    code="U112",
    title="a decorator depends on the definition being a method",
    severity=Severity.STOP,
    text=(
        "`property`, `cached_property`, `classmethod`, `abstractmethod`, `overload` and many decorators of frameworks "
        "expect to stand in a class and to receive the instance first. On a static method or a function they do "
        "another thing, or nothing. A decorator that registers what it decorates keeps the old form of the call."
    ),
    example=Example(
        before="""\
class Runner:
    layers = 4

    @property
    def depth(self):
        return self.layers * 2


def run():
    return Runner().depth + 1
""",
        after="""\
class Runner:
    layers = 4

    def depth(self):
        return self.layers * 2


def run():
    return Runner().depth + 1
""",
        was="9",
        now="TypeError: unsupported operand type(s) for +: 'method' and 'int'",
    ),
    settle=(
        Settling(key="wrapper", how="true keeps the decorated method; only its body leaves"),
        accept("say why this decorator does not mind"),
    ),
)

U115 = Page(
    code="U115",
    title="a receiver of unknown type calls a method of this name",
    severity=Severity.STOP,
    text=(
        "Somewhere `x.name()` is called and nothing says what `x` is: no annotation, no constructor call, no "
        "isinstance. If it is our class, the call needs the method; if it is another class with a method of the same "
        "name, it must stay as it is. Such a call is never rewritten: it is listed, and the method has to stay."
    ),
    example=Example(
        before="""\
class Runner:
    def warm_up(self):
        return "warm"


def start(things):
    return [thing.warm_up() for thing in things]


def run():
    return start([Runner()])
""",
        after="""\
class Runner:
    pass


def warm_up():
    return "warm"


def start(things):
    return [thing.warm_up() for thing in things]


def run():
    return start([Runner()])
""",
        was="['warm']",
        now="AttributeError: 'Runner' object has no attribute 'warm_up'",
    ),
    settle=(
        Settling(key="wrapper", how="true keeps a method of that name, so the call works whatever it means"),
        Settling(key="", how="annotate the receiver in the source, then plan again"),
        accept("say what the receiver is"),
    ),
)

U118 = Page(
    code="U118",
    title="a thread, lock, task or callback may run the old bound method later",
    severity=Severity.STOP,
    text=(
        "A bound method that was handed to a thread, a timer, a signal handler or an event loop runs at a moment of "
        "their choosing. What it then reads from the object is the state of that moment. A function with the values "
        "already filled in reads the state of the registration, and locks around the attribute protect nothing more."
    ),
    example=Example(
        before="""\
class Job:
    state = "new"

    def report(self):
        return self.state


def run():
    job = Job()
    callbacks = [job.report]
    job.state = "done"
    return callbacks[0]()
""",
        after="""\
from functools import partial


class Job:
    state = "new"


def report(*, state):
    return state


def run():
    job = Job()
    callbacks = [partial(report, state=job.state)]
    job.state = "done"
    return callbacks[0]()
""",
        was="'done'",
        now="'new'",
    ),
    settle=(
        Settling(key="wrapper", how="true keeps the bound method for the callback to hold"),
        Settling(key="lazy", how="pass getters, so that the values are read when the callback runs"),
        accept("say why the attribute no longer changes once the callback is handed out"),
    ),
)

PAGES = (U104, U105, U106, U112, U115, U118)
