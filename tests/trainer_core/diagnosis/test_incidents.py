"""Each kind of incident: told by the facts that show it, and not by those of its healthy twin."""

import math
from typing import Any

import pytest

from trainer_core.diagnosis.incidents import (
    Failure,
    Incident,
    KnobTurn,
    Phase,
    Sign,
    Symptoms,
    incidents,
    is_watched,
)

ENTROPY, KL, REWARD = "actor/entropy", "rollout_corr/k3_kl", "critic/score/mean"
STEPS = 60
BEGUN = 41


def flat(value: float, then: float | None = None) -> list[tuple[int, float]]:
    """A metric that is constant, and from step 41 on another constant."""
    return [(step, value if then is None or step < BEGUN else then) for step in range(1, STEPS + 1)]


def guard(name: str, metric: str, value: float | None = 0.0, **more: Any) -> Sign:
    message = f"{metric} is {value}, for 10 steps"
    return Sign("guard", name, "error", BEGUN, more.pop("until", None), message, metric, value, **more)


def alert(code: str, message: str = "Why it is so.", since: int = BEGUN, **more: Any) -> Sign:
    return Sign("alert", code, more.pop("severity", "warn"), since, more.pop("until", None), message, **more)


def facts(*signs: Sign, series: dict[str, list[tuple[int, float]]] | None = None, **more: Any) -> Symptoms:
    healthy = {
        REWARD: flat(0.5),
        ENTROPY: flat(0.7),
        KL: flat(0.001),
        "actor/grad_norm": flat(1.0),
        "reward/error_share": flat(0.0),
        "groups/zero_advantage_share": flat(0.2),
        "response_length/mean": flat(200.0),
        "rollout_corr/cause/numerics": flat(0.002)[19::20],
        "rollout_corr/cause/template": flat(0.0)[19::20],
    }
    return Symptoms(step=STEPS, signs=signs, series=healthy | (series or {}), **more)


def only(found: list[Incident]) -> Incident:
    assert len(found) == 1, [one.title for one in found]
    return found[0]


def test_a_healthy_run_has_none() -> None:
    assert incidents(facts()) == []


def test_an_unknown_alert_is_no_incident() -> None:
    assert incidents(facts(alert("stage_begins"))) == []


# The engines' weights.


@pytest.mark.parametrize(
    ("message", "confidence", "words"),
    [
        ("1 of 80 tensors in the engine is not as published: lm_head.weight is of version 6", "known", "read back"),
        ("the engine's answers lack 98% of what version 6 did not yet have", "known", "before the last update"),
        ("a score is not a number, at token 3 of probe 0", "known", "not finite"),
        ("engine and learner differ by 0.4 nats on average, where the noise is 0.01", "likely", "may be wrong"),
    ],
)
def test_other_weights_are_named_by_what_the_probe_has_found(message: str, confidence: str, words: str) -> None:
    found = only(incidents(facts(alert("weights_differ", message, severity="error"))))
    assert (found.kind, found.severity, found.since, found.until) == ("weights", "error", BEGUN, None)
    assert found.confidence == confidence
    assert words in found.cause
    assert message in found.cause
    assert [one.act for one in found.advice] == ["resume", "measure_noise"]


def test_weights_that_were_loaded_anew_are_over() -> None:
    found = only(incidents(facts(alert("weights_differ", "x", until=BEGUN))))
    assert (found.since, found.until) == (BEGUN, BEGUN)


# What is no number.


def test_log_probabilities_of_the_engine_that_are_no_numbers() -> None:
    odd = {"rollout_corr/rollout_ppl": flat(2.0, math.nan), KL: flat(0.001, math.nan)}
    found = only(incidents(facts(guard("mismatch KL", KL, math.nan), series=odd)))
    assert (found.kind, found.title, found.since) == ("not_finite", "Log-probabilities are not finite", BEGUN)
    assert "The engine's own" in found.cause
    assert found.confidence == "known"
    assert {sign.source for sign in found.signs} == {"guard", "metric"}
    shown = {one.metric: one for one in found.evidence}["rollout_corr/rollout_ppl"]
    assert (shown.value, shown.usual) == (None, 2.0)


def test_log_probabilities_of_the_learner_that_are_no_numbers() -> None:
    odd = {"rollout_corr/rollout_ppl": flat(2.0), "rollout_corr/training_ppl": flat(2.0, math.inf)}
    found = only(incidents(facts(series=odd)))
    assert "The learner's log-probabilities" in found.cause
    assert "The engine's are finite." in found.cause


def test_a_gradient_that_is_no_number_once_is_over() -> None:
    once = flat(1.0)
    once[29] = (30, math.nan)
    found = only(incidents(facts(series={"actor/grad_norm": once})))
    assert (found.title, found.severity) == ("A gradient is not finite", "warn")
    assert (found.since, found.until) == (30, 30)


def test_a_reward_that_is_no_number() -> None:
    found = only(incidents(facts(series={REWARD: flat(0.5, math.nan)})))
    assert found.title == "The reward is not a number"


# Engine and learner.


@pytest.mark.parametrize("cause", ["numerics", "staleness", "truncation", "template", "unexplained"])
def test_a_mismatch_is_put_on_the_cause_that_rescoring_has_measured(cause: str) -> None:
    measured = {f"rollout_corr/cause/{name}": [(40, 0.01)] for name in ("numerics", "staleness", "truncation")}
    measured[f"rollout_corr/cause/{cause}"] = [(40, 0.9)]
    found = only(incidents(facts(guard("mismatch KL", KL, 0.4, high=0.1), series={KL: flat(0.001, 0.4)} | measured)))
    assert (found.kind, found.title) == ("mismatch", f"Engine and learner disagree: {cause}")
    assert found.confidence == "known"
    first = found.evidence[0]
    assert (first.metric, first.value, first.usual, first.high) == (KL, 0.4, 0.001, 0.1)


def test_a_mismatch_without_one_large_cause_is_a_guess() -> None:
    halves = {"rollout_corr/cause/numerics": [(45, 0.1)], "rollout_corr/cause/staleness": [(45, 0.11)],
              "rollout_corr/cause/truncation": [(45, 0.1)]}  # fmt: skip
    found = only(incidents(facts(guard("mismatch KL", KL, 0.4), series=halves)))
    assert found.confidence == "likely"
    assert "No cause is more than half of it" in found.cause


def test_a_mismatch_without_a_rescoring_has_no_cause() -> None:
    none: dict[str, list[tuple[int, float]]] = {
        "rollout_corr/cause/numerics": [],
        "rollout_corr/cause/template": [],
    }
    found = only(incidents(facts(guard("mismatch", "rollout_corr/rollout_is_mean", 3.0), series=none)))
    assert found.confidence == "unknown"
    assert "diagnosis.every_steps" in found.cause


def test_guards_that_object_to_one_thing_are_one_incident() -> None:
    signs = (guard("mismatch KL", KL, 0.4), guard("mismatch", "rollout_corr/rollout_is_mean", 3.0))
    found = only(incidents(facts(*signs)))
    assert [sign.name for sign in found.signs] == ["mismatch KL", "mismatch"]


def test_prompts_that_are_rendered_in_two_ways() -> None:
    found = only(incidents(facts(series={"rollout_corr/cause/template": [(20, 0.0), (40, 0.3), (60, 0.4)]})))
    assert (found.kind, found.since, found.until, found.confidence) == ("template", 40, None, "known")
    assert "0.4 nats per token" in found.cause


def test_a_template_that_was_mended_is_over() -> None:
    found = only(incidents(facts(series={"rollout_corr/cause/template": [(20, 0.2), (40, 0.0)]})))
    assert (found.since, found.until) == (20, 20)


def test_a_template_without_the_assistants_turn() -> None:
    found = only(incidents(facts(alert("no_generation_prompt", "It renders the same prompt.", since=0))))
    assert found.title == "The chat template adds no generation prompt"


# Rewards.


def test_rewards_that_raise() -> None:
    shares = {"reward/error_share": flat(0.0, 0.4)}
    signs = (alert("reward_error", "3 of this step, excluded from the loss: KeyError: 'answer'"),
             guard("reward errors", "reward/error_share", 0.4, high=0.05))  # fmt: skip
    found = only(incidents(facts(*signs, series=shares)))
    assert (found.kind, found.title, found.until) == ("reward_errors", "Rewards cannot be computed", None)
    assert "KeyError: 'answer'" in found.cause
    assert (found.advice[0].act, found.advice[0].target) == ("samples", "error")


def test_rewards_that_count_as_0_because_they_raise() -> None:
    found = only(incidents(facts(alert("reward_error"), series={"reward/forgiven_share": flat(0.0, 0.4)})))
    assert found.title == "Failed rewards count as 0"


def test_rewards_that_are_computed_again_are_over() -> None:
    shares = {"reward/error_share": [(step, 0.3 if 41 <= step <= 50 else 0.0) for step in range(1, STEPS + 1)]}
    found = only(incidents(facts(alert("reward_error"), series=shares)))
    assert (found.since, found.until) == (41, 50)


def test_failures_without_a_reason_have_no_cause() -> None:
    found = only(incidents(facts(guard("reward errors", "reward/error_share", 0.4))))
    assert found.confidence == "unknown"


def test_a_judge_that_pays_for_length() -> None:
    bias = {"reward/length_bias": flat(0.0, -0.5)}
    signs = (alert("length_bias", metric="reward/length_bias", low=-0.3, high=0.3),
             guard("judge bias", "reward/length_bias", -0.5, low=-0.3, high=0.3))  # fmt: skip
    found = only(incidents(facts(*signs, series=bias)))
    assert (found.kind, found.until) == ("judge_bias", None)
    assert "grades shorter ones higher" in found.cause


def test_a_judge_that_pays_for_length_no_more_is_over() -> None:
    bias = {"reward/length_bias": [(step, 0.5 if step < 50 else 0.1) for step in range(41, STEPS + 1)]}
    found = only(incidents(facts(alert("length_bias", metric="reward/length_bias", low=-0.3, high=0.3), series=bias)))
    assert (found.since, found.until) == (41, 49)


@pytest.mark.parametrize(
    ("rate", "confidence", "words"),
    [
        (0.97, "known", "too easy"),
        (0.02, "likely", "too hard"),
        (0.5, "likely", "within a prompt all get the same reward"),
    ],
)
def test_dead_groups_are_explained_by_the_pass_rate(rate: float, confidence: str, words: str) -> None:
    series = {"groups/zero_advantage_share": flat(0.2, 1.0), "train/pass_rate/math": flat(0.5, rate)}
    found = only(incidents(facts(guard("dead groups", "groups/zero_advantage_share", 1.0), series=series)))
    assert (found.kind, found.confidence) == ("no_signal", confidence)
    assert words in found.cause


def test_dead_groups_without_pass_rates_have_no_cause() -> None:
    found = only(incidents(facts(guard("dead groups", "groups/zero_advantage_share", 1.0))))
    assert found.confidence == "unknown"


def test_a_constant_reward_is_told_in_the_workers_words() -> None:
    signs = (alert("constant_reward", "All 320 rewards are 0. 0 of 320 answers hold a \\boxed{}."), alert("no_signal"))
    found = only(incidents(facts(*signs)))
    assert found.title == "The reward is constant"
    assert found.cause == "All 320 rewards are 0. 0 of 320 answers hold a \\boxed{}."


# The policy.


def test_entropy_that_collapses_after_a_change_names_it() -> None:
    change = KnobTurn("optimizer.learning_rate", 1e-6, 1e-3, 38, "Ann")
    found = only(incidents(facts(guard("entropy collapse", ENTROPY, 0.01, low=0.05), changes=(change,))))
    assert (found.kind, found.confidence, found.changes) == ("entropy", "likely", (change,))
    assert "Ann changed optimizer.learning_rate from 1e-06 to 0.001 at step 38" in found.cause
    assert "not proven" in found.cause
    assert found.advice[0].act == "roll_back"


def test_a_change_long_before_or_of_another_field_is_not_blamed() -> None:
    changes = (
        KnobTurn("optimizer.learning_rate", 1e-6, 1e-3, 3, "Ann"),
        KnobTurn("checkpoint.every", 5, 9, 40, "Ann"),
    )
    found = only(incidents(facts(guard("entropy collapse", ENTROPY, 0.01), changes=changes)))
    assert found.confidence == "unknown"
    assert [change.target for change in found.changes] == ["checkpoint.every"]


def test_entropy_that_collapses_while_the_reward_rises() -> None:
    found = only(incidents(facts(guard("entropy collapse", ENTROPY, 0.01), series={REWARD: flat(0.2, 0.9)})))
    assert found.confidence == "likely"
    assert "from 0.2 to 0.9" in found.cause


def test_entropy_that_has_come_back_is_over() -> None:
    found = only(incidents(facts(guard("entropy collapse", ENTROPY, 0.01, until=52))))
    assert found.until == 52


def test_responses_that_have_grown_into_their_limit() -> None:
    series = {"response_length/mean": flat(200.0, 900.0), "response_length/clip_ratio": flat(0.0, 0.8)}
    found = only(incidents(facts(guard("length runaway", "response_length/clip_ratio", 0.8), series=series)))
    assert (found.kind, found.confidence) == ("length", "likely")
    assert "from 200 to 900 tokens" in found.cause


def test_a_limit_that_was_always_too_low() -> None:
    found = only(incidents(facts(guard("length runaway", "response_length/clip_ratio", 0.8))))
    assert found.confidence == "unknown"


def test_thinking_that_is_never_closed() -> None:
    found = only(incidents(facts(alert("thinking_open", "30 of 32 never close their thinking."), alert("all_cut"))))
    assert (found.title, found.cause) == ("Thinking is never closed", "30 of 32 never close their thinking.")


def test_empty_answers() -> None:
    assert only(incidents(facts(alert("empty_answers")))).kind == "answers"


def test_a_held_out_reward_that_falls() -> None:
    found = only(incidents(facts(guard("held-out falls", REWARD, 0.4, form="held_out_falls"))))
    assert (found.kind, found.confidence) == ("held_out", "likely")


def test_a_gradient_that_jumps_with_the_mismatch() -> None:
    series = {"actor/grad_norm": flat(1.0, 50.0), KL: flat(0.001, 0.05)}
    found = only(incidents(facts(guard("gradient spike", "actor/grad_norm", 50.0), series=series)))
    assert (found.kind, found.confidence) == ("gradient", "likely")
    assert found.advice[0].act == "tokens"


def test_slow_steps_name_the_part_that_is_slow() -> None:
    series = {"timing_s/step": flat(10.0, 40.0), "timing_s/reward": flat(1.0, 30.0), "timing_s/learn": flat(4.0, 5.0)}
    found = only(incidents(facts(guard("spend", "timing_s/step", 40.0), series=series)))
    assert found.kind == "slow"
    assert "Most of it is rewards: 29.0 s more" in found.cause


def test_a_guard_on_any_other_metric_says_that_the_cause_is_not_known() -> None:
    found = only(incidents(facts(guard("mine", "curriculum/fallbacks", 9.0))))
    assert (found.kind, found.title, found.confidence) == ("guard", "mine: a guard is violated", "unknown")


# The worker.


def test_a_stuck_run_whose_worker_lives_names_the_phase() -> None:
    phase = Phase("generate", silent_s=900.0, done=3, total=8, usual_s=40.0, heard_s=1.0)
    found = only(incidents(facts(phase=phase)))
    assert (found.kind, found.since, found.confidence) == ("stuck", STEPS, "likely")
    assert "in the phase generate, which ends within 40 s in 95 % of steps; 3 of 8 are done" in found.cause
    assert [one.act for one in found.advice] == ["roll_back"]


def test_a_stuck_run_whose_worker_is_silent() -> None:
    found = only(incidents(facts(phase=Phase("learn", 900.0, 0, 0, None, 300.0))))
    assert (found.confidence, "has not reported for 300 s" in found.cause) == ("known", True)


def test_a_process_that_died_and_was_replaced_is_over() -> None:
    found = only(incidents(facts(alert("process_died", "Rank 1 is gone.", until=BEGUN, severity="error"))))
    assert (found.kind, found.until, found.confidence) == ("restart", BEGUN, "unknown")


def test_a_checkpoint_that_cannot_be_written() -> None:
    found = only(incidents(facts(alert("not_saved", "No space left on device."))))
    assert (found.kind, found.cause) == ("not_saved", "No space left on device.")


@pytest.mark.parametrize(
    ("reason", "title"),
    [
        ("OutOfMemoryError: CUDA out of memory.", "The run has failed: out of memory"),
        ("Row 3 has a prompt of 900 tokens; a prompt may have 1 to 64.", "The run has failed: a prompt is too long"),
        (
            "step 3, update 1 of 1: the loss or its gradient is not finite; the optimizer step was not taken. The "
            "largest reward is 3e+38 (prompt add:7, sample 2 of group 3-1).",
            "The run has failed: an update is not finite",
        ),
        ("KeyError: 'x'", "The run has failed"),
    ],
)  # fmt: skip
def test_a_failed_run(reason: str, title: str) -> None:
    found = only(incidents(facts(failure=Failure(reason, 12))))
    assert (found.kind, found.title, found.since, found.until) == ("failure", title, 12, None)
    assert found.cause.startswith(reason)


# All together.


def test_what_lasts_comes_first_and_what_came_twice_is_two_incidents() -> None:
    signs = (
        guard("spend", "timing_s/step", 9.0),
        Sign("guard", "entropy collapse", "error", 5, 9, "m", ENTROPY, 0.01),
        Sign("guard", "entropy collapse", "error", 30, 33, "m", ENTROPY, 0.01),
        Sign("guard", "length runaway", "warn", 50, None, "m", "response_length/clip_ratio", 0.9),
    )
    found = incidents(facts(*signs))
    assert [(one.kind, one.since, one.until) for one in found] == [
        ("slow", 41, None), ("length", 50, None), ("entropy", 30, 33), ("entropy", 5, 9),
    ]  # fmt: skip


def test_what_is_read_of_a_run() -> None:
    assert is_watched("train/pass_rate/math")
    assert is_watched(ENTROPY)
    assert not is_watched("difficulty/share/0-20")
