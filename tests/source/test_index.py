"""Which files mention a name, also after other names have been looked for."""

from __future__ import annotations

import re

from hypothesis import event, given
from hypothesis import strategies as st

from codemods.source.files import FileSet, MemoryTree
from codemods.source.index import mentioning

WORDS = ("run", "run_it", "re_run", "Runner", "MyRunner", "MyRunnerStub", "n")
TEXTS = st.lists(st.sampled_from((*WORDS, ".", "(", "\n", "'")), max_size=8).map("".join)


def expected(files: dict[str, str], words: list[str]) -> list[str]:
    return sorted(
        path for path, text in files.items() if all(re.search(rf"(?<!\w){word}(?!\w)", text) for word in words)
    )


@given(
    texts=st.lists(TEXTS, min_size=1, max_size=6),
    asked=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), min_size=1, max_size=6),
    changed=TEXTS,
)
def test_every_answer_is_that_of_a_plain_search(texts: list[str], asked: list[list[str]], changed: str) -> None:
    """In whatever order it is asked: a word is looked for only where a part of it has been found before."""
    files = {f"f{number}.py": text for number, text in enumerate(texts)}
    base = FileSet(MemoryTree({path: text.encode() for path, text in files.items()}))
    after = base.write("f0.py", changed.encode())
    for words in asked:
        event("a part was asked before" if any(a in b and a != b for a in words for b in words) else "apart")
        assert mentioning(base, *words) == expected(files, words)
        assert mentioning(after, *words) == expected({**files, "f0.py": changed}, words)
