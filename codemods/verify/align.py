"""Which statement of an old block goes with which of a new one: the alignment of most words in common, in order.

A bad alignment can only cost: what is put together is compared by the kernel, and what is left alone is residue."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from codemods.source.nodes import children, walk
from codemods.verify.frames import Bind, Body, Claims, Glue, If, Item

_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.Return)
_LONELY = (
    *(ast.Return, ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Raise, ast.Expr, ast.Assert, ast.Match),
    *(ast.AugAssign, ast.Delete, ast.FunctionDef, ast.ClassDef),
)
_LEAST = 0.34
_MOST_CELLS = 250_000
_KEPT = "_words of align"


class _Said(Struct, frozen=True, eq=False):
    """What a statement says: its words, how many, whether that is all of it. key: equal where the words are."""

    words: dict[str, int]
    total: int
    is_plain: bool
    key: int


def align(old: Sequence[Item], new: Sequence[Item], claims: Claims) -> Iterator[tuple[Item | None, Item | None]]:
    """Pairs in order; None where a statement has no counterpart."""
    a, b = [_said(item, claims) for item in old], [_said(item, claims) for item in new]
    if len(old) * len(new) > _MOST_CELLS:
        yield from _by_position(old, new)
        return
    first = _num_first(old, a, new, b)
    yield from zip(old[:first], new[:first], strict=True)
    last = _num_last(old[first:], a[first:], new[first:], b[first:])
    ends = len(old) - last, len(new) - last
    alike = [[_likeness(old[i], a[i], new[j], b[j]) for j in range(first, ends[1])] for i in range(first, ends[0])]
    start_old = start_new = first
    for at in [*_best(alike, ends[0] - first, ends[1] - first, float(last)), (ends[0] - first, ends[1] - first)]:
        i, j = at[0] + first, at[1] + first
        yield from _gap(old[start_old:i], new[start_new:j])
        if i < ends[0] and j < ends[1]:
            yield old[i], new[j]
        start_old, start_new = i + 1, j + 1
    yield from zip(old[ends[0] :], new[ends[1] :], strict=True)


def _num_first(old: Sequence[Item], a: list[_Said], new: Sequence[Item], b: list[_Said]) -> int:
    """How many statements at the start say the same: nothing is more alike, so they go together in any case."""
    for number, (o, said, n, other) in enumerate(zip(old, a, new, b, strict=False)):
        if said.key != other.key or said.words != other.words or not _likeness(o, said, n, other):
            return number
    return min(len(old), len(new))


def _num_last(old: Sequence[Item], a: list[_Said], new: Sequence[Item], b: list[_Said]) -> int:
    """The same at the end, where no other statement of the blocks says it, which might go with one of them as well."""
    times = [Counter(each.key for each in side) for side in (a, b)]
    pairs = zip(reversed(old), reversed(a), reversed(new), reversed(b), strict=False)
    for number, (o, said, n, other) in enumerate(pairs):
        is_one = said.is_plain and other.is_plain and said.total and said.words == other.words
        if not is_one or max(each[said.key] for each in times) > 1 or not _likeness(o, said, n, other):
            return number
    return min(len(old), len(new))


def _best(alike: list[list[float]], rows: int, columns: int, after: float = 0.0) -> list[tuple[int, int]]:
    """The pairs, in order, whose likenesses come to most. after: what the pairs behind them come to."""
    if not rows or not columns:
        return []
    score = [[after] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best = max(score[i + 1][j], score[i][j + 1])
            score[i][j] = max(best, alike[i][j] + score[i + 1][j + 1] if alike[i][j] else 0.0)
    found, i, j = [], 0, 0
    while i < rows and j < columns:
        if alike[i][j] and score[i][j] == alike[i][j] + score[i + 1][j + 1]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif score[i + 1][j] >= score[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _gap(old: Sequence[Item], new: Sequence[Item]) -> Iterator[tuple[Item | None, Item | None]]:
    """What lies between two pairs. Leftovers of one kind may be one statement that changed much; the bindings and the
    results of a body that stands in place of a call come before them."""
    alike = [[float(_is_lonely(o, n)) for n in new] for o in old]
    start_old = start_new = 0
    for i, j in [*_best(alike, len(old), len(new)), (len(old), len(new))]:
        rest_old, rest_new = list(old[start_old:i]), list(new[start_new:j])
        while rest_old or rest_new:
            first_new = bool(rest_new) and (not rest_old or isinstance(rest_new[0], (Bind, Glue)))
            yield (None, rest_new.pop(0)) if first_new else (rest_old.pop(0), None)
        if i < len(old) and j < len(new):
            yield old[i], new[j]
        start_old, start_new = i + 1, j + 1


def _is_lonely(o: Item, n: Item) -> bool:
    special = (Bind, Glue, Body)
    is_plain = not isinstance(o, special) and not isinstance(n, special)
    if not is_plain or type(o.node) is not type(n.node):
        return False
    # Two assignments are one only if they look alike; else either may be a name given to something.
    return isinstance(o.node, _LONELY) or [type(x) for x in ast.walk(o.node)] == [type(x) for x in ast.walk(n.node)]


def _by_position(old: Sequence[Item], new: Sequence[Item]) -> Iterator[tuple[Item | None, Item | None]]:
    shared = min(len(old), len(new))
    yield from zip(old[:shared], new[:shared], strict=True)
    yield from ((item, None) for item in old[shared:])
    yield from ((None, item) for item in new[shared:])


def _likeness(o: Item, a: _Said, n: Item, b: _Said) -> float:
    """0 to 1; 0 when the two can't go together."""
    if not (a.is_plain and b.is_plain):
        if isinstance(o, Bind) or isinstance(n, Bind):
            return 0.0
        if isinstance(o, Body) or isinstance(n, Body):
            is_one = isinstance(o, Body) and isinstance(n, Body) and o.definition == n.definition
            return 1.5 if is_one else 0.0
        if any(isinstance(item, Glue) and (item.source is not None or _is_bundle(item.value)) for item in (o, n)):
            return 0.0
    x, y = type(o.node), type(n.node)
    is_one_kind = x is y or (x in _ASSIGNMENTS and y in _ASSIGNMENTS) or (isinstance(o, If) and isinstance(n, If))
    if not is_one_kind or (x is not y and ast.Return in (x, y) and not (isinstance(o, Glue) or isinstance(n, Glue))):
        return 0.0
    num_both = a.total + b.total
    if not num_both:
        return 0.5
    if 2 * min(a.total, b.total) / num_both < _LEAST:
        return 0.0  # whatever they share
    if a.key == b.key and a.words == b.words:
        return 1.0
    words, other = a.words, b.words
    common = sum(min(words[word], other[word]) for word in words.keys() & other.keys())
    shared = 2 * common / num_both
    return shared if shared >= _LEAST else 0.0


def _is_bundle(value: ast.expr | None) -> bool:
    """Several results as one: each part was there before."""
    plain = (ast.Name, ast.Attribute, ast.Constant)
    return isinstance(value, ast.Tuple) and all(isinstance(part, plain) for part in value.elts)


def _said(item: Item, claims: Claims) -> _Said:
    """What a statement says, blocks and all; kept with it, for each block around it asks again."""
    kept: _Said | None = item.__dict__.get(_KEPT)
    if kept is None:
        words = dict(_counted(item, claims))  # which is compared in no time
        is_plain = not isinstance(item, (Bind, Body, Glue))
        kept = item.__dict__[_KEPT] = _Said(words, sum(words.values()), is_plain, hash(frozenset(words.items())))
    return kept


def _counted(item: Item, claims: Claims) -> Counter[str]:
    if isinstance(item, Bind):
        return Counter()
    inner: Counter[str] = Counter()
    if item.blocks:
        for block in item.blocks:
            for each in block:
                inner.update(_said(each, claims).words)
        heads = [part for part in children(item.node) if isinstance(part, (ast.expr, ast.withitem))]
        for literal in item.test if isinstance(item, If) else ():
            heads += [literal.node, *([literal.right] if literal.right else [])]
    else:
        heads = [item.node]  # type: ignore[list-item]
    found = Counter([word for head in heads for word in _spoken(head, claims)])
    found.update(inner)
    found.pop("self", None)
    return found


def _spoken(head: ast.AST, claims: Claims) -> Iterator[str]:
    for node in walk(head):
        if isinstance(node, ast.Name):
            yield node.id.lstrip("_")
        elif isinstance(node, ast.Attribute):
            yield claims.attributes.get(node.attr, node.attr).lstrip("_")
        elif isinstance(node, ast.Constant):
            yield repr(node.value)
        elif isinstance(node, ast.keyword):
            if node.arg:
                yield node.arg
        elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.AugAssign)):
            yield type(node.op).__name__
        elif isinstance(node, ast.Compare):
            yield from (type(each).__name__ for each in node.ops)
