"""The weights of the corrections as the papers write them, in plain Python."""

import math
from typing import Any

from trainer_core.methods.view import TokenView


def written_out(spec: Any, view: TokenView) -> list[float]:
    """The weight of every token; 1 where it does not count."""
    now, old, behaviour, advantages = (
        values.tolist() for values in (view.logprobs, view.old_logprobs, view.behaviour_logprobs, view.advantages)
    )
    rows: dict[int, list[int]] = {}
    for t, (sequence, counts) in enumerate(zip(view.sequence.tolist(), view.mask.tolist(), strict=True)):
        if counts:
            rows.setdefault(sequence, []).append(t)
    result = [1.0] * len(now)
    for row in rows.values():
        for t in row:
            if spec.type == "opsm":
                drift = sum(behaviour[s] - now[s] for s in row) / len(row)
                result[t] = 0.0 if advantages[t] < 0 and drift > spec.divergence_max else 1.0
                continue
            if spec.type == "geometric_mask":
                mean = math.prod(math.exp(old[s] - behaviour[s]) for s in row) ** (1 / len(row))
                result[t] = 1.0 if spec.ratio_min <= mean <= spec.ratio_max else 0.0
                continue
            these = row if getattr(spec, "level", "token") == "sequence" else [t]
            ratio = math.prod(math.exp(old[s] - behaviour[s]) for s in these)
            if spec.type == "truncated_is":
                result[t] = min(ratio, spec.ratio_max)
            else:
                result[t] = ratio if getattr(spec, "ratio_min", 0.0) <= ratio <= spec.ratio_max else 0.0
    return result
