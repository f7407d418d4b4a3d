"""Faults that a spec has only with its data: prompts that leave no room for a completion, and columns that the reward
reads and the rows do not have."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from dressage.common.api.errors import FieldError, Mend, ValueChange
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions.storage import read_rows_at
from dressage.policies.models import Policy
from trainer_core.prompting.format import evaluation_format, present, training_format
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec import RunSpec
from trainer_core.spec.data.prompt_format import PromptFormat

BLOCKS, BLOCK = 4, 64
"""Rows that are measured: so many blocks, evenly spaced, of so many neighbours, which share few groups of the file."""
TOKENISED = 8
"""Rows of these that are tokenised: the longest by characters."""
LONGEST_TEXT = 200_000
"""Characters of a prompt that are tokenised."""
LARGEST_TOKENIZER = 64 << 20
"""Bytes of a ``tokenizer.json`` that is read."""


def column_faults(
    spec: RunSpec, definition: RewardDefinition, versions: Mapping[str, DatasetVersion]
) -> list[FieldError]:
    """Columns that a part of the reward cannot grade without, for each dataset whose rows all lack one.

    Args:
        spec: the spec.
        definition: the reward that it trains on.
        versions: the datasets that it names, by reference.
    """
    found = []
    for pointer, ref, _ in _sources(spec):
        if ref not in versions:
            continue
        columns = [str(column["name"]) for column in versions[ref].columns]
        for component, name in definition.missing_columns(columns):
            has = ", ".join(columns[:12]) + (", …" if len(columns) > 12 else "")
            detail = (
                f"The reward {spec.reward.definition} cannot grade rows of {ref}: its part {component.name!r} reads "
                f"the column {name!r}, and the rows have {has}. Choose another reward or dataset, name another column "
                "in the reward, or set the part's row_field."
            )
            found.append(FieldError(pointer=pointer, detail=detail))
    return found


def length_faults(spec: RunSpec, policy: Policy, versions: Mapping[str, DatasetVersion]) -> list[FieldError]:
    """Datasets with a prompt that leaves no room for ``rollout.max_tokens``.

    A sample of the rows is measured, and of a chat its last message alone: what a template adds is not counted. So each
    fault is certain, and the start may still find a longer prompt.

    Args:
        spec: the spec.
        policy: the policy whose tokenizer counts.
        versions: the datasets that the spec names, by reference.
    """
    engine, max_tokens = spec.rollout.engine, spec.rollout.max_tokens
    found = []
    for pointer, ref, form in _sources(spec):
        longest = _longest(policy, versions[ref], form) if ref in versions else None
        if longest is None or longest[1] + max_tokens <= engine.max_model_len:
            continue
        row, tokens = longest
        fault = FieldError(
            pointer=pointer,
            detail=(
                f"Row {row} of {ref} has a prompt of at least {tokens} tokens. With max_tokens {max_tokens} and "
                f"max_model_len {engine.max_model_len}, a prompt may have {max(engine.max_model_len - max_tokens, 0)}."
            ),
        )
        mend = _longer_sequences(spec, policy, tokens + max_tokens)
        found.append({**fault, "mend": mend} if mend is not None else fault)
    return found


def _sources(spec: RunSpec) -> Iterator[tuple[str, str, PromptFormat]]:
    """(JSON pointer, reference, format) of every dataset that the spec names."""
    for index, source in enumerate(spec.data.sources):
        yield f"/spec/data/sources/{index}/dataset", source.dataset, training_format(spec, source.name)
    for index, evaluated in enumerate(spec.evaluation.sources):
        pointer = f"/spec/evaluation/sources/{index}/dataset"
        yield pointer, evaluated.dataset, evaluation_format(spec, evaluated.name)


def _longer_sequences(spec: RunSpec, policy: Policy, needed: int) -> Mend | None:
    """The change to the next power of two that holds ``needed`` tokens; None if the policy has no positions for it.

    The chat template needs some more, so a length that is just enough is doubled.
    """
    length = 1 << (needed + needed // 16).bit_length()
    length = min(length, policy.max_position_embeddings or length)
    if length < needed:
        return None
    changes = [ValueChange(pointer="/spec/rollout/engine/max_model_len", value=length)]
    label = f"Set max_model_len to {length}"
    cut = spec.parallelism
    if length > cut.max_tokens_per_microbatch * cut.context_parallel_size:
        share = -(-length // cut.context_parallel_size)
        changes.append(ValueChange(pointer="/spec/parallelism/max_tokens_per_microbatch", value=share))
        label += f", and max_tokens_per_microbatch to {share}"
    return Mend(label=label, changes=changes)


def _longest(policy: Policy, version: DatasetVersion, form: PromptFormat) -> tuple[int, int] | None:
    """(Row, tokens) of the longest prompt of a sample; None if it cannot be measured."""
    path = Path(policy.path) / "tokenizer.json"
    try:
        facts = path.stat()
        if facts.st_size > LARGEST_TOKENIZER:
            return None
        return _measured(str(path), facts.st_mtime_ns, version.path, version.rows, form)
    except Exception:  # the library raises nothing more specific; the start reports files that cannot be read
        return None


@lru_cache(maxsize=256)
def _measured(tokenizer: str, changed_ns: int, rows: Path, count: int, form: PromptFormat) -> tuple[int, int] | None:
    """(Row, tokens) of the longest sampled prompt. Versions never change, and ``changed_ns`` is the tokenizer's."""
    starts = {count * block // BLOCKS for block in range(BLOCKS)}
    numbers = {row for start in starts for row in range(start, min(start + BLOCK, count))}
    texts = {row: _text(data, form)[:LONGEST_TEXT] for row, data in read_rows_at(rows, numbers).items()}
    # The longest few by characters have the longest by tokens among them, as far as a sample can say.
    longest = sorted(texts, key=lambda row: len(texts[row]), reverse=True)[:TOKENISED]
    backend = _tokenizer(tokenizer, changed_ns)
    encoded = backend.encode_batch_fast([texts[row] for row in longest], add_special_tokens=False)
    counts = [(row, len(one.ids)) for row, one in zip(longest, encoded, strict=True)]
    return max(counts, key=lambda pair: pair[1], default=None)


def _text(row: dict[str, Any], form: PromptFormat) -> str:
    """The part of a prompt that every template shows: the last message that is not the assistant's."""
    shown = present(row, form)
    if "messages" not in shown:
        return str(shown["prompt"])
    last = next((one for one in reversed(shown["messages"]) if one["role"] != "assistant"), None)
    # Templates cut white space at both ends.
    return "" if last is None else str(last["content"]).strip()


@lru_cache(maxsize=4)
def _tokenizer(path: str, changed_ns: int) -> Tokenizer:
    backend = Tokenizer.from_file(path)
    backend.no_truncation()
    backend.no_padding()
    return backend
