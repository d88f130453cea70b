"""What a call says about the value it is made on or given: methods of the built-in types and functions of the standard
library that take text apart. A table of knowledge; calls of the tree's own functions are followed by
domains_harvest.py."""

from __future__ import annotations

import ast
from typing import Any

from codemods.prove.domains_evidence import NOTHING, Facts, Value, united

_SAME_TEXT = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "casefold", "title", "capitalize", "swapcase", "removeprefix"}
    | {"removesuffix", "replace", "zfill", "expandtabs", "format", "encode", "decode", "translate", "ljust", "rjust"}
)
_TESTS_TEXT = frozenset(
    {
        "isdigit",
        "isnumeric",
        "isdecimal",
        "isalpha",
        "isalnum",
        "isspace",
        "isupper",
        "islower",
        "isidentifier",
        "isascii",
    }
)
_SPLITS = frozenset({"split", "rsplit", "partition", "rpartition", "splitlines"})
_SEEKS = frozenset({"find", "rfind", "index", "rindex", "count"})
_DICT = frozenset({"items", "keys", "values", "get", "setdefault"})
_LIST = frozenset({"append", "extend", "insert", "sort", "reverse"})
_SET = frozenset(
    {"add", "union", "intersection", "difference", "symmetric_difference", "discard", "issubset", "issuperset"}
    | {"isdisjoint", "difference_update", "intersection_update"}
)
_COPIES = frozenset({"sorted", "list", "tuple", "set", "frozenset", "reversed", "iter", "deque", "copy"})
_FOLDS = frozenset({"sum", "min", "max", "any", "all"})
TEXT_STYLES = {
    "ipaddress": "address",
    "socket.inet_pton": "address",
    "socket.inet_aton": "address",
    "socket.getaddrinfo": "address",
    "json.loads": "json",
    "ast.literal_eval": "json",
    "urllib.parse": "url",
    "datetime.datetime.strptime": "date",
    "datetime.datetime.fromisoformat": "date",
    "datetime.date.fromisoformat": "date",
    "time.strptime": "date",
    "pathlib": "path",
    "os.path": "path",
    "open": "path",
    "os.listdir": "path",
    "shlex.split": "words",
}
_MATCHERS = frozenset({"match", "search", "fullmatch", "findall", "finditer", "split", "sub"})


def style_of(name: str) -> str:
    """The style of text that a function of the standard library takes, "" when it is not known for one."""
    while name:
        if name in TEXT_STYLES:
            return TEXT_STYLES[name]
        name = name.rpartition(".")[0]
    return ""


def method_call(facts: Facts, owner: Value, name: str, args: list[Value]) -> Value | None:
    """A method of a built-in type on a value that comes from an input; None when the name says nothing."""
    texts = [arg.constant for arg in args if isinstance(arg.constant, str)]
    if name in _SPLITS:
        return _split(facts, owner, name, texts, args)
    if name in {"startswith", "endswith"}:
        ends = [each for arg in args for each in _texts(arg.constant)]
        facts.note(owner, "start" if name == "startswith" else "end", *ends)
        facts.note(owner, "kind", "str")
        return NOTHING
    if name in _SEEKS:
        facts.note(owner, "mark", *texts)
        facts.note(owner, "kind", *(["str"] if texts or name in {"find", "rfind"} else []))
        return owner.step("len") if name == "count" else NOTHING
    if name in _SAME_TEXT or name in _TESTS_TEXT:
        facts.note(owner, "kind", "bytes" if name == "decode" else "str")
        facts.note(owner, "mark", *(text for text in texts if name in {"replace", "strip", "lstrip", "rstrip"}))
        facts.note(owner, "start", *(text for text in texts if name == "removeprefix"))
        facts.note(owner, "end", *(text for text in texts if name == "removesuffix"))
        return Value(owner.spots)
    if name in _DICT:
        return _of_dict(facts, owner, name, args)
    if name in _LIST:
        facts.note(owner, "kind", "list")
        return NOTHING
    if name in _SET:
        facts.note(owner, "kind", "set")
        return united(owner, *args)
    if name == "copy":
        return Value(owner.spots)
    return None


def _split(facts: Facts, owner: Value, name: str, texts: list[str], args: list[Value]) -> Value:
    facts.note(owner, "kind", "str")
    if name == "splitlines":
        facts.note(owner, "style", "lines")
    elif texts:
        facts.note(owner, "separator", *texts)
    elif not args:
        facts.note(owner, "separator", " ")
    made = owner.step("pieces")
    if owner.expr is None or name == "splitlines":
        return made
    given = [ast.Constant(arg.constant) for arg in args if isinstance(arg.constant, (str, int))]
    if len(given) != len(args):
        return made
    call = ast.Call(ast.Attribute(owner.expr, name, ast.Load()), list(given), [])
    return Value(made.spots, call)


def _of_dict(facts: Facts, owner: Value, name: str, args: list[Value]) -> Value:
    facts.note(owner, "kind", "dict")
    if name == "items":
        return owner.step("items")
    if name == "keys":
        return owner.step("keys")
    if name == "values":
        return owner.step("values")
    if args:
        if isinstance(args[0].constant, (str, int)):
            facts.note(owner, "key", args[0].constant)
            return united(owner.step(f"[{args[0].constant!r}]"), *args[1:])
        if args[0].root and owner.root and owner.expr is not None:
            facts.tie(args[0].root, owner.expr, "index")
    return united(owner.step("values", "item"), *args[1:])


def _texts(constant: Any) -> list[str]:
    if isinstance(constant, str):
        return [constant]
    return [each for each in constant if isinstance(each, str)] if isinstance(constant, tuple) else []


def builtin_call(facts: Facts, name: str, args: list[Value]) -> Value | None:
    """A built-in function or one of the standard library; None when the name says nothing."""
    if not args:
        return None
    first = args[0]
    if name in {"int", "float"} and first.spots:
        facts.note(first, "style", "number")
        facts.note(first, "kind", "numeric")
        return _with_call(first.step("number"), name, args)
    if name == "len":
        facts.note(first, "kind", "sized")
        return _with_call(first.step("len"), name, args)
    if name == "range":
        facts.note(united(*args), "kind", "int")
        return Value(frozenset().union(*(arg.step("bound").spots for arg in args)))
    if name in _COPIES or name.rpartition(".")[2] == "deque":
        if name != "copy":
            facts.note(first, "kind", "iterated")
        return Value(first.spots, _call(name, args) if name in {"sorted", "list", "tuple", "set"} else None)
    if name in _FOLDS:
        if len(args) == 1:
            facts.note(first, "kind", "iterated")
            return _with_call(first.step("item"), name, args)
        for number in args:
            facts.note(united(*(arg for arg in args if arg is not number)), "exact", *_numbers(number))
        return Value(united(*args).spots, _call(name, args))
    if name in {"abs", "round"}:
        facts.note(first, "kind", "number")
        return _with_call(first, name, args)
    if name == "str":
        return first
    if name in {"chr", "hex", "bin", "oct"}:
        facts.note(first, "kind", "int")
        return NOTHING
    return _library_call(facts, name, args)


def _numbers(value: Value) -> list[Any]:
    is_number = isinstance(value.constant, (int, float)) and not isinstance(value.constant, bool)
    return [value.constant] if is_number else []


def _library_call(facts: Facts, name: str, args: list[Value]) -> Value | None:
    if name.startswith("re.") and name[3:] in _MATCHERS and len(args) > 1:
        pattern = args[0].constant
        if isinstance(pattern, str):
            facts.note(
                args[1 + (name == "re.sub")] if len(args) > 1 + (name == "re.sub") else args[1], "pattern", pattern
            )
        facts.note(args[-1], "kind", "str")
        return args[-1].step("pieces")
    style = style_of(name)
    if style:
        facts.note(args[0], "style", style)
        facts.note(args[0], "kind", "str")
        if style == "path" and name.startswith("os.path"):
            return united(*args)
        return args[0].step("made")
    if name.startswith("math."):
        facts.note(args[0], "kind", "number")
        return args[0]
    return None


def pattern_call(facts: Facts, pattern: str, method: str, args: list[Value]) -> Value:
    """A method of a compiled pattern."""
    text = args[1 if method == "sub" and len(args) > 1 else 0] if args else NOTHING
    if method in _MATCHERS:
        facts.note(text, "pattern", pattern)
        facts.note(text, "kind", "str")
    return text.step("pieces")


def _call(name: str, args: list[Value]) -> ast.expr | None:
    exprs = [arg.expr for arg in args]
    if any(expr is None for expr in exprs):
        return None
    return ast.Call(ast.Name(name, ast.Load()), [expr for expr in exprs if expr is not None], [])


def _with_call(value: Value, name: str, args: list[Value]) -> Value:
    return Value(value.spots, _call(name, args))
