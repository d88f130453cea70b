"""What the tools of a request come to: what the chat template is shown, what the answer is made to be, and how it is
read. Forced calls are made by a JSON schema; which text is a call is tools.py's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from engine.server import fields
from engine.server.errors import refused
from engine.server.protocol import ChatRequest, FunctionTool, NamedTool, ObjectFormat, SchemaFormat, Tool
from engine.server.tools import Form, HermesReader, ListReader, LlamaReader, NamedReader, PlainReader, Reader, form_of
from engine.text.chat import ChatTemplate

MAX_TOOLS = 128
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


class ToolPlan(NamedTuple):
    """shown: to the template. form: whose control tokens are text. schema: of the whole answer, where it is forced."""

    make_reader: Callable[[], Reader] = PlainReader
    shown: tuple[dict[str, Any], ...] = ()
    form: Form | None = None
    schema: str | None = None


def plan_tools(request: ChatRequest, template: ChatTemplate) -> ToolPlan:
    """Raises ApiError that names the field."""
    functions = _functions(request)
    choice = request.tool_choice
    if not functions:
        if request.tools is not None and choice is None:
            raise refused("tools", "there are none; leave it out", code="invalid_value")
        if choice not in (None, "none"):
            raise refused("tool_choice", "needs tools", code="invalid_value")
        return ToolPlan()
    if choice == "none":
        return ToolPlan()
    if not template.takes_tools:
        raise refused(
            "tools",
            "the model's chat template has no place for them; use tool_choice none",
            code="unsupported_parameter",
        )
    if isinstance(request.response_format, (ObjectFormat, SchemaFormat)):
        raise refused("response_format", "given beside tools; give one of the two", code="invalid_value")
    shown, names = tuple(request.tools or ()), [each.name for each in functions]
    most = 1 if request.parallel_tool_calls is False else None
    if isinstance(choice, NamedTool):
        wanted = next((each for each in functions if each.name == choice.function.name), None)
        if wanted is None:
            what = f"no tool is called {choice.function.name!r}"
            raise refused("tool_choice.function.name", what, code="invalid_value")
        return ToolPlan(lambda: NamedReader(wanted.name), shown, None, json.dumps(_arguments(wanted)))
    if choice == "required":
        return ToolPlan(lambda: ListReader(names, most), shown, None, json.dumps(_list_of(functions, most)))
    form = form_of(template.text)
    if form is None:
        raise refused(
            "tools", "how this model writes a call is not known; use tool_choice required", code="unsupported_parameter"
        )
    reader = HermesReader if form is Form.HERMES else LlamaReader
    return ToolPlan(lambda: reader(names, most), shown, form)


def _functions(request: ChatRequest) -> list[FunctionTool]:
    given = request.tools or []
    if len(given) > MAX_TOOLS:
        raise refused("tools", f"{len(given)} of them; give at most {MAX_TOOLS}", code="invalid_value")
    found: list[FunctionTool] = []
    for index, each in enumerate(given):
        function = fields.convert(each, Tool, place=f"tools[{index}]").function
        if not _NAME.match(function.name):
            raise refused(f"tools[{index}].function.name", "use 1 to 64 letters, digits, _ and -", code="invalid_value")
        if any(other.name == function.name for other in found):
            raise refused(f"tools[{index}].function.name", f"{function.name!r} is there twice", code="invalid_value")
        found.append(function)
    return found


def _arguments(function: FunctionTool) -> dict[str, Any]:
    return function.parameters or {"type": "object"}


def _list_of(functions: list[FunctionTool], most: int | None) -> dict[str, Any]:
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": each.name},
                "arguments": _moved(_arguments(each), f"#/items/anyOf/{index}/properties/arguments"),
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for index, each in enumerate(functions)
    ]
    return {"type": "array", "minItems": 1, **({"maxItems": most} if most else {}), "items": {"anyOf": calls}}


def _moved(schema: Any, place: str) -> Any:
    """A schema that stands in a larger one: what refers to its root has to follow it there."""
    if isinstance(schema, dict):
        return {
            key: _reference(value, place) if key == "$ref" else _moved(value, place) for key, value in schema.items()
        }
    return [_moved(each, place) for each in schema] if isinstance(schema, list) else schema


def _reference(value: Any, place: str) -> Any:
    return place + value[1:] if isinstance(value, str) and value.startswith("#") else value
