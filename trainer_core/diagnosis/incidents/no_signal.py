"""Groups without a signal: all samples of a prompt have the same reward, so nothing is learned from them."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family, alerts_of, either, guards_on, named
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_DEAD, _RATES, _SCORE = "groups/zero_advantage_share", "train/pass_rate/", "critic/score/mean"
_ENTROPY = "actor/entropy"
_GRADIENT = "actor/grad_norm"
_OF_ROWS = ("examples/taught_share", "sft/loss", "preference/loss")
"""Metrics that runs report which learn from rows, in place of groups and rewards."""
_EASY, _HARD = 0.9, 0.1
"""Pass rate from which the data is called too easy, and the one below which it is called too hard."""
_CODES = ("constant_reward", "no_signal", "no_place", "starved")
_SAMPLES = Remedy("Compare the samples of a dead group with the reference.", "samples", "dead")
_BAND = Remedy("Sample prompts of medium difficulty.", "control", "curriculum.min_pass_rate")


def _tell(facts: Symptoms, episode: Episode) -> Told:
    said = episode.message("constant_reward", "no_signal", "no_place") or episode.message("no update")
    if not facts.starting(_DEAD) and (rows := episode.message("no update")) is not None:
        return Told("No step has updated the policy", rows, "known", (_GRADIENT, *_OF_ROWS))
    names = facts.starting(_RATES)
    metrics = (_DEAD, *names, _SCORE, _ENTROPY)
    title = "The reward is constant" if episode.message("constant_reward") else "Groups have no signal"
    if said is not None:  # the worker has read the answers themselves and says what they lack
        return Told(title, said, "known", metrics, (_SAMPLES, _BAND))
    lately = [facts.lately(name, episode.since, episode.until) for name in names]
    rates = [rate for rate in lately if rate is not None]
    mean = sum(rates) / len(rates) if rates else None
    if mean is None:
        why = "No pass rates are reported, so it is unknown whether the prompts are too easy or too hard."
        return Told(title, why, "unknown", metrics, (_SAMPLES, _BAND))
    if mean >= _EASY:
        why = f"{mean:.0%} of samples succeed: the prompts have become too easy for the policy."
        return Told(title, why, "known", metrics, (_BAND, _SAMPLES))
    if mean <= _HARD:
        why = (
            f"{mean:.0%} of samples succeed: the prompts are too hard, or right answers are not in the form that the"
            " grader reads. Samples show which."
        )
        return Told(title, why, "likely", metrics, (_SAMPLES, _BAND))
    why = (
        f"{mean:.0%} of samples succeed over all prompts, but within a prompt all get the same reward: some prompts are"
        " too easy and the rest too hard, or all samples of a prompt are the same text. Entropy and samples show which."
    )
    advice = (_SAMPLES, _BAND, Remedy("Raise the sampling temperature.", "control", "rollout.temperature"))
    return Told(title, why, "likely", metrics, advice)


FAMILY = Family(
    "no_signal",
    either(alerts_of(*_CODES), named("no update"), guards_on(_DEAD)),
    _tell,
    watched=(_DEAD, _RATES, _SCORE, _ENTROPY, _GRADIENT, *_OF_ROWS),
    lasts=(_DEAD,),
)
