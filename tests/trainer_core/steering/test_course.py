"""The course of a run: what is wrong with it as a whole is reported, and nothing else is."""

import json
from collections.abc import Sequence

import pytest

from trainer_core.steering.course import COLLAPSE, CUT, NO_UPDATE, OVERFITS, WINDOW, RunCourse
from trainer_core.steering.guards import Alert, Calm

SAMPLES = 64


def metrics(mean: float = 0.5, *, cut: float = 0.0, dead: float = 0.2, floor: float = 0.0) -> dict[str, float]:
    """A step's figures for rewards of 0 and 1."""
    return {
        "critic/score/mean": mean,
        "critic/score/std": (abs(mean) * abs(1 - mean)) ** 0.5,
        "critic/score/min": floor,
        "groups/zero_advantage_share": dead,
        "response_length/clip_ratio": cut,
        "response_length/window": 32.0,
        "train/pass_rate/add": mean,
        "actor/grad_norm": 1.0 - dead,
    }


class Run:
    """A run's course, step by step."""

    def __init__(self, course: RunCourse | None = None) -> None:
        self.course, self.at = course or RunCourse("run-1"), 0
        self.news: list[tuple[int, str, str]] = []

    def steps(self, *found: dict[str, float], reward: str = "r@1", samples: int = SAMPLES) -> None:
        for one in found:
            self.at += 1
            self.course.step(self.at, one, samples=samples, reward=reward)
            self._note(self.course.news(self.at))

    def evaluated(self, mean: float, error: float = 0.05) -> None:
        self.course.evaluation({"eval/add/score/mean": mean, "eval/add/score/error": error})

    def end(self) -> list[str]:
        self._note(self.course.news(self.at, last=True))
        return self.course.sentences

    def _note(self, news: Sequence[Alert | Calm]) -> None:
        self.news += [(self.at, one.guard, one.severity if isinstance(one, Alert) else "calm") for one in news]


def test_a_run_without_an_update_says_so_and_ends_with_an_error() -> None:
    run = Run()
    run.steps(*[metrics(1.0, dead=1.0)] * (WINDOW + 1))
    (sentence,) = run.end()
    assert run.news == [(WINDOW, NO_UPDATE, "warn"), (WINDOW + 1, NO_UPDATE, "error")]
    assert sentence.startswith("None of the 6 steps has updated the policy: 100% of the groups had equal rewards.")
    assert "Compare samples with the rows' references" in sentence


@pytest.mark.parametrize("steps", [1, 2, WINDOW - 1])
def test_a_short_run_without_an_update_is_judged_at_its_end(steps: int) -> None:
    run = Run()
    run.steps(*[metrics(0.0, dead=1.0) | {"reward/error_share": 0.5}] * steps)
    assert run.news == []
    (sentence,) = run.end()
    assert "50% of the rewards could not be computed" in sentence and run.news == [(steps, NO_UPDATE, "error")]


def test_one_update_suffices_and_groups_without_signal_at_the_end_are_fine() -> None:
    run = Run()
    run.steps(*[metrics(0.0, dead=1.0)] * WINDOW)
    run.steps(metrics(0.3))
    run.steps(*[metrics(1.0, dead=1.0)] * 20)
    assert run.end() == [] and run.news == [(WINDOW, NO_UPDATE, "warn"), (WINDOW + 1, NO_UPDATE, "calm")]


def test_a_policy_destroyed_at_the_first_step_has_collapsed() -> None:
    run = Run()
    run.evaluated(0.6)
    run.steps(metrics(0.6))
    run.evaluated(0.0, 0.0)
    run.steps(metrics(0.0, dead=1.0))
    run.steps(*[metrics(0.0, dead=1.0)] * 3)
    (sentence,) = run.end()
    assert run.news == [(2, COLLAPSE, "error")]
    assert "The reward fell from 0.6 at the start to 0, and the held-out reward from 0.6 to 0" in sentence
    assert "optimizer.learning_rate" in sentence


@pytest.mark.parametrize(
    ("held_out", "rewards"),
    [
        ([0.6, 0.6], [0.6, 0.0, 0.0]),  # harder prompts: the held-out score stays
        ([0.6, 0.0], [0.6, 0.6, 0.7]),  # overfitting is for a guard
        ([0.6], [0.6, 0.0, 0.0]),  # evaluated once: nothing to compare with
        ([0.0, 0.0], [0.0, 0.0, 0.0]),  # never had anything to lose
        ([0.6, 0.5], [0.6, 0.45, 0.4]),  # lower, but not most of it
        ([0.2, 0.9], [0.2, 0.9, 0.9]),
    ],
)
def test_less_than_both_is_no_collapse(held_out: list[float], rewards: list[float]) -> None:
    run = Run()
    for score, reward in zip([*held_out, None, None], rewards, strict=False):
        if score is not None:
            run.evaluated(score)
        run.steps(metrics(reward))
    assert run.end() == [] and run.news == []


def test_few_noisy_samples_are_no_collapse() -> None:
    run = Run()
    run.evaluated(0.3, 0.2)
    run.steps(metrics(0.5), samples=4)
    run.evaluated(0.1, 0.1)
    run.steps(metrics(0.0), samples=4)
    assert run.end() == []


def test_rewards_of_both_signs_are_measured_from_the_worst_seen() -> None:
    def of(mean: float) -> dict[str, float]:
        return metrics(mean, floor=-1.0) | {"critic/score/std": 0.1}

    near, destroyed = Run(), Run()
    for run, after in ((near, -0.1), (destroyed, -1.0)):
        run.evaluated(0.01, 0.01)
        run.steps(of(0.01))
        run.evaluated(after, 0.01)
        run.steps(of(after), of(after))
    assert near.end() == [] and len(destroyed.end()) == 1


def test_scores_of_another_reward_version_are_not_compared() -> None:
    run = Run()
    run.evaluated(10.0)
    run.steps(metrics(0.6) | {"critic/score/mean": 10.0, "critic/score/std": 1.0})
    run.steps(metrics(0.1), reward="r@2")
    run.evaluated(0.1)
    run.steps(metrics(0.1), metrics(0.2), reward="r@2")
    run.evaluated(0.1)
    assert run.end() == []


def test_a_policy_that_recovers_is_calm_again() -> None:
    run = Run()
    run.evaluated(0.6)
    run.steps(metrics(0.6))
    run.evaluated(0.0, 0.0)
    run.steps(metrics(0.0))
    run.evaluated(0.6)
    run.steps(*[metrics(0.6)] * WINDOW)
    assert run.end() == [] and run.news == [(2, COLLAPSE, "error"), (3, COLLAPSE, "calm")]


def test_cut_answers_are_told_with_their_limit() -> None:
    run = Run()
    run.steps(*[metrics(0.1, cut=1.0)] * WINDOW)
    (sentence,) = run.end()
    assert run.news == [(WINDOW, CUT, "warn")]
    assert sentence.startswith("100% of the answers of the last 5 steps were cut at max_tokens = 32")
    assert "Raise rollout.max_tokens" in sentence


@pytest.mark.parametrize(
    ("mean", "cut", "samples"),
    [(0.1, 0.9, SAMPLES), (1.0, 1.0, SAMPLES), (0.1, 1.0, 1)],
    ids=["some are whole", "they succeed all the same", "too few to say"],
)
def test_other_answers_are_not_told_as_cut(mean: float, cut: float, samples: int) -> None:
    run = Run()
    run.steps(*[metrics(mean, cut=cut)] * WINDOW, samples=samples)
    assert run.end() == [] and run.news == []


def test_answers_that_are_whole_again_are_calm() -> None:
    run = Run()
    run.steps(*[metrics(0.1, cut=1.0)] * WINDOW)
    run.steps(metrics(0.1, cut=0.2))
    assert run.end() == [] and run.news[-1] == (WINDOW + 1, CUT, "calm")


def test_a_resumed_run_goes_on_and_a_fork_starts_anew() -> None:
    run = Run()
    run.evaluated(0.6)
    run.steps(metrics(0.6))
    run.evaluated(0.0, 0.0)
    run.steps(metrics(0.0, cut=1.0))
    saved = json.loads(json.dumps(run.course.state(), allow_nan=False))
    resumed, fork = RunCourse("run-1"), RunCourse("run-2")
    resumed.load(saved, 2)
    fork.load(saved, 2)
    assert resumed.sentences == run.course.sentences != []
    assert resumed.news(2) == [], "told before"
    fork.step(3, metrics(0.0, dead=1.0), samples=SAMPLES, reward="r@1")
    assert [one.guard for one in fork.news(3, last=True)] == [NO_UPDATE]


def test_steps_of_an_older_checkpoint_count_as_updates() -> None:
    run = RunCourse("run-1")
    run.load(None, 10)
    run.step(11, metrics(1.0, dead=1.0), samples=SAMPLES, reward="r@1")
    assert run.news(11, last=True) == []


def test_rewards_that_are_not_finite_can_be_saved() -> None:
    run = Run()
    run.steps(metrics(float("inf")), metrics(float("nan")))
    json.dumps(run.course.state(), allow_nan=False)
    assert run.end() == []


def test_steps_in_which_the_policy_rests_are_not_counted() -> None:
    """A critic that warms up for 20 steps is no run without updates."""
    course = RunCourse("run-1")
    for step in range(1, 21):
        course.step(step, metrics(0.5) | {"actor/grad_norm": 0.0}, samples=SAMPLES, reward="r@1", rests=True)
        assert course.news(step) == []
    course.step(21, metrics(0.5), samples=SAMPLES, reward="r@1")
    assert course.news(21, last=True) == []


def rows(loss: float, name: str = "sft/loss", gradient: float = 1.0) -> dict[str, float]:
    """The figures of a step that learns from rows."""
    return {name: loss, "actor/grad_norm": gradient, "examples/taught_share": 0.5}


def held_out(run: Run, loss: float, source: str = "held") -> None:
    run.course.evaluation({f"eval/{source}/loss": loss, f"eval/{source}/loss/last": 9.0})


def test_a_held_out_loss_that_rises_while_training_falls_is_learning_by_heart() -> None:
    run = Run()
    held_out(run, 2.0)
    run.steps(rows(2.0), reward="")
    held_out(run, 1.0)
    run.steps(rows(1.0), rows(0.5), reward="")
    held_out(run, 1.2)
    run.steps(rows(0.1), reward="")
    (sentence,) = run.course.sentences
    assert sentence.startswith("eval/held/loss rose from its best of 1 to 1.2 while the training loss fell from 2 to")
    held_out(run, 1.05)
    run.steps(rows(0.1), reward="")
    assert run.news == [(4, OVERFITS, "warn"), (5, OVERFITS, "calm")]
    assert run.end() == []


def test_a_loss_that_was_best_before_the_first_step_counts() -> None:
    run = Run()
    held_out(run, 1.0)
    run.steps(rows(2.0), rows(1.0), reward="")
    held_out(run, 1.5)
    run.steps(rows(0.5), reward="")
    assert run.news == [(3, OVERFITS, "warn")]


@pytest.mark.parametrize(
    ("losses", "training"),
    [
        ([2.0, 1.0, 1.1], [2.0, 1.0, 0.5]),  # not more than a tenth
        ([2.0, 1.0, 1.5], [2.0, 1.0, 4.0]),  # training is worse as well: no learning by heart
        ([2.0, float("nan"), 1.9], [2.0, 1.0, 0.5]),
        ([2.0, 1.5, 1.0], [2.0, 1.0, 0.5]),
    ],
)
def test_other_losses_are_no_learning_by_heart(losses: list[float], training: list[float]) -> None:
    run = Run()
    for loss, own in zip(losses, training, strict=True):
        held_out(run, loss)
        run.steps(rows(own), reward="")
    assert run.end() == [] and run.news == []


def test_preference_training_is_not_judged_by_its_likelihoods() -> None:
    run = Run()
    for loss in (1.0, 2.0, 3.0):
        held_out(run, loss)
        run.steps(rows(1.0 / loss, "preference/loss"), reward="")
    assert run.end() == [] and run.news == []


@pytest.mark.parametrize("name", ["sft/loss", "preference/loss"])
def test_rows_that_teach_nothing_are_no_matter_of_rewards(name: str) -> None:
    run = Run()
    run.steps(*[rows(0.0, name, gradient=0.0)] * WINDOW, reward="")
    (sentence,) = run.end()
    assert sentence.startswith("None of the 5 steps has updated the policy: its gradient was zero.")
    assert "reward" not in sentence and "groups" not in sentence
    assert run.news == [(WINDOW, NO_UPDATE, "warn"), (WINDOW, NO_UPDATE, "error")]


def test_what_was_seen_of_losses_survives_a_checkpoint() -> None:
    run = Run()
    held_out(run, 1.0)
    run.steps(rows(2.0), rows(1.0), reward="")
    course = RunCourse("run-1")
    course.load(json.loads(json.dumps(run.course.state())), 2)
    after = Run(course)
    held_out(after, 1.5)
    after.steps(rows(0.5), reward="")
    assert after.news == [(1, OVERFITS, "warn")]
