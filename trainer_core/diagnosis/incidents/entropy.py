"""Entropy collapse: all samples of a prompt become the same."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms, change_words, changed_before
from trainer_core.diagnosis.incidents.family import Family, alerts_of, either, guards_on
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_ENTROPY, _SCORE, _GRADIENT = "actor/entropy", "critic/score/mean", "actor/grad_norm"
_DEAD = "groups/zero_advantage_share"
_TARGETS = ("optimizer.", "loss.", "kl.", "rollout.temperature", "reward.definition", "curriculum.", "data.")
_ADVICE = (
    Remedy("Rewind to a checkpoint before it began: entropy does not recover by itself.", "roll_back"),
    Remedy("Lower the learning rate.", "control", "optimizer.learning_rate"),
    Remedy(
        "Raise the upper edge of the ratio band, so that unlikely tokens can become likelier.",
        "control",
        "loss.ratio_max",
    ),
)


def _tell(facts: Symptoms, episode: Episode) -> Told:
    metrics = (_ENTROPY, _SCORE, _DEAD, _GRADIENT)
    same = episode.message("same_answer")
    title = "The same answer for every prompt" if same else "The entropy has collapsed"
    change = changed_before(facts, episode.since, _TARGETS)
    if change is not None:
        return Told(title, change_words(change), "likely", metrics, _ADVICE)
    before, now = facts.usual(_SCORE, episode.since), facts.lately(_SCORE, episode.since, episode.until)
    if before is not None and now is not None and now > before:
        why = (
            f"The reward has risen from {before:.3g} to {now:.3g} in the meantime: the policy has probably settled on"
            " what the reward pays for. Samples and held-out rewards show whether that is the task or a gap in the"
            " reward."
        )
        advice = (Remedy("Read its current answers.", "samples"), *_ADVICE)
        return Told(title, why, "likely", metrics, advice)
    why = "No field was changed shortly before and the reward has not risen: the metrics do not show the cause."
    if same is not None:
        why = f"{same} {why}"
    return Told(title, why, "unknown", metrics, (Remedy("Read its current answers.", "samples"), *_ADVICE))


FAMILY = Family(
    "entropy",
    either(alerts_of("same_answer"), guards_on(_ENTROPY)),
    _tell,
    watched=(_ENTROPY, _SCORE, _GRADIENT, _DEAD),
)
