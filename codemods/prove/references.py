"""Whether a text can name one side of a pair. Looks into no tree."""

from __future__ import annotations

import keyword

from codemods.schema.prove import PairKind
from codemods.schema.refs import BadReference, DefRef


def check_reference(text: str, kind: PairKind) -> None:
    """Raises BadReference unless `text` can name one side of such a pair."""
    if kind is not PairKind.IMPORT:
        DefRef.parse(text)
    elif not text.endswith(".py") and not is_dotted(text):
        raise BadReference(f"{text!r} names no module", fix="write package.module, or path/to/file.py")


def is_dotted(text: str) -> bool:
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in text.split("."))
