"""Contradictions about the routing of experts."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import spec

LOSS_FREE = {"base": "starter", "routing": {"balance": {"type": "loss_free"}}}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (
            {
                "policy": {"base": "starter", "routing": {"replay": True}},
                "corrections": [{"type": "router_shift"}],
                "schedule": {"steps": 4, "prompts_per_step": 8, "updates_per_step": 2},
            },
            "has no shift to weight",
        ),
        ({"policy": {**LOSS_FREE, "adapter": {"type": "lora"}}}, "including its routers' biases"),
        ({"policy": LOSS_FREE, "kl": {"coefficient": 0.1, "reset_steps": 5}}, "not biases of routers"),
        ({"policy": LOSS_FREE, "proximal": {"type": "ewma"}}, "not biases of routers"),
    ],
)
def test_refused(parts: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        spec(**parts)


def test_allowed() -> None:
    routing = spec(policy={"base": "starter", "routing": {"replay": True, "balance": {"type": "loss_free"}}})
    assert routing.policy.routing.replay and routing.policy.routing.balance.type == "loss_free"
