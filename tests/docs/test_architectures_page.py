"""The page of architectures and the table of ``trainer_core.support`` say what the stored results of the matrix say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, Gemma3Config, Gemma3ForConditionalGeneration, Gemma3TextConfig

from tests.architectures.cases import all_cases
from tests.architectures.page import PAGE, RESULTS, TEXT_PART, page, works
from trainer_core.starter import chats
from trainer_core.support import ARCHITECTURES, refusal

SEEN = json.loads(RESULTS.read_text())
TRIED = [name for name, support in ARCHITECTURES.items() if support.policies]


def test_the_page_is_written_from_the_stored_results() -> None:
    assert PAGE.read_text() == page(SEEN)


def test_every_case_has_a_result() -> None:
    named = {
        "-".join((one["case"]["architecture"], one["case"]["head"], one["case"]["kind"], one["case"]["mode"]))
        for found in SEEN.values()
        for one in found
    }
    assert named == {str(case) for case in all_cases()}


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


def test_the_text_part_of_a_model_that_sees_is_taken_as_the_page_tells(tmp_path: Path) -> None:
    text = Gemma3TextConfig(
        vocab_size=chats.VOCABULARY, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=32, max_position_embeddings=128, sliding_window=8,
    )  # fmt: skip
    sight = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 1}
    size = {"image_size": 28, "patch_size": 14}
    whole = Gemma3ForConditionalGeneration(
        Gemma3Config(text_config=text, vision_config={**sight, **size}, mm_tokens_per_image=4)
    ).bfloat16()
    whole.save_pretrained(tmp_path / "whole")
    chats.build_chat_tokenizer(chats.GEMMA, 128).save_pretrained(tmp_path / "whole")
    assert refusal(json.loads((tmp_path / "whole" / "config.json").read_text())) is not None
    code = TEXT_PART.partition("```python\n")[2].partition("```")[0]
    exec(code, {"folder": tmp_path / "whole", "out": tmp_path / "part"})
    assert refusal(json.loads((tmp_path / "part" / "config.json").read_text())) is None
    part = AutoModelForCausalLM.from_pretrained(tmp_path / "part")
    ids = torch.arange(20)[None]
    with torch.no_grad():
        whole = Gemma3ForConditionalGeneration.from_pretrained(tmp_path / "whole").eval()
        assert torch.equal(part(ids).logits, whole(ids).logits)
