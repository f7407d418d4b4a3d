"""Thinking tags are found where the tokenizer or the template has them, and nowhere else."""

import pytest

from trainer_core.prompting.tags import CHANNELS, HARMONY, FoundThinking, find_thinking


@pytest.mark.parametrize(
    ("template", "tokens", "expected"),
    [
        (None, ["<think>", "</think>"], FoundThinking("<think>", "</think>")),
        ("{{ messages }}", ["<|im_end|>", "[THINK]", "[/THINK]"], FoundThinking("[THINK]", "[/THINK]")),
        ("...<think>\n", ["<|im_end|>", "<think>", "</think>"], FoundThinking("<think>", "</think>")),
        ("{% set parts = content.split('</think>') %}", ["<|im_end|>"], FoundThinking("<think>", "</think>")),
        ("system <think> of it", [*HARMONY, "<|return|>"], CHANNELS),
        # A token goes before what a template only mentions.
        ("strip </think>", ["<seed:think>", "</seed:think>"], FoundThinking("<seed:think>", "</seed:think>")),
        (None, [], None),
        ("{{ messages[0]['content'] }}", ["<|im_start|>", "<|im_end|>"], None),
        ("Please think step by step.", ["<think>"], None),
        ("<think> opened alone", ["<bos>"], None),
        ("no channel", ["<|start|>", "<|end|>", "<|message|>"], None),
    ],
)
def test_found_tags(template: str | None, tokens: list[str], expected: FoundThinking | None) -> None:
    assert find_thinking(template, tokens) == expected
