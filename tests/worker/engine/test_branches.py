"""Branches of the real engine: they go on as their completion did, within its limits, and value its states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from tests.trainer_core.specs import document
from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import THINK
from trainer_core.episodes import Group, Verdict
from trainer_core.spec import RunSpec
from worker.engine import InferenceEngine, Request, Sampling
from worker.messages.chunk import pack, unpack
from worker.messages.jobs import Ask
from worker.messages.ticket import Ticket
from worker.rollout.branches import BranchCost, Brancher, branch_metrics

OPEN = (3, 4, *THINK.start_ids)
VINE = {"type": "vine", "branches": 2, "whiten": "none", "steps": {"type": "tokens", "every": 5}}


def ticket(prompts: list[tuple[int, ...]], sampling: Sampling, **vine: Any) -> Ticket:
    spec = RunSpec.model_validate(document(advantage={**VINE, **vine}))
    group = Group("1-0", "sums:0", "sums", "sums@1", {}, "", 0)
    asks = tuple(Ask(np.array(prompt, np.int32), ()) for prompt in prompts) if len(set(prompts)) > 1 else ()
    return Ticket(group, np.array(prompts[0], np.int32), spec, len(prompts), sampling, asks=asks)


@pytest.fixture(autouse=True)
def own_randomness() -> Iterator[None]:
    """Other tests of the shared engine draw what they would have drawn without these."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        yield


def sample(engine: InferenceEngine, collect: Collect, asked: Ticket) -> None:
    """What router, rollout worker and scoring do with a ticket, but for the rewards."""
    for number, prompt in enumerate(asked.prompts):
        prefix = asked.parked.prefixes.get(number) if asked.parked else None
        engine.submit(Request(str(number), tuple(prompt.tolist()), asked.sampling, prefix=prefix))
    done = collect()
    finished = [done[str(number)] for number in range(asked.samples)]
    unpack(pack([(0, finished)]), [asked.group], [asked.prompts], [asked.sampling.temperature])


def reward(parent: Ticket, values: list[float]) -> None:
    for trajectory, value in zip(parent.group.trajectories, values, strict=True):
        trajectory.verdict = Verdict(value)


@pytest.mark.parametrize("budget", [None, 3, 8], ids=["free", "forced after 3", "forced after 8"])
@pytest.mark.parametrize("prompt", [(3, 4, 5), OPEN], ids=["plain", "thinking"])
def test_greedy_branches_are_the_completion_itself(
    engine: InferenceEngine, collect: Collect, prompt: tuple[int, ...], budget: int | None
) -> None:
    parent = ticket(
        [prompt], Sampling(0.0, max_tokens=40, thinking_budget=budget), steps={"type": "tokens", "every": 1}
    )
    sample(engine, collect, parent)
    reward(parent, [1.0])
    [whole] = parent.group.trajectories
    brancher = Brancher(str, THINK)
    branches = brancher.branch(parent)
    assert branches is not None
    # Every sampled token begins a state but the first, whose state is the prompt; the bound holds for the others.
    assert len(branches.states) == 1 + min(20, int(whole.sampled.sum()) - 1)
    assert branches.ticket.name == "1-0/branches" and branches.ticket.samples == 2 * len(branches.states)
    sample(engine, collect, branches.ticket)
    for trajectory in branches.ticket.group.trajectories:
        assert trajectory.token_ids.tolist() == whole.token_ids.tolist()
        assert trajectory.sampled.tolist() == whole.sampled.tolist()
        assert (trajectory.finish_reason, trajectory.length) == (whole.finish_reason, whole.length)
    assert engine.stats().budget_violations == 0


def test_values_are_mean_rewards_of_branches(engine: InferenceEngine, collect: Collect) -> None:
    parent = ticket([(3, 4, 5)] * 2 + [(3, 6)], Sampling(1.0, max_tokens=12, seed=None))
    sample(engine, collect, parent)
    reward(parent, [1.0, 0.0, 1.0])
    brancher = Brancher(str, None)
    branches = brancher.branch(parent)
    assert branches is not None
    # Equal prompts are valued once; then come the states inside the completions.
    assert [state.samples for state in branches.states if state.start == 0] == [(0, 1), (2,)]
    sample(engine, collect, branches.ticket)
    found = branches.ticket.group.trajectories
    for number, trajectory in enumerate(found):
        state = branches.states[number // 2]
        begun = parent.group.trajectories[state.samples[0]]
        assert trajectory.prompt_ids.tolist() == begun.prompt_ids.tolist()
        assert trajectory.token_ids[: state.start].tolist() == begun.token_ids[: state.start].tolist()
        trajectory.verdict = Verdict(float(number % 2))
    found[0].verdict = Verdict()  # one failure does not count; where both fail, there is no state
    last = len(branches.states) - 1
    found[2 * last].verdict = found[2 * last + 1].verdict = Verdict()
    brancher.settle(branches)
    first, second, third = parent.group.trajectories
    assert first.state_values is not None and first.state_values[0] == 1.0
    assert second.state_values is not None and second.state_values[0] == 1.0
    assert third.state_values is not None and third.state_values[0] == 0.5
    lost = branches.states[last]
    for sample_number, trajectory in enumerate((first, second, third)):
        assert trajectory.state_values is not None and trajectory.step_starts is not None
        expected = [0, *range(5, trajectory.length, 5)]
        if lost.samples == (sample_number,):
            expected.remove(lost.start)
        assert trajectory.step_starts.tolist() == expected
        assert (trajectory.state_values[1:] == 0.5).all()

    figures = branch_metrics(BranchCost(), brancher.cost, batch_tokens=10)
    assert figures["vine/branches"] == len(found) == 2 * figures["vine/states"]
    assert figures["vine/error_share"] == pytest.approx(3 / len(found))
    own = sum(t.length - branches.states[n // 2].start for n, t in enumerate(found))
    assert figures["vine/tokens"] == own
    assert figures["vine/token_share"] == pytest.approx(own / (own + 10))
    assert branch_metrics(brancher.cost, brancher.cost, 10) == {}


def test_nothing_branches_without_vine_or_without_a_reward(engine: InferenceEngine, collect: Collect) -> None:
    parent = ticket([(3, 4, 5)], Sampling(0.0, max_tokens=8))
    sample(engine, collect, parent)
    assert Brancher(str, None).branch(parent) is None  # its reward failed
    reward(parent, [0.0])
    other = Ticket(parent.group, parent.prompt, RunSpec.model_validate(document()), 1, parent.sampling)
    assert Brancher(str, None).branch(other) is None
    assert Brancher(str, None).branch(parent) is not None
