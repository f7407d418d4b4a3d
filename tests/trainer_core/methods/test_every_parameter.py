"""No parameter of a method is for show: for each there is a value that changes what the method makes of one batch."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
import torch
from pydantic import BaseModel, ValidationError

from tests.trainer_core.batches import group, trajectory
from tests.trainer_core.specs import spec
from trainer_core.episodes import Group
from trainer_core.methods import aggregation, corrections, filters, losses
from trainer_core.methods.advantages.assign import assign
from trainer_core.methods.advantages.steps import step_starts
from trainer_core.methods.aggregation import Denominators
from trainer_core.methods.corrections.router_shift import router_log_shift
from trainer_core.methods.filters import keep
from trainer_core.methods.view import TokenView
from trainer_core.rewards.length.apply import reweigh, shape
from trainer_core.spec.methods.advantage import ADVANTAGES, Advantage
from trainer_core.spec.methods.aggregation import Aggregation
from trainer_core.spec.methods.branching import VineAdvantage
from trainer_core.spec.methods.corrections import Correction, RouterShiftWeighting
from trainer_core.spec.methods.filters import Filter
from trainer_core.spec.methods.kinds import ComparingAdvantage
from trainer_core.spec.methods.loss import Loss
from trainer_core.spec.rewards.length_shaping import LengthShaping

ELSEWHERE = {
    ("ppo_clip", "smoothing"),  # needs the policy's likeliest tokens: tests/trainer_core/update/test_simko.py
    ("dppo", "k"),  # how much the engine tells: tests/trainer_core/update/test_learner_asides.py
    ("vine", "branches"),  # how much the loop generates: tests/worker/loop
    ("gae", "gamma"),  # needs a critic's values, as do the next: tests/trainer_core/update/test_learner_critic.py
    ("gae", "policy_lambda"),
    ("gae", "value_lambda"),
    ("gae", "length_alpha"),
    ("gae", "truncated_end"),
    ("gae", "whiten"),
    # decides before rewards are compared: tests/worker/loop/test_counted.py
    *((one.model_fields["type"].default, "counted") for one in ADVANTAGES if issubclass(one, ComparingAdvantage)),
}
"""Parameters that act outside of the method room."""
NUMBERS = (0, 1, 2, 3, 4, 5, 8, 20, 64, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.05, 1.2, 1.5, 2.5, 10.0)
TOLD = {"type": "column", "tell": " {tokens}"}
OTHERS = (True, False, {"right": 3.0}, {"type": "tokens", "every": 2}, {**TOLD, "column": "other"})
COLUMN = {"target": {**TOLD, "column": "tokens"}}
GIVEN: dict[tuple[str, str], dict[str, Any]] = {
    ("advantage", "pass_k"): {"k": 2},
    ("filters", "overlong"): {"max_tokens": 10},
    ("filters", "repetition"): {"min_repeats": 4},
    ("filters", "length_outliers"): {"deviations": 2.0, "margin": 2},
    ("reward.length", "magistral"): {"buffer": 12},
    ("reward.length", "difficulty_aware"): {"buffer": 12},
    ("reward.length", "l1_exact"): COLUMN,
    ("reward.length", "l1_max"): COLUMN,
    ("reward.length", "grpo_lambda"): {"share": 1.0},
}
"""By room and type: what has no default, or would leave a batch as small as this one alone."""


def batch() -> list[Group]:
    """Two minibatches of a mixed group each, and one of right answers with a long one among them."""
    rng = np.random.default_rng(0)

    def sample(right: float, form: float, length: int, index: int) -> Any:
        tokens = np.tile(np.array([3, 4, 5], np.int32), length)[:length] if index == 1 else rng.integers(0, 9, length)
        one = trajectory(right + 0.3 * form, length=length, token_ids=tokens.astype(np.int32))
        one.verdict = replace(one.verdict, parts={"right": right, "form": 0.3 * form})
        one.step_starts, one.state_values = np.array([0, length // 2], np.int32), rng.random(2)
        one.finish_reason = "length" if length == 18 else "stop"
        return one

    mixed = [
        [sample(r, f, n, i) for i, (r, f, n) in enumerate(rows)]
        for rows in (
            [(1.0, 0.0, 4), (0.0, 1.0, 18), (1.0, 1.0, 9), (0.0, 0.0, 7), (0.0, 0.2, 5)],
            [(0.0, 0.5, 6), (1.0, 0.5, 12), (0.0, 0.0, 8), (0.0, 1.0, 16), (1.0, 1.0, 17)],
        )
    ]
    alike = [sample(1.0, 1.0, length, 0) for length in (4, 5, 4, 6, 5, 4, 5, 4, 5, 4, 5, 18)]
    groups = [group(rows, index=index) for index, rows in enumerate([*mixed, alike])]
    for each in groups:
        each.item |= {"tokens": 6, "other": 9}
    return groups


def view() -> tuple[TokenView, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    sequence = torch.repeat_interleave(torch.arange(6), torch.tensor([4, 1, 9, 2, 6, 3]))
    noise = torch.randn(6, len(sequence), generator=generator, dtype=torch.float64)
    old = -1.0 - noise[0].abs()
    now = (old + 0.4 * noise[1]).clamp(max=-0.01).requires_grad_()
    mask = noise[4] > -1.0
    behaviour = (old + 0.3 * noise[2]).clamp(max=-0.01)
    return TokenView(now, old, behaviour, noise[3], mask, sequence, divergence=noise[5].abs(), log_shift=None), now


def of_loss(method: Any) -> Any:
    tokens, leaf = view()
    values, _ = losses.token_loss(method, tokens)
    (slope,) = torch.autograd.grad(values.sum(), leaf)
    return values.tolist(), slope.tolist()


def of_correction(method: Any) -> Any:
    if isinstance(method, RouterShiftWeighting):
        routes = torch.randn(2, 7, 2, 2, generator=torch.Generator().manual_seed(0))
        return router_log_shift(method, routes[0], routes[1]).tolist()
    return corrections.token_weights(method, view()[0])[0].tolist()


def of_aggregation(method: Any) -> Any:
    tokens, _ = view()
    whole = Denominators(6, int(tokens.mask.sum()), {0: 5, 1: int(tokens.mask.sum()) - 5})
    found = aggregation.token_weights(method, tokens.mask, tokens.sequence, tokens.sequence % 2, whole, torch.float64)
    return found.tolist()


def of_advantage(method: Any) -> Any:
    groups = batch()
    if isinstance(method, VineAdvantage):
        texts = [letter for letter in "a b\nc d\ne f\n\ng h"]
        starts = step_starts(method, texts, np.ones(len(texts), np.bool_))
        assign(method, groups)
        return starts, [t.token_advantages.tolist() for g in groups for t in g.trajectories]
    importance = {number: 0.2 + 0.31 * number for number in range(22)}
    assign(method, groups, minibatches=2, importance=importance)
    return [t.advantage for g in groups for t in g.trajectories]


def of_filter(method: Any) -> Any:
    if method.stage == "tokens":
        generator = torch.Generator().manual_seed(0)
        entropies, chances, rewards = torch.rand(3, 40, generator=generator, dtype=torch.float64)
        return keep(method, (0.9 + 0.1 * chances).log(), 0.3 * entropies, 2 * rewards).tolist()
    groups = batch()
    for each in groups:
        each.group_id = each.group_id.replace("1-", "3-")
    filters.prepare([method], groups)
    filters.apply([method], groups)
    return [(t.excluded, t.length, t.reward) for g in groups for t in g.trajectories]


def of_shaping(method: Any) -> Any:
    groups = batch()
    run = spec(reward={"definition": "r@1", "length": method.model_dump()}, rollout={"max_tokens": 18})
    for each in (t for g in groups for t in g.trajectories):
        each.earn(each.reward or 0.0)
    shape(groups, [run] * len(groups))
    reweigh(groups, [run] * len(groups))
    return [(t.reward, t.advantage) for g in groups for t in g.trajectories]


ROOMS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "loss": (Loss, of_loss),
    "corrections": (Correction, of_correction),
    "aggregation": (Aggregation, of_aggregation),
    "advantage": (Advantage, of_advantage),
    "filters": (Filter, of_filter),
    "reward.length": (LengthShaping, of_shaping),
}


def parameters() -> Iterator[Any]:
    for room, (union, _) in ROOMS.items():
        for model in get_args(get_args(union)[0]):
            kind = model.model_fields["type"].default
            for name in model.model_fields:
                if name != "type" and (kind, name) not in ELSEWHERE:
                    yield pytest.param(room, model, name, id=f"{room}-{kind}-{name}")


def variants(room: str, model: type[BaseModel], name: str) -> Iterator[list[Any]]:
    """The method with other values of one parameter, those that it accepts, under each of its other choices."""
    choices = [{}] + [
        {other: choice}
        for other, info in model.model_fields.items()
        if other not in ("type", name)
        for choice in get_args(info.annotation)
        if isinstance(choice, str)
    ]
    words = [choice for choice in get_args(model.model_fields[name].annotation) if isinstance(choice, str)]
    given = GIVEN.get((room, model.model_fields["type"].default), {})
    for choice in choices:
        found = [model.model_validate({**given, **choice})]
        for value in (*NUMBERS, *OTHERS, *words):
            try:
                found.append(model.model_validate({**given, **choice, name: value}))
            except ValidationError:
                continue
        yield found


@pytest.mark.parametrize(("room", "model", "name"), list(parameters()))
def test_it_changes_the_outcome(room: str, model: type[BaseModel], name: str) -> None:
    outcome = ROOMS[room][1]

    def several(methods: list[Any]) -> bool:
        first = repr(outcome(methods[0]))
        return any(repr(outcome(method)) != first for method in methods[1:])

    assert any(several(methods) for methods in variants(room, model, name))
