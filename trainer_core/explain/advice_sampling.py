"""Advice on what is sampled: lengths, prompts, batches."""

_LENGTH = ("response_length/mean", "response_length/clip_ratio", "critic/score/mean")
_AGE = ("staleness/mean", "staleness/max", "rollout_corr/staleness_kl", "perf/engine_busy_share")
_PROMPTS = ("train/pass_rate/<source>", "groups/zero_advantage_share", "train/mix/<source>")

SAMPLING_ADVICE: dict[str, tuple[str, tuple[str, ...]]] = {
    "reward.length": ("When completions get longer than their answers deserve.", _LENGTH),
    "reward.length/magistral": ("A gentle warning before the maximum length.", _LENGTH),
    "reward.length/l1_exact": ("The length shall be chosen at the prompt.", _LENGTH),
    "reward.length/l1_max": ("A largest length shall be chosen at the prompt.", _LENGTH),
    "reward.length/grpo_lambda": ("Shorten only what the policy already masters.", _LENGTH),
    "reward.length/difficulty_aware": ("Shorten easy answers, leave hard ones their length.", _LENGTH),
    "reward.length/decoupled": ("Shorten without ever punishing a right answer.", _LENGTH),
    "reward.length.target": ("The length that a completion shall have.", _LENGTH),
    "length_window": ("The longest completion shall change over the run.", (*_LENGTH, "response_length/window")),
    "length_window/staged": (
        "Long thinking shall grow from short thinking.",
        ("response_length/p99", "response_length/window", "rollout_corr/rollout_ppl"),
    ),
    "length_window/cyclic": (
        "To make a policy concise and then let it explore again.",
        ("response_length/window", "response_length/mean", "critic/score/mean", "actor/entropy"),
    ),
    "rollout.engine.quantization": (
        "Generation is the bottleneck and the GPU has FP8; elsewhere, to try what FP8 would do to a run.",
        ("perf/fp8_simulated", "rollout_corr/k3_kl", "rollout_corr/cause/numerics", "probe/max_abs_diff"),
    ),
    "rollout.mode/sync": ("Exact and simple; engines wait for the learner, and it for them.", ("timing_s/wait",)),
    "rollout.mode/streamed": (
        "Strictly on-policy, with the learner's time hidden behind generation.",
        ("timing_s/wait", "timing_s/learn", "perf/engine_busy_share"),
    ),
    "rollout.mode/async": ("Engines and learner on hardware of their own; long tails of lengths.", _AGE),
    "rollout.mode/in_flight": ("The freshest tokens at full speed; long completions.", (*_AGE, "timing_s/paused")),
    "rollout.partial": (
        "A few long completions hold up every batch of a run that takes turns.",
        ("rollouts/parked", "rollouts/continued", "staleness/max", "timing_s/generate"),
    ),
    "rollout.scheduler/tail_batching": (
        "Long tails, and every token shall come from the current weights.",
        ("rollouts/deferred", "timing_s/generate"),
    ),
    "rollout.dynamic_sampling": (
        "Every step shall learn from a full batch of informative groups.",
        ("rollouts/rejected", "groups/zero_advantage_share", "timing_s/generate"),
    ),
    "rollout.early_stop.probability_run": (
        "Completions that repeat themselves with certainty.",
        ("rollouts/repetition_share", "response_length/clip_ratio"),
    ),
    "rollout.early_stop.ngram_loop": (
        "Completions that fall into a loop.",
        ("rollouts/repetition_share", "response_length/clip_ratio"),
    ),
    "rollout.early_stop.prune": (
        "Long completions, and large groups in which the weak ones show early.",
        ("rollouts/pruned_share", "perf/throughput"),
    ),
    "rollout.engine.concurrency/adaptive": (
        "The key-value cache is small for the lengths that come.",
        ("perf/kv_usage", "perf/preemptions", "perf/running_sequences"),
    ),
    "thinking": ("The policy shall think, within limits.", ("thinking/mean", "thinking/budget_hit_share")),
    "data": ("Mixtures of several sources.", ("train/mix/<source>", "train/pass_rate/<source>")),
    "data.transition": (
        "The mixture shall move from one kind of task to another.",
        ("train/mix/<source>", "train/pass_rate/<source>"),
    ),
    "curriculum": ("Prompts of unequal difficulty.", _PROMPTS),
    "curriculum/goldilocks": ("Pass rates were measured before the run.", _PROMPTS),
    "curriculum/difficulty_target": ("Prompts shall be as informative as possible.", _PROMPTS),
    "curriculum/adaptive_ratio": ("Sources differ in speed or difficulty, and the mixture shall hold.", _PROMPTS),
    "batching.allocation": ("Hard prompts deserve more samples than easy ones.", _PROMPTS),
    "batching.allocation/dars": ("Hard prompts are rarely solved by a group of the usual size.", _PROMPTS),
    "batching.allocation/uncertainty": ("The number of samples is fixed, their use is not.", _PROMPTS),
    "batching.replay": (
        "Generation is the bottleneck and corrections are in place.",
        ("staleness/mean", "rollout_corr/rollout_is_eff_sample_size"),
    ),
    "prompting.hints": ("Prompts are too hard to be solved at all.", _PROMPTS),
    "prompting.nudges": ("The samples of a group are too much alike.", ("actor/entropy", *_PROMPTS)),
    "optimizer": ("The step size shall follow what the batch is worth.", ("actor/lr", "actor/grad_norm")),
}
