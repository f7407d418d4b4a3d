"""Guards that every new run begins with: thresholds from published guidance, each with a sentence why.

They watch what any run reports; what a run does not report (a judge's bias, held-out rewards) sets off nothing.
"""

from dataclasses import dataclass

from trainer_core.spec.operation.guards import Guard, HeldOutFalls, MetricBound, MetricChange

WATCH: tuple[Guard, ...] = (
    MetricBound(
        name="entropy collapse",
        metric="actor/entropy",
        min=0.05,
        for_steps=15,
        unless_solved=True,
        severity="error",
        why="Near 0 all samples of a prompt are the same and nothing more can be learned: the entropy that buys reward"
        " is used up (Cui et al., arXiv 2505.22617). If nearly all answers are right, that is no fault.",
    ),
    MetricBound(
        name="mismatch",
        metric="rollout_corr/rollout_is_mean",
        min=0.5,
        max=2.0,
        for_steps=3,
        severity="error",
        why="verl's guide to rollout correction: a mean importance ratio outside 0.5 to 2 means that engine and "
        "learner are two policies.",
    ),
    MetricBound(
        name="mismatch KL",
        metric="rollout_corr/k3_kl",
        max=0.1,
        for_steps=3,
        severity="error",
        why="Numerics alone cause differences of 0.0001 to 0.01 nats; a tenth of a nat per token is another policy.",
    ),
    MetricBound(
        name="few effective samples",
        metric="rollout_corr/rollout_is_eff_sample_size",
        min=0.3,
        for_steps=3,
        why="verl's guide to rollout correction: below 0.3 a few tokens carry the whole gradient.",
    ),
    MetricBound(
        name="dead groups",
        metric="groups/zero_advantage_share",
        max=0.95,
        for_steps=10,
        unless_solved=True,
        why="A group of equal rewards gives no gradient (DAPO, arXiv 2503.14476): these steps train on hardly anything."
        " The data has become too easy or too hard.",
    ),
    MetricBound(
        name="length runaway",
        metric="response_length/clip_ratio",
        max=0.5,
        for_steps=10,
        why="Half of the responses are cut at the limit: their answers are missing, and the reward says nothing about"
        " their reasoning (DAPO's overlong samples).",
    ),
    MetricBound(
        name="reward errors",
        metric="reward/error_share",
        max=0.05,
        for_steps=3,
        severity="error",
        why="One reward in twenty cannot be computed. Those samples are excluded, and the rest are biased.",
    ),
    MetricBound(
        name="judge bias",
        metric="reward/length_bias",
        min=-0.3,
        max=0.3,
        why="The judge pays for length itself (MiniMax-M1, arXiv 2506.13585). Reported if reward.length_bias watches a"
        " judge.",
    ),
    HeldOutFalls(
        name="held-out falls",
        severity="error",
        why="The training reward rises and the held-out reward is a tenth below its best, twice in a row: the policy "
        "learns the reward's gaps (Gao et al., arXiv 2210.10760).",
    ),
    MetricChange(
        name="gradient spike",
        metric="actor/grad_norm",
        max_rise=9.0,
        window=20,
        for_steps=2,
        severity="error",
        why="Ten times the mean of the last 20 steps, or not a number: the update is about to break the policy.",
    ),
    MetricChange(
        name="spend",
        metric="timing_s/step",
        max_rise=2.0,
        window=20,
        for_steps=5,
        why="A step costs three times the seconds of the 20 before. For a cap in tokens, bound training/tokens_total.",
    ),
)
"""They tell, and do nothing else."""
WATCH_EXAMPLES: tuple[Guard, ...] = tuple(guard for guard in WATCH if guard.name in ("gradient spike", "spend"))
"""Those of runs that learn from rows."""
STRICT: tuple[Guard, ...] = tuple(guard.model_copy(update={"action": "pause"}) for guard in WATCH)
"""The same, and each pauses the run."""


@dataclass(frozen=True)
class GuardPreset:
    """A named set of guards."""

    name: str
    title: str
    description: str
    guards: tuple[Guard, ...]


PRESETS = (
    GuardPreset("off", "Off", "No guards: a collapsed run looks like a healthy one.", ()),
    GuardPreset("watch", "Watch", "The usual guards, which alert and mark the run.", WATCH),
    GuardPreset("strict", "Strict", "The usual guards, and each pauses the run.", STRICT),
)
"""Sets to begin with."""
