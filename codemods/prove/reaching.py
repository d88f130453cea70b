"""Names by which code gets at the interpreter, and so at the prover in it: a subject that reads one can't be compared.

What changed the prover all the same is found out afterwards (seal.py)."""

from __future__ import annotations

from typing import Any

from codemods.prove.errors import Unsupported
from codemods.prove.opaque import Opaque

REACHING = frozenset(
    """
        __globals__ __builtins__ __closure__ __subclasses__ f_back f_globals f_locals f_builtins
        tb_frame gi_frame cr_frame ag_frame
    """.split()
)


def refuse_to_reach(value: Any, name: Any) -> None:
    """Raises Unsupported, unless the name is another, or what stands there is the subject's own."""
    if type(name) is not str or name not in REACHING or type(value) is Opaque:
        return
    is_own = name == "__subclasses__" and isinstance(value, type) and "_u_tree" in value.__dict__
    if not is_own:
        raise Unsupported(f"{name} of {type(value).__name__} leads out of the code that is compared")
