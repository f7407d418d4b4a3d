"""Rules on engines of several devices: what works in engines of one device alone."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]
ONE = "an engine of one device (tensor_parallel_size and pipeline_parallel_size 1)"


def engines(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Experts that are shared out over one device, and parts that an engine of several devices does not have."""
    engine, where = spec.rollout.engine, ("rollout", "engine")
    if engine.expert_parallel and engine.tensor_parallel_size == 1:
        yield (
            (*where, "expert_parallel"),
            "experts are distributed over the devices of tensor_parallel_size, and there is one: raise it, or remove"
            " expert_parallel",
        )
    if engine.devices == 1:
        return
    if engine.speculation != "off":
        yield (*where, "speculation"), f"speculation needs {ONE}: set rollout.engine.speculation to off"
    if engine.quantization is not None:
        yield (
            (*where, "quantization"),
            f"FP8 needs {ONE}, because its scales would cover parts of a matrix: remove rollout.engine.quantization and"
            " choose bfloat16",
        )
    if spec.policy.routing.replay:
        yield (
            ("policy", "routing", "replay"),
            f"routes are returned only by {ONE}: set policy.routing.replay to false, and use the correction"
            " router_shift",
        )
