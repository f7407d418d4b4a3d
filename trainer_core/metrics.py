"""Every metric: name, unit, formula. Names are verl's where verl has the metric; aliases serve TRL's and prime-rl's.

A name may hold placeholders, such as ``train/pass_rate/<source>``: ``find`` resolves a reported name to its entry.
"""

import re
from dataclasses import dataclass, field

from trainer_core.judge_entries import JUDGE_ENTRIES
from trainer_core.mismatch_entries import MISMATCH_ENTRIES
from trainer_core.routing_entries import ROUTING_ENTRIES


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of the registry."""

    name: str
    title: str
    unit: str
    formula: str
    group: str
    """Heading under which charts are found."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Name of the same quantity in other frameworks."""


_FATES = (
    ("rollouts/parked", "Stopped groups", "groups", "groups stopped at a full batch, their tokens kept"),
    ("rollouts/continued", "Continued groups", "groups", "stopped groups that generation went on with"),
    ("rollouts/deferred", "Deferred groups", "groups", "groups stopped at a full batch, to be generated afresh"),
    ("rollouts/rejected", "Replaced groups", "groups", "groups without signal that dynamic sampling replaced"),
    ("rollouts/regenerated", "Regenerated groups", "groups", "groups generated again because a worker was lost"),
)
"""What becomes of groups, beside being trained on."""

_BRANCHES = (
    ("vine/states", "Valued states", "states", "states, prompts among them, from which branches have begun"),
    ("vine/branches", "Branches", "samples", "continuations sampled for values alone: nothing is learned from them"),
    ("vine/tokens", "Tokens of branches", "tokens", "tokens sampled by branches, their prefixes left out"),
    ("vine/token_share", "Cost of branches", "share", "tokens of branches / (tokens of branches + those of the batch)"),
    ("vine/error_share", "Failed branches", "share", "branches whose reward failed / branches"),
    ("vine/value/mean", "Value of states", "reward", "mean over states of the mean reward of their branches"),
)
"""What Monte-Carlo values cost, and what they are."""


def _entries() -> list[Metric]:
    r, a = "reward", "actor"
    return [
        Metric(
            "critic/score/mean",
            "Reward",
            "reward",
            "mean of the rewards that could be computed",
            r,
            {"trl": "reward", "prime_rl": "train/agg/effective/reward/mean"},
        ),
        Metric(
            "critic/score/std",
            "Reward deviation",
            "reward",
            "population standard deviation of the rewards",
            r,
            {"trl": "reward_std"},
        ),
        Metric("critic/score/min", "Lowest reward", "reward", "smallest reward", r),
        Metric("critic/score/max", "Highest reward", "reward", "largest reward", r),
        Metric("reward_parts/<component>/mean", "Part of the reward", "grade", "mean grade before its weight", r),
        Metric("reward/error_share", "Reward errors", "share", "trajectories whose reward failed / trajectories", r),
        Metric(
            "reward/forgiven_share", "Forgiven parts", "share", "trajectories with a failed part that counts as 0", r
        ),
        Metric("reward_shadow/<version>/mean", "Shadow reward", "reward", "mean reward by a shadow version", r),
        Metric(
            "reward_shadow/<version>/agreement",
            "Agreement with a shadow",
            "share",
            "trajectories that both versions call right, or both wrong / those that both could score",
            r,
        ),
        Metric(
            "reward_shadow/<version>/correlation",
            "Correlation with a shadow",
            "correlation",
            "Pearson correlation of both rewards, before the run's own shaping",
            r,
        ),
        Metric("reward_shadow/<version>/errors", "Shadow errors", "trajectories", "that a shadow could not score", r),
        Metric(
            "reward/length_bias",
            "Length bias of the judge",
            "correlation",
            "partial correlation of grade and length at fixed reward of all other parts, over a window",
            r,
        ),
        Metric("train/pass_rate/<source>", "Pass rate", "share", "successful samples / scored samples", "data"),
        Metric("train/mix/<source>", "Share of the mixture", "share", "groups of the source / groups", "data"),
        Metric(
            "groups/zero_advantage_share",
            "Groups without signal",
            "share",
            "groups of equal rewards / groups",
            "data",
            {"trl": "frac_reward_zero_std"},
        ),
        Metric("groups/count", "Groups", "groups", "prompt groups in the batch", "data"),
        Metric(
            "curriculum/fallbacks", "Band empty", "draws", "draws with no row in the difficulty band, so far", "data"
        ),
        Metric(
            "actor/entropy",
            "Entropy",
            "nats",
            "mean over sampled tokens of −Σ p log p",
            a,
            {"trl": "entropy", "prime_rl": "entropy/all/mean"},
        ),
        Metric(
            "actor/pg_loss",
            "Policy loss",
            "loss",
            "aggregated policy loss, corrections included",
            a,
            {"trl": "policy_loss"},
        ),
        Metric("actor/loss", "Loss", "loss", "policy loss + KL penalty", a, {"trl": "loss"}),
        Metric(
            "actor/grad_norm",
            "Gradient norm",
            "norm",
            "global L2 norm before clipping",
            a,
            {"trl": "grad_norm", "prime_rl": "optim/grad_norm"},
        ),
        Metric(
            "actor/distill_loss", "Distance to the teacher", "nats", "aggregated KL(π_θ ‖ teacher) of sampled tokens", a
        ),
        Metric("actor/sft_loss", "Supervised loss", "nats", "mean −log π_θ over the tokens that are shown", a),
        Metric(
            "actor/ess_share",
            "Effective share of the samples",
            "share",
            "(Σw)² / (B·Σw²), w = π_θ / π_behaviour of whole completions at the update",
            a,
        ),
        Metric(
            "critic/values/mean", "Value", "reward", "mean over tokens of the critic's value before the step", "critic"
        ),
        Metric("critic/returns/mean", "Value target", "reward", "mean over tokens of the critic's target", "critic"),
        Metric("critic/vf_loss", "Value loss", "loss", "aggregated ½·(V − R)², clipped", "critic"),
        Metric("critic/vf_clipfrac", "Clipped values", "share", "tokens whose value error a clip ends", "critic"),
        Metric(
            "critic/vf_explained_var",
            "Explained variance",
            "share",
            "1 − Var(R − V) / Var(R), before the step",
            "critic",
        ),
        Metric("critic/grad_norm", "Gradient norm of the critic", "norm", "global L2 norm before clipping", "critic"),
        Metric("critic/lr", "Learning rate of the critic", "1", "step size of the value function", "critic"),
        Metric("actor/lr", "Learning rate", "1", "step size of the update", a, {"trl": "learning_rate"}),
        Metric(
            "actor/pg_clipfrac",
            "Clipped tokens",
            "share",
            "tokens with A ≠ 0 whose gradient or weight a bound of the loss cuts",
            a,
            {"trl": "clip_ratio/region_mean"},
        ),
        Metric(
            "actor/clip_high_share",
            "Clipped above",
            "share",
            "tokens whose upper bound binds (PPO: A > 0 and ratio > ratio_max)",
            a,
            {"trl": "clip_ratio/high_mean"},
        ),
        Metric(
            "actor/clip_low_share",
            "Clipped below",
            "share",
            "tokens whose lower bound binds (PPO: A < 0 and ratio < ratio_min)",
            a,
            {"trl": "clip_ratio/low_mean"},
        ),
        Metric(
            "actor/pg_clipfrac_lower",
            "Dual clip",
            "share",
            "tokens with A < 0 and ratio > ratio_dual; DPPO: tokens left in with ratio > ratio_max",
            a,
        ),
        Metric(
            "actor/gate_mean",
            "Soft gate",
            "1",
            "mean weight of a token in the gradient against the same token on policy: SAPO 4σ(1 − σ), VESPO φ(W)",
            a,
        ),
        Metric(
            "actor/router_shift",
            "Weight of moved routing",
            "1",
            "mean γ of tokens: 1 where the experts are chosen as before the step, less where not",
            a,
        ),
        Metric("actor/ppo_kl", "Drift within the step", "nats", "mean of log π_old − log π", a),
        Metric("actor/kl_loss", "KL to the reference", "nats", "mean estimator value over tokens", a, {"trl": "kl"}),
        Metric(
            "response_length/mean",
            "Response length",
            "tokens",
            "mean completion tokens",
            "length",
            {"trl": "completions/mean_length"},
        ),
        Metric(
            "response_length/min",
            "Shortest response",
            "tokens",
            "smallest length",
            "length",
            {"trl": "completions/min_length"},
        ),
        Metric(
            "response_length/max",
            "Longest response",
            "tokens",
            "largest length",
            "length",
            {"trl": "completions/max_length"},
        ),
        Metric("response_length/p50", "Median length", "tokens", "50th percentile", "length"),
        Metric("response_length/p95", "Long responses", "tokens", "95th percentile", "length"),
        Metric("response_length/p99", "Longest responses", "tokens", "99th percentile", "length"),
        Metric("response_length/window", "Length window", "tokens", "longest completion that is allowed", "length"),
        Metric(
            "response_length/clip_ratio",
            "Cut responses",
            "share",
            "responses that ended at the maximum length",
            "length",
            {"trl": "completions/clipped_ratio"},
        ),
        Metric("prompt_length/mean", "Prompt length", "tokens", "mean prompt tokens", "length"),
        Metric("thinking/mean", "Thinking", "tokens", "mean thinking tokens", "length"),
        Metric("thinking/max", "Longest thinking", "tokens", "largest number of thinking tokens", "length"),
        Metric(
            "thinking/budget",
            "Thinking budget",
            "tokens",
            "the budget that holds; its mean where prompts differ",
            "length",
        ),
        Metric(
            "thinking/budget_hit_share",
            "Budget spent",
            "share",
            "responses whose thinking was ended by force",
            "length",
        ),
        Metric(
            "thinking/budget_violations",
            "Budget not enforced",
            "responses",
            "responses whose text holds more thinking than budget plus forced tokens; 0 while it is enforced",
            "length",
        ),
        Metric(
            "rollouts/repetition_share",
            "Stopped for repetition",
            "share",
            "responses that an early stop ended",
            "length",
        ),
        Metric("rollouts/pruned_share", "Pruned", "share", "samples given up for their group's sake", "length"),
        Metric("thinking/share_thinking", "Responses that think", "share", "responses with thinking tokens", "length"),
        Metric(
            "rollout_corr/kl",
            "Mismatch KL",
            "nats",
            "mean of log π_behaviour − log π_learner over sampled tokens",
            "mismatch",
        ),
        Metric(
            "rollout_corr/k3_kl",
            "Mismatch KL (k3)",
            "nats",
            "mean of w − 1 − log w",
            "mismatch",
            {"prime_rl": "mismatch_kl/all/mean"},
        ),
        Metric(
            "rollout_corr/rollout_ppl",
            "Perplexity of the rollouts",
            "1",
            "mean over responses of exp(−mean log π_behaviour over sampled tokens)",
            "mismatch",
        ),
        Metric(
            "rollout_corr/log_ppl_abs_diff",
            "Perplexity difference",
            "nats",
            "mean |Δ mean log-prob| per response",
            "mismatch",
        ),
        Metric(
            "rollout_corr/max_abs_logp_diff",
            "Largest difference",
            "nats",
            "max |log π_learner − log π_behaviour|",
            "mismatch",
            {"trl": "sampling/sampling_logp_difference/max"},
        ),
        Metric(
            "rollout_corr/rollout_is_mean",
            "Importance ratio",
            "1",
            "mean of w = π_learner / π_behaviour, raw",
            "mismatch",
        ),
        Metric("rollout_corr/rollout_is_max", "Largest ratio", "1", "max of w, raw", "mismatch"),
        Metric(
            "rollout_corr/rollout_is_truncated_share",
            "Truncated ratios",
            "share",
            "tokens whose w was truncated",
            "mismatch",
        ),
        Metric(
            "rollout_corr/rollout_is_masked_share",
            "Masked ratios",
            "share",
            "tokens left out because their w lies outside the band",
            "mismatch",
        ),
        Metric(
            "rollout_corr/opsm_masked_share",
            "Masked by drift",
            "share",
            "tokens left out because A < 0 and their completion has drifted",
            "mismatch",
        ),
        Metric(
            "rollout_corr/rollout_is_eff_sample_size",
            "Effective sample size",
            "share",
            "mean(w)² / mean(w²), raw",
            "mismatch",
        ),
        *(Metric(*entry, "mismatch") for entry in MISMATCH_ENTRIES),
        *(Metric(*entry, "judge") for entry in JUDGE_ENTRIES),
        *(Metric(*entry, "actor") for entry in ROUTING_ENTRIES),
        Metric(
            "staleness/mean",
            "Staleness",
            "versions",
            "mean age of the tokens' weights",
            "mismatch",
            {"prime_rl": "off_policy/mean"},
        ),
        Metric("staleness/max", "Largest staleness", "versions", "largest age of a token's weights", "mismatch"),
        Metric("staleness/share/<age>", "Tokens of an age", "share", "sampled tokens of weights that old", "mismatch"),
        Metric(
            "probe/max_abs_diff",
            "Probe",
            "nats",
            "largest difference on fixed tokens after a weight update",
            "mismatch",
        ),
        Metric("timing_s/step", "Step time", "s", "from one step's end to the next's", "speed", {"trl": "step_time"}),
        Metric("timing_s/generate", "Generation", "s", "time in which any group was with the engines", "speed"),
        Metric("timing_s/reward", "Rewards", "s", "time of rewards while nothing was generated", "speed"),
        Metric("timing_s/learn", "Learning", "s", "time of the update", "speed"),
        Metric("timing_s/sync", "Weight sync", "s", "from the update's end to the probe's", "speed"),
        Metric(
            "timing_s/paused",
            "Generation paused",
            "s",
            "from the stop for a weight update to the next token, mean over engines",
            "speed",
        ),
        Metric("timing_s/wait", "Waiting", "s", "time the learner waited for a batch", "speed"),
        Metric("perf/throughput", "Throughput", "tokens/s", "completion tokens / step time", "speed"),
        Metric("perf/rollouts_per_s", "Rollouts", "1/s", "trajectories / step time", "speed"),
        Metric("perf/engine_busy_share", "Engine busy", "share", "time inside engine steps / wall time", "speed"),
        Metric("perf/kv_usage", "KV cache", "share", "used blocks / blocks, the most seen", "speed"),
        Metric("perf/preemptions", "Preemptions", "sequences", "running sequences that had to compute anew", "speed"),
        Metric(
            "perf/running_sequences",
            "Running sequences",
            "sequences",
            "mean over engine steps, summed over engines",
            "speed",
        ),
        Metric(
            "perf/fp8_simulated",
            "FP8 simulated",
            "share",
            "engines whose FP8 is simulated by rounding, with no gain in speed / engines in FP8",
            "speed",
        ),
        *(Metric(*entry, "speed") for entry in _FATES),
        *(Metric(*entry, "critic") for entry in _BRANCHES),
        Metric("training/policy_version", "Policy version", "versions", "weights after the update", "run"),
        Metric("training/tokens_total", "Tokens", "tokens", "completion tokens so far", "run", {"trl": "num_tokens"}),
        Metric("control/revision", "Steering revision", "revision", "revision the batch was dispatched under", "run"),
        Metric(
            "eval/<source>/score/mean", "Held-out reward", "reward", "mean reward on the held-out source", "evaluation"
        ),
        Metric(
            "eval/<source>/pass_rate",
            "Held-out pass rate",
            "share",
            "successful samples / scored samples",
            "evaluation",
        ),
        Metric(
            "eval/<source>/response_length/mean", "Held-out length", "tokens", "mean completion tokens", "evaluation"
        ),
    ]


METRICS: dict[str, Metric] = {metric.name: metric for metric in _entries()}
"""The registry, by name."""

_PATTERNS = [
    (re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/<>]+)", metric.name)), metric)
    for metric in METRICS.values()
    if "<" in metric.name
]


def find(name: str) -> Metric | None:
    """The entry of a reported name, placeholders resolved; None if nothing is known of it."""
    if "<" not in name and name in METRICS:
        return METRICS[name]
    return next((metric for pattern, metric in _PATTERNS if pattern.fullmatch(name)), None)


def placeholders(name: str) -> dict[str, str]:
    """What a reported name holds for its entry's placeholders, such as ``{"source": "add_sub"}``."""
    found = (pattern.fullmatch(name) for pattern, _ in _PATTERNS)
    return next((match.groupdict() for match in found if match), {})


def from_alias(framework: str, name: str) -> Metric | None:
    """The entry that another framework calls ``name``."""
    return next((metric for metric in METRICS.values() if metric.aliases.get(framework) == name), None)
