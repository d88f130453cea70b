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
    step = complete(sources(), ExtractMethod(method="pkg.runner:Runner.bind", to="pkg.numa"))
    assert isinstance(step, ExtractMethod)
    assert (step.returns, step.wrapper) == (("cpus",), False)


def test_complete_keeps_a_wrapper_where_the_method_is_overridden() -> None:
    step = complete(sources(), ExtractMethod(method="pkg.runner:Runner.label", to="pkg.numa"))
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
    assert not by_name["__init__"].can_leave
    leaving = [candidate.can_leave for candidate in found]
    assert leaving == sorted(leaving, reverse=True)


def test_survey_wants_a_class() -> None:
    with pytest.raises(NotAClass):
        survey(sources(), DefRef("pkg.runner", "Runner.bind"), Settings())
