"""Remarks on what a spec asks for and does not get."""

from collections.abc import Mapping

from trainer_core.spec import RunSpec
from trainer_core.spec.methods.proximal import EWMAProximal, InterpolatedProximal, RecomputedProximal
from trainer_core.spec.objective import Preference

IDLE_CLIP = "the clip never acts"
"""Words by which a recipe says so, too."""


SMALL = 50_000_000
"""Parameters up to which a policy learns with the step sizes of small models."""
_RATES = {"small": (1e-6, 2e-3, 2e-4), "whole": (1e-8, 3e-5, 1e-6), "adapter": (1e-7, 1e-3, 1e-5)}
"""Lowest, highest and usual learning rate of AdamW: the span of the recipes (5e-7 to 2e-5 for whole models of 0.6 to
32 billion parameters, about ten times that for adapters), and some more at both ends."""
_RATES_OF_ROWS = {
    "sft": {"whole": (1e-6, 1e-4, 2e-5), "adapter": (1e-5, 1e-3, 2e-4)},
    "dpo": {"whole": (1e-7, 1e-5, 5e-7), "adapter": (1e-6, 1e-4, 5e-6)},
    "simpo": {"whole": (1e-7, 5e-6, 6e-7), "adapter": (1e-6, 5e-5, 6e-6)},
    "orpo": {"whole": (1e-6, 5e-5, 8e-6), "adapter": (1e-5, 5e-4, 8e-5)},
}
"""The same for runs that learn from rows. Whole models: InstructGPT and Tülu 3 for supervised training, 5e-7 in Zephyr
and Tülu 3 for DPO, 3e-7 to 1e-6 in SimPO (arXiv 2405.14734), 5e-6 to 8e-6 in ORPO (arXiv 2403.07691). Adapters: about
ten times that."""


def remarks(spec: RunSpec, rows: Mapping[str, int] | None = None, parameters: int | None = None) -> tuple[str, ...]:
    """Remarks, one sentence or more each; empty if there is nothing to say.

    Args:
        spec: the spec.
        rows: number of rows of each dataset that is known, by its reference.
        parameters: number of the policy's parameters, if it is known.
    """
    found = (
        idle_clip(spec),
        idle_kl(spec),
        repeated_prompts(spec, rows or {}),
        None if parameters is None else odd_learning_rate(spec, parameters),
    )
    return tuple(remark for remark in found if remark is not None)


def odd_learning_rate(spec: RunSpec, parameters: int) -> str | None:
    """Warning of a learning rate outside the usual band; None if it is inside."""
    trained, whole = ("adapters", "adapter") if spec.policy.adapter.type == "lora" else ("all weights", "whole")
    low, high, usual = _RATES["small"] if parameters <= SMALL else _usual_rates(spec)[whole]
    rate = spec.optimizer.learning_rate
    if low <= rate <= high:
        return None
    side, risk = (
        ("above", "The policy may collapse within a few steps")
        if rate > high
        else ("below", "The policy may not change in the whole run")
    )
    return (
        f"The learning rate {rate:g} is {side} the usual band for {trained} of a policy with {parameters:,} parameters "
        f"({low:g} to {high:g} with AdamW). {risk}. Begin with optimizer.learning_rate = {usual:g}."
    )


def _usual_rates(spec: RunSpec) -> Mapping[str, tuple[float, float, float]]:
    if spec.examples is None:
        return _RATES
    loss = spec.examples.loss.type if isinstance(spec.examples, Preference) else "sft"
    return _RATES_OF_ROWS["dpo" if loss == "ipo" else loss]


def idle_kl(spec: RunSpec) -> str | None:
    """Reason why the KL penalty pulls nowhere; None if it does, or if there is none."""
    kl = spec.kl
    if spec.examples is not None or kl.coefficient == 0.0 or kl.placement != "loss" or kl.estimator != "k1":
        return None
    return (
        "The KL penalty is k1 in the loss. The mean of its gradient is zero: it adds noise, and does not hold the "
        "policy near the reference. In the loss, k2 has the gradient of the divergence. k1 acts with "
        "kl.placement = reward."
    )


def repeated_prompts(spec: RunSpec, rows: Mapping[str, int]) -> str | None:
    """The training sources that a step asks for more prompts than they have rows; None if there are none."""
    total = sum(source.weight for source in spec.data.sources)
    found, taken = [], "prompts" if spec.examples is None else "rows"
    for source in spec.data.sources:
        count = rows.get(source.dataset)
        share = spec.schedule.prompts_per_step * source.weight / total if total else 0.0
        if count and share > count:
            many = "1 row" if count == 1 else f"{count} rows"
            found.append(f"{source.name} has {many}, and a step takes {share:.4g} {taken} from it")
    if not found:
        return None
    if spec.examples is not None:
        again = "So a step has the same row several times. Lower schedule.prompts_per_step, or add rows."
        return f"{'; '.join(found)}. {again}"
    return (
        f"{'; '.join(found)}. So a step has several groups of the same prompt: its batch is less varied than its "
        "size says, and each group is compared only with itself. Lower schedule.prompts_per_step, raise "
        "rollout.group_size, or add rows."
    )


def idle_clip(spec: RunSpec) -> str | None:
    """Reason why every ratio of the loss is 1, whatever its band; None where it is not, or there is no ratio."""
    if spec.examples is not None:
        return None
    reason = _unmoved(spec) if spec.loss.anchor == "proximal" else None
    if reason is None:
        return None
    bound = next((one.type for one in spec.corrections if one.weighs_ratio), None)
    staleness = f" Stale samples are bounded by the correction {bound}." if bound else ""
    return (
        f"{reason} π_old is π_θ: every ratio of {spec.loss.type} is 1, and {IDLE_CLIP}. Several updates or epochs per"
        " step would move the policy away from π_old, and proximal: sampler would compare with the policy that"
        f" generated the token.{staleness}"
    )


def _unmoved(spec: RunSpec) -> str | None:
    """Reason why the proximal policy is always the present one; None where it is not."""
    proximal = spec.proximal
    if isinstance(proximal, RecomputedProximal) and spec.schedule.updates == 1:
        return "With one update per step,"
    if isinstance(proximal, InterpolatedProximal) and spec.rollout.max_staleness == 0 and not spec.batching.replay:
        return "All samples are fresh, and for these the interpolated"
    if isinstance(proximal, EWMAProximal) and proximal.decay == 0.0:
        return "A moving average with decay 0 is the newest weights:"
    return None
