"""Growing text: whatever the tokens, the pieces together are the text before the first stop string."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from tests.support.tokenizers import byte_level, sentence_piece
from worker.gateway.text import MOST_UNFINISHED, GrowingText

KINDS = {"byte_level": byte_level(), "sentence_piece": sentence_piece()}
EOS = 10**6
WORDS = ("the ", "quick", "dog.", "</answer", ">", "é", "漢", "🙂", "\n", "\n\n", "x", "!")
STOPS = ("\n\n", "</answer>", "dog.", "é!", "🙂x")


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return KINDS[str(request.param)]


def growing(tokenizer: Tokenizer, stops: tuple[str, ...] = ()) -> GrowingText[int]:
    return GrowingText(lambda ids: str(tokenizer.decode(list(ids), skip_special_tokens=False)), (EOS,), stops)


def encode(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


@settings(max_examples=150, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), max_size=8), stops=st.lists(st.sampled_from(STOPS), max_size=3))
def test_pieces_are_the_text_before_the_first_stop(tokenizer: Tokenizer, words: list[str], stops: list[str]) -> None:
    tokens = [token for word in words for token in encode(tokenizer, word)]
    text = growing(tokenizer, tuple(stops))
    pieces, recorded = [], []
    for index, token in enumerate([*tokens, EOS]):
        text.feed(token, index)
        released = text.take()
        assert "\ufffd" not in released.text, "no half characters"
        pieces.append(released.text)
        recorded += released.tokens
    left = text.end()
    pieces.append(left.text)
    recorded += left.tokens
    whole = str(tokenizer.decode(tokens, skip_special_tokens=False))
    cuts = [place for place in map(whole.find, stops) if place >= 0]
    assert "".join(pieces) == whole[: min(cuts, default=len(whole))]
    assert text.stopped == bool(cuts)
    assert recorded == list(range(len(recorded))), "each token once, in order"
    assert len(recorded) == len(tokens) or cuts


@settings(max_examples=50, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), max_size=8), stops=st.lists(st.sampled_from(STOPS), max_size=3))
def test_the_whole_is_the_same_as_its_pieces(tokenizer: Tokenizer, words: list[str], stops: list[str]) -> None:
    tokens = [token for word in words for token in encode(tokenizer, word)]
    streamed, whole = growing(tokenizer, tuple(stops)), growing(tokenizer, tuple(stops))
    pieces = []
    for token in tokens:
        streamed.feed(token, 0)
        whole.feed(token, 0)
        pieces.append(streamed.take().text)
    assert "".join([*pieces, streamed.end().text]) == whole.end().text


def test_what_may_begin_a_stop_string_is_held_back() -> None:
    tokenizer = KINDS["byte_level"]
    text = growing(tokenizer, ("</answer>",))
    for token in encode(tokenizer, "yes</ans"):
        text.feed(token, 0)
    assert text.take().text == "yes"
    for token in encode(tokenizer, "!"):
        text.feed(token, 0)
    assert text.take().text == "</ans!"
    for token in encode(tokenizer, "ok</answer>more"):
        text.feed(token, 0)
    assert (text.take().text, text.stopped, text.end().text) == ("ok", True, "")


def test_tokens_of_a_stop_string_are_not_recorded() -> None:
    tokenizer = KINDS["byte_level"]
    text = growing(tokenizer, ("\n\n",))
    first = encode(tokenizer, "dog")
    for index, token in enumerate([*first, *encode(tokenizer, "\n\n"), *encode(tokenizer, "x")]):
        text.feed(token, index)
    assert text.end() == ("dog", list(range(len(first))))


def test_bytes_that_never_become_a_character_cost_no_more_than_others() -> None:
    """A policy may write nothing else: the text that is decoded again with each token stays short."""
    decoded: list[int] = []

    def decode(ids: object) -> str:
        decoded.append(len(list(ids)))  # type: ignore[call-overload]
        return "\ufffd" * decoded[-1]

    text: GrowingText[int] = GrowingText(decode, (EOS,))
    pieces = []
    for index in range(200):
        text.feed(1, index)
        pieces.append(text.take().text)
    pieces.append(text.end().text)
    assert max(decoded) <= 2 * MOST_UNFINISHED
    assert "".join(pieces) == "\ufffd" * 200
