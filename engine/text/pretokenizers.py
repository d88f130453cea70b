"""How text is cut before byte-pair merging, by the name that a GGUF file gives it. Regular expressions as the models'
authors published them with their tokenizers."""

from __future__ import annotations

from typing import Any

from engine.schema.errors import BadModel

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_PATTERNS = {"default": _GPT2, "gpt-2": _GPT2, "llama-bpe": _LLAMA3, "llama3": _LLAMA3, "qwen2": _QWEN2}
_WITH_SINGLE_DIGITS = {"smollm": _GPT2}


def pre_tokenizer(name: str) -> Any:
    """A pre-tokenizer of the library tokenizers. Raises BadModel for a name nobody taught us."""
    from tokenizers import Regex, pre_tokenizers

    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    if name in _WITH_SINGLE_DIGITS:
        digits = pre_tokenizers.Digits(individual_digits=True)
        cut = pre_tokenizers.Split(Regex(_WITH_SINGLE_DIGITS[name]), "isolated")
        return pre_tokenizers.Sequence([digits, cut, as_bytes])
    if name in _PATTERNS:
        return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(_PATTERNS[name]), "isolated"), as_bytes])
    known = ", ".join(sorted({*_PATTERNS, *_WITH_SINGLE_DIGITS}))
    raise BadModel(f"the pre-tokenizer {name!r} is not known", fix=f"known are {known}; or give a tokenizer.json")
