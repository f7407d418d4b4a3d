"""Assumptions of a step's forecast, in sentences: what a reader must know to judge its figures."""

from collections.abc import Iterator, Sequence

from trainer_core.spec.data.batching import EqualAllocation
from trainer_core.spec.methods.filters import RepetitionFilter, ZeroAdvantageFilter
from trainer_core.spec.run import RunSpec
from trainer_core.steering.batch_forecast import StoredSample, Verdicts
from trainer_core.steering.step_forecast import unanswered


def assumptions(
    now: RunSpec,
    draft: RunSpec,
    verdicts: Sequence[Verdicts],
    groups: Sequence[Sequence[StoredSample]],
    *,
    whole: bool,
) -> list[str]:
    """Sentences for the forecasts under both specs.

    Args:
        now: the spec in force.
        draft: the proposed spec.
        verdicts: see ``step_forecast``.
        groups: see ``step_forecast``.
        whole: whether ``groups`` are all groups that their steps learned from.
    """
    said = ["The policy answers as in these steps, and groups are independent; intervals hold with 95 %."]
    said += _of_size(now, draft, verdicts, groups)
    said += _of_stored(now, draft, groups, whole) if groups else _missing()
    said += _of_filters((now, draft)) if groups else ()
    return said


def _of_size(
    now: RunSpec, draft: RunSpec, verdicts: Sequence[Verdicts], groups: Sequence[Sequence[StoredSample]]
) -> Iterator[str]:
    size, most = draft.rollout.group_size, max((one.graded for one in verdicts), default=0)
    if most == 0:
        yield "Dead groups are not predicted: the prompts' results are not stored."
        return
    if any(0 < one.graded < size for one in verdicts):
        whose = "prompts had" if size > most else "some prompts had"
        yield (
            f"Where {whose} fewer graded samples than {size}, the mean over the possible pass rates is used (Jeffreys'"
            " prior)."
        )
    if size <= most and size != now.rollout.group_size:
        yield f"Groups of {size} are all choices of {size} from a prompt's samples."
    if size != now.rollout.group_size:
        yield f"A step keeps its {draft.schedule.prompts_per_step} prompts, so its samples change with the group size."
    if len({sample.reward for group in groups for sample in group if sample.reward is not None}) > 2:
        yield (
            "Dead means all right or all wrong by the reward's threshold. Rewards here took more than two values: dead"
            " groups may still differ in reward."
        )
    allocation = draft.batching.allocation
    if not isinstance(allocation, EqualAllocation):
        yield f"Every prompt gets the group size, although the allocation {allocation.type} gives some more or fewer."
    if draft.rollout.partial.over_provision > 1.0:
        yield "Over-provisioned groups are not counted."
    if draft.rollout.dynamic_sampling.enabled:
        yield (
            f"Dynamic sampling replaces dead groups, at most {draft.rollout.dynamic_sampling.max_refills} times the"
            " batch in a step."
        )


def _of_stored(now: RunSpec, draft: RunSpec, groups: Sequence[Sequence[StoredSample]], whole: bool) -> Iterator[str]:
    if not whole:
        yield (
            "Only a sample of each step's groups is stored, the best and the worst among them: filters and lengths are"
            " from that sample."
        )
    if now.rollout.dynamic_sampling.enabled:
        yield "Replaced groups are not stored: filters and lengths are from the others."
    if any(len(group) != draft.rollout.group_size for group in groups):
        yield "Filters are counted on groups of their original size."


def _missing() -> Iterator[str]:
    yield "Filters and tokens are not predicted: no group is stored."


def _of_filters(specs: Sequence[RunSpec]) -> Iterator[str]:
    # Types in order, each once.
    unknown = list(dict.fromkeys(name for spec in specs for name in unanswered(spec)))
    if unknown:
        yield f"Not counted, because they need data that is not stored: {', '.join(unknown)}."
    chosen = [(spec, one) for spec in specs for one in spec.filters]
    if any(isinstance(one, ZeroAdvantageFilter) and spec.compares not in ("group", "parts") for spec, one in chosen):
        yield "zero_advantage excludes no group here: rewards are compared with more than their own group."
    if any(isinstance(one, RepetitionFilter) for _, one in chosen):
        yield "Loops are those that stopped the engine or that the run's filter found; others are unknown."
