"""The core's own process: what comes from the client, what goes to it, and a step in between as long as there is work.
It sleeps where there is none, and ends with its client."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from typing import Any

import zmq

from engine.config.env import read_env
from engine.core import frames
from engine.core.frames import CoreSpec
from engine.core.loop import EngineCore
from engine.core.text import Text
from engine.host import processes
from engine.schema.errors import BadRequest, EngineError
from engine.schema.frames import encode, fault_of
from engine.schema.messages import Abort, Add, Call, Deltas, Failed, Fault, FromCore, Ready, Refused, Reply, ToCore

log = logging.getLogger(__name__)
_LINGER_MS = 5000  # last words may still be on their way


class CoreServer:
    """One client, one core."""

    def __init__(self, core: EngineCore, socket: zmq.Socket[bytes]) -> None:
        self._core, self._socket = core, socket
        self._is_stopping = False

    def run(self) -> None:
        """Until Stop. Raises what a step raises."""
        info = self._core.info
        self._send(
            Ready(
                model=info.model,
                vocab_size=info.vocab_size,
                context=info.context,
                num_blocks=info.num_blocks,
                block_tokens=info.block_tokens,
            )
        )
        while self._core.has_work or not self._is_stopping:
            if not self._core.has_work:
                self._socket.poll()
            self._receive()
            if self._core.has_work:
                self._step()
        self._core.abort_all()  # what waits while the engine sleeps
        self._step()

    def _step(self) -> None:
        if deltas := self._core.step():
            self._send(Deltas(tuple(deltas)))

    def _receive(self) -> None:
        """All that is there, without waiting."""
        while self._socket.poll(0):
            self._take(frames.to_core(self._socket.recv()))

    def _take(self, message: ToCore) -> None:
        if isinstance(message, Add):
            if (fault := self._add(message)) is not None:
                self._send(Refused(request_id=message.request_id, fault=fault))
        elif isinstance(message, Abort):
            self._core.abort(message)
        elif isinstance(message, Call):
            self._answer(message)
        else:
            self._is_stopping = True
            if not message.is_drained:
                self._core.abort_all()

    def _add(self, add: Add) -> Fault | None:
        try:
            if self._is_stopping:
                raise BadRequest("request_id", "the engine is stopping", fix="ask another one")
            self._core.add(add)
        except EngineError as error:
            return fault_of(error)
        except Exception as error:
            # A request that trips over a fault of ours takes no other one with it.
            log.exception("request failed: request_id=%s", add.request_id)
            return frames.internal_fault(error)
        return None

    def _answer(self, call: Call) -> None:
        try:
            value: Any = (
                self._core.stats() if call.method == "stats" else self._core.call(call.method, **call.arguments)
            )
            self._send(Reply(number=call.number, value=value))
        except EngineError as error:
            self._send(Reply(number=call.number, fault=fault_of(error)))
        except Exception as error:
            log.exception("call failed: method=%s", call.method)
            self._send(Reply(number=call.number, fault=frames.internal_fault(error)))

    def _send(self, message: FromCore) -> None:
        self._socket.send(encode(message))


def make_core(spec: CoreSpec) -> EngineCore:
    """Raises BadConfig, BadModel, NotEnoughMemory: what keeps it from serving."""
    module, _, name = spec.executor.partition(":")
    executor = getattr(importlib.import_module(module), name)(spec.args)
    try:
        text = Text.of(spec.args, read_env(os.environ), executor.info.vocab_size)
        return EngineCore(spec.args, executor, eos_ids=text.eos_ids, grammars=text)
    except BaseException:
        executor.shutdown()
        raise


def main() -> int:
    """The exit status: 0 after Stop."""
    spec = frames.spec(processes.begin())
    level = read_env(os.environ).log_level.upper()
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    context = zmq.Context()
    socket: zmq.Socket[bytes] = context.socket(zmq.DEALER)
    for option, value in ((zmq.SNDHWM, 0), (zmq.RCVHWM, 0), (zmq.LINGER, _LINGER_MS)):
        socket.setsockopt(option, value)
    socket.connect(spec.address)
    core = None
    try:
        core = make_core(spec)
        CoreServer(core, socket).run()
    except EngineError as error:
        log.error("engine ended: %s", error)
        socket.send(encode(Failed(fault_of(error))))
        return 1
    except Exception as error:
        log.exception("engine ended")
        socket.send(encode(Failed(frames.internal_fault(error))))
        return 1
    finally:
        if core is not None:
            core.close()
        socket.close()
        context.term()
    return 0


if __name__ == "__main__":
    sys.exit(main())
