"""Values that are not finite: log-probabilities, rewards, gradients."""

import math
from collections.abc import Sequence

from trainer_core.diagnosis.incidents.facts import Episode, Sign, Symptoms
from trainer_core.diagnosis.incidents.family import Family
from trainer_core.diagnosis.incidents.incident import Remedy, Severity, Told

_REWARD = "critic/score/mean"
_BOTH = ("rollout_corr/k3_kl", "rollout_corr/kl", "rollout_corr/rollout_is_mean")
_ENGINE, _LEARNER = "rollout_corr/rollout_ppl", "rollout_corr/training_ppl"
_UPDATE = ("actor/loss", "actor/pg_loss", "sft/loss", "preference/loss", "actor/grad_norm")
_TOKENS = Remedy("View the tokens at which it begins.", "tokens")
_DEFINITION = Remedy("Correct the reward, and use its new version.", "control", "reward.definition")
_WATCHED = (_REWARD, *_BOTH, _ENGINE, _LEARNER, "actor/entropy", *_UPDATE)


def _finds(facts: Symptoms) -> Sequence[Sign]:
    """One sign for each metric: from the first known bad value to the last."""
    found = []
    for metric in _WATCHED:
        points = facts.series.get(metric, ())
        odd = [(step, value) for step, value in points if not math.isfinite(value)]
        if not odd:
            continue
        lasts = points[-1][0] == odd[-1][0]
        severity: Severity = "warn" if metric in _UPDATE else "error"
        message = f"{metric} is not a number at {len(odd)} of the steps {odd[0][0]} to {odd[-1][0]}."
        until = None if lasts else odd[-1][0]
        found.append(Sign("metric", metric, severity, odd[0][0], until, message, metric, odd[-1][1]))
    return found


def _tell(facts: Symptoms, episode: Episode) -> Told:
    odd = {sign.metric for sign in episode.signs if sign.since == episode.since}
    roll_back = Remedy("Rewind to a checkpoint before it began.", "roll_back")
    if _ENGINE in odd:
        why = (
            f"The engine's own log-probabilities are NaN or infinite from step {episode.since}, before the learner is"
            " involved: the engine's weights or kernels are broken, or its activations overflow."
        )
        return Told("Log-probabilities are not finite", why, "known", (_ENGINE, _LEARNER), (roll_back, _TOKENS))
    if _LEARNER in odd or odd.intersection(_BOTH) or "actor/entropy" in odd:
        engine = facts.values(_ENGINE, episode.since, episode.since)  # finite: else it would be among the bad values
        side = "The learner's" if _LEARNER in odd or engine else "The engine's or the learner's"
        tail = "The engine's are finite." if engine else "The tokens show which of the two."
        why = f"{side} log-probabilities are not finite from step {episode.since}. {tail}"
        return Told("Log-probabilities are not finite", why, "known", (_LEARNER, *_BOTH), (roll_back, _TOKENS))
    if _REWARD in odd:
        why = f"The mean reward is not a number from step {episode.since}: a component of the reward returned NaN."
        advice = (Remedy("View the reward components of that step.", "samples"), _DEFINITION)
        return Told("The reward is not a number", why, "known", (_REWARD,), advice)
    parts = "log-probabilities and rewards are" if facts.starting(_REWARD) else "earlier updates were"
    why = (
        f"The update is not finite at step {episode.since}, although {parts}: its gradient"
        " overflowed. Such an update is skipped. The metrics do not show which sample caused it."
    )
    advice = (
        Remedy("Lower the learning rate if it happens again.", "control", "optimizer.learning_rate"),
        Remedy("Lower the gradient norm limit.", "control", "optimizer.max_grad_norm"),
    )
    return Told("A gradient is not finite", why, "known", _UPDATE, advice)


def _takes(sign: Sign) -> bool:
    return sign.source == "guard" and sign.value is not None and math.isnan(sign.value)


FAMILY = Family("not_finite", _takes, _tell, _finds, _WATCHED)
