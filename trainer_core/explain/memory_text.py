"""The memory of a run as plain text."""

from trainer_core.planning.memory import EngineMemory, LearnerMemory, Memory

KINDS = (
    ("weights", "weights"),
    ("gathered weights", "gathered"),
    ("gradients", "gradients"),
    ("float32 masters", "masters"),
    ("moments", "moments"),
    ("reference", "reference"),
    ("proximal policy", "proximal"),
    ("teacher", "teacher"),
    ("critic", "critic"),
    ("activations of a micro-batch", "activations"),
    ("gradients being reduced", "reducing"),
    ("weights being exported", "export"),
)
UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def render_memory(memory: Memory) -> str:
    """The learner rank part by part, its peak at other ZeRO stages and ranks, and the engine."""
    own, engine = memory.learner, memory.engine
    lines = [f"  {name:<30}{_bytes(getattr(own, field)):>12}" for name, field in KINDS if getattr(own, field)]
    return "\n".join(
        [
            f"Memory of one learner rank of {own.ranks} (ZeRO {own.zero_stage}), excluding libraries",
            *lines,
            f"  {'peak of a step':<30}{_bytes(own.peak):>12}",
            *([f"  {'in the memory of the host':<30}{_bytes(own.host):>12}"] if own.host else []),
            "Peak at other ZeRO stages and ranks",
            *_table(memory.choices),
            *(_engine(engine) if engine.devices else []),
        ]
    )


def _engine(engine: EngineMemory) -> list[str]:
    return [
        f"Memory of {_place(engine.devices)}, excluding its own buffers",
        f"  {'weights':<30}{_bytes(engine.weights + engine.output_layer):>12}",
        f"  {'key-value cache':<30}{_bytes(engine.kv_cache):>12}   {engine.kv_tokens:,} tokens",
    ]


def _place(devices: int) -> str:
    return "one rollout engine" if devices == 1 else f"each of the {devices} devices of a rollout engine"


def _table(choices: tuple[LearnerMemory, ...]) -> list[str]:
    stages = sorted({one.zero_stage for one in choices})
    rows = [f"  {'ranks':>8}" + "".join(f"{f'ZeRO {stage}':>13}" for stage in stages)]
    for ranks in sorted({one.ranks for one in choices}):
        peaks = {one.zero_stage: one.peak for one in choices if one.ranks == ranks}
        rows.append(f"  {ranks:>8}" + "".join(f"{_bytes(peaks[stage]):>13}" for stage in stages))
    return rows


def _bytes(count: int) -> str:
    size, unit = next(((size, unit) for size, unit in UNITS if count >= size), (1, "B"))
    return f"{count / size:,.1f} {unit}"
