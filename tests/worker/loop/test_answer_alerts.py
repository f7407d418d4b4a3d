"""What a person hears of the answers: each cause once, with its figures, and once more when it is over."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from trainer_core.episodes import FinishReason, Group, Trajectory, Verdict
from trainer_core.link.events import AlertData
from trainer_core.rewards import RewardDefinition
from trainer_core.spec import RunSpec
from worker.loop.dispatch import sampling
from worker.loop.reporting.answer_alerts import MOST_READ, WINDOW, AnswerAlerts
from worker.messages.ticket import Batch, Ticket

Text = Callable[[int, int], tuple[str, float]]
"""(text, reward) of the answer of a group and a place in it."""
MATH = RewardDefinition.model_validate(
    {"components": [{"name": "right", "grader": {"type": "math", "extraction": "boxed"}}]}
)


@pytest.fixture
def step(spec: Any) -> Callable[..., list[AlertData]]:
    """``step(number, text)``: the alerts of a step of 4 groups of 4 such answers, of one run after another."""
    alerts = AnswerAlerts(lambda ref: MATH)

    def check(number: int, text: Text, finish: FinishReason = "stop", groups: int = 4, **changes: Any) -> Any:
        document = RunSpec.model_validate(spec(**changes))
        made = []
        for index in range(groups):
            samples = [sample(*text(index, place), finish) for place in range(4)]
            group = Group(f"{number}-{index}", f"add:{index}", "add", "add@1", {}, "", 0, samples)
            made.append(Ticket(group, np.zeros(1, np.int32), document, 4, sampling(document)))
        return alerts.check(Batch(number, made))

    return check


def sample(text: str, reward: float, finish: FinishReason) -> Trajectory:
    return Trajectory(
        trajectory_id="t",
        prompt_ids=np.zeros(1, np.int32),
        token_ids=np.zeros(1, np.int32),
        behaviour_logprobs=np.zeros(1, np.float32),
        versions=np.zeros(1, np.int32),
        sampled=np.ones(1, np.bool_),
        finish_reason=finish,
        temperature=1.0,
        output_text=text,
        verdict=Verdict(reward=reward),
    )


def healthy(group: int, place: int) -> tuple[str, float]:
    return f"\\boxed{{{group}{place}}}", float(place % 2)


def unboxed(group: int, place: int) -> tuple[str, float]:
    return f"It is {group}{place}.", 0.0


def test_no_signal_for_five_steps_is_told_with_its_cause(step: Callable[..., list[AlertData]]) -> None:
    for number in range(1, WINDOW):
        assert step(number, unboxed) == []
    alerts = {alert.title: alert for alert in step(WINDOW, unboxed)}
    assert list(alerts) == ["The reward has been constant for 5 steps", "No group has had a signal for 5 steps"]
    silent = alerts["No group has had a signal for 5 steps"]
    assert silent.level == "warn"
    assert silent.message.startswith(
        "In each of 20 groups all rewards are equal. 0 of 80 answers hold a \\boxed{}, 80 end in a number. "
    )
    assert silent.message.endswith("such as extraction: last_number.")
    assert step(WINDOW + 1, unboxed) == [], "told once"


def test_what_is_over_is_told_and_may_come_again(step: Callable[..., list[AlertData]]) -> None:
    for number in range(1, WINDOW + 1):
        last = step(number, unboxed)
    assert len(last) == 2
    over = step(WINDOW + 1, healthy)
    assert [(alert.level, alert.title) for alert in over] == [
        ("info", "Over: The reward has been constant for 5 steps"),
        ("info", "Over: No group has had a signal for 5 steps"),
    ]
    assert [step(WINDOW + 2 + number, unboxed) for number in range(WINDOW - 1)] == [[]] * (WINDOW - 1)
    assert len(step(2 * WINDOW + 1, unboxed)) == 2


def test_one_step_with_a_signal_is_enough(step: Callable[..., list[AlertData]]) -> None:
    texts = [unboxed, unboxed, healthy, unboxed, unboxed, unboxed, unboxed]
    assert [step(number, text) for number, text in enumerate(texts, 1)] == [[]] * 7


def test_another_reward_version_begins_a_window_of_its_own(step: Callable[..., list[AlertData]]) -> None:
    for number in range(1, WINDOW):
        step(number, unboxed)
    assert step(WINDOW, unboxed, reward__definition="calculation@2") == []


def test_cut_answers_are_told_in_the_first_step(step: Callable[..., list[AlertData]]) -> None:
    [alert] = step(1, healthy, finish="length")
    assert (alert.title, alert.value) == ("All answers are cut at the limit", 1.0)
    assert alert.message.startswith("16 of 16 answers are cut at max_tokens = 24 before they end by themselves. Raise")
    assert step(2, healthy, finish="length") == []
    assert [alert.title for alert in step(3, healthy)] == ["Over: All answers are cut at the limit"]


def test_thinking_that_never_closes_is_told(step: Callable[..., list[AlertData]]) -> None:
    [alert] = step(1, lambda group, place: (f"<think>{group}{place}", float(place % 2)))
    assert alert.title == "Thinking is never closed"


def test_a_large_batch_is_read_in_part(step: Callable[..., list[AlertData]]) -> None:
    [alert] = step(1, healthy, finish="length", groups=200)
    assert alert.message.startswith(f"{MOST_READ - 56} of {MOST_READ - 56} answers are cut"), "every fourth group"
