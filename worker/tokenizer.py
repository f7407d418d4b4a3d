"""The policy's tokenizer: prompts to token ids, thinking tags to token ids, completions to text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec.thinking import TaggedThinking, Thinking
from worker.bundle import StartError
from worker.engine import ThinkTokens


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer in a Hugging Face folder; code from the folder is never run.

    Raises:
        StartError: the folder holds no tokenizer that can be loaded.
    """
    try:
        if (folder / "tokenizer.json").is_file():
            # What AutoTokenizer would end up with, at a fifth of its import time.
            from transformers import PreTrainedTokenizerFast

            return PreTrainedTokenizerFast.from_pretrained(str(folder), local_files_only=True)
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise StartError(f"The policy folder {folder} has no usable tokenizer: {error}") from error


def encode_rows(tokenizer: Any, rows: Sequence[Mapping[str, Any]]) -> list[NDArray[np.int32]]:
    """Token ids of each row's prompt, shape [P] each.

    ``prompt`` is taken as it stands (with the special tokens the tokenizer itself adds); ``messages`` go through the
    tokenizer's chat template.
    """
    texts = [prompt_text(tokenizer, row) for row in rows]
    plain = [index for index, row in enumerate(rows) if "messages" not in row]
    chats = [index for index, row in enumerate(rows) if "messages" in row]
    ids: dict[int, NDArray[np.int32]] = {}
    for places, special in ((plain, True), (chats, False)):
        if places:
            encoded = tokenizer([texts[place] for place in places], add_special_tokens=special)["input_ids"]
            ids.update((place, np.array(tokens, np.int32)) for place, tokens in zip(places, encoded, strict=True))
    return [ids[index] for index in range(len(rows))]


def prompt_text(tokenizer: Any, row: Mapping[str, Any]) -> str:
    """The text that the policy continues."""
    if "messages" not in row:
        return str(row["prompt"])
    return str(tokenizer.apply_chat_template(row["messages"], tokenize=False, add_generation_prompt=True))


def think_tokens(tokenizer: Any, thinking: Thinking) -> ThinkTokens | None:
    """The thinking tags as token ids, or None for a policy that does not think.

    Raises:
        StartError: a tag holds characters outside the vocabulary.
    """
    if not isinstance(thinking, TaggedThinking):
        return None

    def encode(tag: str) -> tuple[int, ...]:
        ids = tuple(tokenizer(tag, add_special_tokens=False)["input_ids"])
        if not ids or (tokenizer.unk_token_id is not None and tokenizer.unk_token_id in ids):
            raise StartError(f"The policy's tokenizer cannot write the thinking tag {tag!r}.")
        return ids

    return ThinkTokens(encode(thinking.start), encode(thinking.end), encode(thinking.forced_end or thinking.end))


def decode(tokenizer: Any, completions: Sequence[NDArray[np.int32]], eos: Sequence[int]) -> list[str]:
    """Completions as text: tags kept, the final end-of-sequence token removed."""
    ends = set(eos)
    trimmed = [ids[:-1] if len(ids) and int(ids[-1]) in ends else ids for ids in completions]
    texts: list[str] = tokenizer.batch_decode(trimmed, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return texts
