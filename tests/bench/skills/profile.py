"""A difficulty profile of the second task in one process: the product's allocation, prior and search for suspects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from transformers import AutoConfig, AutoTokenizer

from tests.bench.skills.families import sources
from tests.bench.skills.loop import NumberedRow, Weights
from tests.bench.skills.rows import noisy_rows, training_rows
from tests.bench.skills.sampler import Sampler
from tests.bench.skills.settings import LONGEST
from trainer_core.profiling import (
    RowTally,
    SamplingPlan,
    WrongAnswer,
    count_states,
    fit_prior,
    next_round,
    suspicions,
)
from trainer_core.rewards.score import split_thinking
from trainer_core.starter.tokenizer import THINK_END, THINK_START

AT_ONCE = 1024
"""Completions that are sampled together."""


@dataclass(frozen=True)
class Found:
    """What a profile tells of each row."""

    tallies: Sequence[RowTally]
    suspects: frozenset[int]
    """Numbers of the rows whose gold is doubted."""
    tokens: int
    """Tokens that were sampled for it."""


def all_rows() -> list[NumberedRow]:
    """The training rows of all sub-skills, one after the other."""
    return [(source, number, row) for source in sources() for number, row in enumerate(training_rows(source))]


def wrong_golds() -> frozenset[int]:
    """Places among ``all_rows`` of the rows with a wrong answer."""
    return frozenset(place for place, (source, number, _) in enumerate(all_rows()) if number in noisy_rows(source))


def profile(policy: Path, weights: Weights, rows: Sequence[NumberedRow], plan: SamplingPlan, seed: int) -> Found:
    """Sample rows in rounds, until the plan is fulfilled."""
    tokenizer, generator = AutoTokenizer.from_pretrained(policy), torch.Generator().manual_seed(seed)
    sampler = Sampler(AutoConfig.from_pretrained(policy), weights)
    prompts = [tokenizer(row["prompt"])["input_ids"] for _, _, row in rows]
    tallies, tokens = [RowTally()] * len(rows), 0
    while wanted := next_round(tallies, plan, fit_prior(count_states(tallies)), least=AT_ONCE):
        asked = [row for row, count in wanted.items() for _ in range(count)]
        for start in range(0, len(asked), AT_ONCE):
            part = asked[start : start + AT_ONCE]
            completions = sampler.sample([prompts[row] for row in part], LONGEST, generator)
            tokens += sum(len(one.tokens) for one in completions)
            for row, one in zip(part, completions, strict=True):
                text = tokenizer.decode(one.tokens, skip_special_tokens=True)
                answer = split_thinking(text, THINK_START, THINK_END)[1] if one.ended else ""
                tallies[row] = _counted(tallies[row], answer, rows[row][2]["answer"])
    doubted = suspicions(tallies, fit_prior(count_states(tallies)))
    return Found(tallies, frozenset(one.row for one in doubted if one.is_suspect), tokens)


def _counted(tally: RowTally, answer: str, gold: str) -> RowTally:
    tally = replace(tally, asked=tally.asked + 1, samples=tally.samples + 1, correct=tally.correct + (answer == gold))
    if answer == gold or not answer.strip():
        return tally
    votes = Counter({one.text: one.votes for one in tally.answers})
    votes[answer] += 1
    return replace(tally, answers=tuple(WrongAnswer(text, count) for text, count in votes.most_common()))
