"""Held-out evaluation during the run."""

from pydantic import model_validator

from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.data.prompt_format import PromptFormat


class EvaluationSource(SpecModel):
    """One held-out dataset version."""

    name: str = field(pattern=r"^[a-z0-9][a-z0-9_\-]{0,62}$")
    """Short name in charts."""
    dataset: str = field(widget="dataset", pattern=r"^[a-z0-9][a-z0-9_\-]{0,62}@[0-9]+$")
    """Dataset version as ``slug@version``."""
    format: PromptFormat | None = None
    """How its rows become prompts. Empty: as for the first training source."""


class Evaluation(SpecModel):
    """When and on what the policy is evaluated. Sampling stays fixed, so that the curve is comparable."""

    every_steps: int = field(10, ge=1, unit="steps")
    """Steps between two evaluations; step 0 and the last step are always evaluated."""
    sources: tuple[EvaluationSource, ...] = ()
    """Held-out datasets. Empty: no evaluation."""
    max_prompts: int = field(128, ge=1, unit="prompts")
    """Prompts per source, the first in dataset order."""
    samples_per_prompt: int = field(1, ge=1, le=1024, unit="samples")
    """Samples per prompt; the reported reward is their mean."""
    pass_at: tuple[int, ...] = field((), max_length=16, unit="samples")
    """Increasing numbers k for which pass@k is reported with its 95 % interval: the probability that one of k samples
    is right, estimated without bias from all samples of a prompt, 1 − C(n − c, k)/C(n, k) for c right samples of n
    (arXiv 2107.03374, eq. 1). None is above ``samples_per_prompt``; more samples make it more precise."""
    temperature: float = field(1.0, gt=0.0, le=5.0)
    """Sampling temperature of the evaluation."""
    thinking_budget: int | None = field(None, ge=0, unit="tokens")
    """Thinking budget of the evaluation; it does not follow the training budget."""

    @model_validator(mode="after")
    def _pass_at_can_be_estimated(self) -> "Evaluation":
        if list(self.pass_at) != sorted({k for k in self.pass_at if k >= 1}):
            raise ValueError("pass_at must be increasing numbers of samples, 1 or more")
        if self.pass_at and self.pass_at[-1] > self.samples_per_prompt:
            raise ValueError(
                f"pass@{self.pass_at[-1]} cannot be estimated from {self.samples_per_prompt} samples per prompt: raise "
                "samples_per_prompt"
            )
        return self
