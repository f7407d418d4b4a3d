"""Memory needed to train a policy, as the planner estimates it for a run of typical size."""

from functools import cache
from typing import Any

from dressage.policies.contents import policy_contents
from dressage.policies.documents import NeedDocument, PolicyFactsDocument
from dressage.policies.fits import config_of, fits, refusal_of, remarks_of
from dressage.policies.models import Policy
from dressage.policies.selectors import policy_size
from trainer_core.planning.memory import memory
from trainer_core.spec import RunSpec

NOTE = (
    "One learner rank and one engine; GRPO with 8 answers of up to 1,024 tokens per prompt. The planner shows it for"
    " your own run."
)
_STANDARD: dict[str, Any] = {
    "data": {"sources": [{"name": "data", "dataset": "data@1"}]},
    "reward": {"definition": "reward@1"},
    "rollout": {"max_tokens": 1024, "group_size": 8, "engine": {"max_model_len": 2048}},
}
_TRAININGS: dict[str, dict[str, Any]] = {
    "all weights, bfloat16": {
        "policy": {"base": "p", "dtype": "bfloat16"},
        "parallelism": {"zero_stage": 2},
    },
    "all weights, float32": {"policy": {"base": "p", "dtype": "float32"}},
    "LoRA of rank 16, bfloat16": {
        "policy": {"base": "p", "dtype": "bfloat16", "adapter": {"type": "lora", "rank": 16}},
        "parallelism": {"zero_stage": 2},
    },
}


def facts_document(policy: Policy) -> PolicyFactsDocument:
    """Everything that is known about a policy besides its database columns."""
    contents, fault = policy_contents(policy)
    config = config_of(policy)
    return {
        "contents": contents,
        "fault": fault,
        "refusal": refusal_of(config),
        "fits": fits(config),
        "remarks": remarks_of(config),
        "needs": _needs(policy),
        "needs_note": NOTE,
    }


def _needs(policy: Policy) -> list[NeedDocument]:
    size = policy_size(policy)
    if size is None:
        return []
    found: list[NeedDocument] = []
    for training, spec in _specs().items():
        try:
            counted = memory(size, spec)
        except ValueError:  # a shape that the planner does not support
            continue
        found.append(
            {"training": training, "learner_bytes": counted.learner.peak, "engine_bytes": counted.engine.total}
        )
    return found


@cache
def _specs() -> dict[str, RunSpec]:
    return {training: RunSpec.model_validate({**_STANDARD, **parts}) for training, parts in _TRAININGS.items()}
