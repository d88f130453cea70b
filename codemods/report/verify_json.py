"""Checked commits as one JSON document (VerifyReport), written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from codemods.report.spool import Spool
from codemods.report.verify_model import next_move


def json_parts(spool: Spool) -> Iterator[bytes]:
    yield b'{"commits": ['
    for number, raw in enumerate(spool.raw()):
        yield b",\n" if number else b"\n"
        yield raw
    totals = msgspec.json.encode(spool.totals)
    yield b'\n],\n"totals": ' + totals + b',\n"next": ' + msgspec.json.encode(next_move(spool.totals)) + b"}\n"


def jsonl_parts(spool: Spool) -> Iterator[bytes]:
    """One commit a line, and nothing else."""
    for raw in spool.raw():
        yield raw + b"\n"
