"""The tokenizer of a model: from a GGUF file's own lists or from a tokenizer.json. Encoding is the library tokenizers';
decoding is by bytes (vocabulary.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.loader.gguf_file import GgufFile
from engine.schema.errors import BadModel
from engine.text import sentencepiece
from engine.text.chat import ChatTemplate, choose_template
from engine.text.pretokenizers import pre_tokenizer
from engine.text.sentencepiece import CONTROL, NORMAL, USER_DEFINED
from engine.text.vocabulary import Form, Vocabulary

_ENDS_OF_TURN = ("<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>")


class Tokenizer:
    """bos_id: put before every prompt, where the model wants that. eos_ids: each ends an answer."""

    def __init__(
        self,
        encoder: Any,
        vocabulary: Vocabulary,
        *,
        eos_ids: frozenset[int],
        bos_id: int | None = None,
        template: ChatTemplate | None = None,
    ) -> None:
        self._encoder, self.vocabulary = encoder, vocabulary
        self.eos_ids, self.bos_id, self.template = eos_ids, bos_id, template

    def encode(self, text: str, *, with_bos: bool = True) -> list[int]:
        """Token ids. Control tokens that the text spells out are taken as such: a chat template writes them."""
        ids: list[int] = self._encoder.encode(text, add_special_tokens=False).ids
        if with_bos and self.bos_id is not None and ids[:1] != [self.bos_id]:
            return [self.bos_id, *ids]
        return ids

    def decode(self, tokens: list[int], *, skip_special: bool = True) -> str:
        return self.vocabulary.text_of(tokens, skip_special=skip_special)


def load(path: Path) -> Tokenizer:
    """Of a model: a .gguf file, or a folder."""
    return from_gguf(GgufFile(path)) if path.is_file() else from_folder(path)


def from_gguf(file: GgufFile) -> Tokenizer:
    """Raises BadModel for a kind of tokenizer that GGUF has and this engine has not."""
    kind = file.require("tokenizer.ggml.model")
    if kind not in ("gpt2", "llama"):
        raise BadModel(f"{file.path}: tokenizer {kind!r}", fix="give a folder with a tokenizer.json instead")
    from tokenizers import AddedToken

    pieces: list[str] = file.require("tokenizer.ggml.tokens")
    types: list[int] = file.get("tokenizer.ggml.token_type", [NORMAL] * len(pieces))
    is_sentencepiece = kind == "llama"
    encoder = _sentencepiece(file, pieces, types) if is_sentencepiece else _byte_level(file, pieces)
    special = [at for at, each in enumerate(types) if each == CONTROL]
    added = [at for at, each in enumerate(types) if each == USER_DEFINED]
    encoder.add_special_tokens([AddedToken(pieces[at], special=True, normalized=False) for at in special])
    encoder.add_tokens([AddedToken(pieces[at], special=False, normalized=False) for at in added])
    bos, eos = (file.get(f"tokenizer.ggml.{name}_token_id") for name in ("bos", "eos"))
    has_bos = file.get("tokenizer.ggml.add_bos_token", is_sentencepiece)
    text = file.get("tokenizer.chat_template")
    return Tokenizer(
        encoder,
        Vocabulary(pieces, "sentencepiece" if is_sentencepiece else "byte-level", special=special, added=added),
        eos_ids=frozenset(int(each) for each in (eos, _end_of_turn(file, pieces, special)) if each is not None),
        bos_id=int(bos) if bos is not None and has_bos else None,
        template=_template(text, pieces, bos, eos) if text else None,
    )


def _byte_level(file: GgufFile, pieces: list[str]) -> Any:
    from tokenizers import Tokenizer as Encoder
    from tokenizers.models import BPE

    merges = [tuple(each.split(" ", 1)) for each in file.require("tokenizer.ggml.merges")]
    encoder = Encoder(BPE(vocab={piece: at for at, piece in enumerate(pieces)}, merges=merges, ignore_merges=False))
    encoder.pre_tokenizer = pre_tokenizer(file.get("tokenizer.ggml.pre", "default"))
    return encoder


def _sentencepiece(file: GgufFile, pieces: list[str], types: list[int]) -> Any:
    return sentencepiece.encoder(
        pieces,
        file.require("tokenizer.ggml.scores"),
        types,
        unknown_id=file.get("tokenizer.ggml.unknown_token_id"),
        has_prefix=file.get("tokenizer.ggml.add_space_prefix", True),
    )


def _end_of_turn(file: GgufFile, pieces: list[str], special: list[int]) -> int | None:
    """Where the file does not say which token ends a turn: the control token with a name that means it."""
    given = file.get("tokenizer.ggml.eot_token_id")
    if given is not None:
        return int(given)
    by_name = {pieces[at]: at for at in special}
    return next((by_name[name] for name in _ENDS_OF_TURN if name in by_name), None)


def from_folder(folder: Path) -> Tokenizer:
    """From tokenizer.json, with what tokenizer_config.json and generation_config.json add."""
    from tokenizers import Tokenizer as Encoder

    path = folder / "tokenizer.json"
    if not path.is_file():
        raise BadModel(f"{folder} holds no tokenizer.json", fix="give a folder with one, or a .gguf file")
    try:
        encoder = Encoder.from_file(str(path))
        raw = json.loads(path.read_text(encoding="utf-8"))
    except Exception as error:  # the library raises its own plain Exception
        raise BadModel(f"{path} can't be read: {error}", fix="fetch the tokenizer again") from error
    config = _json(folder / "tokenizer_config.json")
    by_text: dict[str, int] = encoder.get_vocab(with_added_tokens=True)
    pieces = [""] * (max(by_text.values(), default=-1) + 1)
    for piece, at in by_text.items():
        pieces[at] = piece
    added = raw.get("added_tokens", [])
    special = [each["id"] for each in added if each["special"]]
    form: Form = "byte-level" if _has_type(raw.get("decoder"), "ByteLevel") else "sentencepiece"
    eos_ids = _eos_ids(folder, config, by_text)
    bos, eos = _piece(config.get("bos_token")), _piece(config.get("eos_token"))
    template = config.get("chat_template") or _text(folder / "chat_template.jinja")
    if isinstance(template, list):
        template = {each["name"]: each["template"] for each in template}
    return Tokenizer(
        encoder,
        Vocabulary(pieces, form, special=special, added=[each["id"] for each in added]),
        eos_ids=eos_ids,
        bos_id=by_text.get(bos) if bos and config.get("add_bos_token", False) else None,
        template=ChatTemplate(choose_template(template), bos=bos, eos=eos) if template else None,
    )


def _template(text: str, pieces: list[str], bos: int | None, eos: int | None) -> ChatTemplate:
    named = [pieces[int(each)] if each is not None else "" for each in (bos, eos)]
    return ChatTemplate(choose_template(text), bos=named[0], eos=named[1])


def _eos_ids(folder: Path, config: dict[str, Any], by_text: dict[str, int]) -> frozenset[int]:
    found = _json(folder / "generation_config.json").get("eos_token_id")
    if found is None:
        found = _json(folder / "config.json").get("eos_token_id")
    if found is None:
        found = by_text.get(_piece(config.get("eos_token")))
    if found is None:
        return frozenset()
    return frozenset(found if isinstance(found, list) else [found])


def _json(path: Path) -> dict[str, Any]:
    text = _text(path)
    if not text:
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadModel(f"{path} is no JSON: {error}", fix="fetch the model again") from error
    if not isinstance(found, dict):
        raise BadModel(f"{path} holds no JSON object", fix="fetch the model again")
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _piece(token: Any) -> str:
    """Configurations write a token as its text or as an object with it."""
    return str(token.get("content", "")) if isinstance(token, dict) else str(token or "")


def _has_type(node: Any, kind: str) -> bool:
    if isinstance(node, dict):
        return node.get("type") == kind or any(_has_type(each, kind) for each in node.values())
    return isinstance(node, list) and any(_has_type(each, kind) for each in node)
