"""Disagreement of engine and learner about sampled tokens, attributed by the last rescoring at frozen weights."""

from trainer_core.diagnosis.incidents.facts import Episode, Symptoms
from trainer_core.diagnosis.incidents.family import Family, guards_on
from trainer_core.diagnosis.incidents.incident import Remedy, Told

CAUSE = "rollout_corr/cause/"
_CAUSES = ("numerics", "staleness", "truncation", "template", "unexplained")
_MOST = 0.5
"""Least share of the difference for which one cause is named."""
_BACK = 50
"""Steps before an episode in which a rescoring still counts for it: they are made only from time to time."""
_METRICS = (
    "rollout_corr/k3_kl",
    "rollout_corr/rollout_is_mean",
    "rollout_corr/rollout_is_eff_sample_size",
    "staleness/mean",
    "staleness/max",
)
_SAYS = {
    "numerics": "engine and learner compute different numbers from the same weights: precision, kernels, or a weight "
    "that the probe cannot read back",
    "staleness": "tokens are older than the weights that learn from them, and the weights have moved far since",
    "truncation": "top-k and top-p truncate the sampled distribution, and the learner uses all of it",
    "template": "the learner renders the prompts differently from the engine",
    "unexplained": "at the same weights the engine does not reproduce its log-probabilities: it had other weights while"
    " sampling, or tokens were changed in transit",
}
_ADVICE = {
    "numerics": (Remedy("Compare rollout.engine with the learner's formats (docs/precision.md), and fork with the same"
                        " for both.", "roll_back"),),
    "staleness": (
        Remedy("Lower the learning rate: weights then move less between sampling and learning.", "control",
               "optimizer.learning_rate"),
        Remedy("Fork with a smaller rollout.mode.max_staleness.", "roll_back"),
    ),
    "truncation": (Remedy("Fork with rollout.top_p 1 and no rollout.top_k.", "roll_back"),),
    "template": (Remedy("Fork with the chat template that the engine uses: see data.format.", "roll_back"),),
    "unexplained": (Remedy("Rewind to a checkpoint before it began: new engines load its weights.", "roll_back"),),
}  # fmt: skip
_TOKENS = Remedy("View the tokens on which they disagree most.", "tokens")
_WEIGHT = Remedy("Bound the importance weights until then.", "control", "corrections.truncated_is.ratio_max")


def shares(facts: Symptoms, episode: Episode) -> dict[str, float]:
    """Share of the difference by cause, by the newest rescoring in the episode or shortly before it; empty without
    one."""
    last = facts.step if episode.until is None else episode.until
    found = {name: facts.values(CAUSE + name, episode.since - _BACK, last)[-1:] for name in _CAUSES}
    sizes = {name: values[0] for name, values in found.items() if values}
    total = sum(sizes.values())
    return {name: size / total for name, size in sizes.items()} if 0 < total < float("inf") else {}


def _tell(facts: Symptoms, episode: Episode) -> Told:
    title = "Engine and learner disagree"
    found = shares(facts, episode)
    if not found:
        why = (
            "There was no rescoring at frozen weights around then, so the cause is unknown. Set diagnosis.every_steps"
            " to rescore some tokens on both sides regularly."
        )
        return Told(title, why, "unknown", _METRICS, (_TOKENS, _WEIGHT))
    largest = max(found, key=lambda name: found[name])
    measured = ", ".join(f"{name} {share:.0%}" for name, share in sorted(found.items(), key=lambda one: -one[1]))
    metrics = (*_METRICS[:1], CAUSE + largest, *_METRICS[1:])
    if found[largest] < _MOST:
        why = f"No cause is more than half of it: {measured}, by rescoring at frozen weights."
        return Told(title, why, "likely", metrics, (_TOKENS, _WEIGHT))
    why = (
        f"Rescoring at frozen weights attributes {found[largest]:.0%} of it to {largest}: {_SAYS[largest]}."
        f" ({measured}.)"
    )
    return Told(f"{title}: {largest}", why, "known", metrics, (*_ADVICE[largest], _TOKENS, _WEIGHT))


FAMILY = Family(
    "mismatch",
    guards_on("rollout_corr/", "staleness/"),
    _tell,
    watched=(*_METRICS, *(CAUSE + name for name in _CAUSES)),
)
