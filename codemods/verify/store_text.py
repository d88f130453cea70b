"""What the text of a line, or the code of a statement, says of the attributes it may store and of their receivers.

Which lines may do so, and what a receiver is, is for others to find out. What is only read of `vars(x)` is told by the
name of what gets it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from codemods.source.nodes import children

_TUPLE_START = re.compile(rb"[ \t(]*(?:[\w.]+,[ \t]*)*")
_TUPLE_END = re.compile(rb"[ \t]*\)[ \t]*=(?!=)")
# What may stand before a target: nothing, another statement, another target, the head of a block.
_BEFORE = re.compile(
    rb"\s*(?:.*[;=]\s*|(?:if|elif|while|for|with|else|try|finally|except)\b.*:\s*|\(?\s*(?:[\w.]+\s*,\s*)+)?"
)
_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_BY_TEXT = re.compile(rb"(?:setattr\w*|delattr\w*)\(\s*([\w.]+)\s*,|([\w.]+)\.__dict__")
_SETTERS = frozenset({"setattr", "delattr"})
BY_TEXT = _SETTERS | {"__setattr__", "__delattr__", "__dict__", "vars"}
_ELSE = re.compile(rb"^(?:else|try|finally)\s*:\s*")
# What is given a dictionary and only reads it.
_READERS = frozenset((
    "dict", "print", "sorted", "list", "len", "set", "str", "repr", "iter", "tuple", "copy", "deepcopy", "dumps",
    "dump", "pformat", "pprint", "debug", "info", "warning", "error", "update", "append", "isinstance", "ChainMap",
    "next", "any", "all", "enumerate", "zip", "frozenset", "id", "type", "min", "max", "sum", "filter", "map", "format",
))  # fmt: skip
_CHAIN = re.compile(rb"[\w.]*(?:\(\)|\[[^\[\]]*\])*\Z")


def receiver_of(line: bytes, match: re.Match[bytes], from_here: Callable[[], Sequence[bytes]]) -> str | None:
    """The receiver of a store as the line has it; None when it is no store after all. match: of what may be the store.
    from_here: the line and those behind it."""
    text = match[0]
    if text.startswith((b"setattr", b"delattr", b"__dict__")):
        by_text = _BY_TEXT.search(line)
        return (by_text[1] or by_text[2]).decode("utf-8", "replace") if by_text is not None else ""
    if text.startswith((b"for", b"as", b"del")):
        target = text.rpartition(b".")[0]
        return None if re.search(rb"\bin\b", target) else _CHAIN.search(target)[0].decode("utf-8", "replace")  # type: ignore[index]
    before = line[: match.start()]
    chain = _CHAIN.search(before)
    receiver = chain[0] if chain is not None else b""
    rest = before[: len(before) - len(receiver)]
    is_whole_line = b"=" not in text
    if is_whole_line and not (_TUPLE_START.fullmatch(rest) and _is_tuple(from_here()[:40])):
        return None
    if b"#" in before or (_BEFORE.fullmatch(rest) is None and not is_whole_line):
        return None
    if b"," in text and _TUPLE_START.fullmatch(rest) is None:
        return None
    if text[1:].lstrip(_WORD).lstrip().startswith(b":") and rest.strip():
        return None
    return receiver.decode("utf-8", "replace")


def _is_tuple(lines: Sequence[bytes]) -> bool:
    """Whether the first line is part of a target that goes over several lines."""
    if not any(_TUPLE_END.match(line) is not None for line in lines[1:]):
        return False
    after = b"\n".join(lines)[len(lines[0]) :]
    return re.match(rb"[\w.,\s\[\]]*\)[ \t]*=(?!=)", after) is not None


# ---- stores by the text of a name


def keys_stored(space: ast.AST, above: ast.AST, further: ast.AST) -> list[str] | None:
    """The names that are stored into a dictionary of names where it stands; "" for one that is put together. above:
    what it is in; further: what that is in. None where nothing is stored."""
    if isinstance(above, ast.Subscript) and above.value is space:
        return None if isinstance(above.ctx, ast.Load) else [_text(above.slice)]
    if isinstance(above, ast.AugAssign) and above.target is space:
        return _keys(above.value)
    if isinstance(above, (ast.Assign, ast.NamedExpr)) and above.value is space:
        return [""]  # under another name
    if isinstance(above, ast.Call) and any(each is space for each in above.args):
        return None if _name(above.func) in _READERS else [""]
    if not isinstance(above, ast.Attribute) or not isinstance(further, ast.Call) or further.func is not above:
        return None
    if above.attr == "update":
        named = [each.arg or "" for each in further.keywords]
        return [*named, *(key for each in further.args for key in _keys(each))]
    if above.attr in ("setdefault", "pop", "__setitem__", "__delitem__"):
        return [_text(further.args[0]) if further.args else ""]
    return [""] if above.attr in ("clear", "popitem", "__ior__") else None


def by_text(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The objects that a piece of code may store an attribute into by the text of its name, as they are written, and
    the name; "" for one that is put together, or not seen."""
    todo: list[tuple[ast.AST, ast.AST, ast.AST]] = [(node, node, node)]
    while todo:
        each, above, further = todo.pop()
        holder = _holder(each)
        if holder is not None:
            is_stored = isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load)
            keys = [""] if is_stored and not isinstance(above, ast.AugAssign) else keys_stored(each, above, further)
            yield from ((ast.unparse(holder), key) for key in keys or ())
        elif isinstance(each, ast.Call):
            yield from _by_call(each)
        elif isinstance(each, ast.Name) and each.id in _SETTERS and getattr(above, "func", None) is not each:
            is_partial = isinstance(above, ast.Call) and len(above.args) > 2 and above.args[0] is each
            if is_partial:
                yield ast.unparse(above.args[1]), _text(above.args[2])  # type: ignore[attr-defined]
            else:
                yield "", ""
        todo += [(inner, each, above) for inner in children(each)]


def by_text_in(lines: Sequence[bytes]) -> list[tuple[str, str]]:
    """The same for the statement that begins with the first line."""
    first = _ELSE.sub(b"", lines[0].strip()).replace(b"elif ", b"if ", 1)
    for number in range(1, len(lines) + 1):
        text = b"\n".join([first, *lines[1:number]])
        if sum(map(text.count, (b"(", b"[", b"{"))) <= sum(map(text.count, (b")", b"]", b"}"))):
            tree = _parsed(text) or _parsed(text + b" pass")
            return list(by_text(tree)) if tree is not None else []
    return []


def _parsed(text: bytes) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _holder(node: ast.AST) -> ast.expr | None:
    """The object whose attributes a dictionary has: `x.__dict__`, `vars(x)`."""
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "__dict__" else None
    is_vars = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars"
    return node.args[0] if is_vars and node.args else None  # type: ignore[attr-defined]


def _by_call(call: ast.Call) -> Iterator[tuple[str, str]]:
    name = _name(call.func)
    given = [ast.unparse(each) for each in call.args[:1]]
    if isinstance(call.func, ast.Name) and name in _SETTERS:
        yield (given[0] if given else ""), _text(call.args[1]) if len(call.args) > 1 else ""
    elif isinstance(call.func, ast.Attribute) and name in ("__setattr__", "__delattr__"):
        count = 3 if name == "__setattr__" else 2
        if len(call.args) == count:
            yield given[0], _text(call.args[1])
        elif call.args:
            text = ast.unparse(call.func.value)
            yield ("self" if text.startswith("super(") else text), _text(call.args[0])


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _keys(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Dict):
        return [_text(key) if key is not None else "" for key in node.keys]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        return [each.arg or "" for each in node.keywords]
    return [""]


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
