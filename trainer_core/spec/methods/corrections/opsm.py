"""Parameters, advice and weight by ratio of Off-policy sequence masking."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import CorrectionModel


class OffPolicySequenceMasking(CorrectionModel):
    """Exclude bad completions that the current policy would hardly sample any more; good ones are always kept."""

    model_config = method_doc(
        "Off-policy sequence masking",
        "L ← 0 where A < 0 and mean_t (log π_behaviour − log π_θ) > divergence_max",
        "DeepSeek-V3.2 (arXiv 2512.02556), §3.1",
    )
    advice: ClassVar[Advice] = Advice(
        "Stale samples of bad completions that the policy has already moved away from.",
        ("rollout_corr/opsm_masked_share", "staleness/mean"),
    )
    type: Literal["opsm"] = "opsm"
    divergence_max: float = field(0.01, gt=0.0, le=100.0, unit="nats", steer="optimizer_step")
    """δ: largest mean log ratio of a completion that is kept. DeepSeek publishes none; TRL starts from 0.5."""
