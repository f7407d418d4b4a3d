"""Features of the platform that work with a policy, according to the table of architectures."""

import json
from pathlib import Path
from typing import Any

from dressage.policies.documents import FitDocument
from dressage.policies.models import Policy
from trainer_core.support import Support, refusal, support_of

_UNTRIED = (
    "Policies of this class are untested here, although both libraries load them: try a dry run or a short run. Engine"
    " and learner are compared at every update, so a difference is detected."
)
_BFLOAT16: dict[bool | None, str] = {
    True: "",
    False: "Set policy.dtype and rollout.engine.dtype to float32.",
    None: "Untested: try a dry run or a short run. float32 works.",
}


def config_of(policy: Policy) -> dict[str, Any]:
    """``config.json`` of the policy's folder; only the class if the file cannot be read."""
    try:
        config = json.loads((Path(policy.path) / "config.json").read_bytes())
    except (OSError, ValueError):
        config = None
    return config if isinstance(config, dict) else {"architectures": [policy.architecture]}


def refusal_of(config: dict[str, Any]) -> str:
    """Reason why the policy cannot be trained, with what to do; empty if it can."""
    return refusal(config) or ""


def remarks_of(config: dict[str, Any]) -> list[str]:
    """Remarks about policies of its class; none if the class is refused."""
    known = support_of(config)
    if known is None:
        return [] if refusal_of(config) else [_UNTRIED]
    return list(known.remarks)


def fits(config: dict[str, Any]) -> list[FitDocument]:
    """Features of the platform, and whether each works with the policy; empty for a class that was never tested."""
    known = support_of(config)
    return [] if known is None else list(_parts(known))


def _parts(known: Support) -> list[FitDocument]:
    layers = f"It adapts {', '.join(known.layers)}." if known.lora else "Train all weights."
    rows = [
        ("Engine", known.engine, ""),
        ("Packed learner", known.learner, ""),
        ("LoRA", known.lora, layers),
        ("bfloat16", known.bfloat16 is True, _BFLOAT16[known.bfloat16]),
        ("FP8 in engine and learner", known.fp8, "" if known.fp8 else "Choose bfloat16."),
        ("Weights that change during answers", known.in_flight, ""),
    ]
    if known.experts:
        note = "" if known.routes else "The engine does not return its routes: set policy.routing.replay to false."
        rows.append(("Replay of the experts' routes", known.routes, note))
    return [{"part": part, "works": works, "note": note} for part, works, note in rows]
