"""Which tokens may come next in an answer that has to be JSON of a schema, or match a regular expression: the parsing
is llguidance's, over bytes, so that tokens may be halves of characters. Masks are packed bits (masks.py unpacks them);
what a mask does to logits is logits.py's."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Any

from engine.schema.errors import BadRequest, EngineError
from engine.schema.sampling import SamplingParams

_KEPT = 64  # compiled grammars
_LONGEST_REASON = 300
# White space between the parts of JSON is allowed, and has an end: a model may otherwise indent for ever.
_WHITE_SPACE = r"[\x20\x0A\x0D\x09]{1,40}"


class GrammarFailed(EngineError):
    """A grammar came to its limits in the middle of an answer, or was given a token that it does not allow."""

    code = "grammar-failed"


class _Bytes:
    """The vocabulary, as llguidance asks for it."""

    bos_token_id = None

    def __init__(
        self, tokens: Sequence[bytes], special: Collection[int], eos_id: int, encode: Callable[[str], list[int]]
    ) -> None:
        self.tokens, self.special_token_ids, self.eos_token_id = list(tokens), sorted(special), eos_id
        self._encode = encode

    def __call__(self, text: str | bytes) -> list[int]:
        return self._encode(text if isinstance(text, str) else text.decode("utf-8", "replace"))


class Grammars:
    """tokens: what each one stands for, empty for control tokens. end_ids: any of them may end a complete answer, and
    none an incomplete one. encode: of a text without special tokens. vocab_size: of the logits, padding included."""

    def __init__(
        self,
        tokens: Sequence[bytes],
        *,
        special: Collection[int],
        end_ids: Collection[int],
        encode: Callable[[str], list[int]],
        vocab_size: int | None = None,
    ) -> None:
        from llguidance import LLParserLimits, LLTokenizer, TokenizerWrapper

        self.num_tokens = len(tokens)
        self.vocab_size = len(tokens) if vocab_size is None else vocab_size
        self.end_ids = frozenset(each for each in end_ids if 0 <= each < len(tokens))
        if not self.end_ids:
            raise BadRequest("json_schema", "the model has no token that ends an answer", fix="use another model")
        ends = sorted(self.end_ids)
        wrapped = TokenizerWrapper(_Bytes(tokens, {*special, *ends}, ends[0], encode))
        self._tokenizer = LLTokenizer(wrapped, eos_token=ends)
        self._limits = LLParserLimits(verbose_errors=False)
        self._compiled: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def compile(self, params: SamplingParams) -> Matcher | None:
        """A matcher at the beginning of an answer; None where the request asks for no grammar. Raises BadRequest with
        the field and the library's reason."""
        for field in ("json_schema", "regex"):
            text = getattr(params, field)
            if text is not None:
                return Matcher(self._matcher(field, text).deep_copy(), self, frozenset(params.stop_token_ids))
        return None

    def _matcher(self, field: str, text: str) -> Any:
        found = self._compiled.get((field, text))
        if found is not None:
            self._compiled.move_to_end((field, text))
            return found
        from llguidance import LLMatcher, regex_to_lark

        try:
            if field == "regex":
                # Digits and letters of \d and \w are ASCII, as they are in a schema's patterns.
                grammar = LLMatcher.grammar_from_regex(regex_to_lark(text, use_ascii="dw"))
            else:
                # Last word: a schema may not switch off what makes its own answers valid.
                grammar = LLMatcher.grammar_from_json_schema(
                    text, overrides={"whitespace_pattern": _WHITE_SPACE, "lenient": False, "coerce_one_of": False}
                )
        except ValueError as error:
            raise BadRequest(field, _reason(str(error)), fix="mend it") from error
        made = LLMatcher(self._tokenizer, grammar, log_level=0, limits=self._limits)
        if made.is_error():
            raise BadRequest(field, _reason(made.get_error()), fix="mend it, or leave that part out")
        if not any(made.compute_bitmask()) or (made.is_stopped() and not made.is_accepting()):
            raise BadRequest(field, "no answer could satisfy it", fix="mend it")
        self._compiled[field, text] = made
        if len(self._compiled) > _KEPT:
            self._compiled.popitem(last=False)
        return made


class Matcher:
    """One answer. stop_ids: tokens that end this request, beside those that end every one."""

    def __init__(self, matcher: Any, grammars: Grammars, stop_ids: frozenset[int]) -> None:
        self._matcher, self._stop_ids = matcher, stop_ids - grammars.end_ids
        self._num_tokens = grammars.num_tokens
        self._end_ids, self._num_bytes = grammars.end_ids, -(-grammars.vocab_size // 8)
        self._has_stopped = [False]  # after each token: whether an end came, which the library is not told

    @property
    def is_complete(self) -> bool:
        """Whether the answer so far satisfies the grammar."""
        return bool(self._matcher.is_accepting())

    @property
    def is_done(self) -> bool:
        """Whether nothing but an end may follow, or an end has come."""
        return self._has_stopped[-1] or bool(self._matcher.is_stopped())

    def mask(self) -> bytes:
        """A bit a token, the lowest first: set where it may come next. Never all zero."""
        if self._has_stopped[-1]:
            return self._packed(self._end_ids)
        bits = self._matcher.compute_bitmask()
        if self._matcher.is_error():
            raise self._failed()
        bits = bits[: self._num_bytes].ljust(self._num_bytes, b"\0")
        return self._with_stops(bits) if self._stop_ids else bits

    def masks(self, drafts: Sequence[int]) -> tuple[bytes, ...]:
        """The mask here and after each draft, the matcher left as it is. What follows a draft that is not allowed can't
        be asked for: there the last mask stands again."""
        made = [self.mask()]
        for draft in drafts:
            try:
                self.accept(draft)
            except GrammarFailed:
                break
            made.append(self.mask())
        self.rollback(len(made) - 1)
        return (*made, *made[-1:] * (1 + len(drafts) - len(made)))

    def accept(self, token: int) -> None:
        """Raises GrammarFailed for one that the mask forbids; then the matcher is as it was."""
        is_end = token in self._end_ids or token in self._stop_ids
        if is_end and (self._has_stopped[-1] or self.is_complete):
            self._has_stopped.append(True)
            return
        # A token beyond the vocabulary would leave the library's matcher broken for good.
        is_known = 0 <= token < self._num_tokens
        if not is_known or self._matcher.validate_tokens([token]) != 1 or not self._matcher.consume_token(token):
            raise GrammarFailed(f"token {token} can't follow here", fix="choose among those that the mask allows")
        self._has_stopped.append(False)

    def rollback(self, count: int) -> None:
        """Undo the last `count` tokens."""
        if not 0 <= count < len(self._has_stopped):
            raise ValueError(f"{count} of {len(self._has_stopped) - 1} tokens can't be undone")
        undone = self._has_stopped[len(self._has_stopped) - count :]
        del self._has_stopped[len(self._has_stopped) - count :]
        if (consumed := undone.count(False)) and not self._matcher.rollback(consumed):
            raise self._failed()

    def _with_stops(self, bits: bytes) -> bytes:
        """A stop that is a piece of text would cut an incomplete answer short, unless nothing else can follow."""
        changed, is_complete = bytearray(bits), self.is_complete
        for each in self._stop_ids:
            if each >> 3 < len(changed):
                changed[each >> 3] &= ~(1 << (each & 7))
                changed[each >> 3] |= is_complete << (each & 7)
        return bytes(changed) if any(changed) else bits

    def _packed(self, ids: Collection[int]) -> bytes:
        made = bytearray(self._num_bytes)
        for each in ids:
            made[each >> 3] |= 1 << (each & 7)
        return bytes(made)

    def _failed(self) -> GrammarFailed:
        return GrammarFailed(_reason(self._matcher.get_error()), fix="use a simpler schema or regular expression")


def _reason(text: str) -> str:
    """What the library says, without its state, in one line."""
    words = " ".join(text.partition("<state>")[0].split())
    return words if len(words) <= _LONGEST_REASON else words[:_LONGEST_REASON] + " ..."
