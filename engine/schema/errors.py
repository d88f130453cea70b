"""The base of every error that a user, a request, a file or the machine can cause. How it is shown is the server's and
the command's."""

from __future__ import annotations


class EngineError(Exception):
    """`code` (stable, kebab-case), `message` (the thing, what was found, what was needed) and `fix` (the next move)."""

    code = "engine-error"

    def __init__(self, message: str, *, fix: str) -> None:
        super().__init__(message)
        self.message, self.fix = message, fix

    def __str__(self) -> str:
        return f"{self.code}: {self.message}; {self.fix}"


class BadRequest(EngineError):
    """A request asks for what can't be done. `field` names the part of it, as the client wrote it."""

    code = "bad-request"

    def __init__(self, field: str, message: str, *, fix: str) -> None:
        super().__init__(f"{field}: {message}", fix=fix)
        self.field = field


class BadConfig(EngineError):
    """Options, environment or machine do not fit together."""

    code = "bad-config"


class BadModel(EngineError):
    """The files of a model are incomplete, unknown or contradict each other."""

    code = "bad-model"


class NotEnoughMemory(EngineError):
    """What was asked for does not fit."""

    code = "not-enough-memory"


class TopologyUnknown(EngineError):
    """The machine does not say which CPUs belong to which node."""

    code = "topology-unknown"


class EngineDead(EngineError):
    """The process of the engine has ended; nothing that was asked of it will be answered."""

    code = "engine-dead"


class PeerLost(EngineError):
    """Another rank has ended, or hangs: what it and this one were doing together is not done."""

    code = "peer-lost"


class Excluded(EngineError):
    """The other ranks went on without this one: it has to join again, as if it were new."""

    code = "excluded"
