"""Controls become spec changes at their boundary, in order, once."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from trainer_core.episodes import Group
from trainer_core.link.commands import Applied, CheckpointCommand, ControlCommand
from trainer_core.spec import RunSpec
from worker.loop.controls import Controls
from worker.loop.dispatch import sampling
from worker.loop.steering import Steering
from worker.messages.control import AppliedControl
from worker.messages.ticket import Batch, Ticket


@pytest.fixture
def steering(spec: Callable[..., dict[str, Any]]) -> Steering:
    return Steering(RunSpec.model_validate(spec()), revision=4)


def control(name: str, revision: int, target: str, value: Any, apply_at: Any = "next") -> ControlCommand:
    return ControlCommand(id=name, type="control", revision=revision, target=target, value=value, apply_at=apply_at)


def test_each_control_waits_for_its_own_boundary(steering: Steering) -> None:
    commands = [
        control("lr", 5, "optimizer.learning_rate", 1e-4),
        control("temperature", 6, "rollout.temperature", 0.7),
    ]
    applied, refused = steering.apply(commands, "group_dispatch", 3)
    assert ([c.control_id for c in applied], refused) == (["temperature"], [])
    assert (steering.spec.rollout.temperature, steering.spec.optimizer.learning_rate) == (0.7, 3e-4)
    applied, _ = steering.apply(commands, "optimizer_step", 3)
    assert [c.control_id for c in applied] == ["lr"]
    assert (steering.spec.optimizer.learning_rate, steering.revision) == (1e-4, 6)
    assert steering.apply(commands, "optimizer_step", 4) == ([], []), "each is handled once"


def test_apply_at_holds_a_control_back(steering: Steering) -> None:
    commands = [control("budget", 5, "thinking.budget", 4, apply_at=7)]
    assert steering.apply(commands, "group_dispatch", 6) == ([], [])
    applied, _ = steering.apply(commands, "group_dispatch", 7)
    assert [(c.control_id, c.revision) for c in applied] == [("budget", 5)]


def test_controls_of_one_field_apply_in_the_order_of_their_revisions(steering: Steering) -> None:
    commands = [
        control("later", 6, "rollout.temperature", 0.5),
        control("earlier", 5, "rollout.temperature", 0.9),
    ]
    applied, _ = steering.apply(commands, "group_dispatch", 1)
    assert [c.control_id for c in applied] == ["earlier", "later"]
    assert steering.spec.rollout.temperature == 0.5


@pytest.mark.parametrize(
    ("target", "value", "words"),
    [
        ("rollout.group_size", 16, "fork the run"),
        ("nonsense", 1, "there is no field nonsense"),
        ("rollout.temperature", -1, "greater than 0"),
        ("rollout.max_tokens", 64, "leaves no room"),
    ],
)
def test_what_cannot_be_applied_is_refused_with_the_reason(
    steering: Steering, target: str, value: Any, words: str
) -> None:
    before = steering.spec
    applied, refused = steering.apply([control("c", 5, target, value)], "group_dispatch", 1)
    assert applied == []
    assert words in refused[0].error
    assert (steering.spec, steering.revision) == (before, 4)


def test_a_rule_of_the_worker_refuses_too(spec: Callable[..., dict[str, Any]]) -> None:
    steering = Steering(
        RunSpec.model_validate(spec()), 0, lambda changed: "too long" if changed.rollout.max_tokens > 30 else None
    )
    _, refused = steering.apply([control("c", 1, "rollout.max_tokens", 40)], "group_dispatch", 1)
    assert refused[0].error == "rollout.max_tokens: too long"


def test_rules_are_asked_in_order_until_one_objects(spec: Callable[..., dict[str, Any]]) -> None:
    asked: list[str] = []

    def rule(name: str, answer: str | None) -> Callable[[RunSpec], str | None]:
        return lambda changed: (asked.append(name), answer)[1]

    rules = (rule("first", None), rule("second", "no"), rule("third", None))
    steering = Steering(RunSpec.model_validate(spec()), 0, *rules)
    applied, refused = steering.apply([control("c", 1, "reward.shadow", ["other@1"])], "group_dispatch", 1)
    assert (applied, refused[0].error, asked) == ([], "reward.shadow: no", ["first", "second"])
    assert steering.spec.reward.shadow == (), "no rule behind an objection may prepare for what will not be"


def test_a_promotion_keeps_its_shadow(steering: Steering) -> None:
    commands = [
        control("shadow", 5, "reward.shadow", ["calculation@2"]),
        control("promote", 6, "reward.definition", "calculation@2", apply_at=4),
        control("odd", 7, "reward.shadow", ["calculation"]),
    ]
    applied, refused = steering.apply(commands, "group_dispatch", 3)
    assert [c.control_id for c in applied] == ["shadow"] and "pattern" in refused[0].error
    applied, _ = steering.apply(commands, "group_dispatch", 4)
    assert [c.control_id for c in applied] == ["promote"]
    assert (steering.spec.reward.definition, steering.spec.reward.shadow) == ("calculation@2", ("calculation@2",))


def members(name: str, revision: int, *changes: tuple[str, Any], apply_at: Any = "next") -> list[ControlCommand]:
    """The commands of one change set; their ids are ``<name>0``, ``<name>1`` and so on."""
    return [
        control(f"{name}{index}", revision + index, target, value, apply_at).model_copy(update={"change_set": name})
        for index, (target, value) in enumerate(changes)
    ]


def ids(found: list[AppliedControl]) -> list[str]:
    return [one.control_id for one in found]


def test_a_set_is_judged_by_what_it_amounts_to(steering: Steering) -> None:
    # A budget of 44 never bites before there is room for 46 tokens.
    commands = members("s", 5, ("thinking.budget", 44), ("rollout.max_tokens", 46))
    alone, refused = Steering(steering.spec, 4).apply(
        [command.model_copy(update={"change_set": None}) for command in commands],
        "group_dispatch",
        1,
    )
    assert (ids(alone), [one.control_id for one in refused]) == (["s1"], ["s0"]), "what a set is for"
    applied, refused = steering.apply(commands, "group_dispatch", 1)
    assert (ids(applied), refused, steering.revision) == (["s0", "s1"], [], 6)
    assert (steering.spec.thinking.budget, steering.spec.rollout.max_tokens) == (44, 46)
    assert steering.apply(commands, "group_dispatch", 2) == ([], [])


def test_a_set_of_two_boundaries_waits_for_the_later_one(steering: Steering) -> None:
    commands = members("s", 5, ("rollout.temperature", 0.7), ("optimizer.learning_rate", 1e-4))
    assert steering.apply(commands, "group_dispatch", 3) == ([], [])
    assert steering.spec.rollout.temperature == 1.0
    applied, _ = steering.apply(commands, "optimizer_step", 3)
    assert [(one.control_id, one.boundary) for one in applied] == [("s0", "group_dispatch"), ("s1", "optimizer_step")]
    assert (steering.spec.rollout.temperature, steering.spec.optimizer.learning_rate) == (0.7, 1e-4)


class ReportLink:
    """Link that holds commands and keeps reports: one list for each sync."""

    def __init__(self, commands: list[Any]) -> None:
        self.commands = lambda: commands
        self.told: list[list[tuple[str, str]]] = []

    def control(self, *reports: Applied) -> None:
        self.told += [[(report.control_id, report.state) for report in reports]] if reports else []


def test_a_batch_settles_only_what_it_was_sampled_under(steering: Steering) -> None:
    """A set of older revisions takes effect at a later boundary than a control of a newer one."""
    link = ReportLink(
        [
            *members("s", 5, ("rollout.temperature", 0.7), ("optimizer.learning_rate", 1e-4)),
            control("budget", 7, "thinking.budget", 4),
        ]
    )
    rewards, saving = SimpleNamespace(take_in=lambda commands: None), SimpleNamespace(wish=lambda *wish: None)
    controls = Controls(steering, rewards, link, saving, lambda spec: None)  # type: ignore[arg-type]

    def batch(step: int, *applied: AppliedControl) -> Batch:
        group = Group(f"{step}-0", "add:0", "add", "add@1", {}, "", steering.revision)
        prompt, drawn = np.zeros(1, np.int32), sampling(steering.spec)
        return Batch(
            step, [Ticket(group, prompt, steering.spec, 2, drawn, applications=steering.applications)], applied
        )

    controls.apply("group_dispatch", 3, "3-0", 2)
    first = batch(3)
    first.controls = tuple(controls.apply("optimizer_step", 3, "3-0", 2))
    controls.settle(first)
    assert link.told == [
        [("budget", "applied")],
        [("s0", "applied"), ("s1", "applied")],
        [("budget", "settled"), ("s1", "settled")],
    ]
    second = batch(4)
    controls.settle(second)
    assert link.told[3:] == [[("s0", "settled")]]
    mixed = Batch(4, [*first.tickets, *second.tickets])
    assert mixed.spec.rollout.temperature == 0.7, "the newest spec, though both are of revision 7"


def test_a_set_is_refused_whole(spec: Callable[..., dict[str, Any]]) -> None:
    rules = (lambda changed: "too hot" if changed.rollout.temperature > 1 else None,)
    steering = Steering(RunSpec.model_validate(spec()), 0, *rules)
    before = steering.spec
    bad = members("s", 1, ("optimizer.learning_rate", 1e-4), ("rollout.temperature", -1.0))
    applied, refused = steering.apply(bad, "optimizer_step", 1)
    assert (applied, [one.control_id for one in refused]) == ([], ["s0", "s1"])
    assert all("rollout.temperature: Input should be greater than 0" in one.error for one in refused)
    hot = members("t", 3, ("optimizer.learning_rate", 1e-4), ("rollout.temperature", 1.5))
    _, refused = steering.apply(hot, "optimizer_step", 1)
    assert [one.error for one in refused] == ["optimizer.learning_rate, rollout.temperature: too hot"] * 2
    assert (steering.spec, steering.revision) == (before, 0)


def test_a_set_waits_until_every_member_is_due(steering: Steering) -> None:
    # A new attempt stages anew at the step at which each had taken effect.
    first, second = members("s", 5, ("rollout.temperature", 0.7), ("thinking.budget", 4))
    commands = [first.model_copy(update={"apply_at": 6}), second]
    assert steering.apply(commands, "group_dispatch", 5) == ([], [])
    assert ids(steering.apply(commands, "group_dispatch", 6)[0]) == ["s0", "s1"]


def test_a_later_change_of_a_field_waits_for_the_set_before_it(steering: Steering) -> None:
    commands = [
        *members("s", 5, ("rollout.temperature", 0.7), ("optimizer.learning_rate", 1e-4)),
        control("later", 7, "rollout.temperature", 0.5),
        control("other", 8, "thinking.budget", 4),
    ]
    assert ids(steering.apply(commands, "group_dispatch", 3)[0]) == ["other"]
    assert ids(steering.apply(commands, "optimizer_step", 3)[0]) == ["s0", "s1"]
    assert ids(steering.apply(commands, "group_dispatch", 4)[0]) == ["later"]
    assert (steering.spec.rollout.temperature, steering.revision) == (0.5, 8)


def test_a_cancelled_control_disappears_before_its_step(steering: Steering) -> None:
    steering.apply([control("c", 5, "rollout.temperature", 0.5, apply_at=9)], "group_dispatch", 8)
    assert steering.apply([], "group_dispatch", 9) == ([], [])
    assert steering.spec.rollout.temperature == 1.0


def test_checkpoints_are_asked_for_once(steering: Steering) -> None:
    commands = [CheckpointCommand(id="k1", type="checkpoint")]
    assert steering.requested_checkpoints(commands) == ["k1"]
    assert steering.requested_checkpoints(commands) == []
