"""Rewards that could not be computed, or that count as 0 for that reason."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family, alerts_of, either, guards_on
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_ERRORS, _FORGIVEN = "reward/error_share", "reward/forgiven_share"


def _tell(facts: Symptoms, episode: Episode) -> Told:
    said = episode.message("reward_error")
    advice = (
        Remedy("View the samples whose reward failed.", "samples", "error"),
        Remedy("Correct the reward, and use its new version.", "control", "reward.definition"),
    )
    forgiven = facts.lately(_FORGIVEN, episode.since, episode.until) or 0.0
    title = "Failed rewards count as 0" if forgiven > 0 else "Rewards cannot be computed"
    effect = "They count as 0, which the policy cannot distinguish from a wrong answer." if forgiven > 0 else ""
    if said is None:
        why = f"The failed samples show the reason. {effect}".strip()
        return Told(title, why, "unknown", (_ERRORS, _FORGIVEN, "critic/score/mean"), advice)
    why = f"The first failure: {said.rstrip('.')}. {effect}".strip()
    return Told(title, why, "known", (_ERRORS, _FORGIVEN, "critic/score/mean"), advice)


FAMILY = Family(
    "reward_errors",
    either(alerts_of("reward_error"), guards_on(_ERRORS, _FORGIVEN)),
    _tell,
    watched=(_ERRORS, _FORGIVEN, "critic/score/mean"),
    lasts=(_ERRORS, _FORGIVEN),
)
