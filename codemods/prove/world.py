"""One world: the answers it gives to the questions of both twins, the same answer to the same question, and where a
single fault strikes. Which worlds there are is explore.py's; what a run does in one is run.py's."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from codemods.prove.facts import MISSING, About, Facts
from codemods.prove.opaque import Opaque

Question = tuple[Any, ...]
_YES_NO = (True, False)


class Choice(Struct, frozen=True, gc=False):
    """One decision that the world was free to make."""

    question: Question
    options: tuple[Any, ...]
    taken: int


class Change(Struct, frozen=True, gc=False):
    """What a call sets anew: `what` is another from there on. after: it is another after it was read so often, whatever
    is called."""

    call: Opaque
    what: Opaque
    after: int | None = None


class World:
    """`preset`: what the explorer wants. `trail`: the free decisions, in the order they came up. `fault`: the call that
    raises, if any. `change`: what a call sets anew, if any. `values`: concrete values of inputs, by term."""

    __slots__ = ("_at", "answers", "change", "facts", "fault", "preset", "reach", "trail", "values")

    def __init__(self, preset: dict[Question, Any], fault: Opaque | None = None) -> None:
        self.preset, self.fault = preset, fault
        self.change: Change | None = None
        self.answers: dict[Question, Any] = {}
        self.trail: list[Choice] = []
        self.facts = Facts()
        self.values: dict[Opaque, Any] = {}
        self.reach = 0  # how much of the trail the run that is on has looked at
        self._at: dict[Question, int] = {}

    def after(self, decided: int, fault: Opaque | None) -> World:
        """This world as it was when only so many free decisions were made, with a fault."""
        made = World({}, fault)
        made.values = self.values
        made.trail = self.trail[:decided]
        for at, choice in enumerate(made.trail, 1):
            made._at[choice.question] = at
            answer = choice.options[choice.taken]
            made.preset[choice.question] = made.answers[choice.question] = answer
            made.facts.learn(choice.question, answer)
        return made

    def ask(self, question: Question, options: tuple[Any, ...] = _YES_NO) -> Any:
        """The answer, which from now on stands."""
        answer = self.answers.get(question, MISSING)
        if answer is not MISSING:
            at = self._at[question]
            if at > self.reach:
                self.reach = at
            return answer
        return self._decided(question, options)

    def _decided(self, question: Question, options: tuple[Any, ...]) -> Any:
        facts, trail = self.facts, self.trail
        answer = facts.implied(question)
        if answer is MISSING or answer not in options:
            answer = self.preset.get(question, MISSING)
            if answer is MISSING or answer not in options:
                answer = options[0]
            if len(options) > 1:
                trail.append(Choice(question, options, options.index(answer)))
            facts.learn(question, answer)
        self.answers[question] = answer
        self.reach = self._at[question] = len(trail)
        return answer

    def told(self, question: Question) -> Any:
        """The answer, if it was given or follows; MISSING otherwise. Decides nothing."""
        answer = self.answers.get(question, MISSING)
        if answer is MISSING:
            answer = self.facts.implied(question)
        if answer is not MISSING:
            self.reach = len(self.trail)
        return answer

    def has_none(self, value: Opaque) -> bool:
        """Whether it was decided that a value is None."""
        if value not in self.facts.nones:
            return False
        self.reach = len(self.trail)
        return True

    def known(self, value: Opaque) -> About | None:
        """What has been decided of a value, if anything."""
        found = self.facts.known(value)
        if found is not None:
            self.reach = len(self.trail)
        return found
