"""Formats the rows of a dataset as a source prescribes for the policy."""

from collections.abc import Mapping
from typing import Any

from trainer_core.prompting.plan import with_text
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat
from trainer_core.spec.run import RunSpec


def present(row: Mapping[str, Any], form: PromptFormat) -> dict[str, Any]:
    """The row as the policy sees it: a chat if the format says so, with its system message and its suffix."""
    row = dict(row)
    if form.chat and "messages" not in row:
        row = {**row, "messages": [{"role": "user", "content": str(row["prompt"])}]}
    if form.system is not None and all(message["role"] != "system" for message in row["messages"]):
        row = {**row, "messages": [{"role": "system", "content": form.system}, *row["messages"]]}
    return with_text(row, form.suffix) if form.suffix else row


def training_format(spec: RunSpec, source: str) -> PromptFormat:
    """The format of a source of training prompts."""
    return next((one.format for one in spec.data.sources if one.name == source), PLAIN)


def evaluation_format(spec: RunSpec, source: str) -> PromptFormat:
    """The format of a held-out source: its own, or else that of the first training source."""
    own = next((one.format for one in spec.evaluation.sources if one.name == source), None)
    return own if own is not None else spec.data.sources[0].format
