"""A judge that rewards length."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family, alerts_of, either, guards_on
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_BIAS, _MEAN, _SCORE = "reward/length_bias", "response_length/mean", "critic/score/mean"
_METRICS = (_BIAS, _MEAN, _SCORE)


def _tell(facts: Symptoms, episode: Episode) -> Told:
    bias = facts.lately(_BIAS, episode.since, episode.until)
    what = "shorter" if bias is not None and bias < 0 else "longer"
    why = (
        f"Measured: among completions with equal grades by the rules, the judge grades {what} ones higher. Only the"
        " policy's lengths show whether it follows."
    )
    advice = (
        Remedy("Use a reward whose rubric says that length does not count.", "control", "reward.definition"),
        Remedy("Fork with reward.length_bias.reaction normalise or recalibrate.", "roll_back"),
        Remedy("Compare long and short samples of one prompt.", "samples"),
    )
    return Told("The judge pays for length", why, "known", _METRICS, advice)


FAMILY = Family("judge_bias", either(alerts_of("length_bias"), guards_on(_BIAS)), _tell, watched=_METRICS)
