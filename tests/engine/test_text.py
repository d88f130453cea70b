"""Tokens and text: decoding by bytes, stop texts over token borders, chat templates, files that are odd."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from engine.loader.gguf_file import GgufFile
from engine.schema.errors import BadModel, BadRequest
from engine.text import sentencepiece, tokenizer
from engine.text.chat import ChatTemplate, check_messages, choose_template
from engine.text.detokenizer import Detokenizer
from engine.text.pretokenizers import pre_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.text.vocabulary import Vocabulary, _byte_of_char

BYTES = Vocabulary([*_byte_of_char(), "<end>"], "byte-level", special=[256])
TOKEN_OF = {BYTES.bytes_of(token): token for token in range(256)}


def tokens_of(text: str | bytes) -> list[int]:
    return [TOKEN_OF[bytes([each])] for each in (text.encode() if isinstance(text, str) else text)]


def test_every_byte_has_a_token_and_control_tokens_are_hidden() -> None:
    assert sorted(TOKEN_OF) == [bytes([each]) for each in range(256)]
    assert (BYTES.text_of([256]), BYTES.text_of([256], skip_special=False), BYTES.text_of([9999])) == ("", "<end>", "")


def test_sentencepiece_writes_spaces_and_bytes_in_its_own_way() -> None:
    vocabulary = Vocabulary(["\u2581a\u2581b", "<0xC3>", "<0xA9>", "<s>"], "sentencepiece", special=[3])
    assert vocabulary.text_of([3, 0, 1, 2]) == " a b\u00e9"


@given(st.text(alphabet="ab\u00e9\u20ac\U0001f600<", max_size=12), st.lists(st.integers(1, 5), max_size=30))
def test_pieces_add_up_and_no_piece_is_half_a_character(text: str, sizes: list[int]) -> None:
    maker, tokens, out = Detokenizer(BYTES), tokens_of(text), []
    for size in [*sizes, len(tokens)]:
        out.append(maker.push(tokens[:size]).text)
        tokens = tokens[size:]
    out.append(maker.finish().text)
    event("in pieces" if sum(bool(each) for each in out) > 1 else "at once")
    assert "".join(out) == text == maker.text and "\ufffd" not in "".join(out)


STOPS = st.lists(st.text(alphabet="abc", min_size=1, max_size=4), max_size=3)


@given(st.text(alphabet="abc", max_size=14), STOPS, st.lists(st.integers(1, 4), max_size=14), st.booleans())
def test_a_stop_text_ends_it_wherever_the_tokens_are_cut(
    text: str, stops: list[str], sizes: list[int], is_kept: bool
) -> None:
    maker, tokens = Detokenizer(BYTES, stop=stops, is_stop_kept=is_kept), tokens_of(text)
    given_out = ""
    for size in [*sizes, len(tokens)]:
        given_out += maker.push(tokens[:size]).text
        tokens = tokens[size:]
        assert not any(each in given_out for each in stops) or maker.matched is not None
    given_out += maker.finish().text
    # What ends first in the stream ends it; of those that begin in what was held back, the earliest.
    ends = [min((text.find(each) + len(each)) for each in stops if each in text)] if maker.matched else []
    event("stopped" if ends else "not stopped")
    assert (maker.matched is None) == (not any(each in text for each in stops))
    if maker.matched is None:
        assert given_out == text
    else:
        at = text.index(maker.matched)
        assert given_out == text[: at + (len(maker.matched) if is_kept else 0)]


@pytest.mark.parametrize(
    ("pieces", "stops", "text", "matched"),
    [
        (["a", "ST", "OP", "x"], ["STOP"], "a", "STOP"),
        (["a", ""], ["STOP"], "a", None),
        (["xB", "yA"], ["A", "B"], "x", "B"),
        (["ab", "c"], ["b", "bc"], "a", "b"),
        (["xBA"], ["A", "B"], "x", "B"),
        (["aSTO"], ["STOP"], "aSTO", None),
    ],
)
def test_the_earliest_stop_text_is_named(pieces: list[str], stops: list[str], text: str, matched: str | None) -> None:
    maker = Detokenizer(BYTES, stop=stops)
    made = [maker.push(tokens_of(each)) for each in pieces] + [maker.finish()]
    assert ("".join(each.text for each in made), made[-1].matched) == (text, matched)


@given(st.text(alphabet="ab", max_size=14), STOPS, st.integers(0, 14))
def test_a_stop_text_that_ends_too_early_is_text(text: str, stops: list[str], at_least: int) -> None:
    maker, given_out = Detokenizer(BYTES, stop=stops), ""
    for count, token in enumerate(tokens_of(text), 1):
        given_out += maker.push((token,), can_stop=count > at_least).text
    given_out += maker.finish().text
    whole = [(at, each) for each in stops for at in range(len(text)) if text.startswith(each, at)]
    late = [at + len(each) for at, each in whole if at + len(each) > at_least]
    event("early" if len(late) < len(whole) else "late alone" if late else "none")
    assert (maker.matched is None) == (not late)
    if maker.matched is not None:
        assert given_out == text[: min(late) - len(maker.matched)]
    else:
        assert given_out == text


def test_the_first_delta_finishes_a_character_of_the_prompt_and_repeats_none() -> None:
    half = "\u00e9".encode()
    first = Detokenizer(BYTES, prompt=tokens_of(b"hello " + half[:1]))
    assert first.push(tokens_of(half[1:] + b"t")).text == "\u00e9t"
    assert Detokenizer(BYTES, prompt=tokens_of(b"hello ")).push(tokens_of(b"you")).text == "you"
    assert Detokenizer(BYTES, prompt=tokens_of("\u20ac")).push(tokens_of("!")).text == "!"


@pytest.mark.parametrize(
    ("given_template", "chosen"), [(" x ", "x"), ({"default": "d", "tool": "t"}, "d"), ({"tool": "t"}, "t")]
)
def test_a_template_is_chosen(given_template: Any, chosen: str) -> None:
    # C39: a text is used as it is; of several by name, `default` or the only one.
    assert choose_template(given_template) == chosen


def test_a_choice_is_the_users() -> None:
    with pytest.raises(BadModel, match=r"\['a', 'b'\]"):
        choose_template({"a": "1", "b": "2"})
    assert choose_template({"a": "1", "b": "2"}, name="b") == "2"


def call(arguments: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": arguments}}]}]


@pytest.mark.parametrize("arguments", ['{"x": 1}', {"x": 1}])
def test_arguments_of_tool_calls_are_objects(arguments: Any) -> None:
    (message,) = check_messages(call(arguments))
    assert message["tool_calls"][0]["function"]["arguments"] == {"x": 1} and message["content"] == ""


@pytest.mark.parametrize("arguments", ["{x", "[1]", '"s"', [1], 3])
def test_arguments_that_are_none_are_refused_by_their_name(arguments: Any) -> None:
    with pytest.raises(BadRequest) as caught:
        check_messages(call(arguments))
    assert caught.value.field == "messages[0].tool_calls[0].function.arguments"


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([], "messages"),
        ([{"role": "boss", "content": "x"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content[0]"),
        ([{"role": "user", "content": "x", "tool_calls": []}], "messages[0].tool_calls"),
        ([{"role": "assistant", "tool_calls": [{"function": {}}]}], "messages[0].tool_calls[0].function"),
    ],
)
def test_messages_that_are_none_are_refused_by_their_place(messages: list[dict[str, Any]], field: str) -> None:
    with pytest.raises(BadRequest) as caught:
        check_messages(messages)
    assert caught.value.field == field


def test_a_template_writes_the_prompt() -> None:
    each = "{% for m in messages %}\n  [{{ m.role }}] {{ m.content }}\n{% endfor %}"
    template = ChatTemplate(each + "{% if add_generation_prompt %}>{% endif %}")
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    messages: list[dict[str, Any]] = [{"role": "developer", "content": "be brief"}, {"role": "user", "content": parts}]
    assert template.render(messages) == "  [system] be brief\n  [user] ab\n>"
    assert template.render(messages, is_answer_begun=False)[-1] != ">"


def test_a_template_may_refuse_and_may_not_reach_out() -> None:
    messages = [{"role": "user", "content": "x"}]
    with pytest.raises(BadRequest, match="no tools here"):
        ChatTemplate("{{ raise_exception('no tools here') }}").render(messages)
    with pytest.raises(BadRequest, match="unsafe"):
        ChatTemplate("{{ messages.__class__.__mro__[1].__subclasses__() }}").render(messages)
    with pytest.raises(BadModel, match="line 1"):
        ChatTemplate("{% if %}")


def write_tokenizer(folder: Path, **config: Any) -> Tokenizer:
    from tokenizers import AddedToken, decoders
    from tokenizers import Tokenizer as Encoder
    from tokenizers.models import BPE

    pieces = [*_byte_of_char(), "he", "ll", "hell"]
    vocab = {piece: at for at, piece in enumerate(pieces)}
    encoder = Encoder(BPE(vocab=vocab, merges=[("h", "e"), ("l", "l"), ("he", "ll")]))
    encoder.pre_tokenizer = pre_tokenizer("smollm")
    encoder.decoder = decoders.ByteLevel()
    encoder.add_special_tokens([AddedToken("<s>", special=True), AddedToken("</s>", special=True)])
    encoder.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"eos_token": "</s>", "bos_token": {"content": "<s>"}, **config})
    )
    return tokenizer.from_folder(folder)


@given(st.text(max_size=30))
def test_text_survives_the_tokenizer(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    made = _kept(tmp_path_factory)
    assert made.decode(made.encode(text)) == text


_made: list[Tokenizer] = []


def _kept(factory: pytest.TempPathFactory) -> Tokenizer:
    if not _made:
        _made.append(write_tokenizer(factory.mktemp("tokenizer")))
    return _made[0]


def test_a_folder_says_what_ends_an_answer(tmp_path: Path) -> None:
    made = write_tokenizer(tmp_path)
    assert made.decode(made.encode("hello 12</s>"), skip_special=False) == "hello 12</s>"
    assert made.encode("hello")[0] == 258 and len(made.encode("1234")) == 4
    assert made.eos_ids == {260} and made.bos_id is None
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [1, 2]}')
    made = write_tokenizer(
        tmp_path, add_bos_token=True, chat_template=[{"name": "default", "template": "{{ bos_token }}"}]
    )
    assert made.eos_ids == {1, 2} and made.encode("a") == [259, *made.encode("a", with_bos=False)]
    assert made.encode("<s>a") == made.encode("a")
    assert made.template is not None and made.template.render([{"role": "user", "content": "x"}]) == "<s>"


@pytest.mark.parametrize("text", [None, "{", "{}"])
def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(BadModel, match=r"tokenizer\.json"):
        tokenizer.from_folder(tmp_path)


def test_an_unknown_way_to_cut_is_an_error() -> None:
    with pytest.raises(BadModel, match="'tekken' is not known"):
        pre_tokenizer("tekken")


PIECES = ["<unk>", "<s>", "</s>", "\n\n", "  ", *(f"<0x{each:02X}>" for each in range(256))]
KINDS = [2, 3, 3, 4, 4, *[6] * 256]
for _piece in ["\u2581", "a", "b", "c", "ab", "bc", "abc", "\u2581a", "\u2581ab", "cc", "é", "<end_of_turn>"]:
    PIECES.append(_piece)
    KINDS.append(3 if _piece == "<end_of_turn>" else 1)
SCORES = [0.0] * 261 + [float(each) for each in (-50, -51, -52, -53, -3, -1, -7, -4, -8, -9, -54, 0)]


def write_sentencepiece(path: Path, **settings: bool) -> GgufFile:
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list(PIECES)
    writer.add_token_scores(SCORES)
    writer.add_token_types(KINDS)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    for name, value in settings.items():
        writer.add_bool(f"tokenizer.ggml.{name}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return GgufFile(path)


def slow_pieces(text: str) -> list[str]:
    """As sentencepiece merges: the neighbours whose union has the best score, of equal ones the first."""
    parts = list(text.replace(" ", "\u2581"))
    score_of = {piece: score for piece, score, kind in zip(PIECES, SCORES, KINDS, strict=True) if kind == 1}
    while True:
        known = [(-score_of[a + b], at) for at, (a, b) in enumerate(itertools.pairwise(parts)) if a + b in score_of]
        if not known:
            return [c for part in parts for c in ([part] if part in score_of else spelled(part))]
        at = min(known)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def spelled(part: str) -> list[str]:
    return [f"<0x{each:02X}>" for each in part.encode()]


_sentencepiece: list[Tokenizer] = []


@given(st.text(alphabet="abc é€", max_size=16), st.booleans())
def test_sentencepiece_merges_what_scores_best(
    tmp_path_factory: pytest.TempPathFactory, text: str, has_spaces: bool
) -> None:
    if not _sentencepiece:
        path = tmp_path_factory.mktemp("gguf") / "m.gguf"
        _sentencepiece.append(tokenizer.from_gguf(write_sentencepiece(path, add_space_prefix=False)))
    (made,) = _sentencepiece
    text = text if has_spaces else text.replace(" ", "")
    parts = re.split("(  )", text)  # pieces that users defined are found first
    expected = [each for part in parts for each in ([part] if part == "  " else slow_pieces(part))]
    ids = made.encode(text)
    assert [PIECES[each] for each in ids] == ["<s>", *expected]
    assert made.decode(ids) == text


@given(st.lists(st.text(alphabet="ab\U0001f600", max_size=5), max_size=20, unique=True), st.integers(2, 22))
def test_every_way_to_put_a_piece_together_is_found(pieces: list[str], table_bits: int) -> None:
    scores = [float((index * 7) % 5) for index in range(len(pieces))]
    types = [6 if len(each) == 5 else 1 for each in pieces]
    score_of = {piece: score for piece, score, kind in zip(pieces, scores, types, strict=True) if kind == 1}
    expected = [
        (piece[:at], piece[at:])
        for piece in sorted(score_of, key=lambda each: -score_of[each])
        for at in range(len(piece) - 1, 0, -1)
        if piece[:at] in score_of and piece[at:] in score_of
    ]
    event("some" if expected else "none")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentencepiece, "_TABLE_BITS", table_bits)  # in a small table most share their place
        assert sentencepiece.merges(pieces, scores, types) == expected


def test_sentencepiece_has_settings(tmp_path: Path) -> None:
    made = tokenizer.from_gguf(write_sentencepiece(tmp_path / "m.gguf", add_bos_token=False))
    assert made.bos_id is None and made.eos_ids == {2, PIECES.index("<end_of_turn>")}
    assert [PIECES[each] for each in made.encode("ab\n\nabc</s>")] == ["\u2581ab", "\n\n", "\u2581a", "bc", "</s>"]
    assert made.decode(made.encode("ab</s>"), skip_special=False) == " ab</s>"


GEMMA = {
    "Hello world": [9259, 1902],
    "The capital of France is": [818, 5279, 529, 7001, 563],
    "  the cat\n\n\nsat   on": [138, 1437, 5866, 109, 33858, 139, 498],
    "12 \U0001f99c\u0378": [236770, 236778, 236743, 255211, 443, 422],
}


def test_gemmas_tokenizer_is_its_own() -> None:
    from tests.engine import shipped

    made = tokenizer.from_gguf(GgufFile(shipped.path("gemma3-270m")))
    assert {text: made.encode(text)[1:] for text in GEMMA} == GEMMA
    prompt = "<start_of_turn>user\nHi there, na\u00efve \u65e5\u672c\u8a9e \U0001f99c\U0001f3fd<end_of_turn>\n"
    ids = made.encode(prompt)
    assert ids[:4] == [2, 105, 2364, 107] and ids[-2:] == [106, 107]
    assert made.decode(ids, skip_special=False) == f"<bos>{prompt}" and made.eos_ids == {1, 106}
