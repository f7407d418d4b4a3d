"""An explanation as plain text for a terminal."""

from trainer_core.explain import Band, EffectiveBatch, Explanation, Method
from trainer_core.explain.memory_text import render_memory

WIDTH = 24


def render(explanation: Explanation) -> str:
    """Batch, bands, methods and metrics to watch."""
    memory = [] if explanation.memory is None else [render_memory(explanation.memory)]
    parts = [_batch(explanation.batch), *memory, *map(_band, explanation.bands), *map(_method, explanation.methods)]
    if explanation.remarks:
        parts.insert(1, "Remarks\n" + "\n".join(f"  {remark}" for remark in explanation.remarks))
    return "\n\n".join([*parts, "Watch\n" + "\n".join(f"  {name}" for name in explanation.watch)]) + "\n"


def _batch(batch: EffectiveBatch) -> str:
    rows = [
        ("", "prompts", "samples", "tokens, at most"),
        ("per step", batch.prompts_per_step, batch.samples_per_step, batch.tokens_per_step),
        ("per update", batch.prompts_per_update, batch.samples_per_update, batch.tokens_per_update),
    ]
    lines = [f"  {name:<12}{_number(a):>10}{_number(b):>10}{_number(c):>18}" for name, a, b, c in rows]
    return "\n".join(
        [
            "Effective batch",
            *lines,
            f"  {batch.samples_per_prompt} samples per prompt; {batch.epochs * batch.updates_per_step} updates per step"
            f"{f' in {batch.epochs} passes' if batch.epochs > 1 else ''}; "
            f"{_number(batch.updates)} updates and {_number(batch.samples)} samples in {_number(batch.steps)} steps",
        ]
    )


def _band(band: Band) -> str:
    edges = ", ".join(
        f"{name} {value:g}" for name, value in (("from", band.ratio_min), ("to", band.ratio_max)) if value is not None
    )
    highest = max(*band.positive, *band.negative, 1e-9)
    lines = [
        f"  {ratio:8.4g}  {_bar(up, highest)}  {_bar(down, highest)}"
        for ratio, up, down in list(zip(band.ratios, band.positive, band.negative, strict=True))
    ]
    return "\n".join(
        [
            f"Ratio band of {band.path}: {edges or 'no edges'} ({band.ratio})",
            f"  {'ratio':>8}  {'weight where A > 0':<{WIDTH}}  {'weight where A < 0':<{WIDTH}}",
            *lines,
        ]
    )


def _bar(value: float, highest: float) -> str:
    length = max(0, round((WIDTH - 7) * value / highest))
    return f"{'█' * length}{'' if length else '·'} {value:.3g}".ljust(WIDTH)


def _method(method: Method) -> str:
    lines = [f"{method.title} ({method.path})", f"  {method.formula}", f"  Source: {method.source}"]
    if method.parameters:
        lines.append("  " + ", ".join(f"{name} = {value}" for name, value in method.parameters.items()))
    return "\n".join([*lines, f"  Use: {method.when}"])


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
