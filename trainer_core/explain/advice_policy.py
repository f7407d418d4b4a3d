"""Advice on what makes the update: advantages, losses, corrections, penalties, aggregation, filters."""

_GROUP = ("critic/score/mean", "groups/zero_advantage_share", "critic/score/std")
_RATIO = ("actor/ppo_kl", "actor/entropy", "actor/pg_clipfrac", "actor/grad_norm")
_MISMATCH = ("rollout_corr/kl", "rollout_corr/rollout_is_eff_sample_size", "rollout_corr/rollout_is_max")
_LENGTH = ("response_length/mean", "response_length/clip_ratio", "critic/score/mean")

POLICY_ADVICE: dict[str, tuple[str, tuple[str, ...]]] = {
    "policy.adapter/lora": (
        "When the moments of all weights do not fit, or a small change is wanted. Its step size is about ten times "
        "that of all weights.",
        ("critic/score/mean", "actor/grad_norm", "actor/entropy"),
    ),
    "policy.routing.balance/auxiliary_loss": (
        "A mixture of experts without a place for biases. Keep α as low as keeps the experts in use.",
        ("moe/max_violation", "moe/idle_experts", "moe/aux_loss"),
    ),
    "policy.routing.balance/loss_free": (
        "The minimax architecture: the reward's gradient stays what it is. Lower u when loads swing to and fro.",
        ("moe/max_violation", "moe/idle_experts", "moe/bias_spread"),
    ),
    "precision/half": (
        "The engines compute with 16 bits: in float16 both sides differ by an eighth of what they do in bfloat16.",
        ("rollout_corr/k3_kl", "rollout_corr/cause/numerics", "actor/grad_norm"),
    ),
    "precision/unified": (
        "FP8 rollouts, or long completions over which rounding adds up; no correction is needed for the format then.",
        ("rollout_corr/k3_kl", "rollout_corr/cause/numerics", "actor/grad_norm"),
    ),
    "advantage": ("See its description.", _GROUP),
    "advantage/grpo": ("The common starting point for verifiable rewards with 4 to 64 samples per prompt.", _GROUP),
    "advantage/dr_grpo": (
        "When easy and hard prompts are over-weighted, or completions grow longer without getting better. Pair it with "
        "the constant normaliser.",
        (*_GROUP, "response_length/mean"),
    ),
    "advantage/reinforce": (
        "One sample per prompt, or as the plainest baseline to compare with. Needs prompts of similar difficulty.",
        ("critic/score/mean", "critic/score/std", "actor/grad_norm"),
    ),
    "advantage/rloo": ("Small groups (2 to 8) on policy: unbiased, without a deviation to divide by.", _GROUP),
    "advantage/reinforce_pp": (
        "General tasks with one or few samples per prompt, where the group is too small to standardise by.",
        ("critic/score/mean", "critic/score/std", "actor/grad_norm"),
    ),
    "advantage/reinforce_pp_baseline": (
        "Reasoning tasks with groups, when single groups must not set the scale of their own updates.",
        _GROUP,
    ),
    "advantage/mc_grpo": ("Two to eight samples per prompt, or rewards with outliers that drag the mean.", _GROUP),
    "advantage/gdpo": (
        "Rewards of several parts, such as correctness, format and length, that must each be learned.",
        ("reward_parts/<component>/mean", "critic/score/mean"),
    ),
    "advantage/maxrl": (
        "Rewards of 0 and 1 with many hard prompts: their rare successes count more. Wants large groups.",
        (*_GROUP, "actor/grad_norm"),
    ),
    "advantage/opo": ("On-policy training with very unequal lengths, without a clip or a KL penalty.", _GROUP),
    "advantage/pass_k": (
        "When several tries are allowed in the end, or entropy falls too early: it pays for diversity.",
        ("actor/entropy", "critic/score/mean", "groups/zero_advantage_share"),
    ),
    "advantage/magistral": ("Groups of similar rewards would else be blown up by their tiny deviation.", _GROUP),
    "advantage/vcpo": (
        "Asynchronous runs with several versions of staleness and sequence-level importance weights.",
        ("rollout_corr/rollout_is_eff_sample_size", "staleness/mean", "actor/grad_norm"),
    ),
    "advantage/gae": (
        "Long completions whose reward says little about single tokens, and the budget for a critic.",
        ("critic/score/mean", "actor/grad_norm", "actor/entropy"),
    ),
    "advantage/vine": (
        "Answers of several steps whose reward comes at the end, when generation is cheap against learning.",
        ("vine/token_share", "vine/value/mean", "vine/error_share", "critic/score/mean"),
    ),
    "critic": ("Needed by GAE; warm it up before the policy listens to it.", ("critic/score/mean",)),
    "loss": ("See its description.", _RATIO),
    "loss/ppo_clip": (
        "The default. Raise the upper edge (clip-higher) when entropy falls too fast; it acts from the second update "
        "of a step on.",
        (*_RATIO, "actor/clip_high_share", "actor/clip_low_share"),
    ),
    "loss/reinforce": (
        "One update per step, on policy or with importance weights as corrections.",
        ("actor/entropy", "actor/grad_norm", "rollout_corr/kl"),
    ),
    "loss/cispo": ("Several updates per step or stale samples, when rare but decisive tokens get clipped.", _RATIO),
    "loss/gspo": ("Mixture-of-experts policies and long completions, where token ratios are too noisy.", _RATIO),
    "loss/sapo": ("As PPO clip, when a hard edge makes training jump.", (*_RATIO, "actor/gate_mean")),
    "loss/dppo": (
        "Stale or mismatched samples: bounds the move in probability, so that rare tokens are not clipped for nothing. "
        "Over the likeliest tokens it sees moves that the sampled one does not tell, at the price of all logits.",
        (*_RATIO, "rollout_corr/kl"),
    ),
    "loss/decoupled_ppo": (
        "Asynchronous runs with several updates per step: the clip is centred on the proximal policy.",
        (*_RATIO, "staleness/mean", "rollout_corr/rollout_is_masked_share"),
    ),
    "loss/minpro": ("Strongly off-policy samples of long completions.", (*_RATIO, *_MISMATCH)),
    "loss/vespo": ("Strongly off-policy samples, weighed as whole completions.", (*_RATIO, *_MISMATCH)),
    "loss/sequence_mask": ("When no token of a completion may leave the trust region.", (*_RATIO, *_MISMATCH)),
    "loss/kl_penalised": ("When a soft pull to the policy before the step is wanted in place of a clip.", _RATIO),
    "distillation": (
        "A stronger policy with the same vocabulary exists: it grades every token, where a reward grades completions.",
        ("actor/loss", "actor/entropy", "critic/score/mean"),
    ),
    "data.sft": (
        "The policy shall imitate: demonstrations for what it cannot find, its own right answers for what is rare.",
        ("actor/loss", "actor/entropy", "critic/score/mean"),
    ),
    "corrections": ("Whenever engine and learner differ, or samples are stale.", _MISMATCH),
    "corrections/truncated_is": (
        "The default: engine and learner differ slightly, or samples are one version old.",
        (*_MISMATCH, "rollout_corr/rollout_is_truncated_share"),
    ),
    "corrections/masked_is": (
        "When extreme ratios come from faults of the engine rather than from staleness.",
        (*_MISMATCH, "rollout_corr/rollout_is_masked_share"),
    ),
    "corrections/icepop": (
        "Mixture-of-experts policies, whose routing differs between engine and learner.",
        (*_MISMATCH, "rollout_corr/rollout_is_masked_share"),
    ),
    "corrections/opsm": (
        "Stale samples of bad completions that the policy has already left behind.",
        ("rollout_corr/opsm_masked_share", "staleness/mean"),
    ),
    "corrections/router_shift": (
        "Mixture-of-experts policies with several updates per step, whose experts change under way.",
        ("actor/router_shift", "actor/pg_clipfrac", "actor/ppo_kl"),
    ),
    "proximal": ("Several updates per step, or stale samples.", ("actor/ppo_kl", "staleness/mean")),
    "kl": (
        "When the policy must stay close to its base, or to stop a drift that rewards do not see.",
        ("actor/kl_loss", "critic/score/mean", "actor/entropy"),
    ),
    "aggregation": ("Decides how much long completions weigh.", ("response_length/mean", "actor/pg_loss")),
    "aggregation/token_mean": ("The default: no completion is diluted.", ("response_length/mean", "actor/pg_loss")),
    "aggregation/sequence_mean": (
        "The original GRPO, and GSPO. Long wrong answers are punished less per token.",
        ("response_length/mean", "actor/pg_loss"),
    ),
    "aggregation/prompt_mean": (
        "When prompts with long answers would else dominate the batch.",
        ("response_length/mean", "actor/pg_loss"),
    ),
    "aggregation/constant": (
        "With Dr. GRPO: the weight of a token depends on no length at all.",
        ("response_length/mean", "actor/pg_loss"),
    ),
    "aggregation/sample_and_token": (
        "Between token and sequence mean.",
        ("response_length/mean", "actor/pg_loss"),
    ),
    "filters": ("See its description.", ("groups/zero_advantage_share",)),
    "filters/zero_advantage": (
        "Nearly always: what carries no signal only dilutes the mean.",
        ("groups/zero_advantage_share", "groups/count"),
    ),
    "filters/truncated": ("When the maximum length cuts off answers that might have become right.", _LENGTH),
    "filters/overlong": ("When only completions up to a length of your own shall teach.", _LENGTH),
    "filters/repetition": ("When completions end in loops.", _LENGTH),
    "filters/high_entropy": (
        "When most tokens are a matter of course: the forks in the road decide.",
        ("actor/entropy", "actor/grad_norm", "critic/score/mean"),
    ),
    "filters/mastered_tokens": ("When entropy collapses on what is already right.", ("actor/entropy",)),
    "filters/length_outliers": ("When answers to mastered prompts get ever longer.", _LENGTH),
    "filters/recomposition": ("To make a policy concise without changing its reward.", _LENGTH),
}
