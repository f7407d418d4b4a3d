"""The page of architectures and the table of ``trainer_core.support`` say what the stored results of the matrix say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    CLIPVisionConfig,
    Gemma3Config,
    Gemma3TextConfig,
    LlamaConfig,
    LlavaConfig,
    Mistral3Config,
    MistralConfig,
    PixtralVisionConfig,
    PretrainedConfig,
)

from tests.architectures.cases import all_cases
from tests.architectures.page import PAGE, RESULTS, TEXT_PART, WHOLE, page, works
from trainer_core.starter import chats
from trainer_core.starter.architectures import ARCHITECTURES as TINY
from trainer_core.support import ARCHITECTURES, refusal
from trainer_core.support.refusals import TEXT_PARTS

SEEN = json.loads(RESULTS.read_text())
WHOLE_RUNS = json.loads(WHOLE.read_text())
TRIED = [name for name, support in ARCHITECTURES.items() if support.policies]
TEXT = {
    "vocab_size": chats.VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "max_position_embeddings": 128,
}
SIGHT = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "image_size": 28,
    "patch_size": 14,
}


def seeing(name: str) -> PretrainedConfig:
    """A tiny configuration of a model that sees."""
    match name:
        case "Gemma3ForConditionalGeneration":
            text = Gemma3TextConfig(**TEXT, sliding_window=8)
            return Gemma3Config(text_config=text, vision_config=SIGHT, mm_tokens_per_image=4)
        case "Mistral3ForConditionalGeneration":
            return Mistral3Config(text_config=MistralConfig(**TEXT), vision_config=PixtralVisionConfig(**SIGHT))
        case "LlavaForConditionalGeneration":
            return LlavaConfig(text_config=LlamaConfig(**TEXT), vision_config=CLIPVisionConfig(**SIGHT))
    raise ValueError(f"no tiny {name} is known here")


def test_the_page_is_written_from_the_stored_results() -> None:
    assert PAGE.read_text() == page(SEEN, WHOLE_RUNS)


def test_every_case_has_a_result() -> None:
    named = {
        "-".join((one["case"]["architecture"], one["case"]["head"], one["case"]["kind"], one["case"]["mode"]))
        for found in SEEN.values()
        for one in found
    }
    assert named == {str(case) for case in all_cases()}


def test_whole_runs_that_were_seen_work() -> None:
    assert WHOLE_RUNS and set(WHOLE_RUNS) <= set(TINY)
    complaints = {name: found["complaints"] for name, [found] in WHOLE_RUNS.items() if found["complaints"]}
    assert complaints == {}


@pytest.mark.parametrize("name", TRIED)
def test_the_table_says_what_was_seen(name: str) -> None:
    support = ARCHITECTURES[name]
    for tiny in support.policies:
        found = SEEN[tiny]
        assert support.trains is works(found, "float32")
        assert support.lora is works(found, "lora")
        assert support.bfloat16 is works(found, "bfloat16")
        assert support.fp8 is works(found, "fp8")
        assert support.in_flight is works(found, mode="in_flight")


@pytest.mark.parametrize("name", TEXT_PARTS)
def test_the_text_part_of_a_model_that_sees_is_taken_as_the_page_tells(name: str, tmp_path: Path) -> None:
    AutoModelForImageTextToText.from_config(seeing(name)).bfloat16().save_pretrained(tmp_path / "whole")
    chats.build_chat_tokenizer(chats.GEMMA, 128).save_pretrained(tmp_path / "whole")
    kind, part_name = TEXT_PARTS[name]
    config = json.loads((tmp_path / "whole" / "config.json").read_text())
    assert (config["architectures"], config["text_config"]["model_type"]) == ([name], kind)
    assert f"save its text part as {part_name}" in str(refusal(config))
    code = TEXT_PART.partition("```python\n")[2].partition("```")[0]
    exec(code, {"folder": tmp_path / "whole", "out": tmp_path / "part"})
    saved = json.loads((tmp_path / "part" / "config.json").read_text())
    assert saved["architectures"] == [part_name]
    assert refusal(saved) is None
    part = AutoModelForCausalLM.from_pretrained(tmp_path / "part")
    ids = torch.arange(20)[None]
    with torch.no_grad():
        whole = AutoModelForImageTextToText.from_pretrained(tmp_path / "whole").eval()
        assert torch.equal(part(ids).logits, whole(ids).logits)
