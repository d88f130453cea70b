"""What the core knows of a model's text: which tokens end an answer, and grammars over them, made when the first
request asks for one. Encodes and decodes nothing."""

from __future__ import annotations

from engine.config.env import EnvSettings
from engine.config.server_args import ServerArgs
from engine.loader import pull
from engine.sampling.grammar import Grammars, Matcher
from engine.schema.errors import BadRequest
from engine.schema.sampling import SamplingParams
from engine.text import tokenizer
from engine.text.tokenizer import Tokenizer


class Text:
    """found: None for a model that comes without a tokenizer: then nothing ends an answer but its length.
    vocab_size: of the logits."""

    def __init__(self, found: Tokenizer | None, vocab_size: int) -> None:
        self.tokenizer = found
        self.eos_ids = found.eos_ids if found is not None else frozenset[int]()
        self._vocab_size = vocab_size
        self._grammars: Grammars | None = None

    @classmethod
    def of(cls, args: ServerArgs, env: EnvSettings, vocab_size: int) -> Text:
        path = pull.locate(args.model, env.cache_dir)
        if path.is_dir() and not (path / "tokenizer.json").is_file():
            return cls(None, vocab_size)
        return cls(tokenizer.load(path), vocab_size)

    def compile(self, params: SamplingParams) -> Matcher | None:
        if self._grammars is None:
            self._grammars = self._made()
        return self._grammars.compile(params)

    def _made(self) -> Grammars:
        found = self.tokenizer
        if found is None:
            raise BadRequest("json_schema", "the model has no tokenizer", fix="leave the grammar out")
        known = found.vocabulary
        return Grammars(
            [known.bytes_of(each) for each in range(len(known))],
            special=known.special,
            end_ids=self.eos_ids,
            encode=lambda text: found.encode(text, with_bos=False),
            vocab_size=self._vocab_size,
        )
