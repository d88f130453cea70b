"""`match` in a flow graph: the cases one after the other, what a pattern compares with, what it captures.

Other statements are flow_statements.py's."""

from __future__ import annotations

import ast

from codemods.source.flow_expressions import ExpressionFlow
from codemods.source.flow_points import Kind, Point, Risk


class PatternFlow(ExpressionFlow):
    """Names are captured once a whole pattern fits, before its guard is evaluated."""

    def _Match(self, node: ast.Match) -> None:
        self.expression(node.subject)
        ends: list[Point] = []
        for case in node.cases:
            self.emit(Kind.STEP, case.pattern)
            self._pattern_reads(case.pattern)
            missed = [] if _always_matches(case.pattern) else list(self.frontier)
            self._pattern_captures(case.pattern)
            if case.guard is not None:
                yes, no = self.condition(case.guard)
                self.frontier = yes
                missed += no
            self.block(case.body)
            ends += self.frontier
            self.frontier = missed
        self.frontier = [*ends, *self.frontier]

    def _pattern_reads(self, pattern: ast.pattern) -> None:
        """Values and classes that a pattern compares with: each is reached only where those before it fit."""
        for node in ast.walk(pattern):
            if isinstance(node, (ast.MatchValue, ast.MatchClass, ast.MatchMapping, ast.MatchSequence)):
                before = list(self.frontier)
                self.expressions([getattr(node, "value", None), getattr(node, "cls", None), *getattr(node, "keys", [])])
                self.risk(node, Risk.OPERATION)
                self.frontier += before

    def _pattern_captures(self, pattern: ast.pattern) -> None:
        for node in ast.walk(pattern):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if isinstance(name, str):
                self.bind(name, node)


def _always_matches(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or _always_matches(pattern.pattern)
    return isinstance(pattern, ast.MatchOr) and any(_always_matches(inner) for inner in pattern.patterns)
