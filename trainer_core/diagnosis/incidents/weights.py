"""Engines whose weights differ from the learner's: stale, mixed up or corrupted tensors."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family, alerts_of
from trainer_core.diagnosis.incidents.incident import Remedy, Told

_READ_BACK = "in the engine"
_LACKS = "the engine's answers lack"
_NO_NUMBER = "a score is not a number"
_WATCHED = ("probe/mean_abs_diff", "probe/p95_abs_diff", "probe/noise_floor", "probe/weights_read_share")


def _tell(facts: Symptoms, episode: Episode) -> Told:
    message = episode.message("weights_differ") or ""
    if _READ_BACK in message and "not as published" in message:
        why, sure = "Tensors read back from the engine differ from those that the learner published.", True
    elif _LACKS in message:
        why, sure = "The engine still computes with weights from before the last update, at least in part.", True
    elif _NO_NUMBER in message:
        why, sure = "The engine's scores are not finite: its weights or a kernel are broken.", True
    else:
        why = (
            "The tensors that were read back match, but the scores differ by more than the initial noise: a kernel may"
            " compute differently, or a tensor that cannot be read back may be wrong."
        )
        sure = False
    return Told(
        "An engine's weights differ from the learner's",
        f"{why} {message}",
        "known" if sure else "likely",
        _WATCHED,
        (
            Remedy("Resume: new engines start from the checkpoint and are probed again.", "resume"),
            Remedy(
                "If the engine's version, the machine or a number type has changed, recalibrate the numerics noise.",
                "measure_noise",
            ),
        ),
    )


FAMILY = Family("weights", alerts_of("weights_differ"), _tell, watched=_WATCHED)
