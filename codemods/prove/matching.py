"""`match` as `if` and `elif`, so that what a pattern asks of a value (`is None`, `==`, its class, its attributes) is
asked as any other code would ask it. Sequence and mapping patterns ask a real value only; an opaque one stops the run
there."""

from __future__ import annotations

import ast
from collections.abc import Callable


def as_conditions(node: ast.Match, prefix: str, mangled: Callable[[str], str]) -> list[ast.stmt]:
    """The statements that stand for a `match`. `prefix`: of the names that its values are held under."""
    made = _Patterns(prefix, mangled)
    subject = made.fresh()
    held = _at(ast.Assign(targets=[ast.Name(id=subject, ctx=ast.Store())], value=node.subject), node)
    chain: list[ast.stmt] = []
    for case in reversed(node.cases):
        test = made.test(case.pattern, subject)
        if case.guard is not None:
            test = _both(test, case.guard)
        chain = [_at(ast.If(test=test or ast.Constant(value=True), body=case.body, orelse=chain), case.pattern)]
    for each in chain:
        ast.fix_missing_locations(each)
    return [held, *chain]


def _at(made: ast.stmt, node: ast.AST) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _both(*tests: ast.expr | None) -> ast.expr | None:
    """All of the conditions; None where there are none: it always holds."""
    found = [each for each in tests if each is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else ast.BoolOp(op=ast.And(), values=found)


def _load(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Load())


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(func=_load(name), args=list(args), keywords=[])


def _hold(name: str, value: ast.expr) -> ast.expr:
    """`name := value`, as a condition that holds."""
    return ast.Tuple(elts=[ast.NamedExpr(target=ast.Name(id=name, ctx=ast.Store()), value=value)], ctx=ast.Load())


class _Patterns:
    def __init__(self, prefix: str, mangled: Callable[[str], str]) -> None:
        self._prefix, self._mangled, self._count = prefix, mangled, 0

    def fresh(self) -> str:
        self._count += 1
        return f"{self._prefix}_{self._count}"

    def test(self, pattern: ast.pattern, subject: str) -> ast.expr | None:
        """Whether the value held under a name matches; None: it always does."""
        if isinstance(pattern, ast.MatchValue):
            return ast.Compare(left=_load(subject), ops=[ast.Eq()], comparators=[pattern.value])
        if isinstance(pattern, ast.MatchSingleton):
            return ast.Compare(left=_load(subject), ops=[ast.Is()], comparators=[ast.Constant(value=pattern.value)])
        if isinstance(pattern, ast.MatchAs):
            inner = None if pattern.pattern is None else self.test(pattern.pattern, subject)
            return _both(inner, None if pattern.name is None else _hold(pattern.name, _load(subject)))
        if isinstance(pattern, ast.MatchOr):
            return self._any(pattern, subject)
        if isinstance(pattern, ast.MatchClass):
            return self._class(pattern, subject)
        if isinstance(pattern, ast.MatchSequence):
            return self._sequence(pattern, subject)
        if isinstance(pattern, ast.MatchMapping):
            return self._mapping(pattern, subject)
        raise AssertionError(f"a pattern of an unknown kind: {pattern!r}")

    def _any(self, pattern: ast.MatchOr, subject: str) -> ast.expr | None:
        tests = [self.test(each, subject) for each in pattern.patterns]
        return None if None in tests else ast.BoolOp(op=ast.Or(), values=[each for each in tests if each is not None])

    def _class(self, pattern: ast.MatchClass, subject: str) -> ast.expr | None:
        """`isinstance`, then each attribute that is named, or that `__match_args__` names."""
        kind = self.fresh()
        tests: list[ast.expr | None] = [_hold(kind, pattern.cls), _call("_u_is_a", _load(subject), _load(kind))]
        for index, each in enumerate(pattern.patterns):
            inner = self.fresh()
            tests.append(_hold(inner, _call("_u_part", _load(subject), _load(kind), ast.Constant(value=index))))
            tests.append(self.test(each, inner))
        for name, each in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            inner, attr = self.fresh(), ast.Constant(value=self._mangled(name))
            tests.append(_call("_u_has", _load(subject), attr))
            tests.append(_hold(inner, _call("_u_get", _load(subject), attr)))
            tests.append(self.test(each, inner))
        return _both(*tests)

    def _sequence(self, pattern: ast.MatchSequence, subject: str) -> ast.expr | None:
        star = next((index for index, each in enumerate(pattern.patterns) if isinstance(each, ast.MatchStar)), -1)
        least = len(pattern.patterns) - (star >= 0)
        exact = ast.Constant(value=star < 0)
        tests: list[ast.expr | None] = [_call("_u_is_sequence", _load(subject), ast.Constant(value=least), exact)]
        for index, each in enumerate(pattern.patterns):
            after = len(pattern.patterns) - index - 1
            if isinstance(each, ast.MatchStar):
                if each.name is not None:
                    end = ast.Constant(value=after)
                    tests.append(_hold(each.name, _call("_u_rest", _load(subject), ast.Constant(value=index), end)))
                continue
            inner = self.fresh()
            at = index if star < 0 or index < star else -after - 1
            tests.append(
                _hold(inner, ast.Subscript(value=_load(subject), slice=ast.Constant(value=at), ctx=ast.Load()))
            )
            tests.append(self.test(each, inner))
        return _both(*tests)

    def _mapping(self, pattern: ast.MatchMapping, subject: str) -> ast.expr | None:
        keys: ast.expr = ast.Tuple(elts=list(pattern.keys), ctx=ast.Load())
        tests: list[ast.expr | None] = [_call("_u_is_mapping", _load(subject), keys)]
        for key, each in zip(pattern.keys, pattern.patterns, strict=True):
            inner = self.fresh()
            tests.append(_hold(inner, ast.Subscript(value=_load(subject), slice=key, ctx=ast.Load())))
            tests.append(self.test(each, inner))
        if pattern.rest is not None:
            tests.append(_hold(pattern.rest, _call("_u_other_keys", _load(subject), keys)))
        return _both(*tests)
