"""Functions whose types stand in a comment, `# type: (int) -> str`, and whose parameters or results change: refused.

Such a comment tells the types of all parameters by position, so it would be wrong or no longer be read; what types the
new parameters have is for a person to say."""

from __future__ import annotations

from codemods.schema.hazards import Refusal
from codemods.source.forward_refs import signature_comment
from codemods.source.parse import Function, Source

_FIX = "write the types as annotations first"


def changed_parameters(
    source: Source, function: Function, *, num_new: int, returns_more: bool, has_wrapper: bool
) -> list[Refusal]:
    """For a method that loses the parameter for its object. has_wrapper: it keeps its header, and with that a comment
    on the header's line."""
    found = signature_comment(source, function)
    if found is None or (has_wrapper and not found.is_inside):
        return []
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    num_left = sum(each is not None for each in named) - 1
    is_right = found.num_types is None or (num_new == 0 and found.num_types == num_left)
    if is_right and not returns_more:
        return []
    what = f"{function.name} gets {num_new} new parameters" if num_new else f"{function.name} has other parameters then"
    message = f"this comment tells the types of a signature that changes: {what if not is_right else 'its result'}"
    return [_refusal(source, found.line, message)]


def changed_result(source: Source, function: Function) -> list[Refusal]:
    """For a function that returns something else from now on."""
    found = signature_comment(source, function)
    if found is None:
        return []
    return [_refusal(source, found.line, f"this comment tells what {function.name} returns, which changes")]


def _refusal(source: Source, line: int, message: str) -> Refusal:
    return Refusal(code="type-comment", path=source.path, line=line, message=message, settle=_FIX)
