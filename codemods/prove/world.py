"""One world: the answers it gives to the questions of both twins, the same answer to the same question, and where a single
fault strikes. Which worlds there are is explore.py's; what a run does in one is run.py's."""

from __future__ import annotations

from typing import Any, NamedTuple

from codemods.prove.facts import MISSING, Facts
from codemods.prove.opaque import Opaque

Question = tuple[Any, ...]
_YES_NO = (True, False)


class Choice(NamedTuple):
    """One decision that the world was free to make."""

    question: Question
    options: tuple[Any, ...]
    index: int


class World:
    """`preset`: what the explorer wants. `trail`: the free decisions, in the order they came up. `fault`: the call that
    raises, if any. `values`: concrete values of inputs, by term."""

    __slots__ = ("answers", "facts", "fault", "fault_at_read", "preset", "trail", "values")

    def __init__(self, preset: dict[Question, Any], fault: Opaque | None = None) -> None:
        self.preset, self.fault = preset, fault
        self.answers: dict[Question, Any] = {}
        self.trail: list[Choice] = []
        self.facts = Facts()
        self.values: dict[Opaque, Any] = {}

    def ask(self, question: Question, options: tuple[Any, ...] = _YES_NO) -> Any:
        """The answer, which from now on stands."""
        answer = self.answers.get(question, MISSING)
        if answer is not MISSING:
            return answer
        facts = self.facts
        answer = facts.implied(question)
        if answer is MISSING or answer not in options:
            answer = self.preset.get(question, MISSING)
            if answer is MISSING or answer not in options:
                answer = options[0]
            if len(options) > 1:
                self.trail.append(Choice(question, options, options.index(answer)))
            facts.learn(question, answer)
        self.answers[question] = answer
        return answer

    def told(self, question: Question) -> Any:
        """The answer, if it was given or follows; MISSING otherwise. Decides nothing."""
        answer = self.answers.get(question, MISSING)
        return self.facts.implied(question) if answer is MISSING else answer
