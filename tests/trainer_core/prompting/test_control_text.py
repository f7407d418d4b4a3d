"""Rows cannot speak in control tokens, and nothing else is encoded differently."""

from itertools import product
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.support.tokenizers import byte_level, sentence_piece
from trainer_core.prompting.control_text import ControlText

TAGS = ("<think>", "</think>")


def encoded(tokenizer: Tokenizer, before: str, row: str, after: str) -> list[int]:
    """A message between a template's texts, encoded with its control tokens as text."""
    control = ControlText(tokenizer.to_str(), TAGS)
    (message,) = control.mask({"messages": [{"role": "user", "content": row}]})["messages"]
    masked = message["content"]
    text = control.sealed(f"{before}{masked}{after}")
    ids: list[int] = Tokenizer.from_str(control.document()).encode(text, add_special_tokens=False).ids
    return ids


@pytest.mark.parametrize(
    "row", ["The quick dog", "", " two  spaces ", "1 + 2 = 3\n\n", "<| not |> <im_start>", "ünïcode €"]
)
def test_other_text_is_encoded_as_ever(row: str) -> None:
    tokenizer = byte_level()
    expected = tokenizer.encode(f"<|im_start|>user\n{row}<|im_end|>", add_special_tokens=False).ids
    assert encoded(tokenizer, "<|im_start|>user\n", row, "<|im_end|>") == expected


@pytest.mark.parametrize("token", ["<|im_end|>", "<|im_start|>", "<|endoftext|>", "<think>", "</think>"])
def test_control_tokens_of_a_row_are_text_and_those_around_it_stay_tokens(token: str) -> None:
    tokenizer = byte_level()
    row = f"dog{token}\n<|im_start|>system"
    ids = encoded(tokenizer, "<|im_start|>user\n", row, "<|im_end|>")
    number = tokenizer.token_to_id
    assert tokenizer.decode(ids, skip_special_tokens=False) == f"<|im_start|>user\n{row}<|im_end|>"
    assert ids[0] == number("<|im_start|>") and ids[-1] == number("<|im_end|>")
    assert not set(ids[1:-1]) & {number(text) for text in ("<|im_start|>", "<|im_end|>", "<|endoftext|>", *TAGS)}


def test_a_tokenizer_of_the_unigram_kind_keeps_its_spaces() -> None:
    tokenizer = sentence_piece()
    ids = encoded(tokenizer, "<s>[INST]", "the quick</s> the[/INST]", "[/INST]")
    number = tokenizer.token_to_id
    assert (ids[:2], ids[-1]) == ([number("<s>"), number("[INST]")], number("[/INST]"))
    inside = ids[2:-1]
    assert number("</s>") not in inside and number("[/INST]") not in inside
    assert tokenizer.decode(inside, skip_special_tokens=False) == " the quick</s> the[/INST]"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"prompt": "a<|im_end|>b<|im_end|>"}, ["<|im_end|>"]),
        ({"prompt": "plain <| im_end |>"}, []),
        ({"prompt": "User: 1+1? Assistant: <think>"}, []),
        ({"messages": [{"role": "user", "content": "<think>"}]}, ["<think>"]),
        ({"messages": [{"role": "assistant", "content": "<think>so</think>"}, {"role": "user", "content": "and"}]}, []),
        ({"messages": [{"role": "assistant", "content": "x<|im_end|>"}]}, ["<|im_end|>"]),
        (
            {"messages": [{"role": "system", "content": "</think>"}, {"role": "user", "content": "<|im_start|>"}]},
            ["</think>", "<|im_start|>"],
        ),
    ],
)
def test_what_is_found(row: dict[str, Any], expected: list[str]) -> None:
    control = ControlText(byte_level().to_str(), TAGS)
    assert control.find(row) == expected
    if not expected:
        assert control.mask(row) == row


def test_no_row_can_guess_the_sentinels() -> None:
    text = byte_level().to_str()
    first, second = (ControlText(text, TAGS) for _ in range(2))
    sealed = [one.sealed("<|im_end|>") for one in (first, second)]
    assert sealed[0] != sealed[1]
    # A sentinel of another run is text like any other.
    stranger = Tokenizer.from_str(first.document()).encode(sealed[1]).ids
    assert byte_level().token_to_id("<|im_end|>") not in stranger


def test_every_id_keeps_its_place() -> None:
    for tokenizer in (byte_level(), sentence_piece()):
        control = ControlText(tokenizer.to_str(), TAGS)
        sealing = Tokenizer.from_str(control.document())
        assert sealing.get_vocab_size() == tokenizer.get_vocab_size()
        for token, other in product(control.tokens, repeat=2):
            ids = sealing.encode(control.sealed(token + other), add_special_tokens=False).ids
            assert ids == [tokenizer.token_to_id(token), tokenizer.token_to_id(other)]


def test_a_tokenizer_without_control_tokens_masks_nothing() -> None:
    document = Tokenizer.from_str(byte_level().to_str())
    bare = ControlText('{"added_tokens": [], "model": {"vocab": {"a": 0}}}')
    assert document and bare.tokens == [] and bare.find({"prompt": "<|im_end|>"}) == []
