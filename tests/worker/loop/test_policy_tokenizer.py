"""The light tokenizer does what Hugging Face's own does with the same folder."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from transformers import AutoTokenizer

from tests.worker.loop.conftest import POLICY
from trainer_core.spec.generation.thinking import NoThinking, TaggedThinking
from worker.engine.tokenizer import PolicyTokenizer
from worker.errors import StartError

TEXTS = ["66+132=", "Hello,  world\n", "<think>1</think>2", "é", ""]


def test_prompts_and_chats_become_the_same_ids_as_with_transformers() -> None:
    mine, theirs = PolicyTokenizer(POLICY), AutoTokenizer.from_pretrained(POLICY)
    chat = [{"role": "user", "content": "1+2="}]
    rows = [{"prompt": TEXTS[0]}, {"messages": chat}, *({"prompt": text} for text in TEXTS[1:])]
    expected = [theirs(text)["input_ids"] for text in TEXTS]
    chats = theirs.apply_chat_template(chat, add_generation_prompt=True)["input_ids"]
    assert [ids.tolist() for ids in mine.encode_rows(rows)] == [expected[0], chats, *expected[1:]]
    assert all(ids.dtype == np.int32 for ids in mine.encode_rows(rows))


def test_completions_are_decoded_with_their_tags_and_without_the_end() -> None:
    mine, theirs = PolicyTokenizer(POLICY), AutoTokenizer.from_pretrained(POLICY)
    ids = [*theirs("<think>1</think>2")["input_ids"], theirs.eos_token_id]
    completions = [np.array(ids, np.int32), np.array(ids[:-1], np.int32), np.array([], np.int32)]
    assert mine.decode(completions, [theirs.eos_token_id]) == ["<think>1</think>2", "<think>1</think>2", ""]


def test_thinking_tags() -> None:
    mine, theirs = PolicyTokenizer(POLICY), AutoTokenizer.from_pretrained(POLICY)
    start, end = theirs.convert_tokens_to_ids(["<think>", "</think>"])
    found = mine.think_tokens(TaggedThinking(forced_end="so</think>"))
    assert found is not None
    assert (found.start_ids, found.end_ids) == ((start,), (end,))
    assert found.forced_end_ids == (*theirs("so")["input_ids"], end)
    assert mine.think_tokens(NoThinking()) is None
    with pytest.raises(StartError, match="cannot write the thinking tag '«'"):
        mine.think_tokens(TaggedThinking(start="«"))


def test_a_folder_without_tokenizer_or_template_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"has no tokenizer\.json"):
        PolicyTokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(StartError, match="has no usable tokenizer"):
        PolicyTokenizer(tmp_path)
    shutil.copy(POLICY / "tokenizer.json", tmp_path)
    with pytest.raises(StartError, match="has no chat template"):
        PolicyTokenizer(tmp_path).prompt_text({"messages": []})
