"""D4: an attribute that is read on more paths than before, where it might not be there; at the line of the read."""

from __future__ import annotations

import pytest

from tests.support.prove_texts import codes, proved

_CLASS = """
class Base:
    def __init__(self):
        self.base = 1


class Conf:
    host: str
    port = 1


class Runner(Base):
    kind = "gpu"

    def __init__(self, conf: Conf, client):
        super().__init__()
        self.rank = 0
        self.conf, self.client = conf, client
        if conf.port:
            self.either = 1
        else:
            self.either = 2
        if conf.port:
            self.maybe = 1
        with open("x"):
            self.inside = 1
        for each in conf.port:
            self.looped = each
        self.start()
        self.late = 1

    def start(self):
        self.started = 1

    @property
    def computed(self):
        return self.client.x

    def method(self):
        return 1

"""
_OLD = """    def run(self, flag, send, conf: Conf):
        if flag:
            send({})
"""
_NEW = """    def run(self, flag, send, conf: Conf):
        value = (
            {}
        )
        if flag:
            send(value)
"""
_LINE = _CLASS.count("\n") + 3


def _found(read: str) -> list[tuple[str, int]]:
    return codes(proved(_CLASS + _OLD.format(read), _CLASS + _NEW.format(read), "Runner.run"))


@pytest.mark.parametrize(
    "read",
    ["self.rank", "self.base", "self.kind", "self.client", "self.either", "self.inside", "self.late", "self.method",
     "self.conf.port", "conf.port"],
)  # fmt: skip
def test_what_is_surely_there_may_be_read_at_any_time(read: str) -> None:
    assert _found(read) == []


@pytest.mark.parametrize(
    "read",
    ["self.maybe", "self.looped", "self.started", "self.nowhere", "self.computed", "conf.host", "self.conf.host",
     "self.client.name", "self.client.name.first"],
)  # fmt: skip
def test_what_might_be_missing_is_named_where_it_is_read(read: str) -> None:
    assert _found(read) == [("D4", _LINE)]


def test_what_the_initialiser_sets_after_calling_it_is_not_there_yet() -> None:
    old = _CLASS.replace(
        "        self.started = 1\n", "        self.started = 1\n        if self.rank:\n            print(self.late)\n"
    )
    new = _CLASS.replace(
        "        self.started = 1\n",
        "        late = self.late\n        self.started = 1\n        if self.rank:\n            print(late)\n",
    )
    assert [code for code, _ in codes(proved(old, new, "Runner.start"))] == ["D4"]
    assert (
        codes(
            proved(old.replace("self.late)", "self.rank)"), new.replace("= self.late", "= self.rank"), "Runner.start")
        )
        == []
    )


def test_a_value_that_may_be_none_has_nothing_for_sure() -> None:
    text = _CLASS.replace("conf: Conf, client", "conf: Conf | None, client")
    found = proved(text + _OLD.format("self.conf.port"), text + _NEW.format("self.conf.port"), "Runner.run")
    assert ("D4", _LINE) in codes(found)
