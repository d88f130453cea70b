"""The inside of a function that returns a tuple: its fields, their types, and its returns as a struct.

Every return must give a tuple of the same length, written out. What callers do with it is result_calls.py's."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Refusal
from codemods.schema.plan import ResultStruct
from codemods.source.flow import Kind, flow_of, names
from codemods.source.splice import Edit, with_newline
from codemods.transforms.block_annotations import annotation_of, missing_name, text_at
from codemods.transforms.block_host import Host, listed
from codemods.transforms.inline_brackets import is_whole
from codemods.transforms.layout import exploded_lines, indent_unit
from codemods.transforms.static_body import is_generator
from codemods.transforms.static_results import returns_of

_TUPLES = frozenset({"tuple", "Tuple"})


class Fields(Struct, frozen=True, kw_only=True):
    """The fields in the order of the tuple: name -> type as text. shown: in the order that the struct lists them in."""

    types: dict[str, str]
    shown: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.types)


def returned_tuples(host: Host, own_calls: frozenset[ast.AST]) -> tuple[list[ast.Tuple], list[Refusal]]:
    """The tuples that the function returns, and what keeps it from returning one always.

    own_calls: calls of the function itself; returning what such a call gives is returning the struct."""
    found: list[ast.Tuple] = []
    refusals: list[Refusal] = []
    returns = sorted(returns_of(host.function), key=lambda node: (node.lineno, node.col_offset))
    for node in returns:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(node.value, ast.Tuple) and not any(isinstance(each, ast.Starred) for each in node.value.elts):
            found.append(node.value)
        elif value not in own_calls:
            message = f"this return of {host.name} gives no tuple that is written out"
            refusals.append(host.refusal("not-a-tuple", node, message, "write the tuple's elements in the return"))
    lengths = {len(each.elts) for each in found}
    if len(lengths) > 1:
        message = f"{host.name} returns tuples of {listed(map(str, sorted(lengths)))} elements"
        refusals.append(host.refusal("not-a-tuple", found[0], message, "make all of them the same length first"))
    falls_off = any(way.kind is Kind.END for way in flow_of(host.function.body, names()).exits)
    if falls_off or not found:
        message = f"{host.name} returns nothing on some path" if found else f"{host.name} returns no tuple"
        refusals.append(host.refusal("not-a-tuple", host.function, message, "make every path return the same tuple"))
    if is_generator(host.function):
        message = f"{host.name} is a generator"
        refusals.append(host.refusal("U113", host.function, message, "name a function that returns its results"))
    return found, refusals


# -- fields


def fields_of(host: Host, step: ResultStruct, tuples: list[ast.Tuple], at: int) -> Fields | list[Refusal]:
    """Names and types of the fields. at: where the class will stand."""
    own = _named_alike(tuples)
    # Results that have names are told by them, so the struct may list them in another order.
    wanted = own if sorted(own) == sorted(step.fields) else step.fields or own
    if not wanted:
        message = f"the results of {host.name} have no names of their own"
        return [
            host.refusal("fields-needed", tuples[0], message, f"name the {len(tuples[0].elts)} results: fields = [...]")
        ]
    problems = list(_field_problems(host, step, wanted, tuples))
    known = _annotated_elements(host, len(tuples[0].elts))
    types: dict[str, str] = {}
    for position, name in enumerate(wanted):
        if name in step.types:
            problem = _type_problem(host, name, step.types[name], at)
            problems += [problem] if problem is not None else []
            types[name] = step.types[name]
        elif known:
            types[name] = text_at(host, known[position], at, in_class=False) or "object"
        else:
            types[name] = _known_type(host, tuples, position, at) or "object"
    return problems or Fields(types=types, shown=step.fields or wanted)


def _named_alike(tuples: list[ast.Tuple]) -> tuple[str, ...]:
    """The names of the elements where every return names them alike."""
    rows = {tuple(_leaf(each) for each in found.elts) for found in tuples}
    row = rows.pop() if len(rows) == 1 else ()
    return row if all(row) and len(set(row)) == len(row) else ()


def _leaf(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _field_problems(
    host: Host, step: ResultStruct, wanted: tuple[str, ...], tuples: list[ast.Tuple]
) -> Iterator[Refusal]:
    size, at = len(tuples[0].elts), tuples[0]
    if len(wanted) != size:
        message = f"`fields` names {len(wanted)} results, {host.name} returns {size}"
        yield host.refusal("fields-mismatch", at, message, "name each result once, in the order of the tuple")
    if len(set(wanted)) != len(wanted):
        yield host.refusal("fields-mismatch", at, "`fields` names a result twice", "give each result its own name")
    for name in wanted:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
            yield host.refusal("bad-name", at, f"{name!r} is no name for a field", "name it in `fields`")
    for name, result in zip(wanted, _named_alike(tuples), strict=False):
        if name != result and name in _named_alike(tuples):
            message = f"`fields` calls {result} {name}, and {name} is another result of {host.name}"
            yield host.refusal("fields-mismatch", at, message, "name each result once, in the order of the tuple")
    for name in step.types:
        if name not in wanted:
            settle = f"use one of {', '.join(wanted)}"
            yield host.refusal("unknown-field", at, f"`types` names {name}, which is no field", settle)


def _annotated_elements(host: Host, size: int) -> list[ast.expr]:
    """The element types of a `tuple[A, B]` annotation; [] where there is no such annotation."""
    returns = host.function.returns
    if not isinstance(returns, ast.Subscript) or _leaf(returns.value) not in _TUPLES:
        return []
    elements = returns.slice.elts if isinstance(returns.slice, ast.Tuple) else [returns.slice]
    is_open = any(isinstance(each, ast.Constant) and each.value is ... for each in elements)
    return [] if is_open or len(elements) != size else elements


def _known_type(host: Host, tuples: list[ast.Tuple], position: int, at: int) -> str:
    """The annotation of the local that every return gives in this place."""
    elements = [found.elts[position] for found in tuples]
    locals_ = {each.id for each in elements if isinstance(each, ast.Name) and each.id in host.locals}
    if len(locals_) != 1 or not all(isinstance(each, ast.Name) for each in elements):
        return ""
    return annotation_of(host, locals_.pop(), at, in_class=False)


def _type_problem(host: Host, field: str, text: str, at: int) -> Refusal | None:
    """Why a type that the plan gives can't stand at offset `at`."""
    try:
        missing = missing_name(host, text, at)
    except SyntaxError:
        return host.refusal("bad-type", host.function, f"`{text}` is no type for {field}", "write an annotation")
    if not missing:
        return None
    message = f"{host.source.path} has no {missing} above {host.name} to annotate {field} with"
    return host.refusal("bad-type", host.function, message, f"import {missing} first, or use another type")


# -- text


def class_text(host: Host, name: str, base: str, fields: Fields, indent: bytes) -> bytes:
    """The struct's definition."""
    inner = indent + indent_unit(host.source)
    head = indent.decode() + f"class {name}({base}, frozen=True, kw_only=True):"
    lines = [head, *(f"{inner.decode()}{field}: {text}" for field in fields.shown for text in [fields.types[field]])]
    return with_newline("".join(f"{line}\n" for line in lines).encode(), host.source.text.newline)


def return_edits(host: Host, name: str, fields: Fields, tuples: list[ast.Tuple]) -> list[Edit]:
    """Each returned tuple as a call of the struct. The elements stay where they are, comments and all."""
    edits: list[Edit] = []
    for node in tuples:
        edits += _return_edit(host, name, fields, node)
    return edits


def _return_edit(host: Host, name: str, fields: Fields, node: ast.Tuple) -> list[Edit]:
    source = host.source
    start, end = source.start(node), source.end(node)
    text = source.body[start:end]
    spans = _item_spans(host, node, is_whole(text))
    texts = [source.body[left:right].decode() for left, right in spans]
    one_line = f"{name}({', '.join(f'{field}={item}' for field, item in zip(fields.names, texts, strict=True))})"
    head = source.body[source.text.line_start(start) : start].decode()
    tail = source.body[end : source.text.line_end(end)].split(b"#")[0].strip().decode()
    if b"\n" not in text and b"\r" not in text:
        if len(head) + len(one_line) + len(tail) <= host.files.line_length:
            return [Edit(start, end, one_line.encode())]
        indent = source.text.indent_at(start)
        items = [f"{field}={item}" for field, item in zip(fields.names, texts, strict=True)]
        lines = exploded_lines(items, (indent + indent_unit(source)).decode(), host.files.line_length)
        made = f"{name}(\n" + "\n".join(lines) + f"\n{indent.decode()})"
        return [Edit(start, end, with_newline(made.encode(), source.text.newline))]
    edits = [Edit(left, left, f"{field}=".encode()) for field, (left, _) in zip(fields.names, spans, strict=True)]
    if is_whole(text):
        return [Edit(start, start, name.encode()), *edits]
    return [Edit(start, start, f"{name}(".encode()), *edits, Edit(end, end, b")")]


def _item_spans(host: Host, node: ast.Tuple, is_bracketed: bool) -> list[tuple[int, int]]:
    """Each element with brackets of its own."""
    source = host.source
    low = source.start(node) + is_bracketed
    high = source.end(node) - is_bracketed
    found: list[tuple[int, int]] = []
    for element in node.elts:
        start = low
        while source.body[start : start + 1] in (b" ", b"\t", b"\x0c", b"\r", b"\n", b"\\", b"#"):
            is_comment = source.body[start : start + 1] == b"#"
            start = source.text.line_end(start) if is_comment else start + 1
        end = source.end(element)
        opened = source.body[start : source.start(element)].count(b"(")
        for _ in range(opened):
            end = source.body.index(b")", end) + 1
        found.append((start, end))
        comma = source.body.find(b",", end, high)
        low = comma + 1 if comma >= 0 else high
    return found
