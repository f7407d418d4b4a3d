"""Prompts that the learner renders differently from what the engine saw, and prompts without the assistant's turn."""

from collections.abc import Sequence

from trainer_core.diagnosis.incidents.facts import Episode, Sign, Symptoms
from trainer_core.diagnosis.incidents.family import Family, alerts_of
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_METRIC = "rollout_corr/cause/template"
LEAST = 0.01
"""Nats per token from which it is reported: if both sides have the same tokens, it is exactly 0."""


def _finds(facts: Symptoms) -> Sequence[Sign]:
    points = facts.series.get(_METRIC, ())
    above = [step for step, value in points if value >= LEAST]
    if not above:
        return ()
    until = None if points[-1][1] >= LEAST else above[-1]
    last = next(value for step, value in reversed(points) if value >= LEAST)
    message = f"Re-rendering prompts changes the learner's log-probabilities by {last:.3g} nats per token."
    return (Sign("metric", _METRIC, "error", above[0], until, message, _METRIC, last),)


def _tell(facts: Symptoms, episode: Episode) -> Told:
    turn = episode.message("no_generation_prompt")
    if turn is not None:
        why = f"{turn} Answers then continue the user's message."
        advice = (Remedy("Fork with a template that begins the assistant's turn.", "roll_back"), _SAMPLES)
        return Told("The chat template adds no generation prompt", why, "known", (_METRIC,), advice)
    why = (
        f"{episode.signs[0].message} If both sides render the same tokens this is 0: the prompts' template or tokenizer"
        " is not the policy's own, or text was tokenised twice."
    )
    advice = (Remedy("Compare data.format with the policy's chat template, and fork with it.", "roll_back"), _SAMPLES)
    return Told("Engine and learner render prompts differently", why, "known", (_METRIC, "rollout_corr/k3_kl"), advice)


_SAMPLES = Remedy("View a prompt as the policy saw it.", "samples")
FAMILY = Family("template", alerts_of("no_generation_prompt"), _tell, _finds, (_METRIC, "rollout_corr/k3_kl"))
