"""Rules between the loss, the corrections and the sampling: what weighs a token twice, or not at all."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.methods.corrections import GeometricSequenceMask, RouterShiftWeighting
from trainer_core.spec.methods.proximal import RecomputedProximal, SamplerProximal

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def corrections(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Corrections that contradict one another or the loss."""
    seen: list[str] = []
    weighting: str | None = None
    for index, correction in enumerate(spec.corrections):
        path = ("corrections", index)
        if correction.type in seen:
            yield path, f"{correction.type} is given twice"
        elif correction.weighs_ratio and weighting is not None:
            yield path, f"{weighting} already weights every token by the importance ratio"
        seen.append(correction.type)
        if isinstance(correction, RouterShiftWeighting):
            yield from _router_shift(spec, path)
        if not correction.weighs_ratio:
            continue
        weighting = weighting or correction.type
        if spec.loss.weighs_behaviour:
            yield path, f"{spec.loss.type} already weights by the behaviour policy: it would count twice"
        elif spec.loss.whole_sequences and getattr(correction, "level", "token") == "token":
            yield (
                path,
                f"{spec.loss.type} weights whole sequences: a token-level ratio contradicts it (use level: sequence)",
            )


def _router_shift(spec: "RunSpec", path: Path) -> Iterator[tuple[Path, str]]:
    """Router-shift weighting where there is no ratio to rescale, or it cannot have moved."""
    if spec.loss.anchor != "proximal":
        yield path, f"{spec.loss.type} uses no ratio to the policy before the step: router_shift has nothing to rescale"
    elif not isinstance(spec.proximal, RecomputedProximal):
        yield path, f"the routing before the step is known, that of the proximal policy {spec.proximal.type} is not"
    elif spec.schedule.updates == 1:
        yield path, "with one update per step the routing has not changed: router_shift needs several"


def proximal(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A proximal policy that the loss never looks at."""
    if isinstance(spec.proximal, RecomputedProximal):
        return
    if spec.loss.anchor != "proximal":
        yield ("proximal",), f"{spec.loss.type} uses no ratio to a proximal policy: leave it at recompute"
    if not isinstance(spec.proximal, SamplerProximal):
        return
    if spec.loss.weighs_behaviour and spec.loss.anchor == "proximal":
        yield (
            ("loss",),
            f"{spec.loss.type} weights by proximal to behaviour policy, which are the same here: choose ppo_clip",
        )
    for index, correction in enumerate(spec.corrections):
        if not (correction.weighs_ratio or isinstance(correction, GeometricSequenceMask)):
            continue
        yield (
            ("corrections", index),
            f"{correction.type} corrects between behaviour and proximal policy, which are the same here: set"
            " corrections: []",
        )


def weighs(spec: "RunSpec") -> bool:
    """Whether the loss or a correction weighs tokens by the policy that sampled them."""
    sampler = isinstance(spec.proximal, SamplerProximal) and spec.loss.anchor == "proximal"
    return sampler or spec.loss.weighs_behaviour or any(one.weighs_ratio for one in spec.corrections)


def sampling(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A truncated sampling distribution without a weight for it."""
    rollout = spec.rollout
    if weighs(spec):
        return
    for name, cut in (("top_p", rollout.top_p < 1.0), ("top_k", rollout.top_k > 0)):
        if cut:
            yield (
                ("rollout", name),
                f"{name} = {getattr(rollout, name)} samples from a distribution other than the policy's: add an"
                " importance-sampling correction",
            )
