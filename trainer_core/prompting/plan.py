"""Plan for prompting the samples of one group: the text after the prompt, and how long each may think.

Everything follows from the run's seed, the spec, the row and the group's id: nothing has to be saved for a resume.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from trainer_core.spec.data.prompting import HINT, STRATEGY, ListedStrategies, StrategyNudges
from trainer_core.spec.generation.per_prompt import PLACEHOLDER, PerPromptTokens, SampledTokens
from trainer_core.spec.generation.thinking import TaggedThinking
from trainer_core.spec.rewards.length_shaping import L1ExactLength, L1MaxLength
from trainer_core.spec.run import RunSpec


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """Plan for prompting one sample."""

    text: str = ""
    """Text appended to the prompt. Empty for the bare prompt."""
    thinking_budget: int | None = None
    forced_end: str | None = None
    """Text that is forced when the budget is spent. None means the closing tag alone."""


def plan_group(
    spec: RunSpec, item: Mapping[str, Any], group_id: str, samples: int, hint: str = ""
) -> tuple[SamplePlan, ...]:
    """The plans of a group's samples.

    Args:
        spec: the spec at the group's dispatch.
        item: the dataset row.
        group_id: unique within the run, the same after a resume.
        samples: how many.
        hint: beginning of the reference solution, as drawn by the curriculum.

    Raises:
        ValueError: the row lacks a column that the spec names.
    """
    before, after = _hint_text(spec, hint), _told(spec, item, group_id)
    strategies = _strategy_texts(spec, item, group_id, samples)
    budget, ends = thinking_budget(spec, item, group_id), _forced_ends(spec, group_id, samples)
    return tuple(
        SamplePlan(f"{before}{strategy}{after}", budget, end) for strategy, end in zip(strategies, ends, strict=True)
    )


def thinking_budget(spec: RunSpec, item: Mapping[str, Any], group_id: str) -> int | None:
    """Most thinking tokens of each sample of a group; None for no limit."""
    thinking = spec.thinking
    if not isinstance(thinking, TaggedThinking):
        return None
    if thinking.prompt_budget is None:
        return thinking.budget
    own = _number(thinking.prompt_budget, item, _rng(spec, "budget", group_id))
    return own if thinking.budget is None else min(own, thinking.budget)


def length_target(spec: RunSpec, item: Mapping[str, Any], group_id: str) -> int | None:
    """Length that a group's prompt requests; None if the reward has no target."""
    shaping = spec.reward.length
    if not isinstance(shaping, L1ExactLength | L1MaxLength):
        return None
    return _number(shaping.target, item, _rng(spec, "target", group_id))


def with_text(item: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The row with ``text`` appended to its prompt, or to the last message of its chat; the rest is the same."""
    if "messages" not in item:
        return {**item, "prompt": f"{item['prompt']}{text}"}
    *earlier, last = item["messages"]
    return {**item, "messages": [*earlier, {**last, "content": f"{last['content']}{text}"}]}


def longest_text(spec: RunSpec, item: Mapping[str, Any]) -> str:
    """The longest text, in characters, that may ever follow the row's prompt. Used to check that it fits."""
    hints, nudges = spec.prompting.hints, spec.prompting.nudges
    longest = "" if hints is None else hints.text.replace(HINT, solution_of(item, hints.column))
    if nudges is not None:
        longest += nudges.text.replace(STRATEGY, max(_strategies(nudges, item), key=len))
    for number in _told_numbers(spec):
        most = number.max if isinstance(number, SampledTokens) else _column(item, number.column)
        if number.tell is not None:
            longest += number.tell.replace(PLACEHOLDER, str(most))
    return longest


def check_rows(spec: RunSpec, source: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Reject rows that lack a column needed by budgets, targets, hints or strategies.

    Raises:
        ValueError: with the row's number and the source's name.
    """
    if spec.examples is not None:
        return  # nothing is appended to the rows
    plain = spec.prompting.hints is None and spec.prompting.nudges is None
    if plain and all(isinstance(number, SampledTokens) for number in _told_numbers(spec)):
        return
    for index, row in enumerate(rows):
        try:
            longest_text(spec, row)
        except ValueError as error:
            raise ValueError(f"row {index} of the source {source!r}: {error}") from error


def solution_of(item: Mapping[str, Any], column: str) -> str:
    """The row's reference solution."""
    solution = item.get(column)
    if not isinstance(solution, str) or not solution:
        raise ValueError(f"hints need a text in the column {column!r}")
    return solution


def _told_numbers(spec: RunSpec) -> list[PerPromptTokens]:
    shaping, thinking = spec.reward.length, spec.thinking
    numbers = [shaping.target] if isinstance(shaping, L1ExactLength | L1MaxLength) else []
    if isinstance(thinking, TaggedThinking) and thinking.prompt_budget is not None:
        numbers.append(thinking.prompt_budget)
    return numbers


def _told(spec: RunSpec, item: Mapping[str, Any], group_id: str) -> str:
    shaping, thinking, told = spec.reward.length, spec.thinking, ""
    if isinstance(shaping, L1ExactLength | L1MaxLength) and shaping.target.tell is not None:
        told += shaping.target.tell.replace(PLACEHOLDER, str(length_target(spec, item, group_id)))
    if isinstance(thinking, TaggedThinking) and thinking.prompt_budget is not None:
        tell = thinking.prompt_budget.tell or ""
        told += tell.replace(PLACEHOLDER, str(thinking_budget(spec, item, group_id)))
    return told


def _hint_text(spec: RunSpec, hint: str) -> str:
    hints = spec.prompting.hints
    return hints.text.replace(HINT, hint) if hints is not None and hint else ""


def _strategy_texts(spec: RunSpec, item: Mapping[str, Any], group_id: str, samples: int) -> list[str]:
    nudges = spec.prompting.nudges
    if nudges is None:
        return [""] * samples
    rng, known = _rng(spec, "nudges", group_id), _strategies(nudges, item)
    chosen = rng.sample(known, min(nudges.per_group, len(known)))
    texts = []
    for index in range(samples):
        dropped = rng.random() < nudges.dropout
        strategy = chosen[index * len(chosen) // samples]
        texts.append("" if dropped else nudges.text.replace(STRATEGY, strategy))
    return texts


def _strategies(nudges: StrategyNudges, item: Mapping[str, Any]) -> list[str]:
    source = nudges.source
    if isinstance(source, ListedStrategies):
        return list(source.strategies)
    found = item.get(source.column)
    if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
        raise ValueError(f"nudges need a list of texts in the column {source.column!r}")
    return found


def _forced_ends(spec: RunSpec, group_id: str, samples: int) -> list[str | None]:
    thinking = spec.thinking
    if not isinstance(thinking, TaggedThinking):
        return [None] * samples
    if not thinking.interruptions:
        return [thinking.forced_end] * samples
    rng = _rng(spec, "interruptions", group_id)
    return [rng.choice(thinking.interruptions) for _ in range(samples)]


def _number(number: PerPromptTokens, item: Mapping[str, Any], rng: Random) -> int:
    return rng.randint(number.min, number.max) if isinstance(number, SampledTokens) else _column(item, number.column)


def _column(item: Mapping[str, Any], column: str) -> int:
    value = item.get(column)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"the column {column!r} must contain a whole number, 0 or more; found {value!r}")
    return value


def _rng(spec: RunSpec, purpose: str, group_id: str) -> Random:
    return Random(f"{spec.schedule.seed}:{purpose}:{group_id}")
