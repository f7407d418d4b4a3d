"""The bench's broken methods are broken: on one batch each of them learns something else than its base."""

from collections.abc import Iterator
from copy import deepcopy

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoTokenizer

from tests.bench.skills.faults import FAULTS, MILD, Fault
from tests.bench.skills.loop import Hooks, latest, rollout, untouched
from tests.bench.skills.policy import POLICY
from tests.bench.skills.rows import training_rows
from tests.bench.skills.sampler import Sampler
from trainer_core.episodes import Group, Verdict
from trainer_core.update.learner import Learner
from worker.loop.advantages import assign_advantages

SOURCES = ("sum_2", "chain_1", "sort_1")
IN_THE_LEARNER = [fault for fault in FAULTS if fault.hooks.learner is not untouched]
BETWEEN = [fault for fault in FAULTS if fault.hooks.learner is untouched]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def sampled() -> list[Group]:
    """Three groups of six, sampled by the policy; what had sampled them is said to be a little off."""
    learner = Learner(POLICY, FAULTS[0].base.run_spec(0))
    sampler = Sampler(AutoConfig.from_pretrained(POLICY), learner.weights())
    rows = [(source, 0, training_rows(source)[0]) for source in SOURCES]
    generator = torch.Generator().manual_seed(0)
    groups = rollout(sampler, AutoTokenizer.from_pretrained(POLICY), rows, 6, 1, 0, generator)
    for trajectory in (trajectory for group in groups for trajectory in group.trajectories):
        prompt, tokens = trajectory.prompt_ids.tolist(), trajectory.token_ids.tolist()
        assert learner.score([[*prompt, *tokens]])[0][len(prompt) - 1 :] == pytest.approx(
            trajectory.behaviour_logprobs.tolist(), abs=1e-4
        )
    noise = np.random.default_rng(0)
    for trajectory in (trajectory for group in groups for trajectory in group.trajectories):
        trajectory.behaviour_logprobs += noise.normal(0.0, 0.2, trajectory.length).astype(np.float32)
    return groups


def advantages(groups: list[Group], fault: Fault, hooks: Hooks) -> list[float]:
    """Write rewards and advantages into ``groups``; some completions of each are right, whatever they answer."""
    for group in groups:
        for index, trajectory in enumerate(group.trajectories):
            trajectory.verdict = Verdict(float(index % (2 + len(group.source) % 3) == 0))
    hooks.scored(groups)
    assign_advantages(groups, fault.base.run_spec(0))
    hooks.assigned(groups)
    return [trajectory.advantage for group in groups for trajectory in group.trajectories]


def learned(groups: list[Group], fault: Fault, hooks: Hooks) -> list[float]:
    """Log-probabilities of one completion after a step; after two where the first begins at the reference policy."""
    groups, spec = deepcopy(groups), fault.base.run_spec(0)
    advantages(groups, fault, Hooks())
    with hooks.learner():
        learner = Learner(POLICY, spec)
        for step in range(1, 3 if spec.kl.coefficient else 2):
            learner.update(groups, spec, step)
        probe = groups[0].trajectories[0]
        return learner.score([[*probe.prompt_ids.tolist(), *probe.token_ids.tolist()]])[0]


@pytest.fixture(scope="module")
def bases(sampled: list[Group]) -> dict[str, list[float]]:
    faults = {fault.base.name: fault for fault in IN_THE_LEARNER}
    return {name: learned(sampled, fault, Hooks()) for name, fault in faults.items()}


@pytest.mark.parametrize("fault", IN_THE_LEARNER, ids=lambda fault: fault.name)
def test_a_fault_in_the_learner_learns_something_else(
    fault: Fault, sampled: list[Group], bases: dict[str, list[float]]
) -> None:
    found = learned(sampled, fault, fault.hooks)
    difference = max(abs(one - other) for one, other in zip(found, bases[fault.base.name], strict=True))
    assert difference > 1e-4


@pytest.mark.parametrize("fault", BETWEEN, ids=lambda fault: fault.name)
def test_a_fault_before_the_learner_hands_it_something_else(fault: Fault, sampled: list[Group]) -> None:
    if fault.hooks.version is not latest:
        assert [fault.hooks.version(step, 0) for step in (19, 20, 21, 22)] == [18, 11, 20, 13]
        return
    right, wrong = (advantages(deepcopy(sampled), fault, hooks) for hooks in (Hooks(), fault.hooks))
    assert right != wrong


def test_once_a_fault_is_over_the_learner_is_whole_again(sampled: list[Group], bases: dict[str, list[float]]) -> None:
    first = IN_THE_LEARNER[0]
    assert learned(sampled, first, Hooks()) == bases[first.base.name]


def test_gentle_settings_have_the_same_faults() -> None:
    known = {(fault.name, fault.words) for fault in FAULTS}
    assert {(fault.name, fault.words) for fault in MILD} <= known
