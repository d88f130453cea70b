"""Terms and effects as text for people."""

from __future__ import annotations

from typing import Any

from codemods.prove.freeze import text_parts
from codemods.prove.opaque import ATTR, CALL, EVENT, GLOBAL, ITEM, OP, ROOT, TEXT, Opaque, forgetting

_SIGNS = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//",
    "mod": "%", "pow": "**", "and": "&", "or": "|", "xor": "^", "matmul": "@", "lshift": "<<", "rshift": ">>",
    "contains": "∋",
}  # fmt: skip
_LONGEST = 240


_known: dict[Opaque, str] = {}
forgetting.append(_known.clear)


def in_words(text: str) -> str:
    """A text of the subject's, such as an exception's, with the opaque values in it named."""
    return "".join(_in_words(part) for part in text_parts(text))


def _in_words(part: Any) -> str:
    if isinstance(part, str):
        return part
    value = part[0]
    if type(value) is Opaque and value._u_kind is TEXT:
        return "".join(_in_words(each) for each in value._u_parts)
    return "{" + _word(value) + "}"


def word(value: Any) -> str:
    """A frozen value."""
    made = _word(value)
    return made if len(made) <= _LONGEST else made[: _LONGEST - 1] + "…"


def _word(value: Any) -> str:
    if type(value) is Opaque:
        found = _known.get(value)
        if found is None:
            found = _known[value] = _term(value)
        return found
    if type(value) is tuple and value and isinstance(value[0], str):
        return _compound(value[0], value[1:])
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(_word(each) for each in value)) + "}"
    if type(value) is tuple:
        return "(" + ", ".join(_word(each) for each in value) + ")"
    return repr(value)


def _compound(kind: str, rest: tuple[Any, ...]) -> str:
    if kind in ("bool", "float"):
        return str(rest[0])
    if kind in ("tuple", "list", "iterator"):
        opening, closing = {"tuple": ("(", ")"), "list": ("[", "]"), "iterator": ("<", ">")}[kind]
        return (
            opening
            + ", ".join(_word(each) for each in rest)
            + ("," if kind == "tuple" and len(rest) == 1 else "")
            + closing
        )
    if kind == "dict":
        return "{" + ", ".join(sorted(f"{_word(k)}: {_word(v)}" for k, v in rest[0])) + "}"
    if kind == "set":
        return "{" + ", ".join(sorted(_word(each) for each in rest[0])) + "}" if rest[0] else "set()"
    if kind == "named":
        return str(rest[0]).rpartition(":")[2] or str(rest[0])
    if kind == "error":
        return f"{str(rest[0]).rpartition('.')[2]}({', '.join(_word(each) for each in rest[1:])})"
    if kind == "fault":
        return f"the error of {_word(rest[0])}"
    if kind == "from":
        return f"{_word(rest[0])} from {_word(rest[1])}"
    if kind == "object":
        name = str(rest[0]).rpartition(":")[2]
        return f"{name}({', '.join(f'{key}={_word(each)}' for key, each in rest[1:])})"
    if kind == "function":
        return "<function>"
    return f"{kind}({', '.join(_word(each) for each in rest)})"


def _term(value: Opaque) -> str:
    kind, parts = value._u_kind, value._u_parts
    if kind is ROOT:
        return str(parts[0])
    if kind is GLOBAL:
        return str(parts[0]).rpartition(":")[2].removeprefix("builtins.")
    if kind is ATTR:
        return f"{_word(parts[0])}.{parts[1]}"
    if kind is ITEM:
        return f"{_word(parts[0])}[{_word(parts[1])}]"
    if kind is CALL:
        named = [f"{name}={_word(each)}" for name, each in sorted(parts[2] or ())]
        made = f"{_word(parts[0])}({', '.join([*map(_word, parts[1]), *named])})"
        return made if parts[3] <= 0 else f"{made}#{parts[3] + 1}"
    if kind is TEXT:
        return "f" + repr(
            "".join(part if isinstance(part, str) else "{" + _word(part[0]) + part[1] + "}" for part in parts)
        )
    if kind is EVENT:
        return _event(value)
    return _operation(parts)


def _operation(parts: tuple[Any, ...]) -> str:
    name, rest = parts[0], parts[1:]
    if name in _SIGNS and len(rest) == 2:
        return f"({_word(rest[0])} {_SIGNS[name]} {_word(rest[1])})"
    if name == "after":
        return _word(rest[0])
    if name == "state":
        return str(rest[0]).rpartition(":")[2]
    if name == "changed":
        return f"{_word(rest[0])} with {_word(rest[1])}"
    if name in ("logger", "instance"):
        return f"<{name} {rest[0] if isinstance(rest[0], str) else _word(rest[0])}>"
    if name == "enter":
        return f"{_word(rest[0])} as entered"
    if name == "has env":
        return f"{_word(rest[0])} in os.environ"
    return f"{name}({', '.join(_word(each) for each in rest)})"


def event(value: Opaque) -> str:
    """One effect."""
    return _word(value) if value._u_kind is EVENT else f"call {_word(value)}"


def _event(value: Opaque) -> str:
    kind, *payload = value._u_parts
    words = [_word(each) for each in payload]
    if kind in ("with", "async with", "await") and payload and type(payload[0]) is Opaque and payload[0]._u_kind is OP:
        return f"{kind} {_word(payload[0]._u_parts[1])}"
    if kind in ("set", "set item", "global", "table", "class attribute", "argument", "attribute"):
        return f"{'set' if kind == 'set item' else kind} {words[0]} = {words[1]}"
    if kind == "does":
        return f"when it is loaded: {words[0]}"
    if kind == "in place":
        return f"{words[1]} itself is changed: {payload[0]} {words[2]}"
    if kind == "yielded":
        return f"what was yielded as number {payload[0] + 1} has become {words[1]}"
    if kind == "name":
        return f"{payload[0]} is gone" if payload[1] == ("nothing",) else f"{payload[0]} is {words[1]}"
    if kind == "home":
        return f"{payload[0]} says it lives at {payload[1]}, which is what is stored"
    if kind == "star":
        return f"{payload[0]} is {'' if payload[1] else 'not '}in __all__"
    if kind == "patch":
        return f"a patch of {payload[0]} reaches {payload[1]}()"
    if kind == "log":
        return f"log {payload[1]} {words[2]} [{payload[0]}]"
    if kind == "env":
        return f"os.environ[{words[0]}] = {words[1]}" if payload[1] is not None else f"del os.environ[{words[0]}]"
    return f"{kind} {', '.join(words)}".strip()


def question(asked: tuple[Any, ...], answer: Any) -> str:
    """One decision of a world."""
    kind, *rest = asked
    if kind == "none":
        return f"{_word(rest[0])} is {'' if answer else 'not '}None"
    if kind == "true":
        return f"{_word(rest[0])} is {'true' if answer else 'false'}"
    if kind in ("eq", "same"):
        return f"{_word(rest[0])} {'==' if answer else '!='} {_word(rest[1])}"
    if kind in ("lt", "le", "less"):
        sign = {"lt": ("<", ">="), "le": ("<=", ">"), "less": ("<", ">=")}[kind][0 if answer else 1]
        return f"{_word(rest[0])} {sign} {_word(rest[1])}"
    if kind == "isa":
        name = rest[1].__name__ if isinstance(rest[1], type) else _word(rest[1])
        return f"{_word(rest[0])} is {'a' if answer else 'no'} {name}"
    if kind == "size":
        return f"{_word(rest[0])} has {answer} item{'' if answer == 1 else 's'}"
    if kind == "has":
        return f"{_word(rest[0])} has {'an' if answer else 'no'} attribute {rest[1]}"
    if kind == "sequence":
        return f"called after it is made: {', '.join(answer) or 'nothing'}"
    if kind == "defaults":
        return "parameters with a default are left out" if answer else "every parameter is given"
    return f"{kind} {', '.join(_word(each) for each in rest)}: {answer}"
