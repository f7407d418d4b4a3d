"""The character tokenizer, as any Hugging Face consumer loads it."""

import string
from pathlib import Path

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from trainer_core.starter.tokenizer import build_tokenizer


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedTokenizerFast:
    folder: Path = tmp_path_factory.mktemp("tokenizer")
    build_tokenizer(2048).save_pretrained(folder)
    loaded = AutoTokenizer.from_pretrained(folder)
    assert isinstance(loaded, PreTrainedTokenizerFast)
    return loaded


@pytest.mark.parametrize(
    "text",
    [
        "48/2=",
        "<think>420 840</think>24",
        "  two  spaces, a line\nand punctuation ?!  ",
        "".join(c for c in string.printable if c.isprintable()),
    ],
)
def test_text_survives_the_round_trip(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_one_token_per_character_and_per_tag(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = tokenizer.convert_ids_to_tokens(tokenizer.encode("4+5=<think>459</think>9<eos>"))
    assert tokens == ["4", "+", "5", "=", "<think>", "4", "5", "9", "</think>", "9", "<eos>"]
    assert len(tokenizer) <= 128


def test_tags_stay_in_decoded_text_and_special_tokens_do_not(tokenizer: PreTrainedTokenizerFast) -> None:
    ids = tokenizer.encode("<think>459</think>9<eos><pad>")
    assert tokenizer.decode(ids, skip_special_tokens=True) == "<think>459</think>9"


def test_foreign_characters_become_unknown_one_by_one(tokenizer: PreTrainedTokenizerFast) -> None:
    assert tokenizer.convert_ids_to_tokens(tokenizer.encode("5€é")) == ["5", "<unk>", "<unk>"]


def test_chat_template_is_the_last_user_message(tokenizer: PreTrainedTokenizerFast) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "1+1="},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "48/2="},
    ]
    assert tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) == "48/2="
    assert tokenizer.apply_chat_template(messages, return_dict=False) == tokenizer.encode("48/2=")
