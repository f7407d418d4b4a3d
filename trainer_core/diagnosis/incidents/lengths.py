"""Responses that hit their limit, or never stop thinking."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms, change_words, changed_before
from trainer_core.diagnosis.incidents.family import Family, alerts_of, either, guards_on, named
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_CUT, _MEAN, _SCORE = "response_length/clip_ratio", "response_length/mean", "critic/score/mean"
_BIAS, _REPEATED = "reward/length_bias", "rollouts/repetition_share"
_METRICS = (_CUT, _MEAN, _SCORE, _BIAS, _REPEATED)
_TARGETS = ("rollout.max_tokens", "thinking.", "reward.definition", "rollout.temperature", "optimizer.")
_ADVICE = (
    Remedy("View the truncated samples.", "samples", "cut"),
    Remedy("Raise the maximum length.", "control", "rollout.max_tokens"),
    Remedy("Set a thinking budget, so that thinking ends in time.", "control", "thinking.budget"),
)
_GROWN = 1.2


def _tell(facts: Symptoms, episode: Episode) -> Told:
    title = "Thinking is never closed" if episode.message("thinking_open") else "Responses reach their limit"
    said = episode.message("thinking_open", "all_cut") or episode.message("answers cut")
    change = changed_before(facts, episode.since, _TARGETS)
    if change is not None:
        return Told(title, change_words(change), "likely", _METRICS, _ADVICE)
    if said is not None:
        return Told(title, said, "known", _METRICS, _ADVICE)
    before, now = facts.usual(_MEAN, episode.since), facts.lately(_MEAN, episode.since, episode.until)
    if before is not None and now is not None and now > _GROWN * before:
        why = (
            f"Responses have grown from {before:.0f} to {now:.0f} tokens. The reward probably pays for length, or"
            " ignores it; the metrics do not prove it."
        )
        return Told(title, why, "likely", _METRICS, _ADVICE)
    why = "Responses have not grown shortly before: the limit may always have been too low. Truncated samples show it."
    return Told(title, why, "unknown", _METRICS, _ADVICE)


FAMILY = Family(
    "length",
    either(alerts_of("all_cut", "thinking_open"), named("answers cut"), guards_on("response_length/")),
    _tell,
    watched=_METRICS,
)
