"""docs/architectures.md, written from what the matrix has seen and from the table of ``trainer_core.support``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.architectures.cases import KILLED_AFTER, UPDATES, WHOLE_STEPS, Kind
from tests.architectures.seen import FLIPS, LARGEST, MEAN
from trainer_core.starter.architectures import ARCHITECTURES as TINY
from trainer_core.support import ARCHITECTURES, Support
from trainer_core.support.refusals import TEXT_PARTS

RESULTS = Path(__file__).with_name("seen.json")
WHOLE = Path(__file__).with_name("whole.json")
PAGE = Path(__file__).parents[2] / "docs" / "architectures.md"
INTRODUCTION = f"""# Architectures

The platform trains policies of these architectures. Each line was seen: `make architectures` makes a tiny random policy
from transformers' own configuration class (below a million parameters, with windows, score capping, sinks, rotary
scaling and grouped heads that are felt at this size) and puts it through a whole loop, with engine and learner of runs:
samples, {UPDATES} updates, a probe after each, a checkpoint, a resume, and an export. It does so with tied and untied
heads, in float32, bfloat16, simulated FP8 and with LoRA, with weights that change between answers (`sync`) and in their
midst (`in flight`), and writes this page. `python -m trainer_core.starter.architectures NAME --out DIR` makes such a
policy for your own tests.

- **Figures** are the largest difference of log-probabilities between engine and learner in nats, over all probes, all
  sampled tokens, heads and modes. A line counts as working where it is at most {LARGEST["float32"]:g} in float32 and
  with LoRA, {LARGEST["bfloat16"]:g} in bfloat16 (with a float32 output layer) and {LARGEST["fp8"]:g} in FP8, and the
  mean at most {MEAN["float32"]:g}, {MEAN["bfloat16"]:g} and {MEAN["fp8"]:g}. Mixtures of experts have {FLIPS:g} times
  that below float32, but for tokens whose routes were replayed (`sync`): experts that a router scores alike may change
  places between engine and learner.
- **KL** is `rollout_corr/k3_kl` of the tokens sampled in bfloat16.
- **Export** is the largest difference in float32 between the learner and `AutoModelForCausalLM`, loaded from its
  checkpoint; with LoRA peft's own model was compared as well.
- **Resume** is equal where weights after an update are, to the last bit, with and without a checkpoint before it.
- **Whole run** was seen by `make architectures ARGS=--whole`: the controller on Ray with its engine, learner and reward
  workers in processes of their own, in bfloat16 and in flight, prompts through the policy's own chat template. It is
  killed behind the checkpoint of step {KILLED_AFTER}, resumed by a second attempt, and its last checkpoint of step
  {WHOLE_STEPS} is read by `AutoModelForCausalLM` and by the learner, whose scores are equal within the bounds above.
  The figure is the largest difference that the run's own probe has told, and a dash says that nobody has run it yet.

Architectures that are not here and that transformers and vLLM both know are not refused, but nobody has seen them
train. What cannot train, or is unknown to one of the two libraries, is refused when the policy is registered and when
the run is made, with a sentence that says what to do. Nobody has tried engines in float16: they are refused where vLLM
refuses them.
"""
TEXT_PART = """
## Models that see or hear

Only text is trained. The text part of some of these models is a policy by itself, for which transformers has a class:

PARTS

```python
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer

whole = AutoModelForImageTextToText.from_pretrained(folder, dtype="bfloat16")
part = AutoModelForCausalLM.from_config(whole.config.text_config, dtype="bfloat16")
part.model.load_state_dict(whole.model.language_model.state_dict())
part.lm_head.load_state_dict(whole.lm_head.state_dict())
part.save_pretrained(out)
AutoTokenizer.from_pretrained(folder).save_pretrained(out)
```

A test does so with each of them. The text parts of others, such as Qwen 3 VL, have no class of their own.
""".replace(
    "PARTS", "\n".join(f"- `{one}` with a `{kind}` inside, as `{part}`" for one, (kind, part) in TEXT_PARTS.items())
)


def page(results: dict[str, list[dict[str, Any]]], whole: dict[str, list[dict[str, Any]]]) -> str:
    """The whole page, from the results of the matrix and of the whole runs."""
    lines = [
        INTRODUCTION,
        "| family | class | head | float32 | LoRA | bfloat16 | KL | FP8 | in flight | export | resume | whole run |",
        "|---|---|---|---:|---:|---:|---:|---:|---|---:|---|---:|",
        *_rows(results, whole),
        "",
        "## Remarks",
        "",
    ]
    lines += [f"- **{one.title}**: {' '.join(one.remarks)}" for one in ARCHITECTURES.values() if one.remarks]
    return "\n".join(lines) + "\n" + TEXT_PART


def write() -> None:
    """Write the page from the stored results."""
    PAGE.write_text(page(json.loads(RESULTS.read_text()), json.loads(WHOLE.read_text())))


def works(found: list[dict[str, Any]], kind: Kind | None = None, mode: str | None = None) -> bool:
    """Whether all cases of this kind (None: any but FP8) and mode (None: any) work, and there are such cases."""
    chosen = list(_cases(found, kind, mode))
    return bool(chosen) and not any(one["complaints"] for one in chosen)


def _cases(found: list[dict[str, Any]], kind: Kind | None, mode: str | None = None) -> Iterator[dict[str, Any]]:
    for one in found:
        of_kind = one["case"]["kind"] == kind or (kind is None and one["case"]["kind"] != "fp8")
        if of_kind and mode in (None, one["case"]["mode"]):
            yield one


def _rows(results: dict[str, list[dict[str, Any]]], whole: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    for name, support in ARCHITECTURES.items():
        for tiny in support.policies:
            yield _row(support, name, tiny, results[tiny], whole.get(tiny, []))


def _row(support: Support, name: str, tiny: str, found: list[dict[str, Any]], whole: list[dict[str, Any]]) -> str:
    family = support.title if len(support.policies) == 1 else f"{support.title} (`{tiny}`)"
    kl = [one["k3_kl"] for one in _cases(found, "bfloat16") if one["k3_kl"] is not None]
    resumed = all(one["resumed"] == 0 for one in _cases(found, None))
    cells = [
        family,
        f"`{name}`",
        " and ".join(TINY[tiny].heads),
        *(_figure(found, kind) for kind in ("float32", "lora", "bfloat16")),
        f"{max(kl):.1g}" if kl else "–",
        _figure(found, "fp8"),
        "yes" if works(found, mode="in_flight") else "no",
        _largest(one["export"] for one in _cases(found, "float32")),
        "equal" if resumed else "no",
        "–" if not whole else "no" if whole[0]["complaints"] else f"{whole[0]['probe']:.1g}",
    ]
    return f"| {' | '.join(cells)} |"


def _figure(found: list[dict[str, Any]], kind: Kind) -> str:
    if not works(found, kind):
        return "no"
    return _largest(part for one in _cases(found, kind) for part in (one["start"], one["sampled"], *one["probes"]))


def _largest(differences: Any) -> str:
    return f"{max((one['largest'] for one in differences if one is not None), default=float('nan')):.1g}"
