"""Faults that a spec has only with its data: rows that are too long, and columns that the reward or the objective reads
and the rows do not have."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from dressage.common.api.errors import FieldError, Mend, ValueChange
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions.storage import read_rows_at
from dressage.policies.models import Policy
from trainer_core.prompting.examples import columns_of, fault_of
from trainer_core.prompting.format import evaluation_format, present, training_format
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec import RunSpec
from trainer_core.spec.data.prompt_format import PromptFormat
from trainer_core.spec.objective import Examples, Preference

BLOCKS, BLOCK = 4, 64
"""Rows that are measured: so many blocks, evenly spaced, of so many neighbours, which share few groups of the file."""
TOKENISED = 8
"""Rows of these that are tokenised: the longest by characters."""
LONGEST_TEXT = 200_000
"""Characters of a prompt that are tokenised."""
LARGEST_TOKENIZER = 64 << 20
"""Bytes of a ``tokenizer.json`` that is read."""
COMPLETIONS = ("completion", "reference", "output", "response", "solution", "answer", "chosen")
"""Columns that may hold completions, likeliest first."""
PAIRS = (("chosen", "rejected"), ("chosen_response", "rejected_response"), ("better", "worse"))
"""Columns that may hold pairs of completions."""


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
    """Datasets with a prompt that leaves no room for ``rollout.max_tokens``; those whose rows are no examples, or too
    long ones, of a run that learns from rows.

    A sample of the rows is measured, and of a chat its last message alone: what a template adds is not counted. So each
    fault is certain, and the start may still find a longer row.

    Args:
        spec: the spec.
        policy: the policy whose tokenizer counts.
        versions: the datasets that the spec names, by reference.
    """
    if spec.examples is not None:
        return list(_example_faults(spec, spec.examples, policy, versions))
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


def _example_faults(
    spec: RunSpec, objective: Examples, policy: Policy, versions: Mapping[str, DatasetVersion]
) -> Iterator[FieldError]:
    """Faults of each dataset: columns that it lacks, or else a row that cannot be learned, or one that is too long."""
    for pointer, ref, form in _sources(spec):
        if ref not in versions:
            continue
        version = versions[ref]
        if detail := _lacks(objective, version, ref, form):
            fault = FieldError(pointer=pointer, detail=detail)
            mend = _other_columns(
                objective, form, [versions[name] for _, name, _ in _sources(spec) if name in versions]
            )
            yield {**fault, "mend": mend} if mend is not None else fault
        elif wrong := _wrong_row(version, objective, form):
            yield FieldError(pointer=pointer, detail=f"Row {wrong[0]} of {ref} cannot be learned. {wrong[1]}")
        elif objective.overlong == "refuse":
            longest = _longest(policy, version, form, columns_of(objective))
            if longest is None or longest[1] <= objective.max_tokens:
                continue
            row, tokens = longest
            detail = (
                f"Row {row} of {ref} has at least {tokens} tokens with its completion, and objective.max_tokens is "
                f"{objective.max_tokens}."
            )
            yield FieldError(pointer=pointer, detail=detail, mend=_longer_examples(spec, objective, policy, tokens))


def _names(version: DatasetVersion) -> list[str]:
    return [str(column["name"]) for column in version.columns]


def _lacks(objective: Examples, version: DatasetVersion, ref: str, form: PromptFormat) -> str | None:
    """Sentence about columns of the objective that no row of a dataset has; None if it has them all."""
    names = _names(version)
    missing = [name for name in columns_of(objective) if name not in names]
    if not missing or (_learns_all(objective) and _is_plain(version, form)):
        return None
    has = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    needed = " and ".join(repr(name) for name in missing)
    other = "" if isinstance(objective, Preference) else ", or learn plain text whole (learn: all)"
    return (
        f"The objective reads {needed} of {ref}, and the rows have {has}. Name the columns of the completions in the "
        f"objective{other}."
    )


def _learns_all(objective: Examples) -> bool:
    return not isinstance(objective, Preference) and objective.learn == "all"


def _is_plain(version: DatasetVersion, form: PromptFormat) -> bool:
    """Whether all rows are plain text to the policy."""
    return "messages" not in _names(version) and not form.chat


def _other_columns(objective: Examples, form: PromptFormat, versions: Sequence[DatasetVersion]) -> Mend | None:
    """Columns of text that all datasets have; or learning plain text whole."""
    texts = [{column["name"] for column in one.columns if column["type"] == "string"} for one in versions]
    common = set.intersection(*texts)
    if isinstance(objective, Preference):
        for chosen, rejected in PAIRS:
            if {chosen, rejected} <= common:
                changes = [
                    ValueChange(pointer="/spec/objective/chosen", value=chosen),
                    ValueChange(pointer="/spec/objective/rejected", value=rejected),
                ]
                return Mend(label=f"Learn from {chosen} and {rejected}", changes=changes)
        return None
    for name in COMPLETIONS:
        if name in common:
            change = ValueChange(pointer="/spec/objective/completion", value=name)
            return Mend(label=f"Learn the column {name}", changes=[change])
    if all(_is_plain(one, form) for one in versions):
        change = ValueChange(pointer="/spec/objective/learn", value="all")
        return Mend(label="Learn the whole text", changes=[change])
    return None


def _longer_examples(spec: RunSpec, objective: Examples, policy: Policy, needed: int) -> Mend:
    """More tokens per example; or no such examples, if the policy has no positions for them."""
    length = _next_length(policy, needed)
    if length is None:
        change = ValueChange(pointer="/spec/objective/overlong", value="drop")
        return Mend(label="Leave out longer rows", changes=[change])
    changes = [ValueChange(pointer="/spec/objective/max_tokens", value=length)]
    room, label = _microbatch(spec, length * (2 if isinstance(objective, Preference) else 1))
    return Mend(label=f"Set objective.max_tokens to {length}{label}", changes=changes + room)


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
    length = _next_length(policy, needed)
    if length is None:
        return None
    changes = [ValueChange(pointer="/spec/rollout/engine/max_model_len", value=length)]
    room, label = _microbatch(spec, length)
    return Mend(label=f"Set max_model_len to {length}{label}", changes=changes + room)


def _next_length(policy: Policy, needed: int) -> int | None:
    length = 1 << (needed + needed // 16).bit_length()
    length = min(length, policy.max_position_embeddings or length)
    return None if length < needed else length


def _microbatch(spec: RunSpec, tokens: int) -> tuple[list[ValueChange], str]:
    """The change to microbatches that hold so many tokens, if they do not yet, and its label."""
    cut = spec.parallelism
    if tokens <= cut.max_tokens_per_microbatch * cut.context_parallel_size:
        return [], ""
    share = -(-tokens // cut.context_parallel_size)
    change = ValueChange(pointer="/spec/parallelism/max_tokens_per_microbatch", value=share)
    return [change], f", and max_tokens_per_microbatch to {share}"


def _longest(
    policy: Policy, version: DatasetVersion, form: PromptFormat, columns: tuple[str, ...] = ()
) -> tuple[int, int] | None:
    """(Row, tokens) of the longest prompt of a sample, with the longest of ``columns``; None if it cannot be
    measured."""
    path = Path(policy.path) / "tokenizer.json"
    try:
        facts = path.stat()
        if facts.st_size > LARGEST_TOKENIZER:
            return None
        return _measured(str(path), facts.st_mtime_ns, version.path, version.rows, form, columns)
    except Exception:  # the library raises nothing more specific; the start reports files that cannot be read
        return None


@lru_cache(maxsize=256)
def _measured(
    tokenizer: str, changed_ns: int, rows: Path, count: int, form: PromptFormat, columns: tuple[str, ...]
) -> tuple[int, int] | None:
    """(Row, tokens) of the longest sampled row. Versions never change, and ``changed_ns`` is the tokenizer's."""
    texts = {row: _texts(data, form, columns) for row, data in _sample(rows, count).items()}
    # The longest few by characters have the longest by tokens among them, as far as a sample can say.
    longest = sorted(texts, key=lambda row: sum(map(len, texts[row])), reverse=True)[:TOKENISED]
    backend = _tokenizer(tokenizer, changed_ns)
    counts = [
        (row, sum(len(one.ids) for one in backend.encode_batch_fast(texts[row], add_special_tokens=False)))
        for row in longest
    ]
    return max(counts, key=lambda pair: pair[1], default=None)


def _wrong_row(version: DatasetVersion, objective: Examples, form: PromptFormat) -> tuple[int, str] | None:
    """(Row, fault) of the first sampled row that cannot be an example."""
    try:
        return _first_wrong(version.path, version.rows, objective, form)
    except Exception:  # as above
        return None


@lru_cache(maxsize=256)
def _first_wrong(rows: Path, count: int, objective: Examples, form: PromptFormat) -> tuple[int, str] | None:
    faults = ((row, fault_of(data, objective, form)) for row, data in sorted(_sample(rows, count).items()))
    return next(((row, fault) for row, fault in faults if fault is not None), None)


def _sample(rows: Path, count: int) -> dict[int, dict[str, Any]]:
    """Evenly spaced blocks of rows, by their number."""
    starts = {count * block // BLOCKS for block in range(BLOCKS)}
    return read_rows_at(rows, {row for start in starts for row in range(start, min(start + BLOCK, count))})


def _texts(row: dict[str, Any], form: PromptFormat, columns: tuple[str, ...]) -> list[str]:
    """The prompt as every template shows it, and the longest completion, which are tokenised apart."""
    completions = [text for name in columns if isinstance(text := row.get(name), str)]
    longest = max(completions, key=len, default="")
    prompt = _text(row, form)[:LONGEST_TEXT]
    return [prompt, longest[: LONGEST_TEXT - len(prompt)]] if columns else [prompt]


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
