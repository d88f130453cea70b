"""Exceptions inside a twin run: those that the world raises, and those that stop a run. Real classes, so that the
subject's `except` clauses meet them as they would meet any other."""

from __future__ import annotations

from codemods.prove.opaque import Opaque


class Fault(Exception):
    """What a collaborator raises where the world strikes. Of which class it is, the world decides when asked."""

    def __init__(self, cause: Opaque) -> None:
        super().__init__("fault")
        self._u_fault = cause


class OpaqueError(Exception):
    """An exception whose class is not in the trees, raised by the subject: `raise torch.Error(text)`."""

    def __init__(self, raised: Opaque) -> None:
        super().__init__("raised")
        self._u_raised = raised


class NeverRaised(Exception):
    """What an `except` clause that does not match names."""


class Stopped(BaseException):
    """The run has gone on long enough: a bound of this check, not a behaviour of the subject."""


class Unsupported(BaseException):
    """The subject asks of an opaque value what it cannot answer; the path can't be compared."""


def raise_unsupported(what: str) -> None:
    raise Unsupported(what)
