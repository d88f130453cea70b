"""A tokenizer with a token a byte, and the control tokens of ChatML: small enough for checkpoints that tests write, and
any text can be said in it."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import AddedToken, decoders
from tokenizers import Tokenizer as Encoder
from tokenizers.models import BPE

from engine.text import tokenizer
from engine.text.pretokenizers import pre_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.text.vocabulary import _byte_of_char

START, END = "<|im_start|>", "<|im_end|>"
CONTROL = (START, END, "<tool_call>", "</tool_call>", "<|python_tag|>")
VOCAB_SIZE = 256 + len(CONTROL)
PLAIN = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
HERMES = "{% if tools %}<|im_start|>system\nCall as <tool_call>: {{ tools | tojson }}<|im_end|>\n{% endif %}" + PLAIN
LLAMA = (
    '{% if tools %}<|im_start|>system\n{"name": ..., "parameters": ...}: {{ tools | tojson }}<|im_end|>\n{% endif %}'
    + PLAIN
)


def write(folder: Path, *, template: str | None = PLAIN) -> Tokenizer:
    """Into a folder, beside the weights of a checkpoint if there are any."""
    encoder = Encoder(BPE(vocab={piece: at for at, piece in enumerate(_byte_of_char())}, merges=[]))
    encoder.pre_tokenizer = pre_tokenizer("smollm")
    encoder.decoder = decoders.ByteLevel()
    encoder.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in CONTROL])
    encoder.save(str(folder / "tokenizer.json"))
    config = {"eos_token": END, "bos_token": START, **({"chat_template": template} if template else {})}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 257}))
    return tokenizer.from_folder(folder)
