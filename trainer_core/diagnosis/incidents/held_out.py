"""A held-out reward that falls while the training reward rises, or a held-out loss that rises while that of training
falls."""

from trainer_core.diagnosis.incidents.facts import Episode, Sign, Symptoms
from trainer_core.diagnosis.incidents.family import Family
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_SCORE, _LOSS = "critic/score/mean", "sft/loss"
_OVERFITS = "overfits"
"""Name of what the run itself finds; see ``steering.course``."""


def _takes(sign: Sign) -> bool:
    return sign.source == "guard" and (sign.form == "held_out_falls" or sign.name == _OVERFITS)


def _tell(facts: Symptoms, episode: Episode) -> Told:
    back = Remedy("Rewind to a checkpoint before it began.", "roll_back")
    said = episode.message(_OVERFITS)
    if said is not None:
        losses = [name for name in facts.starting("eval/") if name.endswith("/loss")]
        slower = Remedy("Lower the learning rate.", "control", "optimizer.learning_rate")
        return Told("The held-out loss rises", said, "known", (*losses, _LOSS), (back, slower))
    held_out = [name for name in facts.starting("eval/") if name.endswith("/score/mean")]
    why = (
        "Learning does not transfer to held-out prompts: the policy memorises the training prompts, or exploits gaps in"
        " the reward. Samples with a high reward show which."
    )
    advice = (
        Remedy("Read samples with a high reward.", "samples"),
        back,
        Remedy("Correct the reward, and use its new version.", "control", "reward.definition"),
    )
    return Told("The held-out reward falls", why, "likely", (*held_out, _SCORE), advice)


FAMILY = Family("held_out", _takes, _tell, watched=("eval/", _SCORE, _LOSS))
