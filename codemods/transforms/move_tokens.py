"""The check that a move keeps its promise: the pasted text has the tokens of the cut one, in order.

Allowed to differ: indentation, `@staticmethod`, the definition's own qualifier, names that are spelled otherwise in the
target (a logger), modules of relative imports, imports added to the body, and type parameters of the class around."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

from codemods.schema.errors import InternalError
from codemods.source.parse import Source
from codemods.transforms.move_block import Changes, Piece

_Token = tuple[str, str]  # kind, text


class ChangedTokens(InternalError):
    """A moved definition would not be the same text any more. Nothing was written."""

    code = "changed-tokens"


def check_tokens(source: Source, piece: Piece, pasted: bytes, changes: Changes) -> None:
    """Raises ChangedTokens when the pasted text differs in anything that a move may not change."""
    indent = source.text.indent_at(source.start(piece.node))
    block = source.body[piece.start : piece.end]
    old = list(_tokens(block, is_indented=bool(indent)))
    new = list(_tokens(pasted, is_indented=False))
    added = [_texts_of(line.encode()) for line in _lines(changes)]
    if changes.types:
        types = ", ".join(changes.types)
        added += [
            [text for _, text in _tokens(each.encode(), is_indented=False)][:-1] for each in (f"[{types}]", f"{types},")
        ]
    removed = [_texts_of(source.segment(node)) for node in changes.removed]
    match = _Match(old, new, piece.name, changes, added, removed, is_method=bool(indent))
    if not match.run():
        place = match.place()
        raise ChangedTokens(
            f"moving {piece.name} would change its text at {place!r}",
            path=source.path,
            line=piece.node.lineno,
            fix="report this plan as a bug of unmoved; nothing was written",
        )


def _texts_of(statement: bytes) -> list[str]:
    return [text for _, text in _tokens(statement, is_indented=False)]


def _lines(changes: Changes) -> list[str]:
    return [*changes.local_lines, *(line for _, line in changes.placed)]


def _tokens(block: bytes, *, is_indented: bool) -> Iterator[_Token]:
    """Tokens without layout; a newline inside a string counts as one, whichever the file uses."""
    text = ("if 1:\n" if is_indented else "") + block.decode()
    lines = io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"))
    skipped = 4 if is_indented else 0
    for token in tokenize.generate_tokens(lines.readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.ENDMARKER):
            continue
        if skipped:
            skipped -= 1
            continue
        yield ("end", "") if token.type == tokenize.NEWLINE else ("token", token.string)


class _Match:
    """Walks both token lists side by side."""

    def __init__(
        self,
        old: list[_Token],
        new: list[_Token],
        name: str,
        changes: Changes,
        added: list[list[str]],
        removed: list[list[str]],
        *,
        is_method: bool,
    ) -> None:
        self.old, self.new, self.name, self.changes = old, new, name, changes
        self.added, self.removed, self.is_method = added, removed, is_method
        self.at = self.there = 0

    def place(self) -> str:
        return " ".join(text for _, text in self.old[self.at : self.at + 5])

    def run(self) -> bool:
        while self.at < len(self.old) or self.there < len(self.new):
            steps = (self._staticmethod, self._removed, self._added, self._same, self._own, self._renamed, self._module)
            if not any(step() for step in steps):
                return False
        return True

    def _texts(self, tokens: list[_Token], at: int, number: int) -> list[str]:
        return [text for _, text in tokens[at : at + number]]

    @staticmethod
    def _at(tokens: list[_Token], at: int) -> _Token:
        return tokens[at] if at < len(tokens) else ("", "")

    def _same(self) -> bool:
        if self.at < len(self.old) and self.there < len(self.new) and self.old[self.at] == self.new[self.there]:
            self.at += 1
            self.there += 1
            return True
        return False

    def _staticmethod(self) -> bool:
        wanted = ["@", "staticmethod"]
        is_gone = self._texts(self.old, self.at, 2) == wanted and self._texts(self.new, self.there, 2) != wanted
        if not self.is_method or not is_gone:
            return False
        self.at += 2
        while self.at < len(self.old) and self.old[self.at - 1][0] != "end":
            self.at += 1
        return True

    def _added(self) -> bool:
        # A body that stood on the header's line goes to lines of its own, below what is added.
        ends = [self._at(tokens, at) == ("end", "") for tokens, at in ((self.old, self.at), (self.new, self.there))]
        is_unfolded = self.at > 0 and self.old[self.at - 1][1] == ":" and ends == [False, True]
        start = self.there + is_unfolded
        for texts in self.added:
            is_here = bool(texts) and self._texts(self.new, start, len(texts)) == texts
            if is_here and self._texts(self.old, self.at, len(texts)) != texts:
                self.there = start + len(texts)
                self.added.remove(texts)
                return True
        return False

    def _removed(self) -> bool:
        for texts in self.removed:
            if self._texts(self.old, self.at, len(texts)) == texts:
                self.at += len(texts)
                while self.at < len(self.old) and self.old[self.at - 1][0] != "end":
                    self.at += 1  # a comment behind it
                self.removed.remove(texts)
                return True
        return False

    def _own(self) -> bool:
        """`A.B.f` is `f`."""
        if not self.changes.own or self._texts(self.new, self.there, 1) != [self.name]:
            return False
        at = self.at
        while self._texts(self.old, at + 1, 1) == ["."]:
            at += 2
        if at > self.at and self._texts(self.old, at, 1) == [self.name]:
            self.at, self.there = at + 1, self.there + 1
            return True
        return False

    def _renamed(self) -> bool:
        old, new = self._texts(self.old, self.at, 1), self._texts(self.new, self.there, 1)
        if old and new and self.changes.renames.get(old[0]) == new[0]:
            self.at += 1
            self.there += 1
            return True
        return False

    def _module(self) -> bool:
        """The module of a relative import, between `from` and `import`."""
        is_here = self._texts(self.old, self.at - 1, 1) == ["from"] or self._in_module()
        if not self.changes.modules or not is_here:
            return False
        while self.at < len(self.old) and self.old[self.at][1] != "import":
            self.at += 1
        while self.there < len(self.new) and self.new[self.there][1] != "import":
            self.there += 1
        return True

    def _in_module(self) -> bool:
        """Whether what stands before belongs to the dots of a relative import."""
        at = self.at - 1
        while at >= 0 and set(self.old[at][1]) <= {"."} and self.old[at][1]:
            at -= 1
        return at >= 0 and at < self.at - 1 and self.old[at][1] == "from"
