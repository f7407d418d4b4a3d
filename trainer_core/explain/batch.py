"""The effective batch: what one step generates and what one optimizer update learns from."""

from dataclasses import dataclass

from trainer_core.spec import RunSpec
from trainer_core.spec.objective import Preference


@dataclass(frozen=True, slots=True)
class EffectiveBatch:
    """Counts before filters; tokens are completion tokens, at most.

    In a run that learns from rows, a sample is an example or one of the two completions of a pair, prompt included.
    """

    prompts_per_step: int
    samples_per_prompt: int
    samples_per_step: int
    tokens_per_step: int
    epochs: int
    """Passes over a step's batch."""
    updates_per_step: int
    """Updates of each pass."""
    prompts_per_update: int
    samples_per_update: int
    tokens_per_update: int
    steps: int
    samples: int
    """Samples over the whole run."""
    updates: int
    """Optimizer updates over the whole run, in all passes."""


def effective_batch(spec: RunSpec) -> EffectiveBatch:
    """Prompts, samples and tokens of a step and of an update."""
    schedule, size, longest = spec.schedule, spec.rollout.group_size, spec.rollout.max_tokens
    if spec.examples is not None:
        size, longest = 2 if isinstance(spec.examples, Preference) else 1, spec.window
    per_step, per_update = schedule.prompts_per_step, schedule.prompts_per_step // schedule.updates_per_step
    return EffectiveBatch(
        prompts_per_step=per_step,
        samples_per_prompt=size,
        samples_per_step=per_step * size,
        tokens_per_step=per_step * size * longest,
        epochs=schedule.epochs,
        updates_per_step=schedule.updates_per_step,
        prompts_per_update=per_update,
        samples_per_update=per_update * size,
        tokens_per_update=per_update * size * longest,
        steps=schedule.steps,
        samples=schedule.steps * per_step * size,
        updates=schedule.steps * schedule.updates,
    )
