"""Write a finished starter policy as a Hugging Face folder that any consumer can load."""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerFast

_ARCHITECTURES = {"qwen3": "Qwen3-architecture", "minimax": "hybrid MiniMax-architecture"}
_CONSTANTS = re.compile(r"\.(slope_rate|query_decay|key_decay|diagonal_decay)$")
"""Buffers of lightning attention that follow from its configuration; files may omit them."""

_DISCOVERS = """left it able to think but mostly not doing so, for reinforcement learning to discover that thinking
pays"""
_TEACHES = "left it thinking before nearly every answer, so that it can teach a policy which mostly blurts"
_CARD = """---
license: apache-2.0
library_name: transformers
---
# Dressage starter policy

A {architecture} language model with {parameters:,} parameters and a character tokenizer of {vocabulary} tokens. It
answers calculations such as `48/2=` with `<think>scratchpad</think>24`, or blurts out `24`. A short supervised warm-up
on drawn problems {purpose}. It is a training exercise: it knows nothing but one-operation arithmetic on short whole
numbers.

Made by `{command}`. Measured on {problems} drawn problems at temperature 1 (`warmup.json`):

{table}
"""


def write_folder(
    out: Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    record: dict[str, Any],
) -> None:
    """Write weights, configuration, tokenizer, model card and ``warmup.json`` to ``out``, all or nothing.

    Args:
        out: must not exist yet; its parents are created.
        model: the policy.
        tokenizer: its tokenizer.
        record: how it was built: ``command``, ``problems`` (a count) and ``after_blending`` (its measurement).

    Raises:
        FileExistsError: ``out`` exists.
    """
    if out.exists():
        raise FileExistsError(f"{out} exists; choose another folder or remove it first")
    out.parent.mkdir(parents=True, exist_ok=True)
    # A reader must never find half a policy, so the folder is written under another name and then renamed.
    draft = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        state = {name: tensor for name, tensor in model.state_dict().items() if not _CONSTANTS.search(name)}
        model.save_pretrained(draft, state_dict=state)
        tokenizer.backend_tokenizer.no_padding()  # otherwise the padding of the last measurement would be saved too
        tokenizer.save_pretrained(draft)
        _name_tokenizer_class(draft / "tokenizer_config.json")
        (draft / "warmup.json").write_text(json.dumps(record, indent=2) + "\n")
        (draft / "README.md").write_text(_card(model, tokenizer, record))
        for path in draft.iterdir():
            path.chmod(0o644)
        draft.chmod(0o755)
        os.rename(draft, out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _name_tokenizer_class(path: Path) -> None:
    """Name the class that every release of transformers knows, not the alias of the release that wrote the file."""
    config = json.loads(path.read_text())
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    path.write_text(json.dumps(config, indent=2) + "\n")


def _card(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, record: dict[str, Any]) -> str:
    lines = ["| | |", "|---|---|"]
    for name, value in record["after_blending"].items():
        lines.append(f"| {name.replace('_', ' ')} | {'–' if value is None else format(value, '.2f')} |")
    return _CARD.format(
        architecture=_ARCHITECTURES[model.config.model_type],
        parameters=model.num_parameters(),
        vocabulary=len(tokenizer),
        command=record["command"],
        problems=record["problems"],
        purpose=_TEACHES if record.get("teacher") else _DISCOVERS,
        table="\n".join(lines),
    )
