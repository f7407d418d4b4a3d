"""PPO with a critic: generalised advantage estimation, and the value function that it needs."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.methods.kinds import AdvantageModel, Compared, Penalty


class GAEAdvantage(AdvantageModel):
    """An advantage for each token, from a critic's values. The reward comes with the last sampled token. The steps are
    the sampled tokens: forced tokens between them are part of the environment, like a prompt. A completion that stopped
    by itself ends with value 0. A KL penalty in the reward is paid per token.
    """

    model_config = method_doc(
        "GAE",
        "δ_t = r_t + γ·V(s_{t+1}) − V(s_t); A_t = Σ_k (γλ)^k·δ_{t+k}; value target = A_t (λ of the value) + V(s_t); "
        "length-adaptive: λ = 1 − 1/(α·l) for a completion of l tokens",
        "GAE (arXiv 1506.02438), eq. 16; decoupled λ: VC-PPO (arXiv 2503.01491); length-adaptive: VAPO "
        "(arXiv 2504.05118), §4.2; bootstrap at a cut: Time Limits in RL (arXiv 1712.00378), §3.2",
    )
    advice: ClassVar[Advice] = Advice(
        "Long completions whose reward says little about single tokens, if the budget allows a critic.",
        ("critic/score/mean", "actor/grad_norm", "actor/entropy"),
    )
    compares: ClassVar[Compared] = "value"
    penalty: ClassVar[Penalty] = "return"
    type: Literal["gae"] = "gae"
    gamma: float = field(1.0, gt=0.0, le=1.0)
    """γ: discount per token."""
    policy_lambda: float = field(0.95, ge=0.0, le=1.0)
    """λ of the advantages that train the policy."""
    value_lambda: float = field(1.0, ge=0.0, le=1.0)
    """λ of the value's targets; at 1 they are the returns themselves (VC-PPO, VAPO)."""
    length_alpha: float | None = field(None, gt=0.0, le=1000.0)
    """α of the length-adaptive λ of the policy, which then replaces ``policy_lambda``; VAPO uses 0.05. λ is 0 for
    completions of at most 1/α tokens. Empty: off."""
    truncated_end: Literal["zero", "bootstrap"] = "zero"
    """Value after the end of a completion that was cut at its maximum length: 0, or the value of the last state seen,
    V(s_T), as for time limits that are not part of the task. Its last token, after which no state was seen, then ends
    the episode and is not trained on: the reward comes with the token before it."""
    whiten: Literal["none", "batch"] = "batch"
    """Whether the advantages are standardised over the step's tokens (population deviation)."""


class CriticModel(SpecModel):
    """Parameters that every critic has."""

    learning_rate: float = field(1e-5, gt=0.0, le=1.0, steer="optimizer_step")
    """Step size of the value function, with the warm-up and schedule of the policy's."""
    clip_range: float | None = field(0.2, gt=0.0, le=1e6, steer="optimizer_step")
    """Half-width of the band around the values before the step; errors outside it have no gradient. Empty: no
    clipping."""
    coefficient: float = field(0.5, gt=0.0, le=1000.0, steer="optimizer_step")
    """Weight of the value loss."""
    warmup_steps: int = field(0, ge=0, unit="steps")
    """First steps in which only the value is trained: an untrained value misleads the policy."""


class HeadCritic(CriticModel):
    """A value head on the policy's last hidden states: little memory, and both share the policy's layers."""

    model_config = method_doc(
        "Value head",
        "V(s_t) = w·h_t + b; L_V = ½·max((V − R)², (clip(V, V_old ± clip_range) − R)²)",
        "PPO (arXiv 1707.06347), eq. 9; value clipping: OpenAI Baselines",
    )
    advice: ClassVar[Advice] = Advice(
        "Needed by GAE; warm it up before the policy uses it.",
        ("critic/score/mean",),
    )
    type: Literal["head"] = "head"


class SeparateCritic(CriticModel):
    """A separate model, initialised from the base policy, with its own optimizer."""

    model_config = method_doc(
        "Separate critic",
        "V(s_t) = w·h_t + b, h of a separate model; L_V = ½·max((V − R)², (clip(V, V_old ± clip_range) − R)²)",
        "PPO (arXiv 1707.06347), eq. 9; value warm-up: VC-PPO (arXiv 2503.01491)",
    )
    advice: ClassVar[Advice] = Advice(
        "Needed by GAE; warm it up before the policy uses it.",
        ("critic/score/mean",),
    )
    type: Literal["separate"] = "separate"


Critic = Annotated[HeadCritic | SeparateCritic, Field(discriminator="type")]
