"""Steps that take far longer than usual."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms, change_words, changed_before
from trainer_core.diagnosis.incidents.family import Family, guards_on
from trainer_core.diagnosis.incidents.incident import Told

_PARTS = {
    "timing_s/generate": "generation",
    "timing_s/reward": "rewards",
    "timing_s/learn": "learning",
    "timing_s/sync": "the transfer of weights",
}
_METRICS = ("timing_s/step", *_PARTS, "response_length/mean")
_TARGETS = ("rollout.max_tokens", "thinking.", "data.", "curriculum.", "reward.definition")


def _tell(facts: Symptoms, episode: Episode) -> Told:
    title = "Steps take far longer than usual"
    change = changed_before(facts, episode.since, _TARGETS)
    if change is not None:
        return Told(title, change_words(change), "likely", _METRICS)
    grown = {}
    for name, part in _PARTS.items():
        before, now = facts.usual(name, episode.since), facts.lately(name, episode.since, episode.until)
        if before is not None and now is not None:
            grown[part] = now - before
    part = max(grown, key=lambda name: grown[name], default="")
    if grown.get(part, 0.0) <= 0:
        return Told(title, "The parts of a step were not reported, so the slow one is unknown.", "unknown", _METRICS)
    why = f"Most of it is {part}: {grown[part]:.1f} s more than before. The metrics do not show why."
    return Told(title, why, "likely", _METRICS)


FAMILY = Family("slow", guards_on("timing_s/", "perf/"), _tell, watched=_METRICS)
