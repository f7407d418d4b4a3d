"""Advice on what is sampled: lengths, prompts, batches."""

_LENGTH = ("response_length/mean", "response_length/clip_ratio", "critic/score/mean")
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
    "batching.oversampling": (
        "Many groups carry no signal, and generation is cheap.",
        ("groups/zero_advantage_share", "groups/count", "timing_s/generate"),
    ),
    "batching.refill": (
        "Every step shall learn from a full batch of informative groups.",
        ("groups/zero_advantage_share", "groups/count", "timing_s/generate"),
    ),
    "batching.replay": (
        "Generation is the bottleneck and corrections are in place.",
        ("staleness/mean", "rollout_corr/rollout_is_eff_sample_size"),
    ),
    "prompting.hints": ("Prompts are too hard to be solved at all.", _PROMPTS),
    "prompting.nudges": ("The samples of a group are too much alike.", ("actor/entropy", *_PROMPTS)),
    "optimizer": ("The step size shall follow what the batch is worth.", ("actor/lr", "actor/grad_norm")),
}
