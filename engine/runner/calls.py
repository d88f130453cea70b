"""What a runner does for others besides steps: the methods that may be asked for by name, on every rank, and whether
what is given to one fits it. That is seen before any rank is asked: ranks of which some refuse are out of step."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import msgspec

from engine.schema.errors import BadConfig

CALLS: frozenset[str] = frozenset(
    """
    describe start_profile stop_profile
    update_weights_from_disk update_weights_from_tensor update_weights_from_distributed
    init_weights_update_group destroy_weights_update_group
    get_weights_by_name check_weights save_sharded_model
    load_lora_adapter load_lora_adapter_from_tensors unload_lora_adapter hold_lora_adapter release_lora_adapter
    release_memory_occupation resume_memory_occupation sleep wake_up
    """.split()
)


def check(kind: type, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the method of that class of runners takes them. Raises BadConfig for a method that nobody may
    ask for, for arguments that it has not or that are lacking, and for those of another type."""
    if method not in CALLS:
        raise BadConfig(f"no rank does {method!r}", fix=f"use one of {', '.join(sorted(CALLS))}")
    function = getattr(kind, method)
    try:
        inspect.signature(function).bind(None, **arguments)
    except TypeError as error:
        wanted = ", ".join(list(inspect.signature(function).parameters)[1:]) or "nothing"
        raise BadConfig(f"{method}: {error}", fix=f"it takes {wanted}") from error
    types = get_type_hints(function)
    return {name: _converted(method, name, given, types[name]) for name, given in arguments.items()}


def _converted(method: str, name: str, given: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise BadConfig(f"{method}: {name}: {error}", fix=f"give it as {kind}") from error
