"""Samples for the supervised term: demonstrations from the rows of a step, or the step's own correct answers."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from trainer_core.episodes import Group, Trajectory
from trainer_core.rewards.success import least
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.sft import SFT, PositiveExamples

INFORMATIVE = (None, "zero_advantage", "pivot")
"""Reasons for exclusion that say nothing against a correct answer: there was just nothing to compare it with."""


class Supervisor:
    """Builds trajectories from the completions to make likelier. Every rank builds the same ones."""

    def __init__(self, folder: Path) -> None:
        """Read the tokenizer of the base policy's folder when it is first needed."""
        self._folder = folder

    def samples(self, sft: SFT, groups: Sequence[Group], spec: RunSpec) -> list[Trajectory]:
        """The completions to learn from, each after its prompt. May be empty."""
        if isinstance(sft, PositiveExamples):
            everybody = (t for group in groups for t in group.trajectories)
            return [replace(t, credit=replace(t.credit, excluded=None)) for t in everybody if _is_right(t, sft.success)]
        given = [(group, group.item.get(sft.column)) for group in groups if group.trajectories]
        return [self._written(group, text, spec) for group, text in given if isinstance(text, str) and text]

    def _written(self, group: Group, text: str, spec: RunSpec) -> Trajectory:
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids + self._end
        # It is cut at the token limit, like the policy's own completions.
        prompt = group.trajectories[0].prompt_ids
        room = min(spec.rollout.max_tokens, spec.rollout.engine.max_model_len - len(prompt))
        token_ids = np.asarray(ids[:room], dtype=np.int32)
        return Trajectory(
            trajectory_id=f"{group.group_id}-demonstration",
            prompt_ids=prompt,
            token_ids=token_ids,
            behaviour_logprobs=np.zeros(len(token_ids), dtype=np.float32),
            versions=np.zeros(len(token_ids), dtype=np.int32),
            sampled=np.ones(len(token_ids), dtype=np.bool_),
            finish_reason="stop" if len(ids) <= room else "length",
            temperature=1.0,
        )

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        path = self._folder / "tokenizer.json"
        if not path.is_file():
            raise ValueError(f"demonstrations need a tokenizer: {self._folder} has no tokenizer.json")
        return Tokenizer.from_file(str(path))

    @cached_property
    def _end(self) -> list[int]:
        """The end-of-sequence token, if the policy has one."""
        for name in ("generation_config.json", "config.json"):
            path = self._folder / name
            found = json.loads(path.read_text()).get("eos_token_id") if path.is_file() else None
            if found is not None:
                return [found] if isinstance(found, int) else list(found[:1])
        return []


def _is_right(trajectory: Trajectory, success: float) -> bool:
    known = trajectory.excluded in INFORMATIVE and bool(trajectory.sampled.any())
    return known and trajectory.reward is not None and trajectory.reward >= least(success)
