"""What is found out about one target, and which methods a survey says can leave."""

from __future__ import annotations

import pytest

from codemods.plan.describe import complete, describe
from codemods.plan.survey import NotAClass, survey
from codemods.schema.config import Settings
from codemods.schema.plan import ExtractMethod
from codemods.schema.refs import DefRef
from codemods.source.files import FileSet
from tests.support.keyword_trees import tree


def sources() -> FileSet:
    return tree(
        pkg__runner="""
            class Runner:
                def __init__(self, size: int):
                    self.size = size

                def start(self):
                    self.bind()
                    return self.label()

                def bind(self):
                    self.cpus = list(range(self.size))

                def label(self):
                    return f"{self.size=}"

                def register(self, hub):
                    hub.add(self)
        """,
        pkg__cpu="""
            from pkg.runner import Runner


            class CpuRunner(Runner):
                def label(self):
                    return "cpu"
        """,
        pkg__numa="",
    )


def test_complete_fills_in_what_the_method_writes() -> None:
    step = complete(sources(), ExtractMethod(method="pkg.runner:Runner.bind", to="pkg.numa"), Settings()).step
    assert isinstance(step, ExtractMethod)
    assert (step.returns, step.wrapper) == (("cpus",), False)


def test_complete_keeps_a_wrapper_where_the_method_is_overridden() -> None:
    step = complete(sources(), ExtractMethod(method="pkg.runner:Runner.label", to="pkg.numa"), Settings()).step
    assert isinstance(step, ExtractMethod)
    assert step.wrapper


def test_describe_lists_parameters_results_and_overrides() -> None:
    step = ExtractMethod(method="pkg.runner:Runner.label", to="pkg.numa", wrapper=True)
    result = describe(sources(), step, Settings())
    found = {(finding.topic, finding.text) for finding in result.findings}
    assert ("parameters", "size: int = self.size") in found
    assert any(topic == "overrides" and "CpuRunner" in words for topic, words in found)
    assert not result.refusals


def test_survey_ranks_what_can_leave_and_says_why_the_rest_cannot() -> None:
    found = survey(sources(), DefRef("pkg.runner", "Runner"), Settings())
    by_name = {candidate.method: candidate for candidate in found}
    assert by_name["bind"].can_leave
    assert by_name["label"].can_leave
    assert not by_name["register"].can_leave
    assert any(reason.startswith("U106") for reason in by_name["register"].reasons)
    assert by_name["__init__"].can_leave
    assert "Python calls it by its name: keep a wrapper" in by_name["__init__"].reasons
    leaving = [candidate.can_leave for candidate in found]
    assert leaving == sorted(leaving, reverse=True)


def test_survey_wants_a_class() -> None:
    with pytest.raises(NotAClass):
        survey(sources(), DefRef("pkg.runner", "Runner.bind"), Settings())


EVERY_KIND = """
import functools


class Base:
    def over(self): ...


class A(Base):
    def __init__(self): self.x = 1
    def __len__(self): return self.x
    def plain(self): return self.x
    @property
    def both(self): return self.x
    @both.setter
    def both(self, value): self.x = value
    @functools.cached_property
    def cached(self): return self.x
    @classmethod
    def of(cls): return cls()
    @staticmethod
    def static(a): return a
    async def go(self): return self.x
    def gen(self): yield self.x
    def over(self): return self.x
    def above(self): return super().over()
    def passes(self): return print(self)
    def maybe(self, f):
        if f: self.y = 1


class Other:
    def unknown(self): ...


def use(a: A, q):
    return a.plain(), q.unknown(), a.go, map(a.gen, [])
"""


def test_a_survey_and_a_plan_agree() -> None:
    files = tree(m=EVERY_KIND, n="")
    found = survey(files, DefRef("m", "A"), Settings())
    assert {each.method for each in found} >= {"both", "__len__", "of", "static", "maybe"}
    for each in found:
        step = complete(files, ExtractMethod(method=f"m:A.{each.method}", to="n"), Settings()).step
        assert each.can_leave is not bool(describe(files, step, Settings()).refusals), each.method


def test_a_wrapper_comes_with_its_reasons() -> None:
    completed = complete(sources(), ExtractMethod(method="pkg.runner:Runner.label", to="pkg.numa"), Settings())
    [reason] = completed.findings
    assert reason.topic.startswith("wrapper = true")
    assert reason.text.startswith("U104: ")
    result = describe(sources(), completed.step, Settings(), completed.findings)
    assert result.findings[0] == reason
    plain = complete(sources(), ExtractMethod(method="pkg.runner:Runner.bind", to="pkg.numa"), Settings())
    assert plain.findings == ()


def test_what_is_accepted_needs_no_wrapper() -> None:
    asked = ExtractMethod(method="pkg.runner:Runner.label", to="pkg.numa")
    step = complete(sources(), asked, Settings(accept={"U104": "never called on a CpuRunner"})).step
    assert isinstance(step, ExtractMethod)
    assert not step.wrapper
