"""What a verdict on a callable may rest on: it ran, on both sides, and what it says is said once."""

from __future__ import annotations

from codemods.schema.prove import Pair, ProofVerdict
from tests.support.prove_texts import codes, proved

_ABSTRACT = """
from abc import ABC, abstractmethod


class Base(ABC):
    @abstractmethod
    def size(self): ...

    def twice(self, send):
        send(self.size() * 2)


class Worker(Base):
    def size(self):
        return 1

    def start(self, send):
        send(self.rank, {})

    @classmethod
    def make(cls, send):
        send(cls(), {})
"""


def test_a_method_of_a_class_whose_other_methods_are_left_out_runs() -> None:
    for name in ("Worker.start", "Worker.make"):
        same, other = _ABSTRACT.format(1, 1), _ABSTRACT.format(2, 2)
        assert proved(same, same, name).verdict is ProofVerdict.AGREES
        assert [code for code, _ in codes(proved(same, other, name))] == ["D8"]


def test_a_method_of_an_abstract_class_runs() -> None:
    other = _ABSTRACT.replace("* 2", "* 3")
    assert [code for code, _ in codes(proved(_ABSTRACT, other, "Base.twice"))] == ["D8"]


def test_making_an_instance_of_an_abstract_class_still_fails() -> None:
    before = _ABSTRACT + "\n\ndef make(send):\n    send(Worker())\n"
    after = before.replace("    def size(self):\n        return 1\n", "    def sizes(self):\n        return 1\n")
    assert "D9" in [code for code, _ in codes(proved(before, after, "make"))]


_OWN_NEW = """
class C:
    def __new__(cls, *args):
        raise TypeError("no")

    def run(self, send):
        send({})
"""
_SLOTS = """
class C:
    __slots__ = ("rank",)

    def run(self, send):
        send(self.rank, {})
"""
_STRUCT = """
import msgspec


class C(msgspec.Struct):
    rank: int

    def run(self, send):
        send(self.rank, {})
"""


def test_an_instance_to_run_a_method_on_is_made_without_running_anything_of_its_class() -> None:
    assert [code for code, _ in codes(proved(_OWN_NEW.format(1), _OWN_NEW.format(2), "C.run"))] == ["D8"]


def test_instances_with_slots_stand_for_a_term_too() -> None:
    assert [code for code, _ in codes(proved(_SLOTS.format(1), _SLOTS.format(2), "C.run"))] == ["D8"]


def test_what_can_not_be_called_on_either_side_agrees_in_nothing() -> None:
    found = proved(_STRUCT.format(1), _STRUCT.format(2), "C.run")
    assert found.verdict is ProofVerdict.INCONCLUSIVE
    assert "could not be called" in found.reason


def test_a_call_that_is_new_is_said_once_and_not_again_for_its_failing() -> None:
    before = "def run(send, log):\n    send(1)\n"
    after = "def run(send, log):\n    log(1)\n    send(1)\n"
    assert codes(proved(before, after, "run")) == [("D8", 2)]


def test_differences_of_one_kind_do_not_hide_others() -> None:
    """Each path says another text; what fails in the first call differs too, and is found."""
    flags = [f"f{at}" for at in range(9)]
    body = "".join(f"    if {flag}:\n        text += {flag}.name\n" for flag in flags)
    head = f"def run(open_, log, {', '.join(flags)}):\n    text = ''\n"
    before = (
        f"{head}    try:\n        open_()\n    except Exception:\n        log('failed')\n{body}    log(text + 'a')\n"
    )
    after = before.replace("'failed'", "'did not'").replace("'a'", "'b'")
    assert codes(proved(before, after, "run")) == [("D8", 6), ("D8", 25)]


def test_arguments_beyond_the_parameters_are_given_too() -> None:
    before = "def run(send, *args, **kwargs):\n    send(*args, **kwargs)\n"
    for call in ("send(*args)", "send(**kwargs)"):
        after = before.replace("send(*args, **kwargs)\n", f"{call}\n")
        assert [code for code, _ in codes(proved(before, after, "run"))] == ["D8"]
    assert proved(before, before.replace("send(*args", "send(*[*args]"), "run").verdict is ProofVerdict.AGREES


def test_a_parameter_that_is_new_and_has_a_default_is_left_out_as_callers_do() -> None:
    before = "def run(send):\n    send(1)\n"
    assert proved(before, "def run(send, size=1):\n    send(size)\n", "run").verdict is ProofVerdict.AGREES
    assert codes(proved(before, "def run(send, size=2):\n    send(size)\n", "run")) == [("D8", 2)]


def test_a_number_is_written_alike_by_percent_and_by_format() -> None:
    before = "def run(send, x):\n    send('%.2f %8.3e' % (x, x))\n"
    assert proved(before, "def run(send, x):\n    send(f'{x:.2f} {x:8.3e}')\n", "run").verdict is ProofVerdict.AGREES
    assert codes(proved(before, "def run(send, x):\n    send(f'{x:.3f} {x:8.3e}')\n", "run")) == [("D8", 2)]


_TWO_NAMES = """
class Runner:
    def run(self, send):
        if self.rank > 1:
            send(self.rank)


def nodes():
    return open("x")


def helper(x):
    return x + 1


def bind(send, rank):
    send(helper(rank), nodes()[0])
"""


def test_one_input_under_two_names_is_one_input() -> None:
    after = _TWO_NAMES.replace("self.rank", "self.ps.rank")
    assert codes(proved(_TWO_NAMES, after, "Runner.run")) != []
    pair = Pair(old="", new="", same={"self.ps.rank": "self.rank"})
    assert proved(_TWO_NAMES, after, "Runner.run", pair=pair).verdict is ProofVerdict.AGREES


def test_what_a_function_of_the_trees_gives_may_have_a_domain() -> None:
    after = _TWO_NAMES.replace("nodes()[0]", "min(nodes())")
    domains = {"m:nodes()": "list 1..3 of int 0..5", "rank": "int"}
    found = proved(_TWO_NAMES, after, "bind", pair=Pair(old="", new="", domains=domains))
    assert [each.code for each in found.deltas] == ["D8"]
    assert any(line.startswith("nodes() = [") for line in found.deltas[0].world), found.deltas[0].world
    domains["m:nodes()"] = "list 1..1 of int 0..5"
    assert proved(_TWO_NAMES, after, "bind", pair=Pair(old="", new="", domains=domains)).verdict is ProofVerdict.AGREES


def test_only_mutants_of_what_the_spec_focuses_on_count() -> None:
    after = _TWO_NAMES.replace("def helper(x)", "def other(x)").replace("helper(rank)", "other(rank)")
    whole = proved(_TWO_NAMES, after, "bind", mutants=60)
    focused = proved(_TWO_NAMES, after, "bind", pair=Pair(old="", new="", focus=("m:bind",)), mutants=60)
    assert 0 < focused.mutants.total <= whole.mutants.total
    lost = proved(_TWO_NAMES, after, "bind", pair=Pair(old="", new="", focus=("m:nowhere",)), mutants=60)
    assert lost.verdict is ProofVerdict.INCONCLUSIVE
    assert "does not run in this pair" in lost.reason


def test_the_end_of_an_instance_asks_no_world() -> None:
    """When an object is collected is no matter of any run."""
    text = (
        "class C:\n    def __del__(self):\n        self.task.cancel()\n\n    def run(self, x):\n        return x.{}\n"
    )
    assert proved(text.format("a"), text.format("a"), "C.run").verdict is ProofVerdict.AGREES
    assert proved(text.format("a"), text.format("b"), "C.run").verdict is ProofVerdict.DIFFERS


def test_whether_something_is_of_an_opaque_kind_is_one_question() -> None:
    text = "from ext import Kind\n\n\ndef f(x):\n    return 1 if isinstance(x, Kind.args) else {}\n"
    found = proved(text.format(2), text.format(3), "f")
    assert (found.verdict, found.paths) == (ProofVerdict.DIFFERS, 2)
