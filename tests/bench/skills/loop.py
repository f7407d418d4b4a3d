"""Training in one process: the sampler of this room, the product's rewards, advantages, filters and learner.

Everything that follows from a seed is the same from run to run, so that a broken method and its base see the same
prompts, and differ by the fault alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerFast

from tests.bench.skills.demonstrations import HEDGE
from tests.bench.skills.families import Problem, sources
from tests.bench.skills.rows import held_out_problems, training_rows
from tests.bench.skills.sampler import Sampled, Sampler
from tests.bench.skills.settings import LONGEST, Setting
from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.rewards.score import Sample, score, split_thinking
from trainer_core.starter.tokenizer import THINK_END, THINK_START
from trainer_core.update.learner import Learner
from worker.loop.advantages import assign_advantages

Weights = Mapping[str, NDArray[np.float32]]
NumberedRow = tuple[str, int, dict[str, str]]
"""Sub-skill, number among its rows, and the row."""
Draw = Callable[[random.Random], NumberedRow]
Between = Callable[[list[Group]], None]
AT_THE_END = 64
"""Held-out problems of each sub-skill after the last step: the standard error of the mean over nine sub-skills is 0.02
at 0.5, 0.01 at 0.9."""


@dataclass(frozen=True)
class Pace:
    """When a run is examined on the way, and on how much."""

    every: int = 10
    """Steps between two evaluations."""
    problems: int = 24
    """Held-out problems of each sub-skill."""


USUAL = Pace()


def nothing(groups: list[Group]) -> None:
    """The hook of a loop that is not broken."""


def latest(step: int, lag: int) -> int:
    """The version of the weights that sample for a step: the learner's before it, or one so many versions older."""
    return max(0, step - 1 - lag)


@contextmanager
def untouched() -> Iterator[None]:
    """The learner as it is."""
    yield


@dataclass(frozen=True)
class Hooks:
    """Places where a fault can be put in. The defaults put in none."""

    scored: Between = nothing
    """Called with groups that have their rewards."""
    assigned: Between = nothing
    """Called with groups that have their advantages."""
    version: Callable[[int, int], int] = latest
    """Version of the weights that sample, of the step and the setting's lag."""
    learner: Callable[[], Any] = untouched
    """Context in which the learner works."""


@dataclass(frozen=True)
class Evaluation:
    """What held-out problems show, one sample each."""

    right: dict[str, float]
    """Share of right answers by sub-skill."""
    length: float
    thinking: float
    hedged: float
    """Share of answers that name several candidates."""
    contained: float
    """Share of answers that contain the right one without being it: what the flawed reward pays wrongly."""
    capped: float
    """Share of completions cut at the cap."""

    @property
    def mean(self) -> float:
        """Share of right answers over all sub-skills."""
        return mean(self.right.values())


@dataclass(frozen=True)
class Course:
    """What one run has shown."""

    rewards: list[float] = field(default_factory=list)
    """Mean reward of each step."""
    evaluations: dict[int, Evaluation] = field(default_factory=dict)
    """By the steps learned so far."""
    tokens: list[int] = field(default_factory=list)
    """Tokens sampled in each step."""


def train(
    policy: Path,
    setting: Setting,
    seed: int,
    hooks: Hooks | None = None,
    draw: Draw | None = None,
    pace: Pace = USUAL,
    weights: Callable[[Weights], object] = lambda _: None,
) -> Course:
    """Train to the end of the setting's steps and evaluate on the way.

    Args:
        policy: folder of the policy to begin with.
        setting: what to train with.
        seed: of all that is drawn.
        hooks: a fault to put in; none by default.
        draw: the next row; by default any of the second task, each sub-skill being as likely.
        pace: when to evaluate, and on how much.
        weights: called with the weights after the last step.
    """
    hooks, spec = hooks or Hooks(), setting.run_spec(seed)
    tokenizer = AutoTokenizer.from_pretrained(policy)
    config = AutoConfig.from_pretrained(policy)
    generator, rng = torch.Generator().manual_seed(seed), random.Random(seed)
    draw = draw or _any_row()
    course = Course()
    with hooks.learner():
        learner = Learner(policy, spec)
        versions: dict[int, Weights] = {0: _copied(learner)}
        course.evaluations[0] = evaluate(Sampler(config, versions[0]), tokenizer, pace.problems, seed)
        for step in range(1, setting.steps + 1):
            version = hooks.version(step, setting.lag)
            rows = [draw(rng) for _ in range(spec.schedule.prompts_per_step)]
            size = spec.rollout.group_size
            groups = rollout(Sampler(config, versions[version]), tokenizer, rows, size, step, version, generator)
            reward(groups, setting)
            hooks.scored(groups)
            assign_advantages(groups, spec)
            if setting.right_alone:
                for trajectory in (t for group in groups for t in group.trajectories):
                    trajectory.earn(trajectory.reward or 0.0)
            hooks.assigned(groups)
            learner.update(groups, spec, step)
            versions[step] = _copied(learner)
            versions.pop(step - 32, None)
            course.rewards.append(mean(t.reward or 0.0 for group in groups for t in group.trajectories))
            course.tokens.append(sum(t.length for group in groups for t in group.trajectories))
            if step % pace.every == 0 or step == setting.steps:
                count = pace.problems if step < setting.steps else AT_THE_END
                course.evaluations[step] = evaluate(Sampler(config, versions[step]), tokenizer, count, seed)
    weights(versions[setting.steps])
    return course


def rollout(
    sampler: Sampler,
    tokenizer: PreTrainedTokenizerFast,
    rows: Sequence[NumberedRow],
    size: int,
    step: int,
    version: int,
    generator: torch.Generator,
) -> list[Group]:
    """A group of ``size`` completions for each row, which comes with its source and its number."""
    prompts = [tokenizer(row["prompt"])["input_ids"] for _, _, row in rows]
    completions = sampler.sample([prompt for prompt in prompts for _ in range(size)], LONGEST, generator)
    groups = []
    for index, (source, number, row) in enumerate(rows):
        mine = completions[index * size : (index + 1) * size]
        name = f"{step}-{index}"
        group = Group(name, f"{source}:{number}", source, f"{source}@1", dict(row), row["prompt"], 0)
        group.trajectories = [
            _trajectory(f"{name}-{n}", prompts[index], one, version, tokenizer) for n, one in enumerate(mine)
        ]
        groups.append(group)
    return groups


def reward(groups: Sequence[Group], setting: Setting) -> None:
    """Score every completion by the setting's reward."""
    for group in groups:
        for trajectory in group.trajectories:
            found = score(setting.reward, _sample(trajectory), group.item)
            assert found.reward is not None, found.error
            trajectory.verdict = Verdict(found.reward, dict(found.parts))


def evaluate(sampler: Sampler, tokenizer: PreTrainedTokenizerFast, count: int, seed: int) -> Evaluation:
    """``count`` held-out problems of each sub-skill, one sample each, graded strictly."""
    problems = held_out_problems(count)
    generator = torch.Generator().manual_seed(1000 + seed)
    prompts = [tokenizer(problem.prompt)["input_ids"] for problem in problems]
    completions = sampler.sample(prompts, LONGEST, generator)
    texts = [tokenizer.decode(one.tokens, skip_special_tokens=True) for one in completions]
    answers = [split_thinking(text, THINK_START, THINK_END)[1] for text in texts]
    right: dict[str, list[bool]] = {source: [] for source in sources()}
    pairs = list(zip(problems, answers, strict=True))
    for problem, one, answer in zip(problems, completions, answers, strict=True):
        right[problem.source].append(is_right(problem, one, answer))
    return Evaluation(
        right={source: mean(map(float, found)) for source, found in right.items()},
        length=mean(len(one.tokens) for one in completions),
        thinking=mean(float(THINK_START in text) for text in texts),
        contained=mean(float(problem.answer in answer and answer != problem.answer) for problem, answer in pairs),
        hedged=mean(float(HEDGE in answer) for answer in answers),
        capped=mean(float(not one.ended) for one in completions),
    )


def is_right(problem: Problem, completion: Sampled, answer: str) -> bool:
    """Whether a completion ended with the one right answer."""
    return completion.ended and answer == problem.answer


def _any_row() -> Draw:
    data = {source: training_rows(source) for source in sources()}

    def draw(rng: random.Random) -> NumberedRow:
        source = rng.choice(sources())
        number = rng.randrange(len(data[source]))
        return source, number, data[source][number]

    return draw


def _copied(learner: Learner) -> Weights:
    return {name: np.array(values) for name, values in learner.weights().items()}


def _trajectory(
    name: str, prompt: Sequence[int], one: Sampled, version: int, tokenizer: PreTrainedTokenizerFast
) -> Trajectory:
    text = tokenizer.decode(one.tokens, skip_special_tokens=True)
    return Trajectory(
        trajectory_id=name,
        prompt_ids=np.array(prompt, dtype=np.int32),
        token_ids=one.tokens,
        behaviour_logprobs=one.logprobs,
        versions=np.full(len(one.tokens), version, dtype=np.int32),
        sampled=np.ones(len(one.tokens), dtype=np.bool_),
        finish_reason="stop" if one.ended else "length",
        temperature=1.0,
        output_text=text,
    )


def _sample(trajectory: Trajectory) -> Sample:
    thinking, answer = split_thinking(trajectory.output_text, THINK_START, THINK_END)
    return Sample(trajectory.output_text, thinking, answer, trajectory.length, trajectory.finish_reason)
